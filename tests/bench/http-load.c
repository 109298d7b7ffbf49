/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guests that boot at the same time and fetch their documents over HTTP, as cloud-init
 * does: one after the other, each on a connection of its own, with the client closing it.
 *
 *   http-load ROUNDS GUESTS OFFSET PORT=FORMAT... -- DOCUMENT...
 *
 * FORMAT is the path of a document, in which "%u" is the guest's UUID, "%t" its token,
 * both those of tests/imds/publish's `many`, and "%d" the document. Guests are numbered
 * from OFFSET. The servers take turns; a round is one storm. Prints a line for each:
 * port, requests a second (median of the rounds; its 10th and 90th percentile),
 * milliseconds of a request (median, 99th percentile of all), failed requests, and the
 * requests a second in proportion to those of the last server (median of the rounds).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SERVERS 4
#define STALLED_MILLISECONDS 20000

struct guest {
    unsigned long number;
    size_t document; /* the one that is being fetched */
    int fd;
    double begin;
    char answer[4096];
    size_t size, wanted; /* wanted: 0 until the header is there */
};

struct server {
    int port;
    const char *format;
    double *rates;     /* of the rounds */
    double *latencies; /* of all requests */
    size_t latency_count, failed;
};

static struct server servers[SERVERS];
static size_t server_count;
static char **documents;
static size_t document_count;
static int events;
static size_t running;

static double
seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void
make_request(const struct server *server, const struct guest *guest, char *text,
             size_t room)
{
    char path[256];
    size_t length = 0;

    for (const char *from = server->format; *from; from++) {
        char *to = path + length;
        size_t left = sizeof(path) - length;
        int added;

        if (strncmp(from, "%u", 2) == 0)
            added = snprintf(to, left, "00000000-0000-0000-0000-%012lx", guest->number);
        else if (strncmp(from, "%t", 2) == 0)
            added = snprintf(to, left, "%032lx", guest->number);
        else if (strncmp(from, "%d", 2) == 0)
            added = snprintf(to, left, "%s", documents[guest->document]);
        else
            added = snprintf(to, left, "%c", *from);
        from += *from == '%';
        length += (size_t)added;
    }
    snprintf(text, room,
             "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: Cloud-Init/22.4.2\r\n"
             "Accept-Encoding: gzip, deflate\r\nAccept: */*\r\n"
             "Connection: keep-alive\r\n\r\n",
             path, server->port);
}

/* Each guest has an address of its own, and so ports of its own. */
static void
begin_request(const struct server *server, struct guest *guest)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)server->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in from = {
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(0x7f010000 + (uint32_t)guest->number % 0xffff)};
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = guest};
    const int on = 1;

    guest->size = guest->wanted = 0;
    guest->begin = seconds();
    guest->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(guest->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    if (guest->fd < 0 ||
        bind(guest->fd, (const struct sockaddr *)&from, sizeof(from)) < 0)
        die("bind");
    if (connect(guest->fd, (const struct sockaddr *)&to, sizeof(to)) < 0 &&
        errno != EINPROGRESS)
        die("connect");
    if (epoll_ctl(events, EPOLL_CTL_ADD, guest->fd, &event) < 0)
        die("epoll_ctl");
}

static void
end_request(struct server *server, struct guest *guest, bool well)
{
    if (well)
        server->latencies[server->latency_count++] = (seconds() - guest->begin) * 1e3;
    else
        server->failed++;
    close(guest->fd);
    guest->fd = -1;
    if (++guest->document < document_count)
        begin_request(server, guest);
    else
        running--;
}

