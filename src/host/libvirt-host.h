/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose files are those for libvirt on this host: who may use it, and whose its QEMUs are.
 * `root` is the directory used as the host's "/".
 */
#pragma once

#include "base/user.h"

/* --- who may use it ----------------------------------------------------------------- */

/*
 * Finds the group of /run/libvirt/virtqemud-sock, or of libvirt-sock. If everyone may
 * write to the socket, as when systemd makes it, polkit decides and the socket's group
 * does not matter: then it is the group "libvirt" in /etc/group, which the polkit rules
 * of Debian, Fedora and others allow.
 * Return: the group; if there is none, root's, or the caller's own if it is not root.
 */
gid_t libvirt_group(int root);

/* --- its QEMU driver ---------------------------------------------------------------- */

/* Return: the user that QEMU runs as, the owner of libvirt's own directory for it; the caller,
 * not known, if that is missing or inaccessible. */
struct user qemu_user_find(int root);
