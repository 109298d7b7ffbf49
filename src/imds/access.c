/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <nettle/memops.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "imds/access.h"

#define TEXT "text/plain; charset=utf-8"

/* --- answers ---------------------------------------------------------------------- */

static void
say(struct answer *answer, unsigned int status, const char *text)
{
    answer->status = status;
    answer->type = TEXT;
    answer->text = text;
}

static void
refuse(struct answer *answer, unsigned int status, const char *text, const char *reason)
{
    say(answer, status, text);
    answer->reason = reason;
}

/* Whoever tries a stolen token must not learn that it is right. */
static void
refuse_unknown(struct answer *answer, const char *reason)
{
    refuse(answer, 404, "there is nothing here\n", reason);
}

/* What is wrong with a file of the domain's, or with its directory. */
static void
refuse_broken(struct answer *answer, int error)
{
    static const char text[] = "the host's files are not in order\n";

    if (error == -EPERM)
        refuse(answer, 500, text, "it does not belong to the owner of the tree");
    else if (error == -ELOOP || error == -EXDEV)
        refuse(answer, 500, text, "a symbolic link or a mount is in the tree");
    else if (error == -EINVAL)
        refuse(answer, 500, text, "its 'access' is malformed, or it is no regular file");
    else if (error == -EACCES)
        refuse(answer, 500, text, imds_tree_reason(error));
    else
        refuse(answer, 500, "the host could not read it\n", strerror(-error));
}

/* --- who may read it -------------------------------------------------------------- */

static void
check_peer(struct answer *answer, const struct imds_access *access,
           const struct peer *peer)
{
    const char *reason = peer->reason;

    switch (peer->kind) {
    case PEER_QEMU:
        answer->granted = imds_access_links(access, NULL) & IMDS_LINK_SET(IMDS_LINK_USER);
        reason = "right token, but the domain has no user networking";
        break;
    case PEER_NEIGHBOUR:
        answer->granted = imds_access_links(access, peer->mac) & IMDS_ON_LINK;
        reason = "right token, but the peer's MAC is none of the domain's";
        break;
    case PEER_OTHER:
        break;
    }
    if (!answer->granted)
        refuse_unknown(answer, reason);
}

/* Return: the domain's directory, or -errno; it is granted where the token is right and the
 * peer may have it. */
static int
open_by_token(struct answer *answer, const struct imds_tree *tree,
              const struct path *path, const struct peer *peer)
{
    int domain = imds_tree_open_domain(tree, path->uuid);
    struct imds_access access;
    int error = domain;

    memcpy(answer->uuid, path->uuid, sizeof(answer->uuid));
    if (domain >= 0)
        error = imds_tree_read_access(tree, domain, &access);
    if (error == -ENOENT)
        refuse_unknown(answer, "no such domain");
    else if (error < 0)
        refuse_broken(answer, error);
    else if (!memeql_sec(access.text, path->token, IMDS_TOKEN_LENGTH))
        refuse_unknown(answer, "wrong token");
    else
        check_peer(answer, &access, peer);
    return domain;
}

/* The same for the domain that the peer is. */
static int
open_by_peer(struct answer *answer, const struct imds_tree *tree, const struct peer *peer)
{
    cleanup_close int domain = -1;
    int error;

    if (peer->kind != PEER_NEIGHBOUR) {
        refuse(answer, 403, "this address does not say which guest you are\n",
               peer->kind == PEER_QEMU ? "guests of user networking cannot be told apart"
                                       : peer->reason);
        return -1;
    }
    error = imds_tree_find_mac(tree, peer->mac, answer->uuid);
    if (error == 0) {
        domain = imds_tree_open_domain(tree, answer->uuid);
        error = domain < 0 ? domain : 0;
    }
    if (error == 0) {
        answer->granted = true;
        return steal_fd(domain);
    }
    answer->uuid[0] = '\0';
    if (error == -ENOENT)
        refuse(
            answer, 403,
            "no guest has your MAC at an interface with a filter against forged ones\n",
            "no domain has the peer's MAC at an interface with a filter");
    else if (error == -ENOTUNIQ)
        refuse(answer, 403, "more than one guest has your MAC\n",
               "several domains have the peer's MAC");
    else
        refuse_broken(answer, error);
    return -1;
}

