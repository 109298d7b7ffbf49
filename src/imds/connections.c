/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a connection is ASKING from its accept until its request is complete, then
 * ANSWERING until its peer has closed it or it is removed. Each state has a queue, oldest
 * first, and a time limit, at which the connection is reset and becomes ENDED: it is in no
 * queue, and only waits for libmicrohttpd to remove it. It also becomes ENDED, the oldest
 * first, if few connections are left, or at once, if its peer has too many.
 *
 * A removed connection whose answer is sent but not taken is KEPT: a duplicate of its
 * descriptor, without a struct connection, in a ring of LIMIT_IMDS_KEPT, until the peer has
 * taken everything, its time is up, or the ring is full.
 */
#include "config.h"

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/random.h>

#include "imds/connections.h"

/* Milliseconds that a connection may be in each state. */
static const uint64_t lives[CONNECTION_ENDED] = {
    [CONNECTION_ASKING] = LIMIT_IMDS_ASK_SECONDS * 1000UL,
    [CONNECTION_ANSWERING] = LIMIT_IMDS_ANSWER_SECONDS * 1000UL,
};

void
connections_init(struct connections *connections, size_t limit)
{
    *connections = (struct connections){.limit = limit};
    for (int state = 0; state < CONNECTION_ENDED; state++)
        TAILQ_INIT(&connections->queues[state].list);
}

static void
leave_queue(struct connections *connections, struct connection *connection)
{
    if (connection->state == CONNECTION_ENDED)
        return;
    TAILQ_REMOVE(&connections->queues[connection->state].list, connection, neighbours);
    connections->queues[connection->state].count--;
}

static void
enter(struct connections *connections, struct connection *connection,
      enum connection_state state, uint64_t now)
{
    connection->state = state;
    connection->since = now;
    TAILQ_INSERT_TAIL(&connections->queues[state].list, connection, neighbours);
    connections->queues[state].count++;
}

static void
end(struct connections *connections, struct connection *connection)
{
    /* A shutdown would look like the end of the answer; this resets the connection. */
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

    (void)connect(connection->fd, &nobody, sizeof(nobody));
    leave_queue(connections, connection);
    connection->state = CONNECTION_ENDED;
}

struct connection *
connections_add(struct connections *connections, int fd, const struct endpoint *own,
                const struct endpoint *other, uint64_t now)
{
    /* The address may be forged, but this only limits the number of connections. */
    bool local = endpoint_is_loopback(other) || endpoint_same_address(own, other);
    struct connection *connection = xmalloc(sizeof(*connection));
    size_t of_peer = 0;

    for (int state = 0; !local && state < CONNECTION_ENDED; state++) {
        const struct connection *one;

        TAILQ_FOREACH(one, &connections->queues[state].list, neighbours)
        of_peer += endpoint_same_address(&one->other, other);
    }
    *connection =
        (struct connection){.fd = fd, .own = *own, .other = *other, .begun = now};
    enter(connections, connection, CONNECTION_ASKING, now);
    connections->count++;
    if (of_peer >= LIMIT_IMDS_PEER_CONNECTIONS) {
        connections->refused++;
        end(connections, connection);
    }
    return connection;
}

void
connections_answer(struct connections *connections, struct connection *connection,
                   uint64_t now)
{
    /* Closing the connection resets it and drops unsent data. */
    const struct linger reset = {.l_onoff = 1};

    if (connection->state != CONNECTION_ASKING)
        return;
    setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    leave_queue(connections, connection);
    enter(connections, connection, CONNECTION_ANSWERING, now);
}

void
connections_sent(struct connection *connection)
{
    const struct linger finish = {.l_onoff = 0};

    setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &finish, sizeof(finish));
    connection->is_sent = true;
}

/* Return: whether the peer has acknowledged all that was sent to it. */
static bool
is_taken(int fd)
{
    int rest;

    return ioctl(fd, SIOCOUTQ, &rest) < 0 || rest == 0;
}

static void
drop_oldest_kept(struct connections *connections)
{
    const struct linger reset = {.l_onoff = 1};
    int fd = connections->kept[connections->kept_first].fd;

    if (!is_taken(fd))
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
    connections->kept_first = (connections->kept_first + 1) % LIMIT_IMDS_KEPT;
    connections->kept_count--;
}

/* TCP_USER_TIMEOUT begins again whenever the peer takes something, and nothing limits how
 * many closed connections the kernel has: so they stay open here. */
static void
keep(struct connections *connections, int sent, uint64_t now)
{
    int fd = is_taken(sent) ? -1 : fcntl(sent, F_DUPFD_CLOEXEC, 0);
    size_t last;

    if (fd < 0)
        return;
    shutdown(fd, SHUT_WR);
    if (connections->kept_count == LIMIT_IMDS_KEPT)
        drop_oldest_kept(connections);
    last = (connections->kept_first + connections->kept_count++) % LIMIT_IMDS_KEPT;
    connections->kept[last] = (struct kept){.fd = fd, .since = now};
}

