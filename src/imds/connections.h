/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open connections: how many, from whom, since when; and rate limits.
 *
 * How it works: libmicrohttpd accepts and closes connections. Its time-out ends only
 * silent ones, and a peer could keep one open with a byte now and then: so each has a
 * limited time to ask and to take the answer. A peer on another machine may have only a
 * few; local peers share an address and are not counted. If there are too many
 * connections, the oldest are ended in the state, asking or answering, that has more of
 * them. An honest connection takes milliseconds, so a peer that opens thousands and
 * neither asks nor reads loses its own.
 *
 * An answer arrives complete or the connection is reset, even if this process is killed,
 * so that half a document is never taken for a whole one. The kernel delivers what has
 * been sent. Until the peer has taken it, the connection is kept, but only for so long,
 * and only so many of them: then it is reset, too.
 */
#pragma once

#include <sys/queue.h>

#include "imds/socket.h"

enum connection_state {
    CONNECTION_ASKING,    /* the request is not complete yet */
    CONNECTION_ANSWERING, /* the answer is being sent */
    CONNECTION_ENDED,     /* reset; libmicrohttpd is about to notice */
};

struct connection {
    int fd; /* libmicrohttpd's */
    struct endpoint own, other;
    enum connection_state state;
    uint64_t begun; /* milliseconds */
    uint64_t since; /* when it entered the state */
    bool is_sent;   /* the kernel has the whole answer */
    TAILQ_ENTRY(connection) neighbours;
};

TAILQ_HEAD(connection_list, connection);

/* One that libmicrohttpd has closed, whose peer has not taken the whole answer. */
struct kept {
    int fd;         /* owned */
    uint64_t since; /* milliseconds */
};

struct connections {
    size_t limit; /* at least two */
    size_t count; /* including ended ones */
    struct {
        struct connection_list list; /* the oldest first */
        size_t count;
    } queues[CONNECTION_ENDED];
    /* A ring; the oldest comes first. */
    struct kept kept[LIMIT_IMDS_KEPT];
    size_t kept_first, kept_count;
    /* Effects of too many connections; the caller resets them to 0. */
    size_t made_room; /* ended to make room */
    size_t refused;   /* of peers that already had the maximum */
};

void connections_init(struct connections *connections, size_t limit);

/* Adds a connection that begins `now` (milliseconds); ends it at once if its peer has too
 * many. Return: the connection, owned by the caller (connections_remove). */
struct connection *connections_add(struct connections *connections, int fd,
                                   const struct endpoint *own,
                                   const struct endpoint *other, uint64_t now);
/* The request is complete, and its answer begins `now`. */
void connections_answer(struct connections *connections, struct connection *connection,
                        uint64_t now);
/* The kernel has the whole answer. */
void connections_sent(struct connection *connection);
/* libmicrohttpd is about to close it; what its peer has not taken by `now` is kept. */
void connections_remove(struct connections *connections, struct connection *connection,
                        uint64_t now);

/* Closes what is kept: what was taken, and, by a reset, what was not in time. Return:
 * milliseconds until the next one's time is over, or -1. */
int connections_drop_kept(struct connections *connections, uint64_t now);

/* Ends connections whose time is over, which is all of them if `now` is UINT64_MAX, and
 * others as needed to make room. Return: milliseconds until the next one's time is over,
 * or -1. */
int connections_end_old(struct connections *connections, uint64_t now);

/* Return: whether a connection that began by that time is still open. */
bool connections_has_begun_by(const struct connections *connections, uint64_t time);

/* --- how often -------------------------------------------------------------------- */

/*
 * Rate limits: a bucket for each guest or peer, which fills at a rate, up to a burst. The
 * table has a fixed size; if it is full, the fullest bucket is replaced, and its owner
 * starts again with a full one.
 */
struct rate;

/* Return: a table with full buckets of `burst` that refill at `per_second`, owned by the
 * caller (free). */
struct rate *rate_new(unsigned int per_second, unsigned int burst);

/* Takes one from the bucket called `name`, at `now` (milliseconds).
 * Return: whether there was one. */
bool rate_take(struct rate *rate, const char *name, uint64_t now);
