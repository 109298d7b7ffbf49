/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed as an ISO 9660 image with Rock Ridge and Joliet, which every reader of seeds
 * mounts: cloud-init, cloudbase-init, Ignition, Talos, nuageinit.
 */
#pragma once

#include "base/failure.h"
#include "seed/seed.h"

/*
 * Writes the image at the start of the file, which must be empty. Equal seeds give equal
 * bytes.
 */
int iso_write(int fd, const struct seed *seed, struct failure **failure);

/*
 * Reads the image back from the file and compares its label and each document with the
 * seed.
 */
int iso_verify(int fd, const struct seed *seed, struct failure **failure);
