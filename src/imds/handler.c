/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/limits.h"
#include "imds/handler.h"
#include "imds/log.h"

/* --- the host --------------------------------------------------------------------- */

static const struct handler_view *
look_at_host(struct handler *handler)
{
    struct handler_view *view = &handler->view;

    if (!view->taken) {
        view->tree_error = imds_tree_read(&view->tree, handler->options->root);
        view->qemu = qemu_user_find(handler->options->root);
        view->taken = true;
    }
    return view;
}

void
handler_forget_host(struct handler *handler)
{
    imds_tree_close(&handler->view.tree);
    handler->view.taken = false;
}

void
handler_check_host(struct handler *handler)
{
    const struct handler_view *view = look_at_host(handler);

    if (view->tree_error < 0)
        log_line("nothing can be served yet: %s", imds_tree_reason(view->tree_error));
    if (!view->qemu.known)
        log_line(VIRT_SEED_QEMU_HOME " is not there, or cannot be looked at, whose owner "
                                     "QEMU runs as: guests of user networking are "
                                     "refused");
    handler_forget_host(handler);
}

/* --- limits and the log ----------------------------------------------------------- */

/* A guest is known by its domain; who has none of them, by what he is. So nobody uses up what
 * another may have. */
static bool
take_share(struct rate *rate, uint64_t now, const struct peer *peer,
           const struct answer *answer)
{
    char name[PEER_NAME];

    if (answer->granted)
        return rate_take(rate, answer->uuid, now);
    peer_name(peer, name);
    return rate_take(rate, name, now);
}

bool
handler_may_ask(struct handler *handler, uint64_t now, const struct peer *peer,
                const struct answer *answer)
{
    return take_share(handler->requests, now, peer, answer);
}

/* A machine may take one MAC after the other, but nobody can make up domains or users. */
bool
handler_may_log(struct handler *handler, uint64_t now, const struct peer *peer,
                const struct answer *answer)
{
    bool proven = answer->granted || peer->local;

    return take_share(handler->lines, now, peer, answer) &&
           (proven || rate_take(handler->crowd_lines, "", now));
}

static void
log_answer(struct handler *handler, const struct client *client, const struct peer *peer,
           const struct answer *answer, uint64_t now)
{
    const char *reason = answer->reason ? answer->reason : "";
    const char *colon = answer->reason ? ": " : "";
    char who[PEER_NAME];

    if (!answer->reason && !(handler->options->verbose && answer->document))
        return;
    if (!handler_may_log(handler, now, peer, answer)) {
        log_leave_out();
        return;
    }
    peer_describe(peer, &client->other, who);
    if (!answer->document)
        log_line("%s: %u%s%s", who, answer->status, colon, reason);
    else if (answer->uuid[0])
        log_line("%s: %u for %s of domain %s%s%s", who, answer->status, answer->document,
                 answer->uuid, colon, reason);
    else
        log_line("%s: %u for the peer's own %s%s%s", who, answer->status,
                 answer->document, colon, reason);
}

/* --- answers ---------------------------------------------------------------------- */

void
handler_answer(struct handler *handler, const struct client *client,
               const struct request_line *line, const struct request_headers *headers,
               uint64_t now, struct answer *answer)
{
    struct path path = path_read(line->path);
    struct peer peer = PEER_NOBODY;
    const struct handler_view *view = NULL;
    bool of_guest;

    if (path.kind == PATH_PEER && !handler->options->by_mac)
        path.kind = PATH_SHUT;
    of_guest = answer_needs_peer(&path);
    if (of_guest || path.kind == PATH_HEALTH)
        view = look_at_host(handler);
    if (of_guest)
        peer = peer_find(&handler->netlink, &view->qemu, client->fd, &client->own,
                         &client->other);
    answer_make(answer, line, headers, &path, &peer,
                view && view->tree_error == 0 ? &view->tree : NULL,
                view ? view->tree_error : 0);
    /* What is the same for all costs no more than to refuse it. */
    if (of_guest && !handler_may_ask(handler, now, &peer, answer))
        answer_refuse_rate(answer);
    log_answer(handler, client, &peer, answer, now);
}

/* --- start and end ---------------------------------------------------------------- */

int
handler_open(struct handler *handler, const struct handler_options *options,
             struct failure **failure)
{
    int error = netlink_open(&handler->netlink);

    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not open a netlink socket");
    handler->options = options;
    handler->requests = rate_new(LIMIT_IMDS_RATE, LIMIT_IMDS_BURST);
    handler->lines = rate_new(LIMIT_IMDS_LOG_RATE, LIMIT_IMDS_LOG_BURST);
    handler->crowd_lines =
        rate_new(LIMIT_IMDS_LOG_CROWD_RATE, LIMIT_IMDS_LOG_CROWD_BURST);
    return 0;
}

void
handler_close(struct handler *handler)
{
    handler_forget_host(handler);
    rate_free(handler->requests);
    rate_free(handler->lines);
    rate_free(handler->crowd_lines);
    netlink_close(&handler->netlink);
}
