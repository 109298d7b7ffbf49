/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a request asks for, and who may have it: the answer is a function of the request,
 * the peer and the tree alone.
 *
 * Paths are compared as received, without decoding: no name here needs it, so each has
 * only one spelling.
 *
 *   /healthz
 *   /UUID/TOKEN/NAME   for NAME the names of the documents
 */
#pragma once

#include "host/imds-tree.h"
#include "imds/peer.h"
#include "store/imds-read.h"

/* --- requests --------------------------------------------------------------------- */

struct document_kind {
    const char *path; /* below UUID/ in the tree; a missing file is served empty */
    const char *type; /* its media type */
};

struct path {
    bool is_health;
    /* The document that it names, with the domain and its token; NULL if it names none. */
    const struct document_kind *document_kind;
    char uuid[UUID_LENGTH + 1];
    char token[IMDS_TOKEN_LENGTH + 1];
};

struct path path_read(const char *text);

/* The relevant parts of a request; everything is borrowed. */
struct http_request {
    const char *method;
    struct path path;
    bool body;      /* has a body, or some reader could think so */
    bool malformed; /* some reader could reject a header's name */
};

/* Adds a header to the request; `value` is NULL if it has none. */
void http_request_add_header(struct http_request *request, const char *name,
                             const char *value);

/* --- answers ---------------------------------------------------------------------- */

struct answer {
    unsigned int status;
    const char *type; /* of the body */
    const char *text; /* the body, unless `fd` is set */
    int fd;           /* the file with the body, owned; or -1 */
    off_t size;       /* of that file */

    /* For the log, and for the limit on requests. */
    const char *document;       /* the requested document, or NULL */
    char uuid[UUID_LENGTH + 1]; /* its domain */
    const char *reason;         /* why it was refused, or NULL */
    bool granted;               /* whether the peer may read the domain's documents */
};

/*
 * Makes the answer; always succeeds. `tree` is NULL if there is none, because of
 * `tree_error`; it and `peer` may be NULL if they are not needed. The caller clears the
 * answer.
 */
void answer_make(struct answer *answer, const struct http_request *request,
                 const struct peer *peer, const struct imds_tree *tree, int tree_error);
/* Replaces the answer for a peer that asks too often. */
void answer_refuse_rate(struct answer *answer);

void answer_clear(struct answer *answer);

#define ANSWER_NONE ((struct answer){.fd = -1})
#define cleanup_answer __attribute__((cleanup(answer_clear)))
