/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the kernel's tables say whether a socket listens at the address, and whose
 * it is. Any user may listen on a port of 1024 and above, and answer as the server does. So
 * root, which systemd is, the user of the unit, or the user who asks must have made it.
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
    cleanup_fclose FILE *file = fopen(table, "re");
    cleanup_free char *line = NULL;
    cleanup_free char *any = xstrdup(own);
    cleanup_close int root = fs_open_root("/");
    const struct user server = user_find(root, IMDS_USER);
    size_t size = 0;

    memset(any, '0', strcspn(any, ":"));
    if (!file && errno != ENOENT)
        listeners->is_any = true;
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
        is_trusted = is_trusted || (server.is_known && user == server.uid);
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
    struct listeners listeners = {0};

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

static const char another_server[] = "it is another server";

/* Return: NULL if it answers like the metadata server, else what it does instead. */
static const char *
ask(int fd)
{
    char answer[ANSWER_LENGTH + 1] = "";
    ssize_t count = send(fd, REQUEST, strlen(REQUEST), MSG_NOSIGNAL);

    if (count > 0)
        count = recv(fd, answer, ANSWER_LENGTH, 0);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return "it accepts the connection but sends nothing";
    if (count <= 0)
        return "it closes the connection";
    if (strcmp(answer + VERSION_LENGTH, "503") == 0)
        return "it cannot read the seeds; its log says why";
    return strcmp(answer + VERSION_LENGTH, "200") == 0 ? NULL : another_server;
}

static enum imds_health
silent(const char *where, const char *what, struct failure **failure)
{
    failure_set(failure, FAILURE_IMDS,
                "the metadata server at %s does not answer: %s\n"
                "find out why: systemctl status virt-seed-imds.service; journalctl -u "
                "virt-seed-imds.service",
                where, what);
    return IMDS_SILENT;
}

static enum imds_health
absent(const char *where, struct failure **failure)
{
    failure_set(
        failure, FAILURE_IMDS,
        "nothing is listening at %s\n"
        "start the metadata server: systemctl enable --now virt-seed-imds.socket "
        "virt-seed-imds.service; see virt-seed-imds(8) for the address it should listen "
        "on",
        where);
    return IMDS_ABSENT;
}

enum imds_health
imds_health_ask(const char *url_address, struct failure **failure)
{
    union inet_address address;
    int port;
    const socklen_t size = inet_address_read(&address, url_address, &port);
    cleanup_free char *where = NULL;
    cleanup_close int fd = -1;
    const char *wrong;
    struct listeners listeners;

    /* It is one that store/configuration.c or seed_url_parse() has accepted. */
    assert(size > 0);
    if (port < 0) {
        port = HTTP_PORT;
        where = xasprintf("%s, port %d", url_address, port);
    } else {
        where = xstrdup(url_address);
    }
    inet_address_set_port(&address, port);
    listeners = find_listeners(&address, (unsigned int)port);
    if (!listeners.is_any)
        return absent(where, failure);
    if (listeners.stranger != 0) {
        failure_set(failure, FAILURE_IMDS_USER,
                    "a program of user %u is listening at %s, where guests look for the "
                    "metadata server\n"
                    "find out which one it is, and stop it: ss -ltnpe 'sport = :%d'",
                    listeners.stranger, where, port);
        return IMDS_FOREIGN;
    }
    fd = connect_to(&address, size);
    if (fd == -ECONNREFUSED)
        return absent(where, failure);
    if (fd == -EINPROGRESS || fd == -EAGAIN || fd == -ETIMEDOUT)
        return silent(where, "it does not accept the connection", failure);
    if (fd < 0) {
        failure_set_errno(failure, FAILURE_IMDS, fd,
                          "could not query the metadata server at %s\n"
                          "if no interface has the address: systemctl restart "
                          "virt-seed-imds-address.service",
                          where);
        return IMDS_UNKNOWN;
    }
    wrong = ask(fd);
    if (!wrong)
        return IMDS_HEALTHY;
    if (wrong != another_server)
        return silent(where, wrong, failure);
    failure_set(
        failure, FAILURE_IMDS,
        "another server is listening at %s, where guests look for the metadata server\n"
        "find out which one it is, and stop it: ss -ltnp 'sport = :%d'",
        where, port);
    return IMDS_FOREIGN;
}

int
imds_health_check(const char *url_address, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    enum imds_health health = imds_health_ask(url_address, &reason);
    const char *consequence = "come up as a new machine";

    if (health == IMDS_HEALTHY || health == IMDS_UNKNOWN)
        return 0;
    if (reason->code == FAILURE_IMDS_USER)
        consequence = "take its seed from it";
    return failure_set(failure, reason->code,
                       "asks for datasource=\"nocloud-net\", but %s: the guest would %s\n"
                       "%s",
                       reason->message, consequence, reason->hint);
}
