/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one part of the request takes away from another: the pairs are in one table. Of
 * several documents with the same key, the last wins, and user-data wins over vendor-data.
 */
#include "config.h"

#include "check/check.h"

/* More cloud-configs than people write. */
#define DOCUMENTS_MAX 64
/* More users than people list; each is searched for in chpasswd. */
#define USERS_MAX 256

struct config_document {
    struct part part; /* borrowed, without data */
    struct yaml yaml;
};

struct documents {
    struct config_document list[DOCUMENTS_MAX];
    size_t count;
};

static void
documents_clear(struct documents *documents)
{
    for (size_t i = 0; i < documents->count; i++)
        yaml_clear(&documents->list[i].yaml);
}

static void
add_document(const struct check *check, const struct part *part, enum user_data_kind kind,
             void *context)
{
    struct documents *documents = context;
    struct config_document *document = &documents->list[documents->count];

    if (kind != USER_DATA_CLOUD_CONFIG || documents->count == DOCUMENTS_MAX)
        return;
    *document = (struct config_document){.part = *part};
    documents->count++;
    rules_read(&document->yaml, part);
    document->part.data = (struct buffer){0};
}

/* Return: the document whose value of the key counts, or NULL. */
static const struct config_document *
find_document(const struct documents *documents, const char *key)
{
    const struct config_document *found = NULL;

    for (size_t i = 0; i < documents->count; i++) {
        const struct config_document *document = &documents->list[i];
        const bool of_vendor = document->part.kind == PART_VENDOR_DATA;

        if (!yaml_get(document->yaml.root, key))
            continue;
        if (!found || !of_vendor || found->part.kind == PART_VENDOR_DATA)
            found = document;
    }
    return found;
}

static const struct yaml_node *
find_value(const struct documents *documents, const char *key)
{
    const struct config_document *document = find_document(documents, key);

    return document ? yaml_get(document->yaml.root, key) : NULL;
}

/* --- what an element needs ---------------------------------------------------------- */

enum {
    NOTHING = 0,
    DEFAULT_USER = 1 << 0, /* what is for it, and no list of users is generated */
    HOSTNAME = 1 << 1,
    HOST_KEYS = 1 << 2,
    NEW_HOST_KEYS = 1 << 3, /* those, or <regenerate_ssh_keys> */
    OLD_HOST_KEYS = 1 << 4, /* those of the image stay */
    ROOT_KEYS = 1 << 5,
    SSH_KEYS = 1 << 6,
    PASSWORD = 1 << 7,
    VENDOR_DATA = 1 << 8,
    CACHE = 1 << 9,
};

/* Return: what the request has of these; bits. */
static unsigned int
find_needs(const struct request *request)
{
    static const struct initialization none = {0};
    const struct initialization *initialization =
        request->initialization ? request->initialization : &none;
    const enum initialization_choice renew = initialization->regenerate_ssh_keys;
    unsigned int needs = NOTHING;

    if (request->hostname)
        needs |= HOSTNAME;
    if (parts_find(&request->parts, PART_SSH_HOST_KEYS))
        needs |= HOST_KEYS | NEW_HOST_KEYS;
    else if (renew != INITIALIZATION_UNSAID)
        needs |= renew == INITIALIZATION_YES ? NEW_HOST_KEYS : OLD_HOST_KEYS;
    if (initialization->root_has_keys)
        needs |= ROOT_KEYS;
    if (request->ssh_key_count > 0 || parts_find(&request->parts, PART_SSH_KEYS))
        needs |= SSH_KEYS;
    if (parts_find(&request->parts, PART_PASSWORD))
        needs |= PASSWORD;
    /* The generated list of users has "default", and is added to the user's. */
    if (initialization->user_count == 0 && (needs & (SSH_KEYS | PASSWORD)))
        needs |= DEFAULT_USER;
    if (request->cache)
        needs |= CACHE | VENDOR_DATA;
    if (parts_find(&request->parts, PART_VENDOR_DATA) || request->new_machine_id ||
        request_wants_report(request))
        needs |= VENDOR_DATA;
    return needs;
}

