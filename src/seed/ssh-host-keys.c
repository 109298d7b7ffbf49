/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <endian.h>

#include <nettle/eddsa.h>

#include "base/json.h"
#include "domain/ssh-key.h"
#include "seed/ssh-host-keys.h"

#define NAME_PREFIX "ssh_host_"

/* The beginning of a private key in OpenSSH's own format without a passphrase, in base64
 * (PROTOCOL.key): "openssh-key-v1", and "none" for the cipher. */
#define OPENSSH_PLAIN "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUA"

struct key_type {
    const char *name;
    const char *algorithm; /* public keys and certificates begin with it */
};

static const struct key_type types[] = {
    {"rsa", "ssh-rsa"},
    {"ecdsa", "ecdsa-sha2-nistp"},
    {"ed25519", "ssh-ed25519"},
};

struct key_role {
    const char *suffix; /* of the file's name */
    const char *word;   /* in cloud-init's name for it */
};

static const struct key_role roles[] = {
    {"_key", "private"},
    {"_key.pub", "public"},
    {"_key-cert.pub", "certificate"},
};

enum {
    ROLE_PRIVATE,
    ROLE_PUBLIC,
    ROLE_CERTIFICATE
};

struct key_name {
    const struct key_type *type;
    const struct key_role *role;
};

static bool
is_named(const struct part_entry *entry, const struct key_type *type,
         const struct key_role *role)
{
    cleanup_free char *file = xasprintf(NAME_PREFIX "%s%s", type->name, role->suffix);

    return strcmp(entry->key, file) == 0;
}

static bool
find_name(struct key_name *name, const struct part_entry *entry)
{
    for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
        for (size_t r = 0; r < ARRAY_SIZE(roles); r++) {
            if (!is_named(entry, &types[t], &roles[r]))
                continue;
            *name = (struct key_name){.type = &types[t], .role = &roles[r]};
            return true;
        }
    }
    return false;
}

static const struct part_entry *
find_entry(const struct part *part, const struct key_type *type,
           const struct key_role *role)
{
    for (size_t i = 0; i < part->entry_count; i++) {
        if (is_named(&part->entries[i], type, role))
            return &part->entries[i];
    }
    return NULL;
}

/* --- checks ----------------------------------------------------------------------- */

static int
check_private(const char *text, struct failure **failure)
{
    const char *openssh = strstr(text, "BEGIN OPENSSH PRIVATE KEY-----");
    bool passphrase;

    if (strncmp(text, "-----BEGIN ", strlen("-----BEGIN ")) != 0 ||
        !strstr(text, " PRIVATE KEY-----\n") || !strstr(text, "-----END "))
        return failure_set(failure, FAILURE_SSH_KEY,
                           "is not an SSH private key\nuse a file that ssh-keygen wrote");
    /* Nobody could type it at a boot: sshd would not start with such a key. */
    if (openssh) {
        openssh = strchr(openssh, '\n');
        passphrase =
            !openssh || strncmp(openssh + 1, OPENSSH_PLAIN, strlen(OPENSSH_PLAIN)) != 0;
    } else {
        passphrase = strstr(text, "ENCRYPTED");
    }
    if (!passphrase)
        return 0;
    return failure_set(failure, FAILURE_SSH_KEY,
                       "has a passphrase, which sshd cannot ask for\n"
                       "remove it with 'ssh-keygen -p'");
}

/* It is one line: the algorithm, the key in base64, and a comment. */
static int
check_public(const struct part *part, const struct key_name *name, const char *text,
             struct failure **failure)
{
    const char *algorithm = name->type->algorithm;
    const char *blank = strchr(text, ' ');
    const char *certificate = strstr(text, "-cert-v01@openssh.com ");
    const char *end = text + strcspn(text, "\r\n");
    bool is_certificate = name->role == &roles[ROLE_CERTIFICATE];
    bool is_as_named = blank && strncmp(text, algorithm, strlen(algorithm)) == 0 &&
                       strncmp(blank, " AAAA", strlen(" AAAA")) == 0;

