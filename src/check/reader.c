/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Systems whose images usually have another reader than cloud-init, or an old cloud-init, if
 * libosinfo's element in <metadata> names one. virt-seed-check(7) says what each reads.
 */
#include "config.h"

#include "base/memory.h"
#include "check/check.h"

#define OLD                                                                              \
    "this guest's cloud-init, before 22.4, would look for interfaces named nic0, nic1 "  \
    "and so on instead of the MAC addresses, unless the image has a newer one"
#define OLD_HINT "use datasource=\"configdrive\""

static const struct reader {
    const char *os; /* in the id of libosinfo */
    const char *message;
    const char *hint;
    bool only_nic_names; /* matters only to version 2 of the network, without names */
} readers[] = {
    {"freebsd.org/",
     "FreeBSD's nuageinit reads only a part of the seed, unless the image has cloud-init",
     "see virt-seed-check(7), other-reader, for what it ignores", false},
    {"alpinelinux.org/",
     "Alpine's tiny-cloud reads only a part of the seed, unless the image has cloud-init",
     "see virt-seed-check(7), other-reader, for what it ignores", false},
    {"openbsd.org/", "OpenBSD reads no seed, unless the image has cloud-init",
     "install cloud-init in the image", false},
    {"fedoraproject.org/coreos/", "CoreOS's Ignition does not read the seed",
     "give it its configuration with <sysinfo type='fwcfg'>", false},
    {"debian.org/debian/10", OLD, OLD_HINT, true},
    {"debian.org/debian/11", OLD, OLD_HINT, true},
    {"redhat.com/rhel/7", OLD, OLD_HINT, true},
    {"redhat.com/rhel/8", OLD, OLD_HINT, true},
    {"centos.org/centos/7", OLD, OLD_HINT, true},
    {"centos.org/centos/8", OLD, OLD_HINT, true},
    {"centos.org/centos-stream/8", OLD, OLD_HINT, true},
    {"rockylinux.org/rocky/8", OLD, OLD_HINT, true},
    {"almalinux.org/almalinux/8", OLD, OLD_HINT, true},
};

void
check_reader(const struct check *check)
{
    const struct request *request = check->request;
    const bool has_nic_names = request->network && !request->datasource->has_network_data;

    if (request->payload)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
        const struct reader *reader = &readers[i];

        if ((reader->only_nic_names && !has_nic_names) ||
            !domain_is_os(check->domain, reader->os))
            continue;
        check_warn(check, WARNING_OTHER_READER, request->line, reader->hint, "%s",
                   reader->message);
        return;
    }
}