/* --- what a key does ---------------------------------------------------------------- */

/* Each returns the node that takes it away, or NULL. */
typedef const struct yaml_node *cancels(const struct check *check,
                                        const struct documents *documents,
                                        const struct yaml_node *node);

static const struct yaml_node *
is_set(const struct check *check, const struct documents *documents,
       const struct yaml_node *node)
{
    return rule_there(check, node) ? node : NULL;
}

static const struct yaml_node *
is_true(const struct check *check, const struct documents *documents,
        const struct yaml_node *node)
{
    return rules_is_true(node) ? node : NULL;
}

static const struct yaml_node *
is_false(const struct check *check, const struct documents *documents,
         const struct yaml_node *node)
{
    return node->kind == YAML_SCALAR && *node->text && !rules_is_true(node) ? node : NULL;
}

static const struct yaml_node *
is_disabled(const struct check *check, const struct documents *documents,
            const struct yaml_node *node)
{
    const struct yaml_node *enabled = yaml_get(node, "enabled");

    return enabled ? is_false(check, documents, enabled) : NULL;
}

/* <hostname> may be a whole name, or its first label. */
static const struct yaml_node *
is_other_name(const struct check *check, const struct documents *documents,
              const struct yaml_node *node)
{
    const char *name = check->request->hostname;
    const size_t label = strcspn(name, ".");

    if (node->kind != YAML_SCALAR || !*node->text || strcasecmp(node->text, name) == 0)
        return NULL;
    if (strncasecmp(node->text, name, label) == 0 &&
        (!node->text[label] || (node->text[label] == '.' && !name[label])))
        return NULL;
    return node;
}

static bool
is_default(const struct yaml_node *user)
{
    const struct yaml_node *name =
        user->kind == YAML_MAPPING ? yaml_get(user, "name") : user;

    return name && strstr(name->text, "default");
}

/* Without a default user, the keys go to root alone, who may not use them. */
static const struct yaml_node *
lacks_default(const struct check *check, const struct documents *documents,
              const struct yaml_node *node)
{
    const struct yaml_node *disabled = find_value(documents, "disable_root");

    if ((find_needs(check->request) & SSH_KEYS) && disabled && !rules_is_true(disabled))
        return NULL;
    if (node->kind == YAML_MAPPING ||
        (node->kind == YAML_SCALAR && (!*node->text || is_default(node))))
        return NULL;
    yaml_foreach(item, node) {
        if (is_default(item->value))
            return NULL;
    }
    return node;
}

/* chpasswd comes later, and unlocks. It may name anyone by an expression of its own. */
static bool
is_in_chpasswd(const struct documents *documents, const struct yaml_node *name)
{
    const struct yaml_node *chpasswd = find_value(documents, "chpasswd");
    const struct yaml_node *list = yaml_get(chpasswd, "list");
    const struct yaml_node *users = yaml_get(chpasswd, "users");

    if (list)
        return list->kind == YAML_SEQUENCE || !name || strstr(list->text, name->text);
    yaml_foreach(item, users) {
        const struct yaml_node *other = yaml_get(item->value, "name");

        if (name && other && strcmp(name->text, other->text) == 0)
            return true;
    }
    return false;
}

static const struct yaml_node *
locks_password(const struct check *check, const struct documents *documents,
               const struct yaml_node *node)
{
    static const char *const keys[] = {"passwd", "hashed_passwd", "hashed-passwd",
                                       "plain_text_passwd", "plain-text-passwd"};

    size_t count = 0;

    if (node->kind != YAML_SEQUENCE)
        return NULL;
    for (const struct yaml_item *item = node->items; item && count < USERS_MAX;
         item = item->next, count++) {
        const struct yaml_node *user = item->value;

        if (yaml_get(user, "lock_passwd") || yaml_get(user, "lock-passwd") ||
            is_in_chpasswd(documents, yaml_get(user, "name")))
            continue;
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
            const struct yaml_node *password = yaml_get(user, keys[i]);

            if (password && rule_is_password(check, password))
                return password;
        }
    }
    return NULL;
}