/* --- documents -------------------------------------------------------------------- */

/* What every guest has alike. */
static void
give_text(struct answer *answer, const struct document_kind *kind, const char *text)
{
    answer->status = 200;
    answer->type = kind->type;
    answer->text = text;
}

static void
give_document(struct answer *answer, const struct imds_tree *tree, int domain,
              const struct document_kind *kind)
{
    struct stat status;
    cleanup_close int fd =
        kind->text ? -1 : imds_tree_open_file(tree, domain, kind->path, &status);

    if (kind->text) {
        give_text(answer, kind, kind->text);
    } else if (fd == -ENOENT && kind->always) {
        give_text(answer, kind, "");
    } else if (fd == -ENOENT) {
        refuse(answer, 404, "this guest has no such document\n", "it has none");
    } else if (fd < 0) {
        refuse_broken(answer, fd);
    } else {
        answer->status = 200;
        answer->type = kind->type;
        answer->fd = steal_fd(fd);
        answer->size = status.st_size;
    }
}

/* Return: false if the domain was replaced or removed meanwhile, so that what was missing
 * says nothing. */
static bool
try_document(struct answer *answer, const struct http_request *request,
             const struct peer *peer, const struct imds_tree *tree)
{
    const struct path *path = &request->path;
    cleanup_close int domain = -1;

    *answer = ANSWER_NONE;
    answer->document = path->document_kind->path;
    domain = path->kind == PATH_TOKEN ? open_by_token(answer, tree, path, peer)
                                      : open_by_peer(answer, tree, peer);
    if (answer->granted && path->document_kind->guarded && !request->metadata)
        refuse(answer, 400, "this needs the header 'Metadata: true'\n",
               "without the header 'Metadata: true'");
    else if (answer->granted)
        give_document(answer, tree, domain, path->document_kind);
    return domain < 0 || answer->fd >= 0 ||
           imds_tree_is_current(tree, answer->uuid, domain);
}

static void
answer_document(struct answer *answer, const struct http_request *request,
                const struct peer *peer, const struct imds_tree *tree, int tree_error)
{
    if (!tree) {
        answer->document = request->path.document_kind->path;
        memcpy(answer->uuid, request->path.uuid, sizeof(answer->uuid));
        if (tree_error == -ENOENT)
            refuse_unknown(answer, imds_tree_reason(tree_error));
        else
            refuse(answer, 500, "the host's files are not in order\n",
                   imds_tree_reason(tree_error));
        return;
    }
    for (int attempt = 0; attempt < IMDS_ATTEMPTS; attempt++) {
        if (try_document(answer, request, peer, tree))
            return;
    }
    refuse(answer, 503, "it is being replaced\n", "it was replaced again and again");
}

void
answer_make(struct answer *answer, const struct http_request *request,
            const struct peer *peer, const struct imds_tree *tree, int tree_error)
{
    const enum path_kind kind = request->path.kind;

    *answer = ANSWER_NONE;
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
        refuse(answer, 405, "there is GET and HEAD\n", "neither GET nor HEAD");
    } else if (request->body) {
        refuse(answer, 400, "a request here has no body\n", "it has a body");
    } else if (request->malformed) {
        refuse(answer, 400, "the name of a header is malformed\n",
               "the name of a header is malformed");
    } else if (kind == PATH_UNKNOWN) {
        /* What it was may hold a token. */
        refuse_unknown(answer, "there is no such path");
    } else if (kind == PATH_SHUT) {
        refuse(answer, 403, "this host wants a token\n",
               "it would be known by its MAC alone, which needs --by-mac");
    } else if (kind == PATH_HEALTH && tree_error < 0) {
        refuse(answer, 503, "the host's files are not in order\n",
               imds_tree_reason(tree_error));
    } else if (kind == PATH_HEALTH) {
        say(answer, 200, "OK\n");
    } else {
        answer_document(answer, request, peer, tree, tree_error);
    }
}

void
answer_refuse_rate(struct answer *answer)
{
    close_pointer(&answer->fd);
    answer->fd = -1;
    refuse(answer, 429, "too many requests\n", "too many requests");
}

void
answer_clear(struct answer *answer)
{
    if (answer->fd >= 0)
        close(answer->fd);
    *answer = ANSWER_NONE;
}
