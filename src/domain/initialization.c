/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: each element has a row in a table, with the function that reads it, and
 * so have the elements within it. What has no row is an error; one without text says
 * nothing, as for oVirt's engine, but for passwords.
 *
 * What belongs to root is not among the users: root is there in every guest. Its keys are
 * the default user's, too, as oVirt's engine has it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "domain/guest-value.h"
#include "domain/initialization.h"
#include "domain/xml.h"

/* What oVirt's API prints in the place of a password. */
#define OVIRT_MASK "******"

/* What is read, and what can be judged only when all of it was. */
struct reading {
    struct initialization *initialization;
    struct parts *parts;
    const xmlNode *dns_servers;
    const xmlNode *dns_search;
    bool eni;
};

/* --- single values ------------------------------------------------------------------ */

static int
read_timezone(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    return vocabulary_read_word(&reading->initialization->timezone, node,
                                guest_value_is_timezone, "a name like Europe/Berlin",
                                failure);
}

static int
read_locale(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    return vocabulary_read_word(&reading->initialization->locale, node,
                                guest_value_is_locale, "a name like en_US.UTF-8",
                                failure);
}

static int
read_phone_home(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    return vocabulary_read_word(&reading->initialization->phone_home, node,
                                guest_value_is_url, "an URL of http or https", failure);
}

static int
read_user_name(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    return vocabulary_read_word(&reading->initialization->user_name, node,
                                guest_value_is_user_name, GUEST_VALUE_USER_NAME, failure);
}

static int
read_regenerate_ssh_keys(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;
    cleanup_free char *word = vocabulary_word(node);
    bool yes = strcmp(word, "true") == 0;

    if (!*word)
        return 0;
    if (!yes && strcmp(word, "false") != 0)
        return vocabulary_fail_text(node, word, "'true' or 'false'", failure);
    reading->initialization->regenerate_ssh_keys =
        yes ? INITIALIZATION_YES : INITIALIZATION_NO;
    return 0;
}

static int
read_custom_script(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    reading->initialization->custom_script =
        parts_add(reading->parts, PART_VALUE, node, failure);
    return reading->initialization->custom_script ? 0 : -1;
}

/* --- the host's name ---------------------------------------------------------------- */

static int
read_host_name(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;
    struct initialization *initialization = reading->initialization;

    cleanup_free char *word = vocabulary_word(node);

    if (!*word)
        return 0;
    if (initialization->host_name)
        return vocabulary_fail(node, failure, FAILURE_HOSTNAME,
                               "is the second element with the host's name",
                               "keep one of <host_name> and <host>");
    initialization->host_name = steal(word);
    if (hostname_check(initialization->host_name, failure) == 0)
        return 0;
    failure_prefix(failure, "<%s>", node->name);
    return failure_at_line(failure, xml_line(node));
}

static const struct vocabulary_element host_elements[] = {
    {"address", .read = read_host_name},
    {0},
};

/* --- users ---------------------------------------------------------------------------- */

/* A user's name, and either its password or one of its keys. */
struct user_reading {
    struct parts *parts;
    char *name;
    char *key;
    struct part *password;
};

static void
user_reading_clear(struct user_reading *user)
{
    free(user->name);
    free(user->key);
}

#define cleanup_user_reading __attribute__((cleanup(user_reading_clear)))

static bool
is_root(const char *name)
{
    return strcmp(name, "root") == 0;
}

static int
read_name(void *data, const xmlNode *node, struct failure **failure)
{
    struct user_reading *user = data;

    return vocabulary_read_word(&user->name, node, guest_value_is_user_name,
                                GUEST_VALUE_USER_NAME, failure);
}

/* Return: the user of that name, added where there is none; NULL when there are too many. */
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
        vocabulary_fail(node, failure, FAILURE_LIMIT, "is one of too many",
                        "at most 64 users");
        return NULL;
    }
    user = array_add(initialization->users, initialization->user_count);
    *user = (struct initialization_user){.name = xstrdup(name)};
    return user;
}

static int
read_password(void *data, const xmlNode *node, struct failure **failure)
{
    struct user_reading *user = data;
    struct part *part = parts_add(user->parts, PART_VALUE, node, failure);
    cleanup_free char *word = part ? part_word(part) : NULL;

    if (!part)
        return -1;
    if (part->origin == PART_INLINE && strcmp(word, OVIRT_MASK) == 0)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has the stars that oVirt prints in place of a password",
                               "write the password, or better secret=\"NAME\"");
    user->password = part;
    return 0;
}

