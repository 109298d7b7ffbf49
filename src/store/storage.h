/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the seeds of running domains lie on the host, below the run-time directory: an
 * image, UUID.iso, or documents in the metadata server's tree. Which of them a domain
 * has, and how its guest gets at it, is its delivery's (delivery.h). Whoever may not look
 * into the server's tree finds the images alone.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/failure.h"
#include "domain/documents.h"

struct storage {
    const char *kind;       /* "a seed on a disk" */
    const char *location;   /* for a guest that runs: "in its drive" */
    const char *datasource; /* that the guest was told of, if no volume's label says it */
    bool has_image;

    /* Return: the name of the domain's seed below the run-time directory, owned by the
     * caller (free). */
    char *(*name)(const char *uuid);

    /* Opens the seed. Return: a descriptor, owned by the caller, or -errno; `status` gets
     * what fstat(2) says. */
    int (*open)(int rundir, const char *uuid, struct stat *status);

    /* Reads what was opened. */
    int (*read)(int fd, struct seed *seed, struct failure **failure);

    /* Removes the domain's seed; without one, does nothing. */
    int (*withdraw)(int rundir, const char *uuid, struct failure **failure);
};

extern const struct storage storage_image;
extern const struct storage storage_tree;

/* All of them; ends with NULL. A guest reads from the first that has a seed. */
extern const struct storage *const storages[];

/* Return: whether the domain has a seed there. */
bool storage_has_seed(const struct storage *storage, int rundir, const char *uuid);

/* Opens the domain's seed; `storage` gets where it is. Return: a descriptor, owned by the
 * caller, or -errno. */
int storage_open(int rundir, const char *uuid, const struct storage **storage,
                 struct stat *status);

/*
 * Reads the domain's seed, below `root`; `storage` gets where it is, or NULL if there is
 * none: a domain that does not run has none. Return: 0, or -1 if there is one that cannot
 * be read.
 */
int storage_read(int root, const char *uuid, const struct storage **storage,
                 struct seed *seed, struct failure **failure);
