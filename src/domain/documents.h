/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A seed: a label and documents in a fixed order. It is made of a request (seed/seed.h),
 * is in a domain's metadata already (payload_read()), or is read back from an image or from
 * what is served.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct document {
    char *path; /* below the volume's root, no leading slash */
    struct buffer data;
    /* Of an image that somebody else made: not a regular file, or too large; then there is no
     * data, and `size` is how large. */
    bool unread;
    size_t size;
};

/* The labels by which cloud-init knows the volume of a datasource. */
#define SEED_LABEL_NOCLOUD "cidata"
#define SEED_LABEL_CONFIGDRIVE "config-2"

struct seed {
    char *label; /* what a volume with these documents is called: SEED_LABEL_NOCLOUD, … */
    bool served; /* there is none: the guest fetches them from the metadata server */
    struct document *documents;
    size_t document_count;
};

/* Return: an empty document at the end of the seed, owned by the seed; valid until the next
 * is added. */
struct document *seed_add_document(struct seed *seed, const char *path);

/* Return: the document at `path`, or NULL. */
const struct document *seed_find_document(const struct seed *seed, const char *path);

/* Return: whether the content of both is the same. */
bool document_is_same(const struct document *one, const struct document *other);

/* Return: whether both have the same label and the same documents. */
bool seed_is_same(const struct seed *one, const struct seed *other);

void seed_clear(struct seed *seed);

#define cleanup_seed __attribute__((cleanup(seed_clear)))

/* The letters of a digest (SHA-256, in hexadecimal), by which a document is compared with one
 * that is gone. */
#define DIGEST_LENGTH 64

/* Return: the digest in lower case, as sha256sum(1) writes it, owned by the caller (free). */
char *digest_make(const struct buffer *content);
