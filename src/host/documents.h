/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A seed: a label, and documents in a fixed order. It is made from a request
 * (seed/seed.h), taken from a domain's metadata (payload_read()), or read back from an
 * image or from the metadata server's tree.
 */
#pragma once

#include "base/base.h"

struct document {
    char *path; /* relative to the volume's root, no leading slash */
    struct buffer data;
    /* In an image made by another tool: not a regular file, or too large to read. `data`
     * is empty then, and `size` is the file's size. */
    bool unread;
    size_t size;
};

/* The volume labels by which cloud-init finds a datasource. */
#define SEED_LABEL_NOCLOUD "cidata"
#define SEED_LABEL_CONFIGDRIVE "config-2"

struct seed {
    char *label;    /* of the volume: SEED_LABEL_NOCLOUD, … */
    bool over_http; /* no volume: the metadata server has the documents for the guest */
    struct document *documents;
    size_t document_count;
};

/* Appends an empty document. Return: it, owned by the seed; valid until the next is
 * added. */
struct document *seed_add_document(struct seed *seed, const char *path);

/* Return: the document at `path`, or NULL. */
const struct document *seed_find_document(const struct seed *seed, const char *path);

void seed_clear(struct seed *seed);

#define cleanup_seed __attribute__((cleanup(seed_clear)))

/* The length of a SHA-256 digest in hexadecimal, kept to compare a document with one that
 * no longer exists. */
#define DIGEST_LENGTH 64
