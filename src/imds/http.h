/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP with libmicrohttpd, from a request to its answer: who asks, what they may read and
 * how often, and what is logged.
 *
 * The server keeps nothing about domains. It opens the tree again in each turn of its
 * loop, and the domain in it for each request, and answers from what it opened. So both
 * may be replaced at any time, and a restarted server gives the same answers.
 */
#pragma once

#include <microhttpd.h>

#include "imds/access.h"
#include "imds/connections.h"
#include "imds/peer.h"
#include "store/imds-read.h"

struct http {
    int root;     /* the directory used as "/"; borrowed */
    bool verbose; /* also log what is served */
    struct connections connections;
    uint64_t now; /* milliseconds; the caller sets it */
    /* The state of the host during one turn, read when a request needs it. */
    struct {
        bool is_read;
        struct imds_tree tree;
        int tree_error; /* why there is no tree, or 0 */
        struct user qemu;
    } host;
    struct netlink netlink;
    struct rate *requests;
    struct rate *lines;       /* of the log, for each guest or peer */
    struct rate *crowd_lines; /* of the log, for all whose identity is not proven */
};

#define HTTP_NONE                                                                        \
    ((struct http){.host = {.tree = IMDS_TREE_NONE}, .netlink = NETLINK_NONE})

/* Opens an HTTP_NONE with the caller's root; the caller closes it, even on failure. */
int http_open(struct http *http, size_t connections, struct failure **failure);
void http_close(struct http *http);

/* Return: a daemon for the listening socket `fd`, which the caller still owns
 * (MHD_quiesce_daemon, MHD_stop_daemon); NULL on failure. */
struct MHD_Daemon *http_start(struct http *http, int fd);

/* Logs problems of the host that keep guests from being served. */
void http_check_host(struct http *http);
/* Makes the next request read the state of the host again. */
void http_forget_host(struct http *http);

/* The rate limits: take one request, or one line of the log, from the peer's share.
 * Return: whether one was left. */
bool http_may_ask(struct http *http, const struct peer *peer,
                  const struct answer *answer);
bool http_may_log(struct http *http, const struct peer *peer,
                  const struct answer *answer);

/* --- the log ---------------------------------------------------------------------- */

/*
 * Messages of the running server on standard error. Their rate is limited; lines that
 * would block are dropped and counted. None may contain a token or a document's content.
 */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Logs how many lines were dropped, if there is room; otherwise a later line does. */
void log_end(void);
