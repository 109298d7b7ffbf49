/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "base/memory.h"
#include "imds/clients.h"

#define HASHES 1024

/* One place of so many is kept free for those who come. */
#define SPARE 8

/* Milliseconds that it may be so. */
static const uint64_t lives[] = {
    [CLIENT_ASKING] = LIMIT_IMDS_IDLE_SECONDS * 1000UL,
    [CLIENT_ANSWERED] = LIMIT_IMDS_SECONDS * 1000UL,
};

/* Those in one state, in the order in which they came into it. */
struct queue {
    struct client *oldest, *newest;
    size_t count;
};

struct clients {
    size_t limit, count, awaited;
    struct queue queues[CLIENT_STATES];
    struct client *free;
    struct client *hashes[HASHES];
    struct client places[];
};

struct clients *
clients_new(size_t limit)
{
    struct clients *clients =
        xcalloc(1, sizeof(*clients) + limit * sizeof(clients->places[0]));

    clients->limit = limit;
    /* The first is taken first, so that memory is touched as it is needed. */
    for (size_t i = limit; i > 0; i--) {
        clients->places[i - 1].next = clients->free;
        clients->free = &clients->places[i - 1];
    }
    return clients;
}

void
clients_free(struct clients *clients)
{
    free(clients);
}

size_t
clients_count(const struct clients *clients)
{
    return clients->count;
}

bool
clients_is_full(const struct clients *clients)
{
    return clients->count == clients->limit;
}

/* --- queues ----------------------------------------------------------------------- */

static void
queue_add(struct queue *queue, struct client *client)
{
    client->older = queue->newest;
    client->newer = NULL;
    if (queue->newest)
        queue->newest->newer = client;
    else
        queue->oldest = client;
    queue->newest = client;
    queue->count++;
}

static void
queue_remove(struct queue *queue, struct client *client)
{
    if (client->older)
        client->older->newer = client->newer;
    else
        queue->oldest = client->newer;
    if (client->newer)
        client->newer->older = client->older;
    else
        queue->newest = client->older;
    queue->count--;
}

static void
enter(struct clients *clients, struct client *client, enum client_state state,
      uint64_t now)
{
    queue_remove(&clients->queues[client->state], client);
    client->state = state;
    client->since = now;
    queue_add(&clients->queues[state], client);
}

/* --- counting those of one peer --------------------------------------------------- */

/* Neighbours differ in the last bytes. */
static struct client **
hash_of(struct clients *clients, const struct endpoint *other)
{
    size_t size = endpoint_address_size(other);
    const unsigned char *bytes = other->address.bytes;

    return &clients->hashes[(bytes[size - 2] * 256U + bytes[size - 1]) % HASHES];
}

static size_t
count_of(struct clients *clients, const struct endpoint *other)
{
    size_t count = 0;

    for (const struct client *client = *hash_of(clients, other); client;
         client = client->next)
        count += endpoint_same_address(&client->other, other);
    return count;
}

/* Whatever it says of itself: this limits nothing but the number of connections. */
static bool
is_local(const struct endpoint *own, const struct endpoint *other)
{
    return endpoint_is_loopback(other) || endpoint_same_address(own, other);
}

/* --- coming and going ------------------------------------------------------------- */

struct client *
clients_add(struct clients *clients, int fd, const struct endpoint *own,
            const struct endpoint *other, uint64_t now)
{
    struct client **hash = hash_of(clients, other);
    struct client *client = clients->free;
    bool local = is_local(own, other);

    if (!client || (!local && count_of(clients, other) >= LIMIT_IMDS_PEER_CONNECTIONS))
        return NULL;
    clients->free = client->next;
    *client = (struct client){.fd = fd,
                              .own = *own,
                              .other = *other,
                              .local = local,
                              .state = CLIENT_ASKING,
                              .since = now};
    /* Those of this host are many, and not counted. */
    if (!local) {
        client->next = *hash;
        *hash = client;
    }
    queue_add(&clients->queues[CLIENT_ASKING], client);
    clients->count++;
    return client;
}

void
clients_answered(struct clients *clients, struct client *client, uint64_t now)
{
    if (client->state == CLIENT_ASKING)
        enter(clients, client, CLIENT_ANSWERED, now);
}

static void
remove_hash(struct clients *clients, struct client *client)
{
    struct client **link = hash_of(clients, &client->other);

    while (*link && *link != client)
        link = &(*link)->next;
    if (*link)
        *link = client->next;
}

void
clients_remove(struct clients *clients, struct client *client)
{
    if (!client->local)
        remove_hash(clients, client);
    queue_remove(&clients->queues[client->state], client);
    client->next = clients->free;
    clients->free = client;
    clients->count--;
    clients->awaited -= client->awaited;
}

/* --- ending ----------------------------------------------------------------------- */

static void
end(struct clients *clients, struct client *client, uint64_t now)
{
    shutdown(client->fd, SHUT_RDWR);
    enter(clients, client, CLIENT_ENDING, now);
}

/* Ends those whose time in that state is over. Return: milliseconds until that of the next
 * is, or -1. */
static int
end_overdue(struct clients *clients, enum client_state state, uint64_t now)
{
    struct client *client;

    while ((client = clients->queues[state].oldest)) {
        uint64_t age = now - client->since;

        if (age < lives[state])
            return (int)(lives[state] - age);
        end(clients, client, now);
    }
    return -1;
}

static void
make_room(struct clients *clients, uint64_t now)
{
    const struct queue *asking = &clients->queues[CLIENT_ASKING];
    const struct queue *answered = &clients->queues[CLIENT_ANSWERED];
    size_t spare = clients->limit < SPARE ? 1 : clients->limit / SPARE;

    while (asking->count + answered->count > clients->limit - spare)
        end(clients, asking->count >= answered->count ? asking->oldest : answered->oldest,
            now);
}

int
clients_end_old(struct clients *clients, uint64_t now)
{
    int asking = end_overdue(clients, CLIENT_ASKING, now);
    int answered = end_overdue(clients, CLIENT_ANSWERED, now);

    make_room(clients, now);
    return asking < 0 || (answered >= 0 && answered < asking) ? answered : asking;
}

void
clients_await_all(struct clients *clients)
{
    for (int state = 0; state < CLIENT_STATES; state++) {
        for (struct client *client = clients->queues[state].oldest; client;
             client = client->newer)
            client->awaited = true;
    }
    clients->awaited = clients->count;
}

size_t
clients_awaited(const struct clients *clients)
{
    return clients->awaited;
}
