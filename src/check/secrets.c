/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Secrets in places that others can read. Any local user of the host can read a domain's
 * metadata (virsh -r dumpxml); any user of the guest can read cloud-init's meta-data
 * (/run/cloud-init/instance-data.json); with the emulator shim, a guest that breaks out of
 * its QEMU can read the seeds of all other guests.
 */
#include "config.h"

#include <fnmatch.h>

#include "base/scope.h"
#include "check/check.h"
#include "domain/xml.h"

#define EVERYBODY "in the domain's XML, which every local user can read"

/* Return: what to do about a secret in the XML, owned by the caller (free). */
static char *
make_hint(const char *attributes)
{
    return xasprintf("list the domains that may use it in %s/NAME/allow, then move it to "
                     "NAME/KEY there and write %s",
                     scope()->secrets, attributes);
}

/* --- in the XML --------------------------------------------------------------------- */

/* What follows these is a secret, if it is a value and not a variable's name. */
static const char *const before_values[] = {
    "K3S_TOKEN=",  "--token ",     "--token=",           "token:",
    "PrivateKey=", "PrivateKey =", "secret_access_key=", "secret_access_key =",
    "passwd:",     "password:",    "pro attach ",
};

static const char *const words[] = {"chpasswd\n", "chpasswd <<", "| chpasswd",
                                    "PRIVATE KEY-----"};

/* "-----BEGIN " in base64, whose next characters depend on the key's kind. */
#define PEM_IN_BASE64 "LS0tLS1CRUdJTi"

/* Return: whether a value comes there, after what separates it from its name. */
static bool
is_value(const char *at, const char *end)
{
    while (at < end && strchr(" \t=:\"'", *at) && *at)
        at++;
    /* A hash, and not a variable. */
    if (end - at >= 4 && *at == '$' && at[2] == '$')
        return true;
    return at < end && (isalnum((unsigned char)*at) || *at == '/' || *at == '+');
}

/* As in "https://user:password@host". */
static bool
has_password_in_url(const char *data, size_t size)
{
    const char *end = data + size;

    while ((data = memmem(data, (size_t)(end - data), "://", 3))) {
        const char *colon = NULL;

        data += 3;
        while (data < end &&
               (isalnum((unsigned char)*data) || strchr("-._~%!*+,;=:$", *data)) &&
               *data) {
            if (*data == ':' && !colon)
                colon = data;
            data++;
        }
        if (data < end && *data == '@' && colon && data > colon + 1 && colon[1] != '$')
            return true;
    }
    return false;
}

