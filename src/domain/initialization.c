/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: each element, at every depth, has a row in a table; an element without a
 * row is an error. Elements that may occur several times, or whose order matters, are read
 * by a function in their row, the others by settle() after all of them.
 * As in oVirt's engine, an element without text has no effect, unless it is a password.
 *
 * root is not one of the users, since every guest has it. As in oVirt's engine, the
 * default user gets root's keys, too.
 */
#include "config.h"

#include "domain/guest-value.h"
#include "domain/initialization.h"
#include "domain/xml.h"

/* What oVirt's API prints instead of a password. */
#define OVIRT_MASK "******"

/* --- the host name ------------------------------------------------------------------ */

static int
read_host_name(void *data, const xmlNode *node, struct failure **failure)
{
    struct initialization *initialization = data;
    cleanup_free char *word = vocabulary_word(node);

    if (!*word)
        return 0;
    if (initialization->host_name)
        return vocabulary_fail(node, failure, FAILURE_HOSTNAME,
                               "sets the host name a second time\n"
                               "keep one of <host_name> and <host>");
    initialization->host_name = steal(word);
    if (hostname_check(initialization->host_name, failure) < 0)
        return failure_prefix(failure, "<%s>", node->name);
    return 0;
}

static const struct vocabulary_element host_elements[] = {
    {"address", .read = read_host_name},
    {0},
};

/* --- users ---------------------------------------------------------------------------- */

/* Return: the user of that name, added if missing; NULL if there would be too many. */
static struct initialization_user *
find_user(struct initialization *initialization, const char *name, const xmlNode *node,
          struct failure **failure)
{
    struct initialization_user *user;

    for (size_t i = 0; i < initialization->user_count; i++) {
        if (strcmp(initialization->users[i].name, name) == 0)
            return &initialization->users[i];
    }
    if (initialization->user_count == LIMIT_USERS) {
        vocabulary_fail(node, failure, FAILURE_LIMIT,
                        "names too many users, at most %d\n"
                        "create the others in a <custom_script>",
                        LIMIT_USERS);
        return NULL;
    }
    user = array_add(initialization->users, initialization->user_count);
    *user = (struct initialization_user){.name = xstrdup(name)};
    return user;
}

#define USER_NAME                                                                        \
    "user_name", .is_valid = guest_value_is_user_name, .expected = USER_NAME_RULE

/* Reads the password of the user of that name, unless the element is NULL. */
static int
read_password(struct part **password, struct parts *parts, const xmlNode *node,
              const char *name, struct failure **failure)
{
    cleanup_free char *word = NULL;

    if (!node)
        return 0;
    if (*password)
        return vocabulary_fail(vocabulary_is(node, "password") ? node->parent : node,
                               failure, FAILURE_REQUEST,
                               "gives '%s' a second password\nkeep one of them", name);
    *password = parts_add(parts, PART_VALUE, node, false, failure);
    if (!*password)
        return -1;
    word = part_word(*password);
    if ((*password)->origin != PART_INLINE || strcmp(word, OVIRT_MASK) != 0)
        return 0;
    return vocabulary_fail(node, failure, FAILURE_REQUEST,
                           "has the asterisks that oVirt prints instead of a password\n"
                           "write the password, or better secret=\"NAME\"");
}

static int
read_root_password(void *data, const xmlNode *node, struct failure **failure)
{
    struct initialization *initialization = data;

    return read_password(&initialization->root_password, initialization->parts, node,
                         "root", failure);
}

static const struct vocabulary_element user_elements[] = {
    {USER_NAME},
    {"password", .attributes = {"secret", "key"},
     .flags = VOCABULARY_SECRET | VOCABULARY_VERBATIM},
    {0},
};

static int
read_user(void *data, const xmlNode *node, struct failure **failure)
{
    struct initialization *initialization = data;
    const xmlNode *password = vocabulary_child(node, "password");
    cleanup_free char *name = vocabulary_child_word(node, "user_name");
    struct initialization_user *user;

    if (!name)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has no <user_name>\n"
                               "write <user_name>NAME</user_name>");
    if (strcmp(name, "root") == 0)
        return read_root_password(initialization, password, failure);
    user = find_user(initialization, name, node, failure);
    if (!user)
        return -1;
    return read_password(&user->password, initialization->parts, password, name, failure);
}

static const struct vocabulary_element users_elements[] = {
    {"user", .read = read_user, .children = user_elements, .flags = VOCABULARY_SEVERAL},
    {0},
};

/* --- keys --------------------------------------------------------------------------- */

static int
append_key(char ***keys, size_t *count, const char *key, const xmlNode *node,
           struct failure **failure)
{
    if (*count == LIMIT_SSH_KEYS)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "gives a user more than %d keys\n"
                               "remove some, or use an ssh certificate authority",
                               LIMIT_SSH_KEYS);
    texts_add(keys, count, xstrdup(key));
    return 0;
}

