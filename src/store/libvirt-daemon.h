/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon of libvirt's that runs QEMU on this host, and calls its hooks: libvirtd, or
 * virtqemud where each driver has a daemon of its own (Fedora, EL 9 and later). Its unit has the
 * same name.
 */
#pragma once

#include <sys/types.h>
#include <time.h>

/* libvirt-sock is virtproxyd's next to virtqemud: so that one comes first. */
#define LIBVIRT_DAEMONS 2
extern const struct libvirt_daemon_kind {
    const char *name;
    const char *socket; /* its name in VIRT_SEED_SOCKETDIR */
} libvirt_daemons[LIBVIRT_DAEMONS];

struct libvirt_daemon {
    const char *name;
    pid_t pid; /* 0 if it does not run: it may be started when somebody asks */
    struct timespec started; /* by the host's clock; 0 if that cannot be told */
};

/* Finds it on the host whose "/" is the directory `root`: the one that runs, or else the one
 * whose socket there is, or else the one that is installed; "libvirtd" if there is none. */
struct libvirt_daemon libvirt_daemon_find(int root);