    if (is_as_named)
        is_as_named = (certificate && certificate < blank) == is_certificate;
    if (!is_as_named || end[strspn(end, "\r\n")])
        return failure_set(
            failure, FAILURE_SSH_KEY,
            "is not an SSH %s of type %s\nuse a file that ssh-keygen wrote",
            is_certificate ? "certificate" : "public key", name->type->name);
    if (find_entry(part, name->type, &roles[ROLE_PRIVATE]))
        return 0;
    return failure_set(failure, FAILURE_SSH_KEY,
                       "has no private key next to it\n"
                       "put " NAME_PREFIX "%s_key into the secret, too",
                       name->type->name);
}

int
ssh_host_key_check(const struct part *part, const struct part_entry *entry,
                   struct failure **failure)
{
    const struct buffer *data = &entry->data;
    bool is_text = data->size > 0 && data->size <= LIMIT_SSH_KEY;
    struct key_name name = {0};

    if (!find_name(&name, entry))
        return failure_set(failure, FAILURE_SSH_KEY,
                           "is not the name of a host key\n"
                           "use " NAME_PREFIX "TYPE_key, optionally followed by .pub or "
                           "-cert.pub; TYPE is rsa, ecdsa or ed25519");
    for (size_t i = 0; i < data->size && is_text; i++) {
        char c = data->data[i];

        is_text = isprint((unsigned char)c) || (c && strchr("\n\t\r", c));
    }
    if (!is_text)
        return failure_set(failure, FAILURE_SSH_KEY,
                           "is not text of at most %lu KiB\ngive what ssh-keygen writes",
                           LIMIT_SSH_KEY / KIB);
    if (name.role == &roles[ROLE_PRIVATE])
        return check_private(data->data, failure);
    return check_public(part, &name, data->data, failure);
}

/* --- cloud-init's words ----------------------------------------------------------- */

json_t *
ssh_host_keys_to_json(const struct part *part)
{
    json_t *object = json_object();

    for (size_t i = 0; i < part->entry_count; i++) {
        const struct part_entry *entry = &part->entries[i];
        const struct buffer *data = &entry->data;
        /* sshd does not read a private key without a newline at its end. */
        bool ended = data->size > 0 && data->data[data->size - 1] == '\n';
        cleanup_free char *text =
            xasprintf("%.*s%s", (int)data->size, buffer_text(data), ended ? "" : "\n");
        cleanup_free char *key = NULL;
        struct key_name name = {0};

        /* A masked part does not have the names. */
        if (find_name(&name, entry))
            key = xasprintf("%s_%s", name.type->name, name.role->word);
        json_set(object, key ? key : entry->key, json_outside_string(text));
    }
    return object;
}

/* --- OpenSSH's own form of a private key ------------------------------------------ */

/*
 * How it works: a file is base64 between two lines. It consists of numbers, 32 bits with
 * the most significant byte first, and strings, each after its length. Without a
 * passphrase, all ed25519 keys have the same lengths:
 *
 *   "openssh-key-v1" NUL, cipher, kdf, kdf's options, number of keys, public key,
 *   block: check, check, type, public key's bytes, secret and public bytes, comment,
 *          1, 2, 3, 4 up to a multiple of 8
 *
 * The key is made with nettle, which is linked anyway. ssh-keygen would take 19.5 million
 * instructions, four times as many as the start of a domain, and may not be installed.
 */
#define BEGIN "-----BEGIN OPENSSH PRIVATE KEY-----\n"
#define END "-----END OPENSSH PRIVATE KEY-----"
#define HEAD "openssh-key-v1\0\0\0\0\4none\0\0\0\4none\0\0\0\0\0\0\0\1"
/* The type, and the length of the public key's bytes. */
#define ED25519                                                                          \
    "\0\0\0\x0b"                                                                         \
    "ssh-ed25519\0\0\0\x20"
#define PUBLIC_SIZE (sizeof(ED25519) - 1 + ED25519_KEY_SIZE)
#define BLOCK_SIZE 144
/* The bytes of a line of base64, before encoding. */
#define LINE_BYTES 48

_Static_assert(OPENSSH_SECRET_SIZE == ED25519_KEY_SIZE, "the secret is nettle's");