/* --- the pairs ---------------------------------------------------------------------- */

static const struct pair {
    unsigned int needs; /* without effect otherwise */
    const char *key;    /* at the top of a cloud-config */
    cancels *cancels;
    const char *message; /* follows the key */
    const char *hint;
} pairs[] = {
    {DEFAULT_USER, "users", lacks_default,
     "has no 'default', so the default user's ssh keys and password go to nobody",
     "add '- default' as its first item, or give the keys to users in the list"},
    {NOTHING, "users", locks_password,
     "has a password of a user without 'lock_passwd: false', so the user cannot log in "
     "with it",
     "write 'lock_passwd: false' next to it"},
    {NOTHING, "network", is_set,
     "comes too late: cloud-init sets up the network before it reads this",
     "move it to <network-config>"},
    {NOTHING, "datasource_list", is_set,
     "comes too late to choose the datasource, and a later boot could look elsewhere",
     "remove it: virt-seed tells the guest its datasource"},
    {NOTHING, "datasource", is_set,
     "comes too late: cloud-init has found its datasource already",
     "remove it, or write it into the image, to /etc/cloud/cloud.cfg.d"},
    {HOSTNAME, "hostname", is_other_name, "differs from <hostname>, and wins",
     "keep one of them"},
    {HOSTNAME, "fqdn", is_other_name, "differs from <hostname>, and wins",
     "keep one of them"},
    {HOSTNAME, "preserve_hostname", is_true, "keeps the guest from using <hostname>",
     "remove one of them"},
    {NEW_HOST_KEYS, "ssh_deletekeys", is_false,
     "keeps the image's host keys, against what the request asks", "remove it"},
    {OLD_HOST_KEYS, "ssh_deletekeys", is_true,
     "removes the image's host keys, against what the request asks", "remove it"},
    {HOST_KEYS, "ssh_keys", is_set, "replaces the host keys that the request gives",
     "keep one of them"},
    {ROOT_KEYS, "disable_root", is_true, "keeps root from logging in with its ssh keys",
     "remove it"},
    {SSH_KEYS, "allow_public_ssh_keys", is_false,
     "keeps the guest from using <ssh-authorized-keys>", "remove one of them"},
    {PASSWORD, "password", is_set, "replaces the password that 'virt-seed set' stored",
     "keep one of them"},
    {VENDOR_DATA, "vendor_data", is_disabled,
     "turns off vendor-data, and with it the report, cache= and what else virt-seed puts "
     "there",
     "remove it, or write report=\"no\" and remove vendor-data"},
    {CACHE, "manual_cache_clean", is_false, "cancels cache=\"keep\"",
     "remove one of them"},
};

void
check_conflicts(const struct check *check)
{
    __attribute__((cleanup(documents_clear))) struct documents documents = {0};
    const unsigned int needs = find_needs(check->request);
    /* In the seed's order: the custom script comes first. */
    static const enum part_kind kinds[] = {PART_VALUE, PART_USER_DATA, PART_VENDOR_DATA};

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        parts_foreach(part, &check->request->parts, kinds[i])
            check_each_piece(check, part, add_document, &documents);
    }
    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
        const struct pair *pair = &pairs[i];
        const struct config_document *document = find_document(&documents, pair->key);
        const struct yaml_node *node;

        if (!document || (pair->needs & needs) != pair->needs)
            continue;
        node = pair->cancels(check, &documents, yaml_get(document->yaml.root, pair->key));
        if (!node)
            continue;
        check_warn_of(check, WARNING_CANCELLED, &document->part, node->line, pair->hint,
                      ": '%s' %s", pair->key, pair->message);
    }
}
