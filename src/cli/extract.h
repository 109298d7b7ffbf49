/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of an image, written into a directory. */
#pragma once

#include "base/failure.h"
#include "domain/documents.h"

/*
 * Writes the volume's regular files below the directory `path`, which is made where it is
 * missing. Nothing is overwritten, and no symbolic link is followed on the way. Files get
 * mode 0600: they may hold secrets.
 */
int extract_volume(const struct seed *volume, const char *path, struct failure **failure);
