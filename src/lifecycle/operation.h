/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libvirt's operations at which virt-seed does something. It ignores all others: stopped,
 * reconnect (a failure would kill a running guest), attach, and any that libvirt adds.
 * virt-seed-hook includes this and links only libc.
 */
#pragma once

#include <string.h>

/* The exit status of virt-seed-lifecycle at `started` if the guest must not go on; after
 * any other one it does. */
#define STATUS_END_GUEST 100

enum operation {
    OPERATION_PREPARE,
    OPERATION_START,   /* before there is a QEMU; the XML has the images' backing files */
    OPERATION_STARTED, /* the guest runs, and libvirt kills it if the hook fails */
    OPERATION_RELEASE,
    OPERATION_RESTORE,
    OPERATION_MIGRATE,
    OPERATION_NONE,
};

static inline enum operation
operation_find(const char *name)
{
    static const char *const names[] = {
        [OPERATION_PREPARE] = "prepare", [OPERATION_START] = "start",
        [OPERATION_STARTED] = "started", [OPERATION_RELEASE] = "release",
        [OPERATION_RESTORE] = "restore", [OPERATION_MIGRATE] = "migrate",
    };
    unsigned int i = 0;

    while (i < OPERATION_NONE && strcmp(names[i], name) != 0)
        i++;
    return (enum operation)i;
}
