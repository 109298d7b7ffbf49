/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connections that there are: how many, of whom, since when. And how often somebody
 * may do something.
 *
 * How it works: libmicrohttpd accepts them and closes them. Its time-out is for those
 * that say nothing, and a byte now and then is no way to stay here, either: so each has
 * some time to ask and some time to take the answer. A peer on another machine may have
 * few; those of this host share an address, and are not counted. If there are too many,
 * some are ended: those that ask or those that take answers, whichever are more, and of
 * these the oldest. An honest connection is over in milliseconds, so whoever opens
 * thousands and says nothing, or does not listen, loses his own.
 *
 * An answer arrives whole, or the connection is reset: nobody takes half a document for a
 * whole one, also if this process is killed. What is sent is the kernel's, which drops it
 * if the peer does not take it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "imds/socket.h"

enum connection_state {
    CONNECTION_ASKING,    /* the request is not there yet */
    CONNECTION_ANSWERING, /* the answer is being sent */
    CONNECTION_ENDED,     /* it is reset, and libmicrohttpd is about to see that */
};

struct connection {
    int fd; /* libmicrohttpd's */
    struct endpoint own, other;
    enum connection_state state;
    uint64_t begun; /* milliseconds */
    uint64_t since; /* when it came into that state */
    TAILQ_ENTRY(connection) neighbours;
};

TAILQ_HEAD(connection_list, connection);

struct connections {
    size_t limit; /* at least two */
    size_t count; /* also of those that are ended */
    struct {
        struct connection_list list; /* the oldest first */
        size_t count;
    } queues[CONNECTION_ENDED];
    /* What too many connections have led to; the caller sets it to 0. */
    size_t made_room; /* so many were ended */
    size_t refused;   /* of peers that had all that they may have */
};

void connections_init(struct connections *connections, size_t limit);

/* Adds the connection, which begins `now` (milliseconds); one that its peer may not have
 * is ended at once. Return: it, owned by the caller (connections_remove). */
struct connection *connections_add(struct connections *connections, int fd,
                                   const struct endpoint *own,
                                   const struct endpoint *other, uint64_t now);
/* The request is there, and its answer begins `now`. */
void connections_answer(struct connections *connections, struct connection *connection,
                        uint64_t now);
/* All of the answer is with the kernel. */
void connections_sent(const struct connection *connection);
/* libmicrohttpd is about to close it. */
void connections_remove(struct connections *connections, struct connection *connection);

/* Ends those whose time is over, and so many that there is room. Return: milliseconds
 * until the next one's time is over, or -1. */
int connections_end_old(struct connections *connections, uint64_t now);
void connections_end_all(struct connections *connections);

/* Return: whether there is one yet that had begun by that time. */
bool connections_has_from(const struct connections *connections, uint64_t time);

/* --- how often -------------------------------------------------------------------- */

/*
 * A bucket for each guest or peer, which fills at a rate,
 * up to a burst. The table has a fixed size. Where there are more than it has room for,
 * the fullest bucket makes room: whoever comes back then starts again.
 */
struct rate;

/* Return: a table with full buckets of `burst`, which get so many `per_second`, owned by
 * the caller (free). */
struct rate *rate_new(unsigned int per_second, unsigned int burst);

/* Takes one from the bucket of whoever is called `name`, at `now`, in milliseconds.
 * Return: whether there was one. */
bool rate_take(struct rate *rate, const char *name, uint64_t now);