static int
set_password(struct part **slot, struct part *password, const xmlNode *node,
             const char *name, struct failure **failure)
{
    if (!password)
        return 0;
    if (*slot)
        return failure_set_at(failure, FAILURE_REQUEST, xml_line(node),
                              "<%s> gives '%s' a second password\nkeep one of them",
                              node->name, name);
    *slot = password;
    return 0;
}

static int
read_root_password(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;
    struct user_reading root = {.parts = reading->parts};

    if (read_password(&root, node, failure) < 0)
        return -1;
    return set_password(&reading->initialization->root_password, root.password, node,
                        "root", failure);
}

static const struct vocabulary_element user_elements[] = {
    {"user_name", .read = read_name},
    {"password", read_password, .attributes = {"secret", "key"},
     .flags = VOCABULARY_SECRET | VOCABULARY_VERBATIM},
    {0},
};

static int
read_user(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;
    struct initialization *initialization = reading->initialization;
    cleanup_user_reading struct user_reading read = {.parts = reading->parts};
    struct initialization_user *user;

    if (vocabulary_read_children(node, user_elements, &read, failure) < 0)
        return -1;
    if (!read.name)
        return vocabulary_fail(node, failure, FAILURE_REQUEST, "has no <user_name>",
                               "write <user_name>NAME</user_name>");
    if (is_root(read.name))
        return set_password(&initialization->root_password, read.password, node, "root",
                            failure);
    user = find_user(initialization, read.name, node, failure);
    return user ? set_password(&user->password, read.password, node, user->name, failure)
                : -1;
}

static const struct vocabulary_element users_elements[] = {
    {"user", .read = read_user, .children = user_elements, .flags = VOCABULARY_SEVERAL},
    {0},
};

/* --- keys --------------------------------------------------------------------------- */

/* Takes the key over. */
static int
append_key(char ***keys, size_t *count, char *key, const xmlNode *node,
           struct failure **failure)
{
    cleanup_free char *owned = key;

    if (*count == LIMIT_SSH_KEYS)
        return vocabulary_fail(node, failure, FAILURE_LIMIT, "has one of too many keys",
                               "at most 256 keys of one user");
    texts_add(keys, count, steal(owned));
    return 0;
}

static int
read_key(void *data, const xmlNode *node, struct failure **failure)
{
    struct user_reading *user = data;

    user->key = vocabulary_word(node);
    if (ssh_key_check(user->key, failure) == 0)
        return 0;
    failure_prefix(failure, "<authorized_key>");
    return failure_at_line(failure, xml_line(node));
}

static const struct vocabulary_element key_owner_elements[] = {
    {"user_name", .read = read_name},
    {0},
};
static const struct vocabulary_element authorized_key_elements[] = {
    {"user", .children = key_owner_elements},
    {"key", .read = read_key},
    {0},
};

/* oVirt's keys are root's, where nobody is named. */
static int
read_authorized_key(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;
    struct initialization *initialization = reading->initialization;
    cleanup_user_reading struct user_reading read = {0};
    struct initialization_user *user;

    if (vocabulary_read_children(node, authorized_key_elements, &read, failure) < 0)
        return -1;
    if (!read.key)
        return vocabulary_fail(node, failure, FAILURE_SSH_KEY, "has no <key>",
                               "write <key>ssh-ed25519 AAAA…</key>");
    if (!read.name || is_root(read.name))
        return append_key(&initialization->ssh_keys, &initialization->ssh_key_count,
                          steal(read.key), node, failure);
    user = find_user(initialization, read.name, node, failure);
    return user ? append_key(&user->ssh_keys, &user->ssh_key_count, steal(read.key), node,
                             failure)
                : -1;
}

static const struct vocabulary_element authorized_keys_elements[] = {
    {"authorized_key", .read = read_authorized_key, .children = authorized_key_elements,
     .flags = VOCABULARY_SEVERAL},
    {0},
};

