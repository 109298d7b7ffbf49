/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP, by libmicrohttpd: from a request that it has read to the answer that it sends.
 * Who asks, what that one may have, how often, and what the log says of it.
 *
 * Nothing is kept of a domain. The tree is opened again in each turn of the server's
 * loop, and for each request its domain in it, and what is answered comes from what was
 * opened; so both may be replaced at any time, and a server that is started in the place
 * of this one gives the same bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <microhttpd.h>

#include "base/failure.h"
#include "imds/access.h"
#include "imds/connections.h"
#include "imds/peer.h"
#include "store/imds-tree.h"

struct http_options {
    int root;     /* the directory that stands for "/"; borrowed */
    bool by_mac;  /* know guests without a token by their MAC */
    bool verbose; /* say what is served, too */
};

struct http {
    const struct http_options *options; /* borrowed */
    struct connections connections;
    uint64_t now; /* milliseconds; the caller sets it */
    /* The host as it is during one turn, looked at when a request needs it. */
    struct {
        bool taken;
        struct imds_tree tree;
        int tree_error; /* why there is none, or 0 */
        struct qemu_user qemu;
    } host;
    struct netlink netlink;
    struct rate *requests;
    struct rate *lines;       /* of the log, of each */
    struct rate *crowd_lines; /* of all who cannot be held to what they are */
};

#define HTTP_NONE                                                                        \
    ((struct http){.host = {.tree = IMDS_TREE_NONE}, .netlink = NETLINK_NONE})

/* Opens an HTTP_NONE; whether it fails or not, the caller closes it. */
int http_open(struct http *http, const struct http_options *options, size_t connections,
              struct failure **failure);
void http_close(struct http *http);

/* Return: a daemon that accepts what comes to the socket `fd`, which listens and stays
 * the caller's (MHD_quiesce_daemon, MHD_stop_daemon); NULL if there can be none. */
struct MHD_Daemon *http_start(struct http *http, int fd);

/* Logs what of the host is not as it must be for guests to be served. */
void http_check_host(struct http *http);
/* The next request looks at the host again. */
void http_forget_host(struct http *http);

/* The limits: takes one request, or one line of the log, of what that one may have now.
 * Return: whether there was one. */
bool http_may_ask(struct http *http, const struct peer *peer,
                  const struct answer *answer);
bool http_may_log(struct http *http, const struct peer *peer,
                  const struct answer *answer);

/* --- the log ---------------------------------------------------------------------- */

/*
 * What the server says while it runs, on standard error: a line each, not many, none
 * where nobody takes them, and what was left out is counted. Nothing here may hold a
 * token or content.
 */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Counts a line that is left out. */
void log_leave_out(void);
/* Says how many were left out, where there is room; which is otherwise said with the next
 * line that is not. */
void log_end(void);
