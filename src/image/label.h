/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels of a domain's other volumes: what cloud-init's detection in the guest looks
 * at. */
#pragma once

#include "domain/domain.h"

/*
 * Return: the volume's label, owned by the caller (free); NULL where it has none, or is
 * neither ISO 9660 nor vfat. `type`, where not NULL, gets "iso9660" or "vfat", owned by
 * the caller as well, or NULL.
 */
char *label_read(int fd, char **type);

/*
 * Looks at each disk of the domain that is a raw image in a regular file and notes its
 * volume label in the disk, with libblkid, which is what the guest uses. What cannot be
 * read is left alone: libvirt will say so.
 */
void label_read_disks(struct domain *domain);
