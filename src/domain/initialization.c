/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: each element has a row in a table, with the function that reads it, and
 * so have the elements within it. What has no row is an error; one without text says
 * nothing, as for oVirt's engine, but for passwords. The users and their keys stand in
 * domain/initialization-users.c, the files in domain/initialization-files.c.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/texts.h"
#include "domain/guest-value.h"
#include "domain/initialization-files.h"
#include "domain/initialization-users.h"
#include "domain/initialization.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

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

static int
read_host(void *data, const xmlNode *node, struct failure **failure)
{
    static const struct vocabulary_element elements[] = {
        {"address", read_host_name, {NULL}, 0},
        {0},
    };

    return vocabulary_read_children(node, elements, data, failure);
}

/* --- users and keys ----------------------------------------------------------------- */

static int
read_root_password(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    return initialization_read_root_password(reading->initialization, node,
                                             reading->parts, failure);
}

static int
read_users(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    return initialization_read_users(reading->initialization, node, reading->parts,
                                     failure);
}

static int
read_authorized_keys(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    return initialization_read_authorized_keys(reading->initialization, node, failure);
}

static int
read_authorized_ssh_keys(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    return initialization_read_authorized_ssh_keys(reading->initialization, node,
                                                   failure);
}

/* --- files ---------------------------------------------------------------------------- */

static int
read_files(void *data, const xmlNode *node, struct failure **failure)
{
    struct reading *reading = data;

    return initialization_read_files(reading->initialization, node, reading->parts,
                                     failure);
}

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

#define SYSPREP(name)                                                                    \
    {                                                                                    \
        name, read_sysprep, {NULL}, VOCABULARY_CHILDREN                                  \
    }

static const struct vocabulary_element elements[] = {
    {"host_name", read_host_name, {NULL}, 0},
    {"host", read_host, {NULL}, VOCABULARY_CHILDREN},
    {"timezone", read_timezone, {NULL}, 0},
    {"locale", read_locale, {NULL}, 0},
    {"root_password", read_root_password, {"secret", "key", NULL}, 0},
    {"user_name", read_user_name, {NULL}, 0},
    {"users", read_users, {NULL}, VOCABULARY_CHILDREN},
    {"authorized_ssh_keys", read_authorized_ssh_keys, {NULL}, 0},
    {"authorized_keys", read_authorized_keys, {NULL}, VOCABULARY_CHILDREN},
    {"regenerate_ssh_keys", read_regenerate_ssh_keys, {NULL}, 0},
    {"dns_servers", read_dns_servers, {NULL}, 0},
    {"dns_search", read_dns_search, {NULL}, 0},
    {"nic_configurations", read_nic_configurations, {NULL}, VOCABULARY_CHILDREN},
    {"network_configuration", read_nic_configurations, {NULL}, VOCABULARY_CHILDREN},
    {"cloud_init_network_protocol", read_network_protocol, {NULL}, 0},
    {"files", read_files, {NULL}, VOCABULARY_CHILDREN},
    {"custom_script", read_custom_script, {"secret", "key", NULL}, 0},
    {"phone_home", read_phone_home, {NULL}, 0},
    SYSPREP("domain"),
    SYSPREP("windows_license_key"),
    SYSPREP("input_locale"),
    SYSPREP("ui_language"),
    SYSPREP("system_locale"),
    SYSPREP("user_locale"),
    SYSPREP("active_directory_ou"),
    SYSPREP("org_name"),
    SYSPREP("regenerate_ids"),
    SYSPREP("configuration"),
    {0},
};

struct initialization *
initialization_read(const xmlNode *node, struct parts *parts, struct failure **failure)
{
    struct initialization *initialization = xcalloc(1, sizeof(*initialization));
    struct reading reading = {.initialization = initialization, .parts = parts};

    if (vocabulary_read_children(node, elements, &reading, failure) < 0 ||
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
