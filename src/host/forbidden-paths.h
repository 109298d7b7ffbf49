/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a domain's definition may not name: files in virt-seed's directories. libvirt opens
 * many of the files that a definition names as root, or gives them to QEMU's user; such a
 * device could write another domain's seed or the list of who may use a secret, or read
 * another domain's seed.
 */
#pragma once

#include "base/base.h"

/* The directories of seeds, of reports, of what is kept, of the configuration and of
 * rehearsals. */
#define OWN_DIRECTORIES 5
struct own_directories {
    const char *paths[OWN_DIRECTORIES];
    struct stat status[OWN_DIRECTORIES]; /* without an inode: it does not exist */
};

/* Finds them below `root`. */
void own_directories_find(struct own_directories *own, int root);

/* Sets the one that the opened file is or is in, wherever that is mounted. Return: 0, or
 * -errno if the kernel does not tell the file's path. */
int own_directories_find_above(const struct own_directories *own, int fd,
                               const char **directory);

/*
 * Fails if a value of the domain's XML, which libvirt has written, leads into the
 * directory of seeds, of reports, of what is kept, of rehearsals, or of the
 * configuration with the secrets; or goes through a link of /proc, which another process
 * can make lead there later. The domain may name its own seed as the source of a disk
 * and its own report and log as those of channels, spelled as the wiring does, and, in a
 * rehearsal, the files of its own directory. <metadata>, <title> and <description> are
 * not looked at. Fails, too, if it does not find out where a path leads, if that takes
 * more than LIMIT_PATHS_MILLISECONDS, or if the XML is not in libvirt's form
 * (host/domain-text.h).
 *
 * Paths are resolved below `root`, so neither links nor ".." hide where they lead. Not
 * found: a link to what does not exist yet, a directory above ours, and what an argument
 * for QEMU itself leads to, if it is not a path and does not have virt-seed's name in it.
 */
int forbidden_paths_check(int root, const struct buffer *xml, const char *uuid,
                          struct failure **failure);
