/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connections that there are: how many, of whom, since when. All memory is taken at the
 * start.
 *
 * Each has a place, some time to ask and some time to take the answer, and keeps its place
 * until the answer has arrived: what the kernel still has to send is not forgotten. A peer on
 * another machine has few places; those of this host share an address, and are not counted.
 * Where places get scarce, some are ended: in that state in which there are most, the oldest.
 * An honest connection is over in milliseconds, so whoever opens thousands and says nothing,
 * or does not listen, takes the places of his own.
 *
 * An answer arrives whole, or the connection is reset: nobody takes half a document for a
 * whole one, also where this process is killed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imds/endpoint.h"

enum client_state {
    CLIENT_ASKING,   /* the request is not there yet */
    CLIENT_ANSWERED, /* the answer is being sent */
    CLIENT_ARRIVING, /* it is sent, and has not wholly arrived; libmicrohttpd is done with it */
    CLIENT_ENDING, /* it is reset, and libmicrohttpd is about to see that */
};
#define CLIENT_STATES (CLIENT_ENDING + 1)

struct client {
    int fd; /* libmicrohttpd's; where that is done with it, our own */
    struct endpoint own, other;
    bool local;   /* the peer is on this host */
    bool awaited; /* clients_await_all() */
    bool whole;   /* all of the answer is sent */
    enum client_state state;
    uint64_t since; /* when it came into that state, in milliseconds */
    struct client *older, *newer;
    struct client *next; /* of those with the same hash, or of the free ones */
};

struct clients;

/* Return: room for so many, at least two, owned by the caller (clients_free). */
struct clients *clients_new(size_t limit);
/* Those that libmicrohttpd has are to be left before. */
void clients_free(struct clients *clients);

size_t clients_count(const struct clients *clients);
bool clients_is_full(const struct clients *clients);

/*
 * Takes a place for the connection, which begins `now` (milliseconds).
 * Return: it, or NULL where all are taken, or all that this peer may have.
 */
struct client *clients_add(struct clients *clients, int fd, const struct endpoint *own,
                           const struct endpoint *other, uint64_t now);
/* The request is there, and its answer begins `now`. */
void clients_answered(struct clients *clients, struct client *client, uint64_t now);
/* All of the answer is sent. */
void clients_sent(struct client *client);
/* Closes a connection for which there is no place; nothing of it is left. */
void clients_refuse(int fd);
/* libmicrohttpd is about to close the connection, and does not know it any more; the client
 * may be gone then. */
void clients_leave(struct clients *clients, struct client *client, uint64_t now);
/* Gives the place back of a connection that libmicrohttpd did not take. */
void clients_remove(struct clients *clients, struct client *client);

/*
 * Ends the connections whose time is over, and, where few places are left, so many that there
 * are some again; libmicrohttpd sees that, and leaves them.
 * Return: milliseconds until there may be others, or -1.
 */
int clients_end_old(struct clients *clients, uint64_t now);
void clients_end_all(struct clients *clients, uint64_t now);

/* What want of places has led to. */
struct pressure {
    size_t ended;   /* connections, to make room */
    size_t refused; /* of peers that had all places that they may have */
};
/* Return: that since the last call. */
struct pressure clients_take_pressure(struct clients *clients);

/* Those that there are now are awaited, and those that come are not. */
void clients_await_all(struct clients *clients);
/* Return: how many are awaited. */
size_t clients_awaited(const struct clients *clients);