static void
send_request(struct server *server, struct guest *guest)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = guest};
    char text[1024];

    make_request(server, guest, text, sizeof(text));
    if (send(guest->fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
        end_request(server, guest, false);
    else if (epoll_ctl(events, EPOLL_CTL_MOD, guest->fd, &event) < 0)
        die("epoll_ctl");
}

/* Finds out how long the answer is, once its header is there. Return: false when it is
 * not what was asked for. */
static bool
read_header(struct guest *guest)
{
    const char *length, *end;

    guest->answer[guest->size] = '\0';
    end = strstr(guest->answer, "\r\n\r\n");
    if (!end)
        return true;
    length = strcasestr(guest->answer, "\r\nContent-Length:");
    if (strncmp(guest->answer, "HTTP/1.1 200 ", 13) != 0 || !length || length > end)
        return false;
    guest->wanted = (size_t)(end + 4 - guest->answer) + strtoul(length + 17, NULL, 10);
    return true;
}

static void
read_answer(struct server *server, struct guest *guest)
{
    /* Of a long body the end is not kept. */
    char rest[16384];
    bool keep = guest->size < sizeof(guest->answer) - 1 && guest->wanted == 0;
    ssize_t count = keep ? recv(guest->fd, guest->answer + guest->size,
                                sizeof(guest->answer) - 1 - guest->size, 0)
                         : recv(guest->fd, rest, sizeof(rest), 0);

    if (count < 0 && errno == EAGAIN)
        return;
    if (count <= 0) {
        end_request(server, guest, false);
        return;
    }
    guest->size += (size_t)count;
    if (keep && !read_header(guest))
        end_request(server, guest, false);
    else if (guest->wanted > 0 && guest->size >= guest->wanted)
        end_request(server, guest, true);
}

static void
storm(struct server *server, struct guest *guests, size_t count, size_t offset)
{
    struct epoll_event ready[256];

    running = count;
    for (size_t i = 0; i < count; i++) {
        guests[i] = (struct guest){.number = offset + i};
        begin_request(server, &guests[i]);
    }
    while (running > 0) {
        int found = epoll_wait(events, ready, 256, STALLED_MILLISECONDS);

        if (found == 0) {
            fprintf(stderr, "%zu guests got no answer\n", running);
            exit(EXIT_FAILURE);
        }
        for (int i = 0; i < found; i++) {
            if (ready[i].events & EPOLLOUT)
                send_request(server, ready[i].data.ptr);
            else
                read_answer(server, ready[i].data.ptr);
        }
    }
}

static int
compare(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;

    return (a > b) - (a < b);
}

static double
percentile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof(*values), compare);
    return count > 0 ? values[(size_t)((double)(count - 1) * part)] : 0;
}

static void
print_servers(size_t rounds)
{
    double *ratios = calloc(rounds, sizeof(*ratios));
    double middle[SERVERS];

    /* Before the rounds' rates are sorted. */
    for (size_t i = 0; i < server_count; i++) {
        for (size_t round = 0; round < rounds; round++)
            ratios[round] =
                servers[i].rates[round] / servers[server_count - 1].rates[round];
        middle[i] = percentile(ratios, rounds, 0.5);
    }
    for (size_t i = 0; i < server_count; i++) {
        struct server *server = &servers[i];

        printf("%d\t%.0f\t%.0f\t%.0f\t%.3f\t%.3f\t%zu\t%.3f\n", server->port,
               percentile(server->rates, rounds, 0.5),
               percentile(server->rates, rounds, 0.1),
               percentile(server->rates, rounds, 0.9),
               percentile(server->latencies, server->latency_count, 0.5),
               percentile(server->latencies, server->latency_count, 0.99), server->failed,
               middle[i]);
    }
    free(ratios);
}

int
main(int argc, char **argv)
{
    size_t rounds, count, offset;
    struct guest *guests;
    int next = 4;

    if (argc < 6)
        return EXIT_FAILURE;
    rounds = strtoul(argv[1], NULL, 10);
    count = strtoul(argv[2], NULL, 10);
    offset = strtoul(argv[3], NULL, 10);
    for (; strcmp(argv[next], "--") != 0 && server_count < SERVERS; next++)
        servers[server_count++] = (struct server){
            .port = (int)strtol(argv[next], NULL, 10),
            .format = strchr(argv[next], '=') + 1,
        };
    documents = argv + next + 1;
    document_count = (size_t)(argc - next - 1);
    guests = calloc(count, sizeof(*guests));
    for (size_t i = 0; i < server_count; i++) {
        servers[i].rates = calloc(rounds, sizeof(double));
        servers[i].latencies = calloc(rounds * count * document_count, sizeof(double));
    }
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){16384, 16384});
    events = epoll_create1(EPOLL_CLOEXEC);
    if (events < 0)
        die("epoll_create1");
    /* Who is first changes, and one round is to warm up. */
    for (size_t round = 0; round <= rounds; round++) {
        for (size_t i = 0; i < server_count; i++) {
            struct server *server = &servers[(i + round) % server_count];
            double begin = seconds();

            storm(server, guests, count, offset);
            if (round == 0)
                server->latency_count = 0;
            else
                server->rates[round - 1] =
                    (double)(count * document_count) / (seconds() - begin);
        }
    }
    print_servers(rounds);
    return EXIT_SUCCESS;
}
