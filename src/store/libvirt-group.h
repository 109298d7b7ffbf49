/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may use libvirt on this host, and so may know what virt-seed knows of its domains.
 */
#pragma once

#include <sys/types.h>

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
