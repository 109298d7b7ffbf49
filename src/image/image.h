/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed as an ISO 9660 image with Rock Ridge and Joliet, which every reader of seeds
 * mounts: cloud-init, cloudbase-init, Ignition, Talos, nuageinit; images read back: ours, to
 * verify them, and those of other tools, which may be anything; and the labels of a domain's
 * other volumes, at which cloud-init's detection in the guest looks.
 */
#pragma once

#include <sys/types.h>

#include "base/failure.h"
#include "domain/documents.h"
#include "domain/domain.h"

/*
 * Writes the image at the start of the file, which must be empty. Equal seeds give equal
 * bytes.
 */
int iso_write(int fd, const struct seed *seed, struct failure **failure);

/*
 * Reads the ISO 9660 image in the file, by Rock Ridge or Joliet names where it has them.
 * An image that is larger than a seed can be, has more files, or is nested deeper, is a
 * failure; so is a name that could lead out of a directory.
 */
int iso_read(int fd, struct seed *seed, struct failure **failure);

/*
 * Reads the vfat image in the file, whose label label_read() has found, with mtools: nothing
 * is mounted, and it takes no right but to read the file. The limits are those of iso_read().
 * A file whose name mtools could take for a pattern is unread.
 */
int vfat_read(int fd, const char *label, struct seed *seed, struct failure **failure);

/* Reads the image in the file, ISO 9660 or vfat, which are what cloud-init reads. */
int image_read(int fd, struct seed *seed, struct failure **failure);

/*
 * Reads the image back from the file and compares its label and each document with the
 * seed.
 */
int iso_verify(int fd, const struct seed *seed, struct failure **failure);

/* Who gets the file; (uid_t)-1 and (gid_t)-1 leave it with the caller. */
struct image_owner {
    uid_t uid;
    gid_t gid;
};

#define IMAGE_OWNER_CALLER ((struct image_owner){(uid_t)-1, (gid_t)-1})

/*
 * Writes the seed's image into a temporary file below `dir`, reads it back, and renames
 * it to `name`, with mode 0600. On failure what was under the name before is still
 * there.
 */
int image_publish(int dir, const char *name, const struct image_owner *owner,
                  const struct seed *seed, struct failure **failure);

/* --- labels --------------------------------------------------------------------------- */

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
