/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/memory.h"
#include "imds/clients.h"
#include "imds/hash.h"
#include "imds/wait.h"

#define HASHES 1024

/* One place of so many is kept free for those who come. */
#define SPARE 8

/* The kernel does not say when all has arrived: it is asked again after so many
 * milliseconds. */
#define ARRIVAL_PERIOD 100

/* Milliseconds that it may be so. */
static const uint64_t lives[CLIENT_ENDING] = {
    [CLIENT_ASKING] = LIMIT_IMDS_ASK_SECONDS * 1000UL,
    [CLIENT_ANSWERED] = LIMIT_IMDS_ANSWER_SECONDS * 1000UL,
    [CLIENT_ARRIVING] = LIMIT_IMDS_ARRIVE_SECONDS * 1000UL,
};

/* Those in one state, in the order in which they came into it. */
struct queue {
    struct client *oldest, *newest;
    size_t count;
};

struct clients {
    size_t limit, count, awaited;
    uint64_t seed;
    uint64_t asked; /* when the kernel was asked who has got all, in milliseconds */
    struct pressure pressure;
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
    clients->seed = hash_seed();
    /* The first is taken first, so that memory is touched as it is needed. */
    for (size_t i = limit; i > 0; i--) {
        clients->places[i - 1].next = clients->free;
        clients->free = &clients->places[i - 1];
    }
    return clients;
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

static struct client **
hash_of(struct clients *clients, const struct endpoint *other)
{
    uint64_t hash =
        hash_bytes(clients->seed, other->address.bytes, endpoint_address_size(other));

    return &clients->hashes[hash % HASHES];
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

    if (!client)
        return NULL;
    if (!local && count_of(clients, other) >= LIMIT_IMDS_PEER_CONNECTIONS) {
        clients->pressure.refused++;
        return NULL;
    }
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

/* --- from the answer to its arrival ----------------------------------------------- */

/* Whether what the kernel still has is lost when the connection is closed, and the peer hears
 * of it. */
static void
reset_when_closed(int fd, bool reset)
{
    const struct linger linger = {.l_onoff = reset};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

void
clients_refuse(int fd)
{
    reset_when_closed(fd, true);
    close(fd);
}

void
clients_answered(struct clients *clients, struct client *client, uint64_t now)
{
    if (client->state != CLIENT_ASKING)
        return;
    reset_when_closed(client->fd, true);
    enter(clients, client, CLIENT_ANSWERED, now);
}

void
clients_sent(struct client *client)
{
    reset_when_closed(client->fd, false);
    client->whole = true;
}

/* Return: whether nothing is on its way any more; of a connection that the peer has reset, the
 * kernel keeps what was. */
static bool
has_arrived(const struct client *client)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);
    int rest;

    if (ioctl(client->fd, SIOCOUTQ, &rest) < 0 || rest == 0)
        return true;
    return getsockopt(client->fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           info.tcpi_state == TCP_CLOSE;
}

/* Return: whether what libmicrohttpd leaves is to arrive. What is no request it has answered
 * itself. */
static bool
is_to_arrive(const struct client *client)
{
    return client->state == CLIENT_ASKING ||
           (client->state == CLIENT_ANSWERED && client->whole);
}

void
clients_leave(struct clients *clients, struct client *client, uint64_t now)
{
    int own = -1;

    if (is_to_arrive(client) && !has_arrived(client))
        own = fcntl(client->fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        clients_remove(clients, client);
        return;
    }
    /* Of which libmicrohttpd's closing is no end. */
    shutdown(own, SHUT_WR);
    client->fd = own;
    enter(clients, client, CLIENT_ARRIVING, now);
}

static void
remove_own(struct clients *clients, struct client *client)
{
    close(client->fd);
    clients_remove(clients, client);
}

static void
remove_arrived(struct clients *clients, uint64_t now)
{
    struct client *next;

    if (now - clients->asked < ARRIVAL_PERIOD)
        return;
    clients->asked = now;
    for (struct client *client = clients->queues[CLIENT_ARRIVING].oldest; client;
         client = next) {
        next = client->newer;
        if (has_arrived(client))
            remove_own(clients, client);
    }
}

/* --- ending ----------------------------------------------------------------------- */

static void
end(struct clients *clients, struct client *client, uint64_t now)
{
    /* To shut it down would look like the end of the answer. */
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

    (void)connect(client->fd, &nobody, sizeof(nobody));
    if (client->state == CLIENT_ARRIVING)
        remove_own(clients, client);
    else
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

static struct queue *
longest_queue(struct clients *clients)
{
    struct queue *longest = &clients->queues[CLIENT_ASKING];

    for (int state = CLIENT_ASKING; state < CLIENT_ENDING; state++) {
        if (clients->queues[state].count > longest->count)
            longest = &clients->queues[state];
    }
    return longest;
}

static void
make_room(struct clients *clients, uint64_t now)
{
    size_t spare = clients->limit < SPARE ? 1 : clients->limit / SPARE;

    while (clients->count - clients->queues[CLIENT_ENDING].count >
           clients->limit - spare) {
        end(clients, longest_queue(clients)->oldest, now);
        clients->pressure.ended++;
    }
}

int
clients_end_old(struct clients *clients, uint64_t now)
{
    int next = -1;

    remove_arrived(clients, now);
    for (int state = CLIENT_ASKING; state < CLIENT_ENDING; state++)
        next = wait_earlier(next, end_overdue(clients, state, now));
    make_room(clients, now);
    return clients->queues[CLIENT_ARRIVING].count > 0 ? wait_earlier(next, ARRIVAL_PERIOD)
                                                      : next;
}

void
clients_end_all(struct clients *clients, uint64_t now)
{
    for (int state = CLIENT_ASKING; state < CLIENT_ENDING; state++) {
        while (clients->queues[state].oldest)
            end(clients, clients->queues[state].oldest, now);
    }
}

void
clients_free(struct clients *clients)
{
    if (clients) {
        while (clients->queues[CLIENT_ARRIVING].oldest)
            remove_own(clients, clients->queues[CLIENT_ARRIVING].oldest);
    }
    free(clients);
}

/* --- what others want to know ----------------------------------------------------- */

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

struct pressure
clients_take_pressure(struct clients *clients)
{
    struct pressure pressure = clients->pressure;

    clients->pressure = (struct pressure){0};
    return pressure;
}
