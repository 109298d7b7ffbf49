/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a request that has been read to its answer: who asks, what that one may have, how
 * often, and what the log says of it.
 *
 * Nothing is kept of a domain. The tree is opened anew in each turn of the server's loop, and
 * for each request its domain in it, and what is answered comes from what was opened; so
 * both may be replaced at any time, and a server that is started in the place of this one
 * gives the same bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/failure.h"
#include "imds/answer.h"
#include "imds/clients.h"
#include "imds/netlink.h"
#include "imds/peer.h"
#include "imds/rate.h"
#include "store/imds-tree.h"

struct handler_options {
    int root;     /* the directory that stands for "/"; borrowed */
    bool by_mac;  /* know guests without a token by their MAC */
    bool verbose; /* say what is served, too */
};

/* The host as it is during one turn, looked at when a request needs it. */
struct handler_view {
    bool taken;
    struct imds_tree tree;
    int tree_error; /* why there is none, or 0 */
    struct qemu_user qemu;
};

struct handler {
    const struct handler_options *options; /* borrowed */
    struct handler_view view;
    struct netlink netlink;
    struct rate *requests;
    struct rate *lines;       /* of the log, of each */
    struct rate *crowd_lines; /* of all who cannot be held to what they are */
};

#define HANDLER_NONE                                                                     \
    ((struct handler){.view = {.tree = IMDS_TREE_NONE}, .netlink = NETLINK_NONE})

/* Opens a HANDLER_NONE; whether it fails or not, the caller closes it. */
int handler_open(struct handler *handler, const struct handler_options *options,
                 struct failure **failure);
void handler_close(struct handler *handler);

/* Makes the answer, at `now` (milliseconds), and logs it; the caller clears it
 * (answer_clear). */
void handler_answer(struct handler *handler, const struct client *client,
                    const struct request_line *line,
                    const struct request_headers *headers, uint64_t now,
                    struct answer *answer);

/* Logs what of the host is not as it must be for guests to be served. */
void handler_check_host(struct handler *handler);

/* The limits of handler_answer(): takes one request, or one line of the log, of what that one
 * may have at `now`. Return: whether there was one. */
bool handler_may_ask(struct handler *handler, uint64_t now, const struct peer *peer,
                     const struct answer *answer);
bool handler_may_log(struct handler *handler, uint64_t now, const struct peer *peer,
                     const struct answer *answer);

/* The next request looks at the host anew. */
void handler_forget_host(struct handler *handler);
