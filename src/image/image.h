/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed as an ISO 9660 image with Rock Ridge and Joliet, which every reader of seeds
 * can mount: cloud-init, cloudbase-init, Ignition, Talos, nuageinit. Reading images: ours,
 * to verify them, and those of other tools, which may contain anything.
 */
#pragma once

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

/* Reads the image back and compares its label and each document with the seed. */
int iso_verify(int fd, const struct seed *seed, struct failure **failure);