int
connections_drop_kept(struct connections *connections, uint64_t now)
{
    while (connections->kept_count > 0) {
        const struct kept *oldest = &connections->kept[connections->kept_first];
        uint64_t age = now - oldest->since;

        if (age < LIMIT_IMDS_ARRIVE_SECONDS * 1000UL && !is_taken(oldest->fd))
            return (int)(LIMIT_IMDS_ARRIVE_SECONDS * 1000UL - age);
        drop_oldest_kept(connections);
    }
    return -1;
}

void
connections_remove(struct connections *connections, struct connection *connection,
                   uint64_t now)
{
    const unsigned int patience = LIMIT_IMDS_ARRIVE_SECONDS * 1000;
    char unread[2 * LIMIT_IMDS_RECEIVE_BUFFER];

    /* Limits how long the kernel keeps data for a peer that does not take it. */
    setsockopt(connection->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience,
               sizeof(patience));
    /* Closing it with unread data would reset it, and the answer could be lost. */
    (void)recv(connection->fd, unread, sizeof(unread), MSG_DONTWAIT);
    /* Closing what was broken off resets it. */
    if (connection->state == CONNECTION_ASKING || connection->is_sent)
        keep(connections, connection->fd, now);
    leave_queue(connections, connection);
    connections->count--;
    free(connection);
}

int
connections_end_old(struct connections *connections, uint64_t now)
{
    size_t spare =
        connections->limit < LIMIT_IMDS_SPARE ? 1 : connections->limit / LIMIT_IMDS_SPARE;
    int next = -1;

    for (int state = 0; state < CONNECTION_ENDED; state++) {
        struct connection *oldest;

        while ((oldest = TAILQ_FIRST(&connections->queues[state].list))) {
            uint64_t age = now - oldest->since;
            int rest = age < lives[state] ? (int)(lives[state] - age) : 0;

            if (rest > 0) {
                next = next < 0 || rest < next ? rest : next;
                break;
            }
            end(connections, oldest);
        }
    }
    for (;;) {
        size_t asking = connections->queues[CONNECTION_ASKING].count;
        size_t answering = connections->queues[CONNECTION_ANSWERING].count;
        int more = answering > asking ? CONNECTION_ANSWERING : CONNECTION_ASKING;
        struct connection *oldest = TAILQ_FIRST(&connections->queues[more].list);

        if (!oldest || asking + answering <= connections->limit - spare)
            return next;
        end(connections, oldest);
        connections->made_room++;
    }
}

bool
connections_has_begun_by(const struct connections *connections, uint64_t time)
{
    const struct connection *connection;

    for (int state = 0; state < CONNECTION_ENDED; state++) {
        TAILQ_FOREACH(connection, &connections->queues[state].list, neighbours)
        if (connection->begun <= time)
            return true;
    }
    return false;
}

/* --- how often -------------------------------------------------------------------- */

/* The number of buckets that a name can be in. */
#define WAYS 4
#define SETS (LIMIT_IMDS_RATE_SLOTS / WAYS)
/* Buckets count thousandths, so that each millisecond adds some. */
#define ONE 1000

struct bucket {
    uint64_t name; /* its hash; 0: unused */
    uint64_t time; /* when it was last used */
    uint64_t content;
};

struct rate {
    uint64_t seed;
    uint64_t rate; /* thousandths a millisecond */
    uint64_t full;
    struct bucket buckets[SETS][WAYS];
};

struct rate *
rate_new(unsigned int per_second, unsigned int burst)
{
    struct rate *rate = xcalloc(1, sizeof(*rate));

    rate->rate = per_second;
    rate->full = (uint64_t)burst * ONE;
    /* A read this small is never partial. */
    if (getrandom(&rate->seed, sizeof(rate->seed), 0) != sizeof(rate->seed))
        abort();
    return rate;
}

/* Peers can choose names, and without the seed could make them collide. FNV-1a with the
 * finalizer of splitmix64. */
static uint64_t
hash(const struct rate *rate, const char *name)
{
    uint64_t value = rate->seed ^ 0xcbf29ce484222325;

    for (; *name; name++)
        value = (value ^ (unsigned char)*name) * 0x100000001b3;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    value ^= value >> 31;
    return value != 0 ? value : 1;
}

static uint64_t
content_at(const struct rate *rate, const struct bucket *bucket, uint64_t now)
{
    uint64_t passed = now - bucket->time;
    uint64_t content;

    if (bucket->name == 0 || passed > rate->full / rate->rate)
        return rate->full;
    content = bucket->content + passed * rate->rate;
    return content < rate->full ? content : rate->full;
}

bool
rate_take(struct rate *rate, const char *name, uint64_t now)
{
    const uint64_t hashed = hash(rate, name);
    struct bucket *set = rate->buckets[hashed % SETS];
    struct bucket *bucket = &set[0];

    /* Its own bucket, or else the fullest one. */
    for (int i = 0; i < WAYS && bucket->name != hashed; i++) {
        if (set[i].name == hashed ||
            content_at(rate, &set[i], now) > content_at(rate, bucket, now))
            bucket = &set[i];
    }
    if (bucket->name != hashed)
        *bucket = (struct bucket){.name = hashed, .time = now, .content = rate->full};
    bucket->content = content_at(rate, bucket, now);
    bucket->time = now;
    if (bucket->content < ONE)
        return false;
    bucket->content -= ONE;
    return true;
}
