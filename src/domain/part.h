/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part: one document that the request brings along, <user-data>, <vendor-data> or
 * <network-config>. Its bytes stand in the element as text or in base64, or in a file
 * or a secret of the host; the latter two are filled in by the store (store/resolve.h).
 */
#pragma once

#include <libxml/tree.h>

#include "base/buffer.h"
#include "base/failure.h"

enum part_kind {
    PART_USER_DATA,
    PART_VENDOR_DATA,
    PART_NETWORK_CONFIG,
    PART_KINDS,
};

enum part_origin {
    PART_ABSENT, /* no such element */
    PART_INLINE,
    PART_FILE,
    PART_SECRET,
};

struct part {
    enum part_kind kind;
    enum part_origin origin;
    char *name;         /* of the file or the secret, else NULL */
    char *key;          /* of the secret where the user named one, else NULL */
    int line;           /* of the element in the domain's XML */
    struct buffer data; /* empty until resolved where the origin is a file or a secret */
};

/* Return: the element's name, which is the document's as well ("user-data"). */
const char *part_kind_name(enum part_kind kind);

/*
 * Reads the element into the part, which must be absent before.
 *
 * Text is taken as it stands, but for what editors of XML add around it: empty lines
 * before the first, and the blanks before the closing tag. Base64, files and secrets
 * are taken byte for byte.
 */
int part_read(struct part *part, const xmlNode *node, struct failure **failure);

/* Return: what messages call it, '<user-data secret="web1">', owned by the caller
 * (free). */
char *part_describe(const struct part *part);

void part_clear(struct part *part);
