/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guest's system drops of the seed, if libosinfo's element says that it is one that
 * usually has another reader than cloud-init:
 *
 *   FreeBSD   nuageinit (libexec/nuageinit in its source), as in 15.0
 *   Alpine    tiny-cloud (lib/tiny-cloud/init and lib/tiny-cloud/cloud/nocloud/imds there),
 *             as in 3.0; later ones read some keys of a cloud-config
 *   OpenBSD   nothing of its own; the port cloud-agent (agent/cloudinit.c and openstack.c
 *             there) reads by HTTP what EC2 and OpenStack serve
 *   CoreOS    Ignition, which reads neither NoCloud nor cloud-config
 *
 * or an old cloud-init. tests/consumer/readers.bats compares the first two with what they do.
 */
#include "config.h"

#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "check/check.h"
#include "seed/content.h"
#include "seed/layout.h"
#include "seed/yaml.h"

#define CLOUD_INIT "cloud-init"

/* The seed, as a reader sees it. */
struct given {
    const struct check *check;
    bool configdrive;
    const struct document *user_data;
    enum user_data_kind kind; /* of the user-data, as user_data_kind() names it */
    json_t *network; /* the configuration of the network; NULL if there is none */
};

static void __attribute__((format(printf, 4, 5)))
warn(const struct check *check, const char *unless, const char *hint, const char *format,
     ...)
{
    cleanup_free char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = xvasprintf(format, arguments);
    va_end(arguments);
    check_warn(check, WARNING_OTHER_READER, check->request->line, hint,
               "%s, unless the image has %s", text, unless);
}

static const char *
describe(enum user_data_kind kind)
{
    return kind == USER_DATA_MIME ? "several documents in one"
                                  : user_data_kind_name(kind);
}

/* --- FreeBSD ------------------------------------------------------------------------ */

static void
check_nuageinit_nocloud(const struct given *given)
{
    const struct check *check = given->check;
    const json_t *nics = json_object_get(given->network, "ethernets");
    const char *key;
    json_t *nic;

    if (given->kind != USER_DATA_CLOUD_CONFIG) {
        warn(
            check, CLOUD_INIT, "use datasource=\"configdrive\"",
            "FreeBSD's nuageinit reads a network-config only together with a cloud-config");
        return;
    }
    if (!nics) {
        warn(check, CLOUD_INIT, "write version 2, without the key 'network' around it",
             "FreeBSD's nuageinit fails at this network-config, and does not write the "
             "files of the cloud-config, nor run its commands");
        return;
    }
    json_object_foreach((json_t *)nics, key, nic)
    {
        if (!json_object_get(nic, "routes"))
            continue;
        warn(check, CLOUD_INIT,
             "write gateway4 and gateway6 in a network-config of your own",
             "FreeBSD's nuageinit ignores the routes of a network-config, and so its "
             "gateways");
        return;
    }
}

/* Each command is appended to a script as it is. */
static void
check_nuageinit_runcmd(const struct given *given)
{
    const struct buffer *data = &given->user_data->data;
    cleanup_failure struct failure *failure = NULL;
    cleanup_json json_t *config =
        yaml_load(data->data, data->size, YAML_ONE_MAPPING, &failure);
    size_t index;
    json_t *command;

    json_array_foreach(json_object_get(config, "runcmd"), index, command)
    {
        if (!json_is_array(command))
            continue;
        warn(given->check, CLOUD_INIT, "write each command as one text",
             "FreeBSD's nuageinit fails at a command in runcmd that is a list, and runs "
             "none, nor writes the files of write_files");
        return;
    }
}

static void
check_nuageinit_configdrive(const struct given *given)
{
    const json_t *networks = json_object_get(given->network, "networks");
    bool servers = false, routes = false;
    size_t index;
    json_t *network;

    json_array_foreach((json_t *)networks, index, network)
    {
        const char *type = json_string_value(json_object_get(network, "type"));

        servers |= json_array_size(json_object_get(network, "services")) > 0;
        routes |= type && strcmp(type, "ipv6") == 0 &&
                  json_array_size(json_object_get(network, "routes")) > 0;
    }
    if (servers)
        warn(given->check, CLOUD_INIT,
             "write a network_data.json of your own, with the services at its top",
             "FreeBSD's nuageinit ignores the name servers of each network");
    if (routes)
        warn(given->check, CLOUD_INIT,
             "write a network_data.json of your own, with the key 'gateway'",
             "FreeBSD's nuageinit ignores the routes of IPv6, and so its gateway");
}

/* A script, too, is read as YAML before anything is done. */
static void
check_nuageinit(const struct given *given)
{
    static const char hint[] = "write one cloud-config; a script can be in its runcmd";
    const struct check *check = given->check;
    const struct document *user_data = given->user_data;
    const bool is_config = given->kind == USER_DATA_CLOUD_CONFIG;
    const bool is_other = !is_config && given->kind != USER_DATA_NOTHING;
    cleanup_failure struct failure *failure = NULL;

    if (given->kind == USER_DATA_SCRIPT) {
        if (yaml_check(user_data->data.data, user_data->data.size, YAML_ONE_DOCUMENT,
                       &failure) < 0)
            warn(check, CLOUD_INIT, hint,
                 "FreeBSD's nuageinit reads this script as YAML, fails and does not run "
                 "it");
    } else if (is_other) {
        warn(check, CLOUD_INIT, hint,
             "FreeBSD's nuageinit ignores this user-data, which is %s",
             describe(given->kind));
    }
    if (is_other)
        warn(check, CLOUD_INIT, hint,
             "FreeBSD's nuageinit ignores the host name and the ssh keys next to such "
             "user-data");
    if (is_config)
        check_nuageinit_runcmd(given);
    if (parts_find(&check->request->parts, PART_VENDOR_DATA))
        warn(check, CLOUD_INIT, "write it as user-data",
             "FreeBSD's nuageinit ignores vendor-data");
    if (given->network && given->configdrive)
        check_nuageinit_configdrive(given);
    else if (given->network)
        check_nuageinit_nocloud(given);
}

