/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connections that there are: how many, of whom, since when. All memory is taken at the
 * start.
 *
 * Each has a place, some time to ask and some time to take the answer. A peer on another
 * machine has few places. Where all are taken, the oldest connections end that are older
 * than an honest one gets as a rule: so whoever opens thousands and says nothing takes the
 * places of his own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imds/endpoint.h"

enum client_state {
    CLIENT_ASKING,   /* the request is not there yet */
    CLIENT_ANSWERED, /* the answer is being sent */
};
#define CLIENT_STATES (CLIENT_ANSWERED + 1)

struct client {
    int fd; /* borrowed: libmicrohttpd owns it */
    struct endpoint own, other;
    bool local; /* the peer is on this host */
    enum client_state state;
    uint64_t since; /* when it came into that state, in milliseconds */
    struct client *older, *newer;
    struct client *next; /* of those with the same hash, or of the free ones */
};

struct clients;

/* Return: room for so many, owned by the caller (clients_free). */
struct clients *clients_new(size_t limit);
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
void clients_remove(struct clients *clients, struct client *client);

/*
 * Ends the connections whose time is over, and, where there is no place left, the oldest:
 * they are shut down, and libmicrohttpd, seeing that, gives up their places.
 * Return: milliseconds until that is to be looked at again, or -1.
 */
int clients_end_old(struct clients *clients, uint64_t now);
