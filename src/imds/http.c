/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <poll.h>

#include "base/process.h"
#include "imds/http.h"

/* --- the log ---------------------------------------------------------------------- */

static unsigned int left_out;

/* Return: whether a line can be written now. A stuck journal must not keep guests from
 * being served. */
static bool
has_room(void)
{
    struct pollfd log = {.fd = STDERR_FILENO, .events = POLLOUT};

    return poll(&log, 1, 0) != 0;
}

void
log_end(void)
{
    if (left_out == 0 || !has_room())
        return;
    fprintf(stderr, "virt-seed-imds: %u messages were dropped\n", left_out);
    left_out = 0;
}

void
log_line(const char *format, ...)
{
    static int64_t said;
    const int64_t now = clock_milliseconds();
    cleanup_free char *text = NULL;
    va_list arguments;

    if (now - said >= LIMIT_IMDS_LOG_SECONDS * 1000L) {
        said = now;
        log_end();
    }
    va_start(arguments, format);
    text = xvasprintf(format, arguments);
    va_end(arguments);
    utf8_replace_controls(text);
    if (has_room())
        fprintf(stderr, "virt-seed-imds: %s\n", text);
    else
        left_out++;
}

/* --- the host --------------------------------------------------------------------- */

static void
read_host(struct http *http)
{
    if (http->host.is_read)
        return;
    http->host.tree_error = imds_tree_read(&http->host.tree, http->root);
    http->host.qemu = qemu_user_find(http->root);
    http->host.is_read = true;
}

void
http_forget_host(struct http *http)
{
    imds_tree_close(&http->host.tree);
    http->host.is_read = false;
}

void
http_check_host(struct http *http)
{
    read_host(http);
    if (http->host.tree_error < 0)
        log_line("nothing can be served yet: %s",
                 imds_tree_reason(http->host.tree_error));
    if (!http->host.qemu.is_known)
        log_line("cannot tell which user QEMU runs as, the owner of " VIRT_SEED_QEMU_HOME
                 ": guests with user networking are refused");
    http_forget_host(http);
}

/* --- what one may have ----------------------------------------------------------- */

/* The share belongs to the guest's domain, or else to the peer, so that nobody can use up
 * another's. */
static bool
take_share(struct http *http, struct rate *rate, const struct peer *peer,
           const struct answer *answer)
{
    char name[PEER_NAME];

    if (answer->granted)
        return rate_take(rate, answer->uuid, http->now);
    peer_name(peer, name);
    return rate_take(rate, name, http->now);
}

bool
http_may_ask(struct http *http, const struct peer *peer, const struct answer *answer)
{
    return take_share(http, http->requests, peer, answer);
}

/* A machine can use many MACs, but nobody can make up domains or users. */
bool
http_may_log(struct http *http, const struct peer *peer, const struct answer *answer)
{
    bool proven = answer->granted || peer->local;

    return take_share(http, http->lines, peer, answer) &&
           (proven || rate_take(http->crowd_lines, "", http->now));
}

static void
log_answer(struct http *http, const struct connection *connection,
           const struct peer *peer, const struct answer *answer)
{
    const char *reason = answer->reason ? answer->reason : "";
    const char *colon = answer->reason ? ": " : "";
    char who[PEER_NAME];

    if (!answer->reason && !(http->verbose && answer->document))
        return;
    if (!http_may_log(http, peer, answer)) {
        left_out++;
        return;
    }
    peer_describe(peer, &connection->other, who);
    if (!answer->document)
        log_line("%s: %u%s%s", who, answer->status, colon, reason);
    else
        log_line("%s: %u for %s of domain %s%s%s", who, answer->status, answer->document,
                 answer->uuid, colon, reason);
}

/* --- responses -------------------------------------------------------------------- */

/* A body for libmicrohttpd, preceded by its size. */
struct content {
    size_t size;
    char data[];
};

/* libmicrohttpd before 0.9.74 passes only the data. */
static void
free_content(void *data)
{
    struct content *content = (void *)((char *)data - offsetof(struct content, data));

    explicit_bzero(content->data, content->size);
    free(content);
}

/* Small documents are read at once: no file stays open while they are sent, and they go
 * out with the header. */
static struct MHD_Response *
respond_from_memory(const struct answer *answer)
{
    struct content *content = xmalloc(sizeof(*content) + (size_t)answer->size);
    struct MHD_Response *response = NULL;

    content->size = (size_t)answer->size;
    if (pread(answer->fd, content->data, content->size, 0) == answer->size)
        response = MHD_create_response_from_buffer_with_free_callback(
            content->size, content->data, free_content);
    if (!response)
        free_content(content->data);
    return response;
}

