/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed: a volume label and the documents that cloud-init reads, in a fixed order.
 * It is a function of the domain and its request alone: the same request gives the same
 * seed, on any host and at any time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "domain/request.h"

struct document {
    char *path; /* below the volume's root, no leading slash */
    struct buffer data;
};

struct seed {
    char *volume_id; /* what a volume with these documents is called */
    bool served;     /* there is none: the guest fetches them from the metadata server */
    struct document *documents;
    size_t document_count;
};

/* Checks the content of all parts, which must have been resolved, as the guest would read
 * them (check-part.h). */
int seed_check(const struct request *request, struct failure **failure);

/*
 * Makes the seed of a request, whose parts must have been resolved; their content is
 * moved into the seed (seed_check() comes before).
 */
int seed_make(struct seed *seed, struct request *request, struct failure **failure);

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
