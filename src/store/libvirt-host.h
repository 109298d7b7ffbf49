/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libvirt on this host: its daemon, who may use it, its QEMU driver's configuration, and
 * how AppArmor confines its guests. `root` is the directory used as the host's "/".
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/failure.h"

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

/* --- who may use it ----------------------------------------------------------------- */

/*
 * Finds the group of /run/libvirt/virtqemud-sock, or of libvirt-sock. If everyone may
 * write to the socket, as when systemd makes it, polkit decides and the socket's group
 * does not matter: then it is the group "libvirt" in /etc/group, which the polkit rules
 * of Debian, Fedora and others allow.
 * Return: the group; if there is none, root's, or the caller's own if it is not root.
 */
gid_t libvirt_group(int root);

/* Fails with "could not WHAT DIRECTORY/NAME" for a file of that group. Return: -1. */
int libvirt_group_fail(enum failure_code code, const char *what, const char *directory,
                       const char *name, int error, struct failure **failure);

/* --- its QEMU driver ---------------------------------------------------------------- */

/* Finds the text that qemu.conf sets for the key, or the first one of a list on one line.
 * `value`, owned by the caller (free), is NULL if it is not set and libvirt's default
 * applies. Return: 0, or -errno if the file cannot be read; a missing file sets
 * nothing. */
int qemu_conf_get(int root, const char *key, char **value);

/* The user that QEMU runs as: the owner of libvirt's own directory for it. If that is
 * missing or inaccessible, the user is not known, and the caller stands in. */
struct qemu_user {
    bool known;
    uid_t uid;
    gid_t gid;
};

struct qemu_user qemu_user_find(int root);

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