/* Takes over the answer's file if it sends from it. */
static enum MHD_Result
respond(struct MHD_Connection *connection, struct answer *answer)
{
    struct MHD_Response *response;
    enum MHD_Result result;

    if (answer->fd < 0) {
        /* libmicrohttpd only reads it. */
        response = MHD_create_response_from_buffer(
            strlen(answer->text), (void *)answer->text, MHD_RESPMEM_PERSISTENT);
    } else if (answer->size <= (off_t)LIMIT_IMDS_READ_AT_ONCE) {
        response = respond_from_memory(answer);
    } else {
        response = MHD_create_response_from_fd64((uint64_t)answer->size, answer->fd);
        if (response)
            answer->fd = -1;
    }
    /* The connection is closed, and the guest retries. */
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", answer->type);
    if (answer->granted)
        MHD_add_response_header(response, "Cache-Control", "private, no-cache");
    if (answer->status == 405)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    if (answer->status == 429)
        MHD_add_response_header(response, "Retry-After", "1");
    MHD_add_response_header(response, "Connection", "close");
    result = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

/* --- libmicrohttpd ---------------------------------------------------------------- */

static void
on_connection(void *context, struct MHD_Connection *mhd, void **connection,
              enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const int fd =
            MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        const struct endpoint other =
            endpoint_read(MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
                              ->client_addr);
        /* The listener may have a wildcard address. */
        const struct endpoint own = endpoint_own(fd);

        *connection = connections_add(&http->connections, fd, &own, &other, http->now);
    } else {
        connections_remove(&http->connections, *connection, http->now);
    }
}

static enum MHD_Result
on_header(void *request, enum MHD_ValueKind kind, const char *name, const char *value)
{
    http_request_add_header(request, name, value);
    return MHD_YES;
}

static enum MHD_Result
on_request(void *context, struct MHD_Connection *mhd, const char *url, const char *method,
           const char *version, const char *upload, size_t *upload_size, void **asked)
{
    struct http *http = context;
    struct connection *connection =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    struct http_request request = {.method = method, .path = path_read(url)};
    struct peer peer = {.kind = PEER_OTHER};
    cleanup_answer struct answer answer = ANSWER_NONE;
    bool of_guest;

    *asked = connection;
    connections_answer(&http->connections, connection, http->now);
    MHD_get_connection_values(mhd, MHD_HEADER_KIND, on_header, &request);
    of_guest = request.path.document_kind;
    if (of_guest || request.path.is_health)
        read_host(http);
    if (of_guest)
        peer = peer_find(&http->netlink, &http->host.qemu, connection->fd,
                         &connection->own, &connection->other);
    answer_make(&answer, &request, &peer,
                http->host.tree.fd >= 0 ? &http->host.tree : NULL, http->host.tree_error);
    /* An answer that is the same for all costs no more than a refusal. */
    if (of_guest && !http_may_ask(http, &peer, &answer))
        answer_refuse_rate(&answer);
    log_answer(http, connection, &peer, &answer);
    return respond(mhd, &answer);
}

/* Only called for what on_request() was asked. */
static void
on_sent(void *context, struct MHD_Connection *mhd, void **asked,
        enum MHD_RequestTerminationCode how)
{
    if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        connections_sent(*asked);
}

/* Paths here have no escapes: those in a request stay undecoded and match nothing. */
static size_t
leave_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    return strlen(text);
}

/* There is only one thread. The flag exists since libmicrohttpd 0.9.77. */
#if MHD_VERSION < 0x00097706
#define MHD_USE_NO_THREAD_SAFETY 0
#endif

/* Room for new connections before old ones are ended (connections_end_old): libmicrohttpd
 * must not reach its own limit, where it stops accepting until something else happens. */
#define ACCEPTED_AT_ONCE 64

struct MHD_Daemon *
http_start(struct http *http, int fd)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_TURBO | MHD_USE_NO_THREAD_SAFETY, 0, NULL, NULL,
        on_request, http, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, http, MHD_OPTION_NOTIFY_COMPLETED, on_sent, NULL,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escapes, NULL, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned int)http->connections.limit + ACCEPTED_AT_ONCE,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)LIMIT_IMDS_REQUEST,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

/* --- start and end ---------------------------------------------------------------- */

int
http_open(struct http *http, size_t connections, struct failure **failure)
{
    int error = netlink_open(&http->netlink);

    connections_init(&http->connections, connections);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not open a netlink socket");
    http->requests = rate_new(LIMIT_IMDS_RATE, LIMIT_IMDS_BURST);
    http->lines = rate_new(LIMIT_IMDS_LOG_RATE, LIMIT_IMDS_LOG_BURST);
    http->crowd_lines = rate_new(LIMIT_IMDS_LOG_CROWD_RATE, LIMIT_IMDS_LOG_CROWD_BURST);
    return 0;
}

void
http_close(struct http *http)
{
    http_forget_host(http);
    free(http->requests);
    free(http->lines);
    free(http->crowd_lines);
    netlink_close(&http->netlink);
}