/* --- Alpine ------------------------------------------------------------------------- */

static void
check_tiny_cloud(const struct given *given)
{
    static const char newer[] = CLOUD_INIT " or a newer tiny-cloud";
    const struct request *request = given->check->request;
    const struct document *user_data = given->user_data;
    enum user_data_kind kind = given->kind;
    cleanup_buffer struct buffer content = {0};
    cleanup_failure struct failure *failure = NULL;

    if (given->configdrive) {
        warn(given->check, CLOUD_INIT, "use datasource=\"nocloud\"",
             "Alpine's tiny-cloud does not read a ConfigDrive");
        return;
    }
    if (given->kind == USER_DATA_GZIP &&
        user_data_unpack(&content, user_data->data.data, user_data->data.size,
                         &failure) == 0)
        kind = user_data_kind(content.data, content.size);
    if (kind != USER_DATA_SCRIPT && kind != USER_DATA_NOTHING)
        warn(given->check, kind == USER_DATA_CLOUD_CONFIG ? newer : CLOUD_INIT,
             "write one script, which begins with '#!'",
             "Alpine's tiny-cloud ignores this user-data, which is %s", describe(kind));
    if (request->ssh_key_count > 0 || parts_find(&request->parts, PART_SSH_KEYS))
        warn(given->check, CLOUD_INIT, "write them by a script",
             "Alpine's tiny-cloud ignores the ssh keys");
    if (parts_find(&request->parts, PART_VENDOR_DATA))
        warn(given->check, CLOUD_INIT, "write it as user-data",
             "Alpine's tiny-cloud ignores vendor-data");
    if (given->network)
        warn(given->check, newer, "let the guest use DHCP",
             "Alpine's tiny-cloud ignores the network-config");
}

/* --- OpenBSD ------------------------------------------------------------------------ */

static void
check_cloud_agent(const struct given *given)
{
    warn(
        given->check, CLOUD_INIT, "install cloud-init in the image",
        "OpenBSD reads no seed: its cloud-agent asks only the metadata servers of clouds");
}

/* --- CoreOS ------------------------------------------------------------------------- */

static void
check_ignition(const struct given *given)
{
    if (given->kind != USER_DATA_NOTHING)
        warn(given->check, CLOUD_INIT,
             "give it its configuration with <sysinfo type='fwcfg'>",
             "CoreOS's Ignition does not read the seed");
}

/* --- an old cloud-init -------------------------------------------------------------- */

/* Where there is no netplan, cloud-init before 22.4 takes the key of a nic in version 2 of
 * the network for its name. */
static void
check_old_network(const struct check *check)
{
    static const char *const systems[] = {
        "debian.org/debian/10",       "debian.org/debian/11",
        "redhat.com/rhel/7",          "redhat.com/rhel/8",
        "centos.org/centos/7",        "centos.org/centos/8",
        "centos.org/centos-stream/8", "rockylinux.org/rocky/8",
        "almalinux.org/almalinux/8",
    };

    if (!check->request->network || check->request->datasource->has_network_data)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(systems); i++) {
        if (domain_is_os(check->domain, systems[i]))
            warn(check, "a newer one", "use datasource=\"configdrive\"",
                 "this guest's cloud-init, before 22.4, would look for interfaces named "
                 "nic0, nic1 and so on instead of the MAC addresses");
    }
}

static const struct reader {
    const char *os; /* in the id of libosinfo */
    void (*check)(const struct given *given);
} readers[] = {
    {"freebsd.org/", check_nuageinit},
    {"alpinelinux.org/", check_tiny_cloud},
    {"openbsd.org/", check_cloud_agent},
    {"fedoraproject.org/coreos/", check_ignition},
};

void
check_reader(const struct check *check, const struct seed *seed)
{
    const struct layout *layout = layout_find(seed->label);
    const struct layout_document *document;
    const struct document *network;
    cleanup_failure struct failure *failure = NULL;
    cleanup_json json_t *values = NULL;
    struct given given = {
        .check = check,
        .configdrive = check->request->datasource->has_network_data,
        .kind = USER_DATA_NOTHING,
    };

    check_old_network(check);
    if (check->request->payload)
        return;
    document = layout_find_role(layout, LAYOUT_USER_DATA, LAYOUT_USER_DATA);
    given.user_data = seed_find_document(seed, document->path);
    if (given.user_data)
        given.kind =
            user_data_kind(given.user_data->data.data, given.user_data->data.size);
    document = layout_find_role(layout, LAYOUT_NETWORK_CONFIG, LAYOUT_NETWORK_DATA_JSON);
    network = seed_find_document(seed, document->path);
    if (network)
        values =
            yaml_load(network->data.data, network->data.size, YAML_ONE_MAPPING, &failure);
    given.network = values;
    for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
        if (domain_is_os(check->domain, readers[i].os))
            readers[i].check(&given);
    }
}
