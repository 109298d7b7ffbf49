/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may use libvirt on this host, and so may know what virt-seed knows of its domains:
 * the group of libvirt's read-write socket.
 */
#pragma once

#include <sys/types.h>

/*
 * Finds the group of /run/libvirt/libvirt-sock, or of virtqemud-sock, where its mode lets
 * the group write and others not. Where polkit decides, and everybody may write to the
 * socket, its group says nothing. The name of the group, which differs between systems, is
 * not needed, nor asked for: that would load NSS's modules into each start of a domain.
 * Return: the group; or root's, and for a caller who is not root its own.
 */
gid_t libvirt_group(int root);
