/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Secrets in places that others can read. Any local user of the host can read a domain's
 * metadata (virsh -r dumpxml); any user of the guest can read cloud-init's meta-data
 * (/run/cloud-init/instance-data.json); with the emulator shim, a guest that breaks out of
 * its QEMU can read the seeds of all other guests.
 */
#include "config.h"

#include <fnmatch.h>
#include <string.h>

#include "base/memory.h"
#include "check/check.h"
#include "domain/xml.h"

#define MOVE_HINT                                                                        \
    "move it to " VIRT_SEED_CONFDIR "/secrets/NAME/KEY and write secret=\"NAME\""
#define EVERYBODY "in the domain's XML, which every local user can read"

/* --- in the XML --------------------------------------------------------------------- */

static const struct rule rules[] = {
    {{"**.passwd", "**.password", "**.hashed_passwd", "**.hashed-password",
      "**.plain_text_passwd", "**.token", "**.private_key", "**.private-key",
      "**.client-key-password", "chpasswd.list"},
     rule_there,
     WARNING_INLINE_SECRET,
     "seems to be a secret " EVERYBODY,
     MOVE_HINT},
    {.paths = {NULL}},
};

/* For documents other than YAML. The words after the first KEY_WORDS also say more than a
 * YAML key does. */
#define KEY_WORDS 3
static const char *const words[] = {
    "passwd:", "password:", "chpasswd", "PRIVATE KEY-----", "PrivateKey =",
};

static bool
has_word(const struct buffer *data, size_t first)
{
    for (size_t i = first; i < ARRAY_SIZE(words); i++) {
        if (memmem(data->data, data->size, words[i], strlen(words[i])))
            return true;
    }
    return false;
}

/* For a part whose content is in the XML itself. */
static void
check_inline(const struct check *check, const struct part *part)
{
    const enum user_data_kind kind = user_data_kind(part->data.data, part->data.size);
    const size_t count = check->findings->count;
    bool is_yaml = kind == USER_DATA_CLOUD_CONFIG || kind == USER_DATA_ARCHIVE ||
                   kind == USER_DATA_JSONP;
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root = NULL;

    if (part->kind == PART_VALUE && strstr(part->element, "password")) {
        check_warn(check, WARNING_INLINE_SECRET, part->line,
                   "move it to " VIRT_SEED_CONFDIR "/secrets/NAME/KEY and write "
                   "secret=\"NAME\" key=\"KEY\"",
                   "<%s> is " EVERYBODY, part->element);
        return;
    }
    if (part->kind == PART_NETWORK_CONFIG)
        is_yaml = true;
    if (part->kind == PART_VALUE && kind == USER_DATA_UNKNOWN)
        is_yaml = true;
    if (is_yaml)
        root = rules_read(&yaml, part);
    if (root)
        rules_apply(check, part, root, rules);
    /* The keys of YAML have been checked. */
    if (check->findings->count == count && has_word(&part->data, root ? KEY_WORDS : 0))
        check_warn(check, WARNING_INLINE_SECRET, part->line, MOVE_HINT,
                   "<%s> seems to contain a password or key " EVERYBODY, part->element);
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
    cleanup_free char *description = NULL;

    if (!sounds_secret(key))
        return;
    description = part_describe(part);
    check_warn(check, WARNING_READABLE_SECRET, part->line,
               "write it to a file in the guest with user-data (write_files)",
               "%s: the key '%s' is metadata, which every user of the guest can read",
               description, key);
}

static void
check_part(const struct check *check, const struct part *part)
{
    const bool is_secret = part->origin == PART_SECRET ||
                           part->origin == PART_GENERATED || part->origin == PART_STORED;

    if (check->facts->uses_shim && is_secret) {
        const xmlNode *devices = xml_child(check->domain->root, "devices");
        cleanup_free char *path = xml_text(xml_child(devices, "emulator"));
        cleanup_free char *description = part_describe(part);
        const char *what = "comes from a secret";

        if (part->origin == PART_GENERATED)
            what = "makes a secret key";
        else if (part->origin == PART_STORED)
            what = "puts a password's hash into the seed";
        check_warn(
            check, WARNING_SHIM_SECRET, part->line,
            "set its emulator to QEMU itself and run 'virt-seed wire'",
            "%s %s, and with the emulator '%s' all guests share the user who reads it",
            description, what, path);
    }
    if (part->kind == PART_META_DATA && part->origin == PART_SECRET) {
        if (part->key)
            warn_of_key(check, part, part->key);
        for (size_t i = 0; i < part->entry_count; i++)
            warn_of_key(check, part, part->entries[i].key);
    }
    /* Windows uses it and keeps it private; Linux does neither. */
    if (part->kind == PART_ADMIN_PASSWORD && !domain_is_windows(check->domain))
        check_warn(check, WARNING_READABLE_SECRET, part->line,
                   "remove it if the guest runs Linux: cloud-init does not use it",
                   "<%s> is metadata, which every user of a Linux guest can read",
                   part->element);
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

        if (file->data.size > 0 && has_word(&file->data, 0))
            check_warn(check, WARNING_INLINE_SECRET, request->line,
                       "write the request as <cloud-init>, and the secret as "
                       "secret=\"NAME\"",
                       "the payload's '%s' seems to contain a password or key " EVERYBODY,
                       file->path);
    }
}