/* Appends the literal without the NUL at its end. */
#define put(buffer, literal) buffer_append(buffer, literal, sizeof(literal) - 1)

static void
put_number(struct buffer *buffer, uint32_t number)
{
    uint32_t bytes = htobe32(number);

    buffer_append(buffer, &bytes, sizeof(bytes));
}

void
openssh_key_append(struct buffer *buffer, const uint8_t secret[OPENSSH_SECRET_SIZE],
                   uint32_t check)
{
    cleanup_buffer struct buffer file = {0};
    uint8_t public[ED25519_KEY_SIZE];

    ed25519_sha512_public_key(public, secret);
    put(&file, HEAD);
    put_number(&file, PUBLIC_SIZE);
    put(&file, ED25519);
    buffer_append(&file, public, sizeof(public));
    put_number(&file, BLOCK_SIZE);
    put_number(&file, check);
    put_number(&file, check);
    put(&file, ED25519);
    buffer_append(&file, public, sizeof(public));
    put_number(&file, 2 * ED25519_KEY_SIZE);
    buffer_append(&file, secret, ED25519_KEY_SIZE);
    buffer_append(&file, public, sizeof(public));
    put_number(&file, strlen("virt-seed"));
    put(&file, "virt-seed\1\2\3\4");
    put(buffer, BEGIN);
    base64_encode(buffer, file.data, file.size, LINE_BYTES);
    put(buffer, END "\n");
}

char *
openssh_key_public(const char *text)
{
    const size_t head = sizeof(HEAD) - 1;
    cleanup_buffer struct buffer base64 = {0};
    cleanup_buffer struct buffer file = {0};
    cleanup_buffer struct buffer encoded = {0};
    cleanup_free char *line = NULL;
    const char *end = strstr(text, END);
    struct ssh_bytes rest, key, inside, type;

    if (strncmp(text, BEGIN, strlen(BEGIN)) != 0 || !end)
        return NULL;
    text += strlen(BEGIN);
    buffer_append(&base64, text, (size_t)(end - text));
    if (base64_decode(&file, base64.data) < 0 || file.size < head ||
        memcmp(file.data, HEAD, head) != 0)
        return NULL;
    rest = (struct ssh_bytes){(const uint8_t *)file.data + head, file.size - head};
    if (!ssh_read_string(&rest, &key))
        return NULL;
    inside = key;
    if (!ssh_read_string(&inside, &type))
        return NULL;
    base64_encode(&encoded, key.data, key.size, 0);
    line = xasprintf("%.*s %s", (int)type.size, type.data, encoded.data);
    return ssh_host_key_is_public(line) ? steal(line) : NULL;
}

/* --- what others know the guest by ------------------------------------------------ */

bool
ssh_host_key_is_public(const char *text)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    cleanup_failure struct failure *ignored = NULL;
    const char *blank = strchr(text, ' ');

    /* Certificates and keys of security tokens have a '@' in their algorithm. */
    if (!blank || blank[1 + strspn(blank + 1, digits)] || strchr(text, '@'))
        return false;
    if (strlen(text) > LIMIT_SSH_KEY)
        return false;
    for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
        const char *algorithm = types[t].algorithm;

        if (strncmp(text, algorithm, strlen(algorithm)) == 0)
            return ssh_key_decode(text, &ignored) == 0;
    }
    return false;
}

char *
ssh_host_keys_public(const struct part *part)
{
    cleanup_buffer struct buffer lines = {0};

    for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
        const struct part_entry *public =
            find_entry(part, &types[t], &roles[ROLE_PUBLIC]);
        const struct part_entry *private =
            find_entry(part, &types[t], &roles[ROLE_PRIVATE]);
        cleanup_free char *line = NULL;

        if (public) {
            /* Without the comment. */
            const char *text = public->data.data;
            size_t algorithm = strcspn(text, " ");

            line =
                xstrndup(text, algorithm + 1 + strcspn(text + algorithm + 1, " \t\r\n"));
        } else if (private) {
            line = openssh_key_public(private->data.data);
        }
        if (line)
            buffer_printf(&lines, "%s\n", line);
    }
    return xstrdup(buffer_text(&lines));
}
