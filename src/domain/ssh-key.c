/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a key is a type, and base64 of a blob. The blob is a sequence of fields
 * (RFC 4253, section 6.6; RFC 5656; PROTOCOL.certkeys and PROTOCOL.u2f of OpenSSH): the type
 * once more, then what the table below lists, and nothing after that.
 */
#include "config.h"

#include <endian.h>

#include "domain/part.h"
#include "domain/ssh-key.h"

#define BLANKS " \t"

/* Of the modulus of RSA; sshd ignores shorter keys (SSH_RSA_MINIMUM_MODULUS_SIZE). */
#define RSA_MINIMUM_BYTES (1024 / 8)
#define ED25519_BYTES 32

/* The fields of a blob; all but the numbers of 4 and 8 bytes begin with their length. */
enum field {
    FIELD_TEXT = 't',    /* any bytes */
    FIELD_INTEGER = 'i', /* a multiple-precision integer, which is not negative */
    FIELD_MODULUS = 'm', /* the same, of RSA_MINIMUM_BYTES or more */
    FIELD_ED25519 = 'e', /* ED25519_BYTES */
    FIELD_CURVE = 'c',   /* the name of the type's curve */
    FIELD_POINT = 'p',   /* a point of that curve, uncompressed */
    FIELD_UINT32 = '4',
    FIELD_UINT64 = '8',
};

/* A certificate: a nonce, the key, and then the serial, the type, the id, the principals,
 * since when and until when, critical options, extensions, a reserved text, the signer's key
 * and the signature. */
#define CERTIFICATE(KEY) "t" KEY "84tt88ttttt"

static const struct key_type {
    const char *name;
    const char *fields;
    const char *curve;
    size_t point_bytes;
} types[] = {
    {"ssh-ed25519", "e", NULL, 0},
    {"ssh-rsa", "im", NULL, 0},
    {"ssh-dss", "iiii", NULL, 0},
    {"ecdsa-sha2-nistp256", "cp", "nistp256", 65},
    {"ecdsa-sha2-nistp384", "cp", "nistp384", 97},
    {"ecdsa-sha2-nistp521", "cp", "nistp521", 133},
    {"sk-ssh-ed25519@openssh.com", "et", NULL, 0},
    {"sk-ecdsa-sha2-nistp256@openssh.com", "cpt", "nistp256", 65},
    {"ssh-ed25519-cert-v01@openssh.com", CERTIFICATE("e"), NULL, 0},
    {"ssh-rsa-cert-v01@openssh.com", CERTIFICATE("im"), NULL, 0},
    {"ssh-dss-cert-v01@openssh.com", CERTIFICATE("iiii"), NULL, 0},
    {"ecdsa-sha2-nistp256-cert-v01@openssh.com", CERTIFICATE("cp"), "nistp256", 65},
    {"ecdsa-sha2-nistp384-cert-v01@openssh.com", CERTIFICATE("cp"), "nistp384", 97},
    {"ecdsa-sha2-nistp521-cert-v01@openssh.com", CERTIFICATE("cp"), "nistp521", 133},
    {"sk-ssh-ed25519-cert-v01@openssh.com", CERTIFICATE("et"), NULL, 0},
    {"sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", CERTIFICATE("cpt"), "nistp256", 65},
};

/* --- the blob --------------------------------------------------------------------------- */

static bool
skip(struct ssh_bytes *rest, size_t size)
{
    if (rest->size < size)
        return false;
    rest->data += size;
    rest->size -= size;
    return true;
}

bool
ssh_read_string(struct ssh_bytes *rest, struct ssh_bytes *string)
{
    uint32_t length;

    if (rest->size < sizeof(length))
        return false;
    memcpy(&length, rest->data, sizeof(length));
    length = be32toh(length);
    skip(rest, sizeof(length));
    *string = (struct ssh_bytes){rest->data, length};
    return skip(rest, length);
}

static bool
is_text(const struct ssh_bytes *field, const char *text)
{
    return field->size == strlen(text) && memcmp(field->data, text, field->size) == 0;
}

static bool
is_integer(struct ssh_bytes field, size_t minimum)
{
    if (field.size > 0 && (*field.data & 0x80))
        return false;
    while (field.size > 0 && *field.data == 0)
        skip(&field, 1);
    return field.size >= minimum;
}

static bool
read_field(struct ssh_bytes *rest, const struct key_type *type, char kind)
{
    struct ssh_bytes field;

    if (kind == FIELD_UINT32)
        return skip(rest, sizeof(uint32_t));
    if (kind == FIELD_UINT64)
        return skip(rest, sizeof(uint64_t));
    if (!ssh_read_string(rest, &field))
        return false;
    switch (kind) {
    case FIELD_INTEGER:
        return is_integer(field, 0);
    case FIELD_MODULUS:
        return is_integer(field, RSA_MINIMUM_BYTES);
    case FIELD_ED25519:
        return field.size == ED25519_BYTES;
    case FIELD_CURVE:
        return is_text(&field, type->curve);
    case FIELD_POINT:
        return field.size == type->point_bytes && *field.data == 4;
    default:
        return true;
    }
}

static bool
is_key_of(const struct key_type *type, struct ssh_bytes rest)
{
    for (const char *kind = type->fields; *kind; kind++) {
        if (!read_field(&rest, type, *kind))
            return false;
    }
    return rest.size == 0;
}

/* --- the line --------------------------------------------------------------------------- */

const char *
ssh_key_skip_options(const char *line)
{
    bool quoted = false;

    for (; *line && (quoted || !strchr(BLANKS, *line)); line++) {
        if (line[0] == '\\' && line[1] == '"')
            line++;
        else if (*line == '"')
            quoted = !quoted;
    }
    return line;
}

/* Return: the type that the text begins with, or NULL. */
static const struct key_type *
find_type(const char *text)
{
    size_t length = strcspn(text, BLANKS);

    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        if (strlen(types[i].name) == length && strncmp(text, types[i].name, length) == 0)
            return &types[i];
    }
    return NULL;
}

static int
fail(const char *message, struct failure **failure)
{
    return failure_set(
        failure, FAILURE_SSH_KEY,
        "%s\n"
        "copy the whole line of the .pub file again; 'ssh-keygen -l -f FILE' "
        "shows whether a file has keys",
        message);
}

int
ssh_key_decode(const char *line, struct failure **failure)
{
    const struct key_type *type = find_type(line);
    cleanup_buffer struct buffer blob = {0};
    cleanup_free char *base64 = NULL;
    struct ssh_bytes rest, name;

    if (!type) {
        line = ssh_key_skip_options(line);
        line += strspn(line, BLANKS);
        type = find_type(line);
    }
    if (!type)
        return fail("the ssh public key has a type that OpenSSH does not know", failure);
    line += strlen(type->name);
    line += strspn(line, BLANKS);
    base64 = xstrndup(line, strcspn(line, BLANKS));
    if (base64_decode(&blob, base64) < 0)
        return fail("the ssh public key is not base64, or is cut off", failure);
    rest = (struct ssh_bytes){(const uint8_t *)blob.data, blob.size};
    if (!ssh_read_string(&rest, &name))
        return fail("the ssh public key is cut off", failure);
    if (!is_text(&name, type->name))
        return fail("the ssh public key is of another type than the word before it says",
                    failure);
    if (!is_key_of(type, rest))
        return fail(
            "the ssh public key is cut off or damaged, or is of RSA with less than "
            "1024 bits",
            failure);
    return 0;
}
