/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#if HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "base/memory.h"
#include "imds/log.h"
#include "imds/server.h"

struct server {
    struct http http;
    struct listeners *listeners;
    struct MHD_Daemon *daemons[LIMIT_IMDS_LISTENERS]; /* one for each listener */
    size_t daemon_count;
    uint64_t pressure_said; /* milliseconds, as the next two */
    uint64_t ending;        /* when it was told to end, else 0 */
    uint64_t end; /* when no more is waited for, once nothing more is accepted; else 0 */
    int signals;
};

static uint64_t
milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void
notify(const char *state)
{
#if HAVE_LIBSYSTEMD
    sd_notify(0, state);
#else
    (void)state;
#endif
}

/* --- the loop --------------------------------------------------------------------- */

static void
stop_accepting(struct server *server, uint64_t patience)
{
    for (size_t i = 0; i < server->daemon_count; i++)
        MHD_quiesce_daemon(server->daemons[i]);
    listeners_close(server->listeners);
    server->end = server->http.now + patience;
}

static void
on_signal(struct server *server)
{
    struct signalfd_siginfo info;

    if (read(server->signals, &info, sizeof(info)) != sizeof(info))
        return;
    if (server->ending)
        stop_accepting(server, 0);
    notify("STOPPING=1");
    server->ending = server->http.now;
}

/* Return: whether it may end now. */
static bool
has_ended(struct server *server)
{
    const struct connections *connections = &server->http.connections;

    if (!server->ending)
        return false;
    if (server->end == 0 && !connections_has_from(connections, server->ending))
        stop_accepting(server, LIMIT_IMDS_ASK_SECONDS * 1000UL);
    return server->end != 0 &&
           (connections->count == 0 || server->http.now >= server->end);
}

/* Milliseconds from one word on want of room to the next. */
#define PRESSURE_PERIOD 10000

/* Whoever has to look after the host should know that somebody uses up the connections. */
static void
say_pressure(struct server *server)
{
    struct connections *connections = &server->http.connections;

    if (connections->made_room == 0 && connections->refused == 0)
        return;
    log_line(
        "%zu connections were ended to make room, and %zu refused of peers that had %d",
        connections->made_room, connections->refused, LIMIT_IMDS_PEER_CONNECTIONS);
    connections->made_room = connections->refused = 0;
    server->pressure_said = server->http.now;
}

/* Return: 0 or -errno. */
static int
turn(struct server *server)
{
    struct pollfd waits[1 + LIMIT_IMDS_LISTENERS] = {
        {.fd = server->signals, .events = POLLIN},
    };
    int wait = connections_end_old(&server->http.connections, server->http.now);

    if (server->ending && (wait < 0 || wait > 1000))
        wait = 1000;
    for (size_t i = 0; i < server->daemon_count; i++) {
        struct MHD_Daemon *daemon = server->daemons[i];
        MHD_UNSIGNED_LONG_LONG timeout;

        waits[1 + i] = (struct pollfd){
            .fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
            .events = POLLIN};
        if (MHD_get_timeout(daemon, &timeout) == MHD_YES &&
            (wait < 0 || timeout < (unsigned int)wait))
            wait = (int)timeout;
    }
    if (poll(waits, 1 + server->daemon_count, wait) < 0 && errno != EINTR)
        return -errno;
    server->http.now = milliseconds();
    for (size_t i = 0; i < server->daemon_count; i++)
        MHD_run(server->daemons[i]);
    http_forget_host(&server->http);
    if (server->http.now - server->pressure_said >= PRESSURE_PERIOD)
        say_pressure(server);
    if (waits[0].revents != 0)
        on_signal(server);
    return 0;
}

/* --- start and end ---------------------------------------------------------------- */

/* Each connection may have a file open beside it; the rest is for libraries. */
static unsigned int
raise_descriptors(void)
{
    const rlim_t wanted = 2 * LIMIT_IMDS_CONNECTIONS + 64;
    struct rlimit limit = {0, 0};
    rlim_t connections;

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    connections = limit.rlim_cur > 128 ? (limit.rlim_cur - 64) / 2 : 32;
    if (connections >= LIMIT_IMDS_CONNECTIONS)
        return LIMIT_IMDS_CONNECTIONS;
    log_line("%u connections at a time, for want of descriptors (ulimit -n %lu)",
             (unsigned int)connections, (unsigned long)limit.rlim_cur);
    return (unsigned int)connections;
}

/* Return: a descriptor that signals can be read from, or -errno. */
static int
take_signals(void)
{
    sigset_t signals;
    int fd;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
        return -errno;
    fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

static int
start(struct server *server, const struct http_options *options, struct failure **failure)
{
    struct listeners *listeners = server->listeners;
    const struct listener *first = &listeners->items[0];

    if (http_open(&server->http, options, raise_descriptors(), failure) < 0)
        return -1;
    server->signals = take_signals();
    if (server->signals < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, server->signals,
                                 "could not wait for signals");
    for (size_t i = 0; i < listeners->count; i++) {
        server->daemons[i] = http_start(&server->http, listeners->items[i].fd);
        if (!server->daemons[i])
            return failure_set(failure, FAILURE_SYSTEM, "libmicrohttpd could not start");
        server->daemon_count++;
    }
    for (size_t i = 0; i < listeners->count; i++) {
        const struct endpoint *own = &listeners->items[i].own;
        char text[ENDPOINT_TEXT];

        endpoint_format(own, true, text);
        log_line("listening on %s", text);
        if (!endpoint_is_loopback(own))
            log_line(
                "guests on a bridge reach it where the host's packet filter lets them; "
                "with firewalld: firewall-cmd --permanent --zone=libvirt "
                "--add-port=%u/tcp && firewall-cmd --reload",
                own->port);
    }
    if (!netlink_knows_sockets(&server->http.netlink, first->fd, &first->own))
        log_line("the kernel does not tell whose sockets are whose (modprobe tcp_diag): "
                 "guests of user networking are refused");
    http_check_host(&server->http);
    return 0;
}

int
server_run(struct listeners *listeners, const struct http_options *options,
           struct failure **failure)
{
    struct server server = {.http = HTTP_NONE, .listeners = listeners, .signals = -1};
    int result = start(&server, options, failure);
    int error = 0;

    if (result == 0) {
        notify("READY=1");
        server.http.now = milliseconds();
        while (error == 0 && !has_ended(&server))
            error = turn(&server);
        if (error < 0)
            result = failure_set_errno(failure, FAILURE_SYSTEM, error, "could not wait");
        say_pressure(&server);
        connections_end_all(&server.http.connections);
    }
    for (size_t i = 0; i < server.daemon_count; i++) {
        MHD_quiesce_daemon(server.daemons[i]);
        MHD_stop_daemon(server.daemons[i]);
    }
    http_close(&server.http);
    log_end();
    if (server.signals >= 0)
        close(server.signals);
    return result;
}
