/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#if HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "base/cleanup.h"
#include "imds/clients.h"
#include "imds/handler.h"
#include "imds/log.h"
#include "imds/respond.h"
#include "imds/server.h"
#include "imds/wait.h"

struct server {
    struct handler handler;
    struct listeners *listeners;
    struct MHD_Daemon *daemon;
    struct clients *clients;
    struct client *adding; /* the one that libmicrohttpd is being given */
    uint64_t now;          /* milliseconds */
    uint64_t accept_again; /* after an error: not before */
    uint64_t pressure_said;
    int signals;
    bool ending;
    uint64_t end; /* when no more is waited for, once nothing more is accepted; else 0 */
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

/* --- libmicrohttpd ---------------------------------------------------------------- */

static enum MHD_Result
on_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    request_add_header(context, name, value);
    return MHD_YES;
}

static enum MHD_Result
send_answer(struct MHD_Connection *connection, struct answer *answer)
{
    struct MHD_Response *response = respond(answer);
    enum MHD_Result result;

    /* The connection is closed then, and the guest asks again. */
    if (!response)
        return MHD_NO;
    result = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

static struct client *
client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

static enum MHD_Result
on_request(void *context, struct MHD_Connection *connection, const char *url,
           const char *method, const char *version, const char *upload,
           size_t *upload_size, void **request)
{
    struct server *server = context;
    const struct request_line line = {.method = method, .path = url};
    cleanup_answer struct answer answer = ANSWER_NONE;
    struct request_headers headers = {0};
    struct client *client = client_of(connection);

    (void)version;
    (void)upload;
    (void)upload_size;
    (void)request;
    if (!client)
        return MHD_NO;
    clients_answered(server->clients, client, server->now);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, on_header, &headers);
    handler_answer(&server->handler, client, &line, &headers, server->now, &answer);
    return send_answer(connection, &answer);
}

static void
on_sent(void *context, struct MHD_Connection *connection, void **request,
        enum MHD_RequestTerminationCode how)
{
    struct client *client = client_of(connection);

    (void)context;
    (void)request;
    if (client && how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        clients_sent(client);
}

static void
on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
              enum MHD_ConnectionNotificationCode code)
{
    struct server *server = context;

    (void)connection;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = steal(server->adding);
    } else if (*socket_context) {
        clients_leave(server->clients, *socket_context, server->now);
        *socket_context = NULL;
    }
}

/* No path here is spelled with escapes: they stay as they are, and lead nowhere. */
static size_t
leave_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* All is one thread. Without this flag libmicrohttpd 1.0 puts off a connection that it is given
 * and calls on_connection() too late; earlier ones do not know the flag and do not put it off. */
#if MHD_VERSION < 0x00097706
#define MHD_USE_NO_THREAD_SAFETY 0
#endif

/* Time is not libmicrohttpd's to look after: it would close what it has not sent to the end. */
static struct MHD_Daemon *
start_daemon(struct server *server, unsigned int connections)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_TURBO |
            MHD_USE_NO_THREAD_SAFETY,
        0, NULL, NULL, on_request, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        server, MHD_OPTION_NOTIFY_COMPLETED, on_sent, NULL, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_escapes, NULL, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)LIMIT_IMDS_REQUEST,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

/* --- accepting -------------------------------------------------------------------- */

/* The connection's own end: the listener's, but where that stands for several. */
static struct endpoint
own_end(int fd, const struct listener *listener)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof(address);

    if (!endpoint_is_any(&listener->own) ||
        getsockname(fd, (struct sockaddr *)&address, &size) < 0)
        return listener->own;
    return endpoint_read(&address);
}

/* libmicrohttpd takes the connection, and closes it in any case. on_connection() takes the
 * client; where it was never called, the place is still ours. */
static void
add_client(struct server *server, const struct listener *listener, int fd,
           const struct sockaddr_storage *address, socklen_t size)
{
    const struct endpoint own = own_end(fd, listener);
    const struct endpoint other = endpoint_read(address);

    server->adding = clients_add(server->clients, fd, &own, &other, server->now);
    if (!server->adding) {
        clients_refuse(fd);
        return;
    }
    MHD_add_connection(server->daemon, fd, (const struct sockaddr *)address, size);
    if (server->adding)
        clients_remove(server->clients, steal(server->adding));
}

/* At most so many are accepted before those that are there are served again. */
#define ACCEPT_AT_ONCE 64
/* Milliseconds from one word on want of places to the next. */
#define PRESSURE_PERIOD 10000
/* Milliseconds until it is tried again, when descriptors have run out, for example. */
#define ACCEPT_AGAIN 1000

static void
accept_clients(struct server *server, const struct listener *listener)
{
    for (int i = 0; i < ACCEPT_AT_ONCE && !clients_is_full(server->clients); i++) {
        struct sockaddr_storage address = {0};
        socklen_t size = sizeof(address);
        int fd = accept4(listener->fd, (struct sockaddr *)&address, &size,
                         SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            add_client(server, listener, fd, &address, size);
            continue;
        }
        if (errno == ECONNABORTED || errno == EINTR)
            continue;
        if (errno != EAGAIN) {
            log_line("could not accept a connection: %s", strerror(errno));
            server->accept_again = server->now + ACCEPT_AGAIN;
        }
        return;
    }
}

