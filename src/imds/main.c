/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt-seed-imds: the metadata server. It serves seeds over HTTP, each to its own guest,
 * from the tree that the hook maintains (host/imds-tree.h); peer.h says how it
 * identifies guests.
 *
 * How it works: one thread waits in one poll(2): for signals, and for libmicrohttpd's
 * epoll(7) of each listening socket and its connections. A connection carries one
 * request, like cloud-init's: anything hidden after it, in a body or pipelined, is never
 * read, and nothing is lost when the server ends.
 *
 * At SIGTERM or SIGINT it ends as soon as all connections accepted before are answered.
 * While a slow guest takes its answer, it still serves others, and those get a few more
 * seconds afterwards. With sockets from systemd, new connections wait for the next
 * server. A second signal ends it at once.
 */
#include "config.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#if HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "base/fs.h"
#include "base/options.h"
#include "base/process.h"
#include "imds/http.h"
#include "imds/socket.h"

#define DEFAULT_LISTEN VIRT_SEED_IMDS_ADDRESS ":80"

#define STATUS_USAGE 2

/* Tells systemd, if it has started the server, the state in sd_notify(3)'s words. */
static void
notify(const char *state)
{
#if HAVE_LIBSYSTEMD
    sd_notify(0, state);
#endif
}

struct server {
    struct listeners listeners;
    struct http http;
    struct MHD_Daemon *daemons[LIMIT_IMDS_LISTENERS]; /* one for each listener */
    size_t daemon_count;
    uint64_t pressure_logged; /* milliseconds, like the next two */
    uint64_t ending;          /* when it was told to end, or 0 */
    uint64_t end; /* when to stop waiting, once it has stopped accepting; or 0 */
    int signals;
};

/* --- the loop --------------------------------------------------------------------- */

static void
stop_accepting(struct server *server, uint64_t patience)
{
    for (size_t i = 0; i < server->daemon_count; i++)
        MHD_quiesce_daemon(server->daemons[i]);
    listeners_close(&server->listeners);
    server->end = server->http.now + patience;
}

/* Return: whether the server can end now. */
static bool
has_ended(struct server *server)
{
    const struct connections *connections = &server->http.connections;

    if (!server->ending)
        return false;
    if (server->end == 0 && !connections_has_begun_by(connections, server->ending))
        stop_accepting(server, LIMIT_IMDS_ASK_SECONDS * 1000UL);
    return server->end != 0 &&
           (connections->count == 0 || server->http.now >= server->end);
}

/* Administrators should know if someone uses up the connections. */
static void
log_pressure(struct server *server)
{
    struct connections *connections = &server->http.connections;

    if (connections->made_room == 0 && connections->refused == 0)
        return;
    log_line(
        "%zu connections were ended to make room, and %zu were refused from peers that "
        "had %d",
        connections->made_room, connections->refused, LIMIT_IMDS_PEER_CONNECTIONS);
    connections->made_room = connections->refused = 0;
    server->pressure_logged = server->http.now;
}

/* Return: 0 or -errno. */
static int
serve_once(struct server *server)
{
    struct pollfd waits[1 + LIMIT_IMDS_LISTENERS] = {
        {.fd = server->signals, .events = POLLIN},
    };
    struct signalfd_siginfo info;
    int wait = connections_end_old(&server->http.connections, server->http.now);
    int kept = connections_drop_kept(&server->http.connections, server->http.now);

    if (kept >= 0 && (wait < 0 || kept < wait))
        wait = kept;
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
    server->http.now = (uint64_t)clock_milliseconds();
    for (size_t i = 0; i < server->daemon_count; i++)
        MHD_run(server->daemons[i]);
    http_forget_host(&server->http);
    if (server->http.now - server->pressure_logged >= LIMIT_IMDS_LOG_SECONDS * 1000UL)
        log_pressure(server);
    if (waits[0].revents != 0 &&
        read(server->signals, &info, sizeof(info)) == sizeof(info)) {
        if (server->ending)
            stop_accepting(server, 0);
        notify("STOPPING=1");
        server->ending = server->http.now;
    }
    return 0;
}

/* --- start and end ---------------------------------------------------------------- */

/* Each connection can also have a file open; some are kept, and the rest is for
 * libraries. */
static unsigned int
raise_descriptors(void)
{
    const rlim_t wanted = 2 * LIMIT_IMDS_CONNECTIONS + LIMIT_IMDS_KEPT + 64;
    struct rlimit limit = {0, 0};
    rlim_t connections;

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    connections = limit.rlim_cur > 128 ? (limit.rlim_cur - 64) / 2 : 32;
    if (connections >= LIMIT_IMDS_CONNECTIONS)
        return LIMIT_IMDS_CONNECTIONS;
    log_line("only %u connections at a time: too few descriptors (ulimit -n %lu)",
             (unsigned int)connections, (unsigned long)limit.rlim_cur);
    return (unsigned int)connections;
}

