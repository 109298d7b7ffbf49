/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libvirt on this host: its daemon, who may use it, how its QEMU driver is configured, and
 * how AppArmor confines its guests. `root` is the directory that is the host's "/".
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/failure.h"

/* --- its daemon --------------------------------------------------------------------- */

/*
 * The one that runs QEMU and calls the hooks: libvirtd, or virtqemud where each driver has a
 * daemon of its own (Fedora, EL 9 and later). Its unit has the same name.
 *
 * libvirt-sock is virtproxyd's next to virtqemud: so that one comes first.
 */
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

/* Finds the one that runs, or else the one whose socket there is, or else the one that is
 * installed; "libvirtd" if there is none. */
struct libvirt_daemon libvirt_daemon_find(int root);

/* --- who may use it ----------------------------------------------------------------- */

/*
 * Finds the group of /run/libvirt/virtqemud-sock, or of libvirt-sock. If everybody may write
 * to the socket, as when systemd makes it, polkit decides who may use it, and its group says
 * nothing: then it is the group "libvirt" of /etc/group, to which the polkit rules of Debian,
 * Fedora and others give that right.
 * Return: the group; or root's, and for a caller who is not root its own.
 */
gid_t libvirt_group(int root);

/* What to do about a file of that group (directory, name) that the caller may not read. */
#define LIBVIRT_GROUP_HINT                                                               \
    "run it as root, or as a member of the file's group: ls -l %s/%s"

/* --- its QEMU driver ---------------------------------------------------------------- */

/* Finds the text that qemu.conf sets for the key, or the first one of a list in one line.
 * `value`, owned by the caller (free), is NULL if there is none, and libvirt's default holds.
 * Return: 0, or -errno if the file cannot be read; one that is missing sets nothing. */
int qemu_conf_get(int root, const char *key, char **value);

/* The user that QEMU runs as: the owner of libvirt's own directory for it. */
struct qemu_user {
    bool known; /* else there is no such directory, or it cannot be looked at */
    uid_t uid;
    gid_t gid;
};

struct qemu_user qemu_user_find(int root);

/* --- AppArmor ----------------------------------------------------------------------- */

/*
 * libvirt puts each QEMU into a profile of its own, which is made from
 * /etc/apparmor.d/abstractions/libvirt-qemu. The emulator shim needs rules there that no
 * libvirt brings along (hooks/virt-seed-qemu.apparmor.in).
 */

/* Return: whether the kernel of the host whose "/" is the directory `root` has it switched on. */
bool apparmor_is_enabled(int root);

/*
 * Fails with FAILURE_APPARMOR if AppArmor is on and libvirt's profiles lack the rules of the
 * shim: libvirt could not execute it then. The hint is the command that adds them.
 */
int apparmor_check_shim(int root, struct failure **failure);
