/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part: the bytes of a document (<user-data>) or value (a password) in the request.
 * They are in the element, as text or base64, or in a file or secret on the host, which
 * the store reads (store/pipeline.h).
 */
#pragma once

#include <libxml/tree.h>

#include "base/base.h"

enum part_kind {
    PART_USER_DATA,
    PART_VENDOR_DATA,
    PART_NETWORK_CONFIG,
    PART_META_DATA,      /* a file: a YAML mapping; a secret: each key is an entry */
    PART_SSH_KEYS,       /* lines of authorized_keys */
    PART_SSH_HOST_KEYS,  /* each entry is a file in /etc/ssh */
    PART_ADMIN_PASSWORD, /* of a Windows guest */
    PART_VALUE,          /* of an element below <initialization> */
    PART_PASSWORD,       /* the hash of the default user's password */
    PART_ROOT_PASSWORD,  /* the hash of root's */
};

enum part_origin {
    PART_INLINE,
    PART_FILE,
    PART_SECRET,
    PART_GENERATED, /* made at the first start (host/host-key.h) */
    PART_STORED,    /* by 'virt-seed set' (host/domain-secret.h) */
};

/* One key of a secret that is used as a whole. */
struct part_entry {
    char *key;
    struct buffer data;
};

struct part {
    enum part_kind kind;
    enum part_origin origin;
    char *element; /* its name: "user-data" */
    char *name;    /* of the file or the secret, else NULL */
    char *
        key; /* in the secret: the user's, or the default one that was found or tried; else NULL */
    int line;          /* of the element in the domain's XML */
    int index;         /* among its siblings of that name */
    int skipped_lines; /* empty ones at the beginning of its text, which are not in data */
    struct buffer data; /* of a file or secret: empty until the store has read it */
    struct part_entry *entries; /* instead of data, if part_is_whole_secret() */
    size_t entry_count;
    char *of_host; /* the file of the host's configuration that adds it, else NULL */
    bool raw;      /* user-data for another program than cloud-init: nobody checks it */
    bool masked;   /* the content is a placeholder, see part_mask() */
    int number;    /* of a part of a document that is MIME or an archive, else 0 */
};

/* All parts of a request, in the order of its elements; each is allocated separately, so
 * pointers to it stay valid. */
struct parts {
    struct part **list;
    size_t count;
};

/* Return: whether the element names a file or a secret, which is its content. */
bool part_is_reference(const xmlNode *node);

/*
 * Reads the element as a part and adds it; with `base64`, its text is base64 even without
 * encoding=.
 *
 * Text is used unchanged, except for what XML editors add around it: empty lines at the
 * beginning, and blanks before the closing tag. Base64, files and secrets are used byte
 * for byte. Return: the part, owned by `parts`, or NULL.
 */
struct part *parts_add(struct parts *parts, enum part_kind kind, const xmlNode *node,
                       bool base64, struct failure **failure);

/* Adds what the host's configuration sets, before all others: a file, unless the caller
 * makes it inline; `setting` is its
 * name in the file `configuration`. */
struct part *parts_add_of_host(struct parts *parts, enum part_kind kind,
                               const char *setting, const char *file,
                               const char *configuration);

/* Adds what an attribute of the element asks for, which has the part's name, and virt-seed
 * keeps: PART_GENERATED or PART_STORED. */
struct part *parts_add_kept(struct parts *parts, enum part_kind kind,
                            enum part_origin origin, const char *attribute,
                            const xmlNode *node);

/* Return: the first part of that kind, or the next after `part`; NULL if there is none. */
struct part *parts_find(const struct parts *parts, enum part_kind kind);
struct part *parts_next(const struct parts *parts, const struct part *part);

/* Loops over the parts of that kind. */
/* NOLINTBEGIN(bugprone-macro-parentheses): it declares `each` */
#define parts_foreach(each, parts, kind)                                                 \
    for (struct part *each = parts_find((parts), (kind)); each;                          \
         each = parts_next((parts), each))
/* NOLINTEND(bugprone-macro-parentheses) */

/* Checks that the parts together do not exceed LIMIT_SEED. */
int parts_check_size(const struct parts *parts, struct failure **failure);

void parts_clear(struct parts *parts);

/* Return: whether it is a whole secret or generated, with entries instead of data. */
bool part_is_whole_secret(const struct part *part);

/* Return: whether the part is a password. */
bool part_is_password(const struct part *part);

/* Adds an empty entry. Return: its data, for the caller to fill. */
struct buffer *part_add_entry(struct part *part, const char *key);

/* Return: a one-line value without its newline, owned by the caller (free). */
char *part_word(const struct part *part);

/* Return: its name in messages, '<user-data file="x">', owned by the caller (free). */
char *part_describe(const struct part *part);

/* Adds the part to the failure, with its line, and its element unless it is of the host or
 * generated. Return: -1. */
int part_locate(const struct part *part, struct failure **failure);
/* The same, and prefixes the failure with the part's name. */
int part_fail(const struct part *part, struct failure **failure);

/* Replaces content that is, or would be, read from a secret with '<secret NAME/KEY>', and
 * content that is, or would be, generated or stored with another mask. */
#define PART_GENERATED_MASK "<generated at the first start>"
#define PART_STORED_MASK "<stored by virt-seed set>"
void part_mask(struct part *part);

/* Decodes base64 (RFC 4648, section 4) and appends it; white space in the text is
 * ignored. Return: 0, or -1 if the text is not base64. */
int base64_decode(struct buffer *buffer, const char *text);

/* Encodes the bytes and appends them: in lines, each with its end, of so many bytes before
 * encoding; or without a line's end if `line` is 0. */
void base64_encode(struct buffer *buffer, const void *data, size_t size, size_t line);

/* Lines of 76 characters (RFC 2045, section 6.8). */
#define BASE64_MIME_LINE 57