static int
start(struct server *server, struct failure **failure)
{
    const struct listeners *listeners = &server->listeners;
    static const int ending[] = {SIGTERM, SIGINT, 0};

    if (http_open(&server->http, raise_descriptors(), failure) < 0)
        return -1;
    server->signals = process_catch_signals(ending);
    if (server->signals < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, server->signals,
                                 "could not wait for signals");
    for (size_t i = 0; i < listeners->count; i++) {
        const struct endpoint own = endpoint_own(listeners->fds[i]);
        char text[ENDPOINT_TEXT];

        server->daemons[i] = http_start(&server->http, listeners->fds[i]);
        if (!server->daemons[i])
            return failure_set(failure, FAILURE_SYSTEM, "libmicrohttpd could not start");
        server->daemon_count++;
        endpoint_format(&own, true, text);
        log_line("listening on %s", text);
        if (!endpoint_is_loopback(&own))
            log_line("guests on a bridge reach it if the host's packet filter lets them; "
                     "with firewalld: firewall-cmd --permanent --zone=libvirt "
                     "--add-port=%u/tcp && firewall-cmd --reload",
                     own.port);
    }
    if (!netlink_knows_sockets(&server->http.netlink, listeners->fds[0]))
        log_line("the kernel does not report who owns a socket (modprobe tcp_diag): "
                 "guests with user networking are refused");
    http_check_host(&server->http);
    return 0;
}

static void
server_close(struct server *server)
{
    log_pressure(server);
    connections_end_old(&server->http.connections, UINT64_MAX);
    stop_accepting(server, 0);
    for (size_t i = 0; i < server->daemon_count; i++)
        MHD_stop_daemon(server->daemons[i]);
    http_close(&server->http);
    log_end();
    if (server->signals >= 0)
        close(server->signals);
}

#define cleanup_server __attribute__((cleanup(server_close)))

struct options {
    const char *listen[LIMIT_IMDS_LISTENERS + 1];
    size_t listen_count;
    const char *root;
    bool verbose;
};

/* Serves until a signal ends it. */
static int
run(const struct options *options, struct failure **failure)
{
    cleanup_close int root = fs_open_root(options->root);
    cleanup_server struct server server = {.http = HTTP_NONE, .signals = -1};
    struct listeners *listeners = &server.listeners;
    int error = 0;

    if (root < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, root, "could not open '%s'",
                                 options->root);
    server.http.root = root;
    server.http.verbose = options->verbose;
    if (listeners_inherit(listeners, failure) < 0)
        return -1;
    for (size_t i = 0; i < options->listen_count; i++) {
        if (listeners_add(listeners, options->listen[i], failure) < 0)
            return -1;
    }
    if (listeners->count == 0 && listeners_add(listeners, DEFAULT_LISTEN, failure) < 0)
        return -1;
    if (start(&server, failure) < 0)
        return -1;
    notify("READY=1");
    server.http.now = (uint64_t)clock_milliseconds();
    while (error == 0 && !has_ended(&server))
        error = serve_once(&server);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not wait for requests");
    return 0;
}

/* --- options ---------------------------------------------------------------------- */

static const char usage[] =
    "Usage: virt-seed-imds [OPTION...]\n"
    "\n"
    "Serves the cloud-init seeds of running domains over HTTP, each to its own guest.\n"
    "\n"
    "Options:\n"
    "      --listen ADDRESS:PORT  listen there (default: what systemd hands over, or\n"
    "                             " DEFAULT_LISTEN "); can be repeated\n"
    "      --root DIRECTORY       look for the host's files below it\n"
    "      --verbose              log what is served, not only what is refused\n"
    "      --help                 print this and exit\n"
    "      --version              print the version and exit\n";

/* There are no short options; the letters are for the switch below. */
static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'},       {"listen", required_argument, NULL, 'l'},
    {"root", required_argument, NULL, 'r'}, {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, 'V'},    {NULL, 0, NULL, 0},
};

static int
fail_usage(void)
{
    fputs("Try 'virt-seed-imds --help'.\n", stderr);
    return STATUS_USAGE;
}

int
main(int argc, char **argv)
{
    cleanup_failure struct failure *failure = NULL;
    struct options options = {.root = "/"};
    int option, index;

    if (process_begin() < 0)
        return EXIT_FAILURE;
    process_harden();
    while ((option = getopt_long(argc, argv, "", long_options, &index)) != -1) {
        if (option != '?' && option_is_abbreviated(argv, long_options[index].name))
            return fail_usage();
        switch (option) {
        case 'h':
            return fputs(usage, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        case 'l':
            /* listeners_add() refuses one too many. */
            if (options.listen_count <= LIMIT_IMDS_LISTENERS)
                options.listen[options.listen_count++] = optarg;
            break;
        case 'r':
            options.root = optarg;
            break;
        case 'v':
            options.verbose = true;
            break;
        case 'V':
            return puts(PACKAGE_STRING) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        default:
            return fail_usage();
        }
    }
    if (optind < argc) {
        fprintf(stderr, "virt-seed: error: unexpected argument '%s'\n", argv[optind]);
        return fail_usage();
    }
    if (run(&options, &failure) == 0)
        return EXIT_SUCCESS;
    print_failure(failure);
    return failure->code == FAILURE_USAGE ? STATUS_USAGE : EXIT_FAILURE;
}
