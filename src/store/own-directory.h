/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directories in which virt-seed keeps what only it may write. */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "base/failure.h"

/*
 * Opens the directory at `path` below `root`; it is made with `mode` where it is missing. One
 * that is a symbolic link, belongs to somebody else, or may be written by others is refused.
 * Return: a descriptor, owned by the caller, or -1.
 */
int own_directory_open(int root, const char *path, mode_t mode, struct failure **failure);

/* Refuses a directory, as fstat(2) describes it, that does not belong to `owner`, or that others
 * may write into. */
int own_directory_check(const struct stat *status, uid_t owner, const char *path,
                        struct failure **failure);
