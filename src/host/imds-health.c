/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the kernel's tables say whether a socket listens at the address, and whose
 * it is. Any user may listen on a port of 1024 and above, and answer as the server does. So it
 * must have been made by root (as systemd is), the user of the unit, or the user who asks.
 *
 * systemd's socket listens even if the server cannot start. So the server gets a request,
 * but only if the address belongs to this host: no packet leaves the host, and a cloud's
 * metadata server with the same address is not disturbed. Each step has its own time
 * limit, and a single read takes the answer, so a dead or slow server costs a few seconds
 * at most.
 */
#include "config.h"

#include <netinet/tcp.h>
#include <sys/time.h>

#include "base/fs.h"
#include "base/inet.h"
#include "base/user.h"
#include "host/imds-health.h"

#define REQUEST "GET /healthz HTTP/1.1\r\nHost: virt-seed\r\nConnection: close\r\n\r\n"
/* An answer begins with the version and the status. */
#define VERSION_LENGTH (sizeof("HTTP/1.1 ") - 1)
#define ANSWER_LENGTH (sizeof("HTTP/1.1 200") - 1)

/*
 * Connects from the address itself, which works only if it is this host's own.
 * Return: a descriptor, owned by the caller, or -errno.
 */
static int
connect_to(const union inet_address *address, socklen_t size)
{
    const struct timeval patience = {.tv_sec = LIMIT_IMDS_PROBE_SECONDS};
    union inet_address own = *address;
    cleanup_close int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_address_set_port(&own, 0);
    if (fd < 0 || bind(fd, &own.any, size) < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
        connect(fd, &address->any, size) < 0)
        return -errno;
    return steal_fd(fd);
}

/* --- whose socket it is -------------------------------------------------------------- */

/* The sockets that listen at an address. */
struct listeners {
    struct user server;
    bool is_any;    /* there is one, or the kernel does not tell */
    uid_t stranger; /* the user of the first one that is not trusted; 0 if all are */
};

/* Looks in a table of the kernel for the address and port as it is written there, and for the
 * port of any address. */
static void
look_up(struct listeners *listeners, const char *table, const char *own)
{
    /* In a line: its number, the address, the other's, the state, three more, the user. */
    enum {
        ADDRESS = 1,
        STATE = 3,
        USER = 7,
        FIELDS
    };
    const struct user *server = &listeners->server;
    cleanup_free char *any = xstrdup(own);
    cleanup_free char *line = NULL;
    size_t size = 0;
    cleanup_fclose FILE *file = fopen(table, "re");

    if (!file && errno != ENOENT)
        listeners->is_any = true;
    memset(any, '0', strcspn(any, ":"));
    while (file && getline(&line, &size, file) > 0) {
        const char *fields[FIELDS] = {NULL};
        char *rest = NULL;
        uid_t user;
        bool is_trusted;

        for (size_t i = 0; i < FIELDS; i++)
            fields[i] = strtok_r(i == 0 ? line : NULL, " ", &rest);
        if (!fields[USER] || strtoul(fields[STATE], NULL, 16) != TCP_LISTEN)
            continue;
        if (strcmp(fields[ADDRESS], own) != 0 && strcmp(fields[ADDRESS], any) != 0)
            continue;
        listeners->is_any = true;
        user = (uid_t)strtoul(fields[USER], NULL, 10);
        is_trusted = user == 0 || user == geteuid();
        is_trusted = is_trusted || (server->is_known && user == server->uid);
        if (!is_trusted && listeners->stranger == 0)
            listeners->stranger = user;
    }
    /* What could not be read to its end does not say that nothing listens. */
    if (file && ferror(file))
        listeners->is_any = true;
}

/* The kernel prefers a socket of IPv4 to one of IPv6, which may take its connections, too. */
static struct listeners
find_listeners(const union inet_address *address, unsigned int port)
{
    const uint32_t *words = address->ipv6.sin6_addr.s6_addr32;
    const uint32_t mapped[] = {0, 0, htonl(0xffff), address->ipv4.sin_addr.s_addr};
    cleanup_free char *of_ipv4 = xasprintf("%08X:%04X", mapped[3], port);
    cleanup_free char *of_ipv6 = NULL;
    cleanup_close int root = fs_open_root("/");
    struct listeners listeners = {.server = user_find(root, IMDS_USER)};

    if (address->any.sa_family == AF_INET) {
        look_up(&listeners, "/proc/net/tcp", of_ipv4);
        if (listeners.is_any)
            return listeners;
        words = mapped;
    }
    of_ipv6 =
        xasprintf("%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3], port);
    look_up(&listeners, "/proc/net/tcp6", of_ipv6);
    return listeners;
}

/* --- what it answers ------------------------------------------------------------------ */

static enum imds_health
ask(int fd)
{
    char answer[ANSWER_LENGTH + 1] = "";
    ssize_t count = send(fd, REQUEST, strlen(REQUEST), MSG_NOSIGNAL);

    if (count > 0)
        count = recv(fd, answer, ANSWER_LENGTH, 0);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return IMDS_SILENT;
    if (count <= 0)
        return IMDS_CLOSING;
    if (strcmp(answer + VERSION_LENGTH, "503") == 0)
        return IMDS_FAILING;
    return strcmp(answer + VERSION_LENGTH, "200") == 0 ? IMDS_HEALTHY : IMDS_OTHER;
}

struct imds_finding
imds_health_find(const char *url_address)
{
    union inet_address address;
    int port;
    const socklen_t size = inet_address_read(&address, url_address, &port);
    cleanup_close int fd = -1;
    struct listeners listeners;

    if (size == 0)
        return (struct imds_finding){IMDS_UNKNOWN, EINVAL};
    if (port < 0)
        port = HTTP_PORT;
    inet_address_set_port(&address, port);
    listeners = find_listeners(&address, (unsigned int)port);
    if (!listeners.is_any)
        return (struct imds_finding){.health = IMDS_ABSENT};
    if (listeners.stranger != 0)
        return (struct imds_finding){IMDS_FOREIGN, listeners.stranger};
    fd = connect_to(&address, size);
    if (fd == -ECONNREFUSED)
        return (struct imds_finding){.health = IMDS_ABSENT};
    if (fd == -EINPROGRESS || fd == -EAGAIN || fd == -ETIMEDOUT)
        return (struct imds_finding){.health = IMDS_DEAF};
    if (fd < 0)
        return (struct imds_finding){IMDS_UNKNOWN, (uint32_t)-fd};
    return (struct imds_finding){.health = ask(fd)};
}