/* One key a line; empty lines and comments are none. */
static int
read_authorized_ssh_keys(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;
    struct initialization *initialization = reading->initialization;
    cleanup_free char *text = xml_text(node);
    char *rest = text;
    int number = 0;

    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        number++;
        line += strspn(line, " \t\r");
        line[strcspn(line, "\r")] = '\0';
        if (*line == '\0' || *line == '#')
            continue;
        if (ssh_key_check(line, failure) < 0) {
            failure_prefix(failure, "<%s>: line %d", node->name, number);
            return failure_at_line(failure, xml_line(node));
        }
        if (append_key(&initialization->ssh_keys, &initialization->ssh_key_count,
                       xstrdup(line), node, failure) < 0)
            return -1;
    }
    return 0;
}

/* --- files ---------------------------------------------------------------------------- */

/* The type may stand behind the content. */
struct file_reading {
    char *path;
    const xmlNode *content;
    bool base64;
};

static int
read_file_name(void *data, const xmlNode *node, struct failure **failure)
{
    struct file_reading *file = data;

    return vocabulary_read_word(&file->path, node, guest_value_is_path,
                                "an absolute path without '.', '..' and empty parts",
                                failure);
}

static int
read_file_content(void *data, const xmlNode *node, struct failure **failure)
{
    struct file_reading *file = data;

    (void)failure;
    file->content = node;
    return 0;
}

static int
read_file_type(void *data, const xmlNode *node, struct failure **failure)
{
    struct file_reading *file = data;
    cleanup_free char *word = vocabulary_word(node);

    file->base64 = strcasecmp(word, "BASE64") == 0;
    if (!*word || file->base64 || strcasecmp(word, "PLAINTEXT") == 0)
        return 0;
    return vocabulary_fail_text(node, word, "PLAINTEXT or BASE64", failure);
}

/* Return: the part, or NULL. */
static struct part *
add_content(struct parts *parts, const struct file_reading *file,
            struct failure **failure)
{
    const xmlNode *node = file->content;

    if (!file->base64)
        return parts_add(parts, PART_VALUE, node, failure);
    if (!xmlHasProp(node, (const xmlChar *)"file") &&
        !xmlHasProp(node, (const xmlChar *)"secret"))
        return parts_add_base64(parts, PART_VALUE, node, failure);
    vocabulary_fail(node, failure, FAILURE_REQUEST,
                    "is of type BASE64, which is for text in the element",
                    "remove <type>: files and secrets are taken as they are");
    return NULL;
}

static const struct vocabulary_element file_elements[] = {
    {"name", .read = read_file_name},
    {"content", read_file_content, .attributes = {"encoding", "file", "secret", "key"},
     .flags = VOCABULARY_VERBATIM},
    {"type", .read = read_file_type},
    {0},
};

static int
add_file(struct reading *reading, const xmlNode *node, struct file_reading *file,
         struct failure **failure)
{
    struct initialization *initialization = reading->initialization;
    struct part *content;

    if (!file->path || !file->content)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               file->path ? "has no <content>" : "has no <name>",
                               "write <name>PATH</name><content>TEXT</content>");
    if (initialization->file_count == LIMIT_FILES)
        return vocabulary_fail(node, failure, FAILURE_LIMIT, "is one of too many",
                               "at most 64 files");
    content = add_content(reading->parts, file, failure);
    if (!content)
        return -1;
    *array_add(initialization->files, initialization->file_count) =
        (struct initialization_file){.path = steal(file->path), .content = content};
    return 0;
}

static int
read_file(void *data, const xmlNode *node, struct failure **failure)
{
    struct file_reading file = {0};
    int result = vocabulary_read_children(node, file_elements, &file, failure);

    if (result == 0)
        result = add_file(data, node, &file, failure);
    free(file.path);
    return result;
}

static const struct vocabulary_element files_elements[] = {
    {"file", .read = read_file, .children = file_elements, .flags = VOCABULARY_SEVERAL},
    {0},
};

/* --- the network ---------------------------------------------------------------------- */

static int
read_nic_configurations(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    if (!reading->initialization->network)
        reading->initialization->network = xcalloc(1, sizeof(struct network));
    return network_read_nic_configurations(reading->initialization->network, node,
                                           failure);
}

static int
read_dns_servers(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    (void)failure;
    reading->dns_servers = node;
    return 0;
}

