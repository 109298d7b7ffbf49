/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may have what: the answer is a function of the request, the peer and the tree alone. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "imds/http-request.h"
#include "imds/peer.h"

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
 * Makes the answer; always succeeds. `tree` is NULL if there is none, for `tree_error`; it and
 * `peer` may be NULL if they are not needed. The caller clears the answer.
 */
void answer_make(struct answer *answer, const struct http_request *request,
                 const struct peer *peer, const struct imds_tree *tree, int tree_error);
/* What is said in place of any answer when somebody asks too often. */
void answer_refuse_rate(struct answer *answer);

void answer_clear(struct answer *answer);

#define ANSWER_NONE ((struct answer){.fd = -1})
#define cleanup_answer __attribute__((cleanup(answer_clear)))
