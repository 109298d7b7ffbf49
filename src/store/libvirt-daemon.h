/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libvirt on this host: its daemon, its QEMU driver's configuration, and how AppArmor
 * confines its guests. `root` is the directory used as the host's "/".
 */
#pragma once

#include "base/base.h"

/* --- its daemon --------------------------------------------------------------------- */

/*
 * The daemon that runs QEMU and calls the hooks: libvirtd, or virtqemud if each driver
 * has its own daemon (Fedora, EL 9 and later). Its unit has the same name.
 */
struct libvirt_daemon {
    const char *name;
    pid_t pid;               /* 0 if it is not running: it may be started on demand */
    struct timespec started; /* by the host's clock; 0 if that cannot be told */
};

/* Finds the running daemon, else one with a socket, else an installed one; "libvirtd" if
 * there is none. */
struct libvirt_daemon libvirt_daemon_find(int root);

/* --- its QEMU driver ---------------------------------------------------------------- */

/* Finds the text that qemu.conf sets for the key, or the first one of a list on one line.
 * `value`, owned by the caller (free), is NULL if it is not set and libvirt's default
 * applies. Return: 0, or -errno if the file cannot be read; a missing file sets
 * nothing. */
int qemu_conf_get(int root, const char *key, char **value);

/* --- AppArmor ----------------------------------------------------------------------- */

/*
 * libvirt confines each QEMU with its own profile, based on
 * /etc/apparmor.d/abstractions/libvirt-qemu. The emulator shim needs rules there that
 * libvirt does not have (hooks/virt-seed-qemu.apparmor.in).
 */

/* Return: whether the host's kernel has AppArmor enabled. */
bool apparmor_is_enabled(int root);

/*
 * Fails with FAILURE_APPARMOR if AppArmor is enabled and libvirt's profiles lack the
 * shim's rules, so that libvirt could not run it. The hint is the command that adds them.
 */
int apparmor_check_shim(int root, struct failure **failure);
