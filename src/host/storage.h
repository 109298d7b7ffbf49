/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the seeds of running domains are on the host, below the run-time directory: an
 * image, UUID.iso, or documents in the metadata server's tree. Whoever has only a UUID
 * looks in both; the domain's delivery (delivery.h) has put the seed into one of them.
 * Callers who may not read the server's tree only find images.
 */
#pragma once

#include "host/libvirt-host.h"

struct storage {
    /* Return: the name of the domain's seed below the run-time directory, owned by the
     * caller (free). */
    char *(*name)(const char *uuid);

    /* Removes the domain's seed, if any. */
    int (*withdraw)(int rundir, const char *uuid, struct failure **failure);
};

extern const struct storage storage_image;
extern const struct storage storage_imds;

/* For the hint if an image cannot be made. */
#define IMAGE_IN_MEMORY                                                                  \
    "the image is made in memory: check that there is enough (free -m), and for limits " \
    "on it"

/* Opens a file in memory for an image. Return: it, owned by the caller, or -1. */
int image_open(struct failure **failure);

/*
 * Copies the image to a temporary file below `dir`, and renames it to `name`, with a
 * modification time without a fraction of a second. It belongs to QEMU's user, with mode
 * 0400, or, if `qemu` is NULL, to the caller, with mode 0600. The file also gets the name
 * `second`, unless NULL. On failure, an existing file of the first name stays.
 */
int image_publish(int dir, const char *name, const char *second, const struct user *qemu,
                  int image, struct failure **failure);

/* Publishes the domain's image for QEMU's user; one for a start gets a second name, until
 * the guest has started. imds_tree_publish() writes documents. */
int storage_publish_image(int root, int rundir, const char *uuid, bool is_start,
                          int image, struct failure **failure);

/*
 * Once after a start, since it removes the image's second name: return whether the domain
 * still has the image that was published for it, and nobody has written to that since: a time
 * of a write has a fraction. Changes of owner and mode do not count. If there is none, whether
 * none is expected.
 */
bool storage_image_take_made(int rundir, const char *uuid, bool is_expected);

/* All storages, ended by NULL. A guest reads from the first one that has a seed. */
extern const struct storage *const storages[];

/* Return: the inode of the domain's seed there, which tells it from a later one; 0 if there
 * is none. */
ino_t storage_inode(const struct storage *storage, int rundir, const char *uuid);