/* --- the loop --------------------------------------------------------------------- */

static void
stop_accepting(struct server *server, uint64_t patience)
{
    listeners_close(server->listeners);
    server->end = server->now + patience;
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
    server->ending = true;
    clients_await_all(server->clients);
}

/* Return: whether it may end now. */
static bool
has_ended(struct server *server)
{
    if (!server->ending)
        return false;
    if (server->end == 0 && clients_awaited(server->clients) == 0)
        stop_accepting(server, LIMIT_IMDS_ASK_SECONDS * 1000UL);
    return server->end != 0 &&
           (clients_count(server->clients) == 0 || server->now >= server->end);
}

/* Return: milliseconds that may pass, or -1; `wait` at most. */
static int
time_to_wait(struct server *server, int wait)
{
    MHD_UNSIGNED_LONG_LONG daemon;

    if (MHD_get_timeout(server->daemon, &daemon) == MHD_YES)
        wait = wait_earlier(wait, daemon > 1000 ? 1000 : (int)daemon);
    if (server->accept_again > server->now)
        wait = wait_earlier(wait, (int)(server->accept_again - server->now));
    return server->ending ? wait_earlier(wait, 1000) : wait;
}

/* Whoever has to look after the host should know that somebody uses up the places. */
static void
say_pressure(struct server *server)
{
    struct pressure pressure = clients_take_pressure(server->clients);

    if (pressure.ended == 0 && pressure.refused == 0)
        return;
    log_line(
        "%zu connections were ended to make room, and %zu refused of peers that had %d",
        pressure.ended, pressure.refused, LIMIT_IMDS_PEER_CONNECTIONS);
    server->pressure_said = server->now;
}

/* Return: 0 or -errno. */
static int
turn(struct server *server)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd waits[2 + LIMIT_IMDS_LISTENERS] = {
        {.fd = server->signals, .events = POLLIN},
        {.fd = info->epoll_fd, .events = POLLIN},
    };
    struct listeners *listeners = server->listeners;
    nfds_t count = 2;
    int wait = time_to_wait(server, clients_end_old(server->clients, server->now));

    if (!clients_is_full(server->clients) && server->accept_again <= server->now) {
        for (size_t i = 0; i < listeners->count; i++)
            waits[count++] =
                (struct pollfd){.fd = listeners->items[i].fd, .events = POLLIN};
    }
    if (poll(waits, count, wait) < 0 && errno != EINTR)
        return -errno;
    server->now = milliseconds();
    for (nfds_t i = 2; i < count; i++) {
        if (waits[i].revents != 0)
            accept_clients(server, &listeners->items[i - 2]);
    }
    MHD_run(server->daemon);
    handler_forget_host(&server->handler);
    if (server->now - server->pressure_said >= PRESSURE_PERIOD)
        say_pressure(server);
    if (waits[0].revents != 0)
        on_signal(server);
    return 0;
}

static int
serve(struct server *server, struct failure **failure)
{
    int error = 0;

    notify("READY=1");
    server->now = milliseconds();
    while (error == 0 && !has_ended(server))
        error = turn(server);
    if (error == 0)
        return 0;
    return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not wait");
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

static void
say_listener(const struct endpoint *own)
{
    char text[ENDPOINT_TEXT];

    endpoint_format(own, true, text);
    log_line("listening on %s", text);
    if (!endpoint_is_loopback(own))
        log_line("guests on a bridge reach it where the host's packet filter lets them; "
                 "with firewalld: firewall-cmd --permanent --zone=libvirt "
                 "--add-port=%u/tcp && firewall-cmd --reload",
                 own->port);
}

static void
say_where(struct server *server)
{
    const struct listener *first = &server->listeners->items[0];

    for (size_t i = 0; i < server->listeners->count; i++)
        say_listener(&server->listeners->items[i].own);
    if (!netlink_knows_sockets(&server->handler.netlink, first->fd, &first->own))
        log_line("the kernel does not tell whose sockets are whose (modprobe tcp_diag): "
                 "guests of user networking are refused");
    handler_check_host(&server->handler);
}

static int
start(struct server *server, const struct handler_options *options,
      struct failure **failure)
{
    unsigned int connections = raise_descriptors();

    if (handler_open(&server->handler, options, failure) < 0)
        return -1;
    server->signals = take_signals();
    if (server->signals < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, server->signals,
                                 "could not wait for signals");
    server->clients = clients_new(connections);
    server->daemon = start_daemon(server, connections);
    if (!server->daemon)
        return failure_set(failure, FAILURE_SYSTEM, "libmicrohttpd could not start");
    say_where(server);
    return 0;
}

static void
end(struct server *server)
{
    if (server->clients) {
        say_pressure(server);
        clients_end_all(server->clients, server->now);
    }
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    clients_free(server->clients);
    handler_close(&server->handler);
    log_end();
    if (server->signals >= 0)
        close(server->signals);
}

int
server_run(struct listeners *listeners, const struct handler_options *options,
           struct failure **failure)
{
    struct server server = {
        .handler = HANDLER_NONE, .listeners = listeners, .signals = -1};
    int result = start(&server, options, failure);

    if (result == 0)
        result = serve(&server, failure);
    end(&server);
    return result;
}
