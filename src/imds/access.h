/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a request asks for, and who may have it: the answer is a function of the request,
 * the peer and the tree alone.
 *
 * Paths are compared as they came: nothing is decoded, for no name here needs it, and so
 * no spelling but one leads anywhere.
 *
 *   /healthz
 *   /UUID/TOKEN/NAME            for NAME the names of the documents
 *   /v1/NAME                    the same, of the guest that the peer is
 *   /openstack, /openstack/latest/NAME
 *                               the same in OpenStack's layout
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "imds/peer.h"
#include "store/imds-tree.h"

/* --- requests --------------------------------------------------------------------- */

struct document_kind {
    const char *path; /* below UUID/ in the tree, unless it has its `text` here */
    const char *type; /* its media type */
    const char *text; /* all of it, where it is the same for every guest; else NULL */
    bool always;      /* empty, where it is not there; else 404 */
    bool guarded;     /* wants the header 'Metadata: true' */
};

enum path_kind {
    PATH_UNKNOWN,
    PATH_HEALTH,
    PATH_TOKEN, /* says which domain, with its token */
    PATH_PEER,  /* the domain is the peer's, which is known by its MAC alone */
    PATH_SHUT,  /* the same, if the server must know nobody so */
};

struct path {
    enum path_kind kind;
    char uuid[UUID_LENGTH + 1];                /* of PATH_TOKEN */
    char token[IMDS_TOKEN_LENGTH + 1];         /* of PATH_TOKEN */
    const struct document_kind *document_kind; /* of PATH_TOKEN and PATH_PEER */
};

struct path path_read(const char *text);

/* What of a request matters here; all of it is borrowed. */
struct http_request {
    const char *method;
    struct path path;
    bool metadata;  /* there is 'Metadata: true' */
    bool body;      /* a body follows, or could be thought to follow */
    bool malformed; /* some name is not one to some reader */
};

/* Takes in a header of the request; `value` is NULL if it has none. */
void http_request_add_header(struct http_request *request, const char *name,
                             const char *value);

/* --- answers ---------------------------------------------------------------------- */

struct answer {
    unsigned int status;
    const char *type; /* of the body */
    const char *text; /* the body, where there is no `fd` */
    int fd;           /* the file with the body; owned; or -1 */
    off_t size;       /* of that file */

    /* For the log, and for the limit on requests. */
    char uuid[UUID_LENGTH + 1]; /* the domain, where it is known; "" else */
    const char *document;       /* of it that was asked for; NULL else */
    const char *reason;         /* why there is none of it; NULL else */
    bool granted;               /* whether the peer may read that domain's */
};

/*
 * Makes the answer; always succeeds. `tree` is NULL if there is none, for `tree_error`;
 * it and `peer` may be NULL if they are not needed. The caller clears the answer.
 */
void answer_make(struct answer *answer, const struct http_request *request,
                 const struct peer *peer, const struct imds_tree *tree, int tree_error);
/* What is said in place of any answer when somebody asks too often. */
void answer_refuse_rate(struct answer *answer);

void answer_clear(struct answer *answer);

#define ANSWER_NONE ((struct answer){.fd = -1})
#define cleanup_answer __attribute__((cleanup(answer_clear)))
