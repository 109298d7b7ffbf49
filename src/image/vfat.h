/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeds in a vfat file system, which cloud-init reads as well: those of other tools. */
#pragma once

#include "base/failure.h"
#include "domain/documents.h"

/*
 * Reads the vfat image in the file, whose label libblkid has found (image/label.h), with
 * mtools: nothing is mounted, and no rights are needed but to read the file. The limits are
 * those of iso_read(). A file whose name mtools could take for a pattern is unread.
 */
int vfat_read(int fd, const char *label, struct seed *seed, struct failure **failure);