static const struct vocabulary_element key_owner_elements[] = {
    {USER_NAME},
    {0},
};
static const struct vocabulary_element authorized_key_elements[] = {
    {"user", .children = key_owner_elements},
    {.name = "key"},
    {0},
};

/* In oVirt, a key without a user is root's. */
static int
read_authorized_key(void *data, const xmlNode *node, struct failure **failure)
{
    struct initialization *initialization = data;
    cleanup_free char *name =
        vocabulary_child_word(vocabulary_child(node, "user"), "user_name");
    cleanup_free char *key = vocabulary_child_word(node, "key");
    struct initialization_user *user;

    if (!key)
        return vocabulary_fail(node, failure, FAILURE_SSH_KEY,
                               "has no <key>\n"
                               "write <key>ssh-ed25519 AAAA…</key>");
    if (ssh_key_check(key, failure) < 0) {
        failure_prefix(failure, "<authorized_key>");
        return failure_at_line(failure, xml_line(vocabulary_child(node, "key")));
    }
    if (!name || strcmp(name, "root") == 0)
        return append_key(&initialization->ssh_keys, &initialization->ssh_key_count, key,
                          node, failure);
    user = find_user(initialization, name, node, failure);
    if (!user)
        return -1;
    return append_key(&user->ssh_keys, &user->ssh_key_count, key, node, failure);
}

static const struct vocabulary_element authorized_keys_elements[] = {
    {"authorized_key", .read = read_authorized_key, .children = authorized_key_elements,
     .flags = VOCABULARY_SEVERAL},
    {0},
};

/* One key per line; empty lines and comments are skipped. */
static int
read_authorized_ssh_keys(void *data, const xmlNode *node, struct failure **failure)
{
    struct initialization *initialization = data;
    cleanup_free char *text = xml_text(node);
    char *rest = text;
    int number = 0;

    for (char *key; (key = ssh_key_next(&rest, &number));) {
        if (ssh_key_check(key, failure) < 0)
            return failure_prefix(failure, "<%s>: line %d", node->name, number);
        if (append_key(&initialization->ssh_keys, &initialization->ssh_key_count, key,
                       node, failure) < 0)
            return -1;
    }
    return 0;
}

/* --- files ---------------------------------------------------------------------------- */

static const struct vocabulary_element file_elements[] = {
    {"name", .is_valid = guest_value_is_path,
     .expected = "an absolute path without '.', '..' or empty parts"},
    {"content", .attributes = {"encoding", "file", "secret", "key"},
     .flags = VOCABULARY_VERBATIM},
    {.name = "type"},
    {0},
};

static int
read_file(void *data, const xmlNode *node, struct failure **failure)
{
    struct initialization *initialization = data;
    cleanup_free char *path = vocabulary_child_word(node, "name");
    cleanup_free char *type = vocabulary_child_word(node, "type");
    const bool base64 = type && strcasecmp(type, "BASE64") == 0;
    const xmlNode *element = vocabulary_child(node, "content");
    struct part *content;

    if (type && !base64 && strcasecmp(type, "PLAINTEXT") != 0)
        return vocabulary_fail_text(vocabulary_child(node, "type"), type,
                                    "PLAINTEXT or BASE64", failure);
    if (!path || !element)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has no <%s>\n"
                               "write <name>PATH</name><content>TEXT</content>",
                               path ? "content" : "name");
    if (initialization->file_count == LIMIT_FILES)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "occurs too many times, at most %d files\n"
                               "let the guest fetch the others itself",
                               LIMIT_FILES);
    if (base64 && part_is_reference(element))
        return vocabulary_fail(element, failure, FAILURE_REQUEST,
                               "is of type BASE64, which is for text in the element\n"
                               "remove <type>: files and secrets are not decoded");
    content = parts_add(initialization->parts, PART_VALUE, element, base64, failure);
    if (!content)
        return -1;
    *array_add(initialization->files, initialization->file_count) =
        (struct initialization_file){.path = steal(path), .content = content};
    return 0;
}

static const struct vocabulary_element files_elements[] = {
    {"file", .read = read_file, .children = file_elements, .flags = VOCABULARY_SEVERAL},
    {0},
};

/* --- the element ------------------------------------------------------------------------ */

/* For sysprep of Windows. */
#define SYSPREP (VOCABULARY_UNUSED | VOCABULARY_ANYTHING)

