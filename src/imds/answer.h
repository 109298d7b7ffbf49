/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Request to answer: a function of the request, the peer and the tree alone. libmicrohttpd
 * has taken the request apart (server.c) and sends the answer.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "imds/path.h"
#include "imds/peer.h"

/* What of a request matters here; all of it is borrowed. */
struct request_line {
    const char *method;
    const char *path; /* as it came, without a query */
};

/* Zero it, then add the headers. */
struct request_headers {
    const char *if_none_match; /* NULL where there is none */
    bool metadata;             /* there is 'Metadata: true' */
    bool body;                 /* a body follows, or could be thought to follow */
    bool malformed;            /* some name is not one to some reader */
};

/* `value` is NULL where the header has none. */
void request_add_header(struct request_headers *headers, const char *name,
                        const char *value);

/* "INODE-SECONDS.NANOSECONDS-SIZE" in quotes, and a NUL. */
#define ANSWER_TAG 80

struct answer {
    unsigned int status;
    const char *type;     /* of the body */
    const char *text;     /* the body, where there is no `fd` */
    int fd;               /* the file with the body, not sent with a 304; owned; or -1 */
    off_t size;           /* of that file */
    char tag[ANSWER_TAG]; /* the entity tag, "" where there is none */

    /* For the log, and for the limit on requests. */
    char uuid[UUID_LENGTH + 1]; /* the domain, where it is known; "" else */
    const char *document;       /* of it that was asked for; NULL else */
    const char *reason;         /* why there is none of it; NULL else */
    bool granted;               /* whether the peer may read that domain's */
};

/* Return: whether such a request needs the tree, and to know the peer. */
bool answer_needs_peer(const struct path *path);

/*
 * Makes the answer; always succeeds. `tree` is NULL where there is none, for `tree_error`;
 * it and `peer` may be NULL where they are not needed. The caller clears the answer.
 */
void answer_make(struct answer *answer, const struct request_line *line,
                 const struct request_headers *headers, const struct path *path,
                 const struct peer *peer, const struct imds_tree *tree, int tree_error);
/* What is said in place of any answer when somebody asks too often. */
void answer_refuse_rate(struct answer *answer);

void answer_clear(struct answer *answer);

#define ANSWER_NONE ((struct answer){.fd = -1})
#define cleanup_answer __attribute__((cleanup(answer_clear)))