/* Certificates begin the same way, so the kind must be decoded. */
static bool
has_key_in_base64(const char *data, size_t size)
{
    const char *end = data + size;

    while ((data = memmem(data, (size_t)(end - data), PEM_IN_BASE64,
                          strlen(PEM_IN_BASE64)))) {
        cleanup_buffer struct buffer decoded = {0};
        cleanup_free char *text =
            xstrndup(data, (size_t)(end - data) < 64 ? (size_t)(end - data) : 64);

        text[strspn(text,
                    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")] =
            '\0';
        text[strlen(text) / 4 * 4] = '\0';
        if (base64_decode(&decoded, text) == 0 &&
            memmem(buffer_text(&decoded), decoded.size, "PRIVATE KEY", 11))
            return true;
        data += strlen(PEM_IN_BASE64);
    }
    return false;
}

static bool
has_secret(const char *data, size_t size)
{
    const char *end = data + size;

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (memmem(data, size, words[i], strlen(words[i])))
            return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(before_values); i++) {
        const char *at = data;
        const size_t length = strlen(before_values[i]);

        while ((at = memmem(at, (size_t)(end - at), before_values[i], length))) {
            at += length;
            if (is_value(at, end))
                return true;
        }
    }
    return has_password_in_url(data, size) || has_key_in_base64(data, size);
}

static bool
rule_has_secret(const struct check *check, const struct yaml_node *node)
{
    return node->kind == YAML_SCALAR && has_secret(node->text, node->length);
}

static void
check_document(const struct check *check, const struct part *part,
               enum user_data_kind kind, void *context)
{
    const bool is_yaml = kind == USER_DATA_CLOUD_CONFIG || kind == USER_DATA_JSONP ||
                         part->kind == PART_NETWORK_CONFIG;
    cleanup_free char *hint = make_hint("secret=\"NAME\"");
    const struct rule rules[] = {
        {PATHS("**.passwd", "**.password", "**.hashed_passwd", "**.hashed-password",
               "**.plain_text_passwd", "**.token", "**.private_key", "**.private-key",
               "**.client-key-password", "chpasswd.list"),
         rule_is_password, WARNING_INLINE_SECRET, "seems to be a secret " EVERYBODY,
         hint},
        {PATHS("**.*"), rule_has_secret, WARNING_INLINE_SECRET,
         "seems to contain a password or key " EVERYBODY, hint},
        {.paths = NULL},
    };
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root = is_yaml ? rules_read(&yaml, part) : NULL;

    if (root)
        rules_apply(check, part, root, rules);
    else if (has_secret(buffer_text(&part->data), part->data.size))
        check_warn_of(check, WARNING_INLINE_SECRET, part, 0, hint,
                      " seems to contain a password or key " EVERYBODY);
}

/* For a part whose content is in the XML itself. */
static void
check_inline(const struct check *check, const struct part *part)
{
    cleanup_free char *hint = make_hint("secret=\"NAME\" key=\"KEY\"");

    if (part->kind == PART_VALUE && strstr(part->element, "password"))
        check_warn_of(check, WARNING_INLINE_SECRET, part, 0, hint, " is " EVERYBODY);
    else if (!check_each_piece(check, part, check_document, NULL))
        check_document(check, part, USER_DATA_UNKNOWN, NULL);
}

/* --- in the guest ------------------------------------------------------------------- */

static const char *const secret_names[] = {
    "pass",    "*[-_.]pass",    "*pass[wp]*", "*secret*",
    "*token*", "*private*key*", "*api*key*",
};

static bool
sounds_secret(const char *key)
{
    for (size_t i = 0; i < ARRAY_SIZE(secret_names); i++) {
        if (fnmatch(secret_names[i], key, FNM_CASEFOLD) == 0)
            return true;
    }
    return false;
}

static void
warn_of_key(const struct check *check, const struct part *part, const char *key)
{
    if (sounds_secret(key))
        check_warn_of(
            check, WARNING_READABLE_SECRET, part, 0,
            "write it to a file in the guest with user-data (write_files)",
            ": the key '%s' is metadata, which every user of the guest can read", key);
}

static void
check_part(const struct check *check, const struct part *part)
{
    const bool is_secret = part->origin == PART_SECRET ||
                           part->origin == PART_GENERATED || part->origin == PART_STORED;

    if (check->facts->uses_shim && is_secret) {
        const xmlNode *devices = xml_child(check->domain->root, "devices");
        cleanup_free char *path = xml_text(xml_child(devices, "emulator"));
        const char *what = "comes from a secret";

        if (part->origin == PART_GENERATED)
            what = "makes a secret key";
        else if (part->origin == PART_STORED)
            what = "puts a password's hash into the seed";
        check_warn_of(
            check, WARNING_SHIM_SECRET, part, 0,
            "set its emulator to QEMU itself and run 'virt-seed wire'",
            " %s, and with the emulator '%s' all guests share the user who reads it",
            what, path);
    }
    if (part->kind == PART_META_DATA && part->origin == PART_SECRET) {
        if (part->key)
            warn_of_key(check, part, part->key);
        for (size_t i = 0; i < part->entry_count; i++)
            warn_of_key(check, part, part->entries[i].key);
    }
    /* Windows uses it and keeps it private; Linux does neither. */
    if (part->kind == PART_ADMIN_PASSWORD && !domain_is_windows(check->domain))
        check_warn_of(check, WARNING_READABLE_SECRET, part, 0,
                      "remove it if the guest runs Linux: cloud-init does not use it",
                      " is metadata, which every user of a Linux guest can read");
    if (part->origin == PART_INLINE && part->data.size > 0)
        check_inline(check, part);
}

void
check_secrets(const struct check *check)
{
    const struct request *request = check->request;
    const struct seed *payload = request->payload;

    for (size_t i = 0; i < request->parts.count; i++)
        check_part(check, request->parts.list[i]);
    for (size_t i = 0; i < request->meta_data_count; i++) {
        if (sounds_secret(request->meta_data[i].key))
            check_warn(check, WARNING_INLINE_SECRET, request->line,
                       "write it to a file in the guest with user-data (write_files), "
                       "from a secret",
                       "<meta-data>: '%.256s' is " EVERYBODY, request->meta_data[i].key);
    }
    for (size_t i = 0; payload && i < payload->document_count; i++) {
        const struct document *file = &payload->documents[i];

        if (file->data.size > 0 && has_secret(file->data.data, file->data.size))
            check_warn(check, WARNING_INLINE_SECRET, request->line,
                       "write the request as <cloud-init>, and the secret as "
                       "secret=\"NAME\"",
                       "the payload's '%s' seems to contain a password or key " EVERYBODY,
                       file->path);
    }
}
