/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part: bytes that the request brings along, a document (<user-data>) or a value
 * (a password). They stand in the element as text or in base64, or in a file or a secret
 * of the host; the latter two are filled in by the store (store/pipeline.h).
 */
#pragma once

#include <stdbool.h>

#include <libxml/tree.h>

#include "base/buffer.h"
#include "base/failure.h"

enum part_kind {
    PART_USER_DATA,
    PART_VENDOR_DATA,
    PART_NETWORK_CONFIG,
    PART_META_DATA,      /* a file: a mapping in YAML; a secret: each key is an entry */
    PART_SSH_KEYS,       /* lines of authorized_keys */
    PART_SSH_HOST_KEYS,  /* each entry is a file of /etc/ssh */
    PART_ADMIN_PASSWORD, /* of a Windows guest */
    PART_VALUE,          /* of an element below <initialization> */
};

enum part_origin {
    PART_INLINE,
    PART_FILE,
    PART_SECRET,
    PART_GENERATED, /* virt-seed makes it at the first start (store/host-key.h) */
};

/* One key of a secret that is taken as a whole. */
struct part_entry {
    char *key;
    struct buffer data;
};

struct part {
    enum part_kind kind;
    enum part_origin origin;
    char *element;      /* its name: "user-data" */
    char *name;         /* of the file or the secret, else NULL */
    char *key;          /* of the secret where the user named one, else NULL */
    int line;           /* of the element in the domain's XML */
    struct buffer data; /* empty until resolved where the origin is a file or a secret */
    struct part_entry *entries; /* instead of data, where part_is_whole_secret() */
    size_t entry_count;
    bool of_host; /* every domain's, by the host's configuration */
    bool masked;  /* the content is a placeholder, see part_mask() */
};

/* All parts of a request, in the order of its elements; each has a place of its own in
 * memory, so that others may point at it. */
struct parts {
    struct part **list;
    size_t count;
};

/*
 * Reads the element as a part and adds it.
 *
 * Text is taken as it stands, but for what editors of XML add around it: empty lines
 * before the first, and the blanks before the closing tag. Base64, files and secrets
 * are taken byte for byte.
 * Return: the part, owned by `parts`, or NULL.
 */
struct part *parts_add(struct parts *parts, enum part_kind kind, const xmlNode *node,
                       struct failure **failure);
/* The same for an element whose text is base64 even if no encoding= says so. */
struct part *parts_add_base64(struct parts *parts, enum part_kind kind,
                              const xmlNode *node, struct failure **failure);

/* Adds a part that the host's configuration gives to every domain, before all others. */
struct part *parts_add_of_host(struct parts *parts, enum part_kind kind,
                               const char *element, const char *file);

/* Adds ssh's host keys that virt-seed makes itself, for an attribute of that element. */
struct part *parts_add_generated_host_keys(struct parts *parts, const xmlNode *node);

/* Return: the first part of that kind, or the next after `part`; NULL if there is none. */
struct part *parts_find(const struct parts *parts, enum part_kind kind);
struct part *parts_next(const struct parts *parts, const struct part *part);

/* All of them together have what one seed may have, and no more. */
int parts_check_size(const struct parts *parts, struct failure **failure);

void parts_clear(struct parts *parts);

/* Return: whether the part is all keys of a secret, or was generated (then it has
 * entries, no data). */
bool part_is_whole_secret(const struct part *part);

/* Return: whether the part is a password, wherever it stands. */
bool part_is_password(const struct part *part);

/* Adds an empty entry. Return: its data, to be filled. */
struct buffer *part_add_entry(struct part *part, const char *key);

/* Return: the value of one line without the line's end, owned by the caller (free). */
char *part_word(const struct part *part);

/* Return: what messages call it, '<user-data secret="web1">', owned by the caller
 * (free). */
char *part_describe(const struct part *part);

/* Says in front of the failure which part has it, and in which line. Return: -1. */
int part_fail(const struct part *part, struct failure **failure);

/* Puts '<secret NAME/KEY>' in the place of what came, or would come, from a secret, and
 * PART_GENERATED_MASK in that of what was, or would be, generated. */
#define PART_GENERATED_MASK "<generated at the first start>"
void part_mask(struct part *part);

/* The files of /etc/ssh that generated host keys are. */
#define PART_HOST_KEY "ssh_host_ed25519_key"
#define PART_HOST_KEY_PUBLIC PART_HOST_KEY ".pub"

/* Appends what the text stands for in base64 (RFC 4648, section 4); white space in it is ignored.
 * Return: 0, or -1 where it is not base64. */
int base64_append(struct buffer *buffer, const char *text);