static int
read_dns_search(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    (void)failure;
    reading->dns_search = node;
    return 0;
}

static int
read_network_protocol(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;
    cleanup_free char *word = vocabulary_word(node);

    reading->eni = strcasecmp(word, "eni") == 0;
    if (!*word || reading->eni || strcasecmp(word, "openstack_metadata") == 0)
        return 0;
    return vocabulary_fail_text(node, word, "'eni' or 'openstack_metadata'", failure);
}

/* Without a nic there is nothing that the names of DNS could belong to, which
 * network_set_dns() says. */
static int
finish_network(struct reading *reading, struct failure **failure)
{
    struct initialization *initialization = reading->initialization;
    struct network none = {0};
    struct network *network = initialization->network ? initialization->network : &none;
    const xmlNode *first =
        reading->dns_servers ? reading->dns_servers : reading->dns_search;
    cleanup_free char *servers =
        reading->dns_servers ? vocabulary_word(reading->dns_servers) : NULL;
    cleanup_free char *searches =
        reading->dns_search ? vocabulary_word(reading->dns_search) : NULL;

    if (first && network_set_dns(network, servers, searches, failure) < 0)
        return failure_at_line(failure, xml_line(first));
    network->eni = reading->eni;
    if (network->nic_count == 0)
        network_free(steal(initialization->network));
    return 0;
}

/* --- the element ------------------------------------------------------------------------ */

static int
read_sysprep(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;
    struct initialization *initialization = reading->initialization;

    (void)failure;
    texts_add(&initialization->notes, &initialization->note_count,
              xasprintf("<%s> is for sysprep of Windows and has no effect", node->name));
    return 0;
}

#define SYSPREP .read = read_sysprep, .flags = VOCABULARY_UNUSED | VOCABULARY_ANYTHING

const struct vocabulary_element initialization_elements[] = {
    {"host_name", .read = read_host_name},
    {"host", .children = host_elements},
    {"timezone", .read = read_timezone},
    {"locale", .read = read_locale},
    {"root_password", read_root_password, .attributes = {"secret", "key"},
     .flags = VOCABULARY_SECRET | VOCABULARY_VERBATIM},
    {"user_name", .read = read_user_name},
    {"users", .children = users_elements},
    {"authorized_ssh_keys", read_authorized_ssh_keys, .flags = VOCABULARY_VERBATIM},
    {"authorized_keys", .children = authorized_keys_elements},
    {"regenerate_ssh_keys", read_regenerate_ssh_keys, .flags = VOCABULARY_KEYWORD},
    {"dns_servers", .read = read_dns_servers},
    {"dns_search", .read = read_dns_search},
    {"nic_configurations", .read = read_nic_configurations,
     .children = network_nic_configurations_elements},
    {"network_configuration", .read = read_nic_configurations,
     .children = network_configuration_elements},
    {"cloud_init_network_protocol", read_network_protocol, .flags = VOCABULARY_KEYWORD},
    {"files", .children = files_elements},
    {"custom_script", read_custom_script, .attributes = {"secret", "key"},
     .flags = VOCABULARY_VERBATIM},
    {"phone_home", .read = read_phone_home},
    {"domain", SYSPREP},
    {"windows_license_key", .read = read_sysprep,
     .flags = VOCABULARY_UNUSED | VOCABULARY_ANYTHING | VOCABULARY_SECRET},
    {"input_locale", SYSPREP},
    {"ui_language", SYSPREP},
    {"system_locale", SYSPREP},
    {"user_locale", SYSPREP},
    {"active_directory_ou", SYSPREP},
    {"org_name", SYSPREP},
    {"regenerate_ids", SYSPREP},
    {"configuration", SYSPREP},
    {0},
};

struct initialization *
initialization_read(const xmlNode *node, struct parts *parts, struct failure **failure)
{
    struct initialization *initialization = xcalloc(1, sizeof(*initialization));
    struct reading reading = {.initialization = initialization, .parts = parts};

    if (vocabulary_read_children(node, initialization_elements, &reading, failure) < 0 ||
        finish_network(&reading, failure) < 0) {
        initialization_free(initialization);
        return NULL;
    }
    initialization->root_has_keys = initialization->ssh_key_count > 0;
    return initialization;
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
    texts_free(initialization->notes, initialization->note_count);
    free(initialization);
}
