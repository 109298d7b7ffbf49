/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the metadata server's tree (host/imds-tree.h). */
#pragma once

#include "host/imds-tree.h"

struct imds_tree {
    int fd;      /* owned */
    uid_t owner; /* must own everything in it */
};

#define IMDS_TREE_NONE ((struct imds_tree){.fd = -1})

/*
 * Opens the tree of the host whose "/" is the directory `root`. It must belong to the
 * owner of `root` and not be writable by others; the owner of each file is checked when
 * it is opened. Return: 0; -EPERM if the tree is not safe; another -errno.
 */
int imds_tree_read(struct imds_tree *tree, int root);
/* Return: what the error means, and what to do. */
const char *imds_tree_reason(int error);
void imds_tree_close(struct imds_tree *tree);

/* Return: the domain's directory, a descriptor owned by the caller, or -errno: -ENOENT if
 * there is none, or the UUID is malformed. */
int imds_tree_open_domain(const struct imds_tree *tree, const char *uuid);

/*
 * Opens a regular file of the domain; refuses symbolic links, paths that lead out, and
 * files of other owners. `status` gets its fstat(2).
 * Return: a descriptor, owned by the caller, or -errno.
 */
int imds_tree_open_file(const struct imds_tree *tree, int domain, const char *path,
                        struct stat *status);

/* Who may read the domain's documents. */
struct imds_access {
    char text[LIMIT_IMDS_ACCESS + 1]; /* the token */
    const char *macs;                 /* the lines after it, in the same text */
};

/* Return: 0 or -errno; -EINVAL if the file is malformed. */
int imds_tree_read_access(const struct imds_tree *tree, int domain,
                          struct imds_access *access);

/* Return: the set of links of the domain's interfaces with that MAC; of all interfaces if
 * it is NULL. */
unsigned int imds_access_links(const struct imds_access *access, const char *mac);

#define cleanup_imds_tree __attribute__((cleanup(imds_tree_close)))