const struct vocabulary_element initialization_elements[] = {
    {"host_name", .read = read_host_name},
    {"host", .children = host_elements},
    {"timezone", .is_valid = guest_value_is_timezone,
     .expected = "a name like Europe/Berlin"},
    {"locale", .is_valid = guest_value_is_locale, .expected = "a name like en_US.UTF-8"},
    {"root_password", read_root_password, .attributes = {"secret", "key"},
     .flags = VOCABULARY_SECRET | VOCABULARY_VERBATIM},
    {USER_NAME},
    {"users", .children = users_elements},
    {"authorized_ssh_keys", read_authorized_ssh_keys, .flags = VOCABULARY_VERBATIM},
    {"authorized_keys", .children = authorized_keys_elements},
    {"regenerate_ssh_keys", .flags = VOCABULARY_KEYWORD},
    {.name = "dns_servers"},
    {.name = "dns_search"},
    {"nic_configurations", .children = network_nic_configurations_elements},
    {"network_configuration", .children = network_configuration_elements},
    {"cloud_init_network_protocol", .flags = VOCABULARY_KEYWORD},
    {"files", .children = files_elements},
    {"custom_script", .attributes = {"secret", "key"}, .flags = VOCABULARY_VERBATIM},
    {"phone_home", .is_valid = guest_value_is_url, .expected = "an http or https URL"},
    {"domain", .flags = SYSPREP},
    {"windows_license_key",
     .flags = VOCABULARY_UNUSED | VOCABULARY_ANYTHING | VOCABULARY_SECRET},
    {"input_locale", .flags = SYSPREP},
    {"ui_language", .flags = SYSPREP},
    {"system_locale", .flags = SYSPREP},
    {"user_locale", .flags = SYSPREP},
    {"active_directory_ou", .flags = SYSPREP},
    {"org_name", .flags = SYSPREP},
    {"regenerate_ids", .flags = SYSPREP},
    {"configuration", .flags = SYSPREP},
    {0},
};

/* Reads what has a place of its own, and checks what must wait for all other elements. */
static int
settle(struct initialization *initialization, const xmlNode *node,
       struct failure **failure)
{
    struct network none = {0};
    struct network *network = initialization->network ? initialization->network : &none;
    const xmlNode *script = vocabulary_child(node, "custom_script");
    cleanup_free char *regenerate = vocabulary_child_word(node, "regenerate_ssh_keys");
    cleanup_free char *protocol =
        vocabulary_child_word(node, "cloud_init_network_protocol");
    cleanup_free char *servers = vocabulary_child_word(node, "dns_servers");
    cleanup_free char *searches = vocabulary_child_word(node, "dns_search");

    initialization->timezone = vocabulary_child_word(node, "timezone");
    initialization->locale = vocabulary_child_word(node, "locale");
    initialization->user_name = vocabulary_child_word(node, "user_name");
    initialization->phone_home = vocabulary_child_word(node, "phone_home");
    if (regenerate && strcmp(regenerate, "true") != 0 && strcmp(regenerate, "false") != 0)
        return vocabulary_fail_text(vocabulary_child(node, "regenerate_ssh_keys"),
                                    regenerate, "'true' or 'false'", failure);
    if (regenerate)
        initialization->regenerate_ssh_keys =
            *regenerate == 't' ? INITIALIZATION_YES : INITIALIZATION_NO;
    if (script) {
        initialization->custom_script =
            parts_add(initialization->parts, PART_VALUE, script, false, failure);
        if (!initialization->custom_script)
            return -1;
    }
    /* oVirt's own choice between two formats. Both get network_data.json, which can say more. */
    if (protocol && strcasecmp(protocol, "eni") != 0 &&
        strcasecmp(protocol, "openstack_metadata") != 0)
        return vocabulary_fail_text(vocabulary_child(node, "cloud_init_network_protocol"),
                                    protocol, "'eni' or 'openstack_metadata'", failure);
    if (network_set_dns(network, servers, searches, failure) < 0)
        return failure_at_line(
            failure,
            xml_line(vocabulary_child(node, servers ? "dns_servers" : "dns_search")));
    if (network->nic_count == 0)
        network_free(steal(initialization->network));
    initialization->root_has_keys = initialization->ssh_key_count > 0;
    return 0;
}

struct initialization *
initialization_read(const xmlNode *node, struct parts *parts, struct failure **failure)
{
    struct initialization *initialization = xcalloc(1, sizeof(*initialization));

    initialization->parts = parts;
    if (vocabulary_read_children(node, initialization_elements, initialization,
                                 failure) == 0 &&
        settle(initialization, node, failure) == 0)
        return initialization;
    initialization_free(initialization);
    return NULL;
}

void
initialization_free(struct initialization *initialization)
{
    if (!initialization)
        return;
    free(initialization->host_name);
    free(initialization->user_name);
    free(initialization->timezone);
    free(initialization->locale);
    free(initialization->phone_home);
    for (size_t i = 0; i < initialization->user_count; i++) {
        free(initialization->users[i].name);
        texts_free(initialization->users[i].ssh_keys,
                   initialization->users[i].ssh_key_count);
    }
    free(initialization->users);
    for (size_t i = 0; i < initialization->file_count; i++)
        free(initialization->files[i].path);
    free(initialization->files);
    texts_free(initialization->ssh_keys, initialization->ssh_key_count);
    network_free(initialization->network);
    free(initialization);
}
