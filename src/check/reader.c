/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guest's system drops of the seed, if libosinfo's element says that it is one that
 * usually has another reader than cloud-init:
 *
 *   FreeBSD   nuageinit (libexec/nuageinit in its source)
 *   Alpine    tiny-cloud (lib/tiny-cloud/init and lib/tiny-cloud/cloud/nocloud/imds there)
 *   CoreOS    Ignition, which reads neither NoCloud nor cloud-config
 *
 * or an old cloud-init.
 */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "check/check.h"
#include "seed/content.h"

struct reader {
    const char *os; /* in the id of libosinfo */
    const char *name;
    bool cloud_config;
    bool script;
    bool configdrive;
    bool network_config; /* of NoCloud, beside a cloud-config and without routes */
};

static const struct reader readers[] = {
    {"freebsd.org/", "FreeBSD's nuageinit", true, true, true, true},
    {"alpinelinux.org/", "Alpine's tiny-cloud", false, true, false, false},
    {"fedoraproject.org/coreos/", "CoreOS's Ignition", false, false, false, false},
};

#define CLOUD_INIT "cloud-init"

static void __attribute__((format(printf, 4, 5)))
warn(const struct check *check, const char *unless, const char *hint, const char *format,
     ...)
{
    cleanup_free char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = xvasprintf(format, arguments);
    va_end(arguments);
    findings_warn(check->findings, WARNING_OTHER_READER, check->request->line, hint,
                  "%s, unless the image has %s", text, unless);
}

static void
check_user_data_of(const struct check *check, const struct reader *reader,
                   const char *kind)
{
    if (strcmp(kind, "nothing") == 0 ||
        (reader->cloud_config && strcmp(kind, "cloud-config") == 0) ||
        (reader->script && strcmp(kind, "script") == 0))
        return;
    if (!reader->script)
        warn(check, CLOUD_INIT, "give it its configuration with <sysinfo type='fwcfg'>",
             "%s does not read the seed", reader->name);
    else
        warn(check, CLOUD_INIT,
             reader->cloud_config ? "write one cloud-config or one script"
                                  : "write one script, which begins with '#!'",
             "%s ignores this user-data, which is %s", reader->name,
             strcmp(kind, "MIME") == 0 ? "several documents in one" : kind);
}

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

void
check_reader(const struct check *check, const struct seed *seed)
{
    const struct request *request = check->request;
    const struct reader *reader = NULL;
    const bool configdrive = request->datasource->has_network_data;
    const struct document *user_data = seed_find_document(
        seed, configdrive ? "openstack/latest/user_data" : "user-data");
    const struct document *network = seed_find_document(seed, "network-config");
    const char *kind = user_data
                           ? user_data_kind(user_data->data.data, user_data->data.size)
                           : "nothing";

    check_old_network(check);
    for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
        if (domain_is_os(check->domain, readers[i].os))
            reader = &readers[i];
    }
    if (!reader || request->payload)
        return;
    if (configdrive && !reader->configdrive && reader->script)
        warn(check, CLOUD_INIT, "use datasource=\"nocloud\"",
             "%s does not read a ConfigDrive", reader->name);
    check_user_data_of(check, reader, kind);
    if (reader->script && parts_find(&request->parts, PART_VENDOR_DATA))
        warn(check, CLOUD_INIT, "write it as user-data", "%s ignores vendor-data",
             reader->name);
    if (network && reader->network_config && strcmp(kind, "cloud-config") != 0)
        warn(check, CLOUD_INIT, "use datasource=\"configdrive\"",
             "%s reads a network-config only beside a cloud-config", reader->name);
    else if (network && reader->network_config &&
             memmem(network->data.data, network->data.size, "routes", 6))
        warn(check, CLOUD_INIT, "use datasource=\"configdrive\"",
             "%s ignores the routes of a network-config, and so its gateways",
             reader->name);
    else if (network && reader->script && !reader->network_config)
        warn(check, CLOUD_INIT, "let the guest use DHCP", "%s ignores the network-config",
             reader->name);
}
