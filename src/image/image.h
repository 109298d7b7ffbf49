/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed as an ISO 9660 image with Rock Ridge and Joliet, which every reader of seeds
 * can mount: cloud-init, cloudbase-init, Ignition, Talos, nuageinit. Reading images: ours,
 * to verify them, and those of other tools, which may contain anything. And the labels of
 * a domain's other volumes, which cloud-init looks at in the guest to find its seed.
 */
#pragma once

#include "base/failure.h"
#include "domain/domain.h"
#include "host/documents.h"

/*
 * Writes the image at the start of the file, which must be empty. Equal seeds give equal
 * bytes.
 */
int iso_write(int fd, const struct seed *seed, struct failure **failure);

/*
 * Reads the ISO 9660 image in the file, with its Rock Ridge or Joliet names if there are
 * any. Fails if the image is larger, has more files or is nested deeper than a seed can
 * be, and if a name could lead out of its directory.
 */
int iso_read(int fd, struct seed *seed, struct failure **failure);

/* Fails with FAILURE_LIMIT and "the image WHAT LIMIT UNIT", as in "the image has more than
 * 1000 files". */
int image_fail_limit(struct failure **failure, const char *what, unsigned long limit,
                     const char *unit);

/* Reads the image in the file, ISO 9660 or vfat, which are what cloud-init reads. The
 * limits are those of iso_read(); a file whose name mtools could take for a pattern is left
 * unread. */
int image_read(int fd, struct seed *seed, struct failure **failure);

/* Reads the image back and compares its label and each document with the seed. */
int iso_verify(int fd, const struct seed *seed, struct failure **failure);

/* --- labels --------------------------------------------------------------------------- */

/*
 * Return: the volume's label, owned by the caller (free); NULL if it has none, or is
 * neither ISO 9660 nor vfat. `type`, unless NULL, gets "iso9660" or "vfat", also owned by
 * the caller, or NULL.
 */
char *label_read(int fd, char **type);

/*
 * Sets the label of each of the domain's disks that is a raw image in a regular file, as
 * found by libblkid, which the guest uses, too. Skips a file that cannot be read: libvirt
 * will report it.
 */
void label_read_disks(struct domain *domain);
