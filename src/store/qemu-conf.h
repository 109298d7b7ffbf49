/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libvirt's configuration of its QEMU driver, /etc/libvirt/qemu.conf. */
#pragma once

/* Finds the text that is set for the key, or the first one of a list in one line. `value`, owned
 * by the caller (free), is NULL if there is none, and libvirt's default holds. Return: 0, or
 * -errno if the file cannot be read; one that is missing sets nothing. */
int qemu_conf_get(int root, const char *key, char **value);
