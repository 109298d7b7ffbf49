/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <nettle/memops.h>

#include "base/fs.h"
#include "imds/access.h"

/* --- requests --------------------------------------------------------------------- */

#define TEXT "text/plain; charset=utf-8"
#define BYTES "application/octet-stream"

static const struct document_kind documents[] = {
    {IMDS_META_DATA, TEXT},
    {IMDS_USER_DATA, BYTES},
    {IMDS_VENDOR_DATA, BYTES},
    {IMDS_NETWORK_CONFIG, TEXT},
};

struct path
path_read(const char *text)
{
    /* Where they are in "/UUID/TOKEN/NAME". */
    enum {
        TOKEN = 1 + UUID_LENGTH + 1,
        NAME = TOKEN + IMDS_TOKEN_LENGTH + 1
    };
    struct path path = {.is_health = strcmp(text, "/healthz") == 0};

    if (strnlen(text, NAME) < NAME)
        return path;
    if (text[0] != '/' || text[TOKEN - 1] != '/' || text[NAME - 1] != '/')
        return path;
    memcpy(path.uuid, text + 1, UUID_LENGTH);
    memcpy(path.token, text + TOKEN, IMDS_TOKEN_LENGTH);
    if (!text_is_uuid(path.uuid) || !imds_is_token(path.token))
        return path;
    for (size_t i = 0; i < ARRAY_SIZE(documents); i++) {
        if (strcmp(documents[i].path, text + NAME) == 0)
            path.document_kind = &documents[i];
    }
    return path;
}

void
http_request_add_header(struct http_request *request, const char *name, const char *value)
{
    if (!*name || strpbrk(name, " \t")) {
        request->malformed = true;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0 ||
               strcasecmp(name, "Upgrade") == 0) {
        /* Enough for some reader to expect a body, which no request here has. */
        request->body = true;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        request->body = request->body || !value || strcmp(value, "0") != 0;
    }
}

/* --- answers ---------------------------------------------------------------------- */

static void
give(struct answer *answer, const char *type, const char *text)
{
    answer->status = 200;
    answer->type = type;
    answer->text = text;
}

static const char broken[] = "the host's files are not set up correctly\n";
/* Someone who tries a stolen token must not learn that it is right. */
static const char not_found[] = "not found\n";

static void
reject(struct answer *answer, unsigned int status, const char *text, const char *reason)
{
    answer->status = status;
    answer->type = TEXT;
    answer->text = text;
    answer->reason = reason;
}

/* Refuses because of an error with the domain's directory or a file in it. */
static void
refuse_broken(struct answer *answer, int error)
{
    if (error == -EPERM)
        reject(answer, 500, broken, "it does not belong to the owner of the tree");
    else if (error == -ELOOP || error == -EXDEV)
        reject(answer, 500, broken, "a symbolic link or a mount is in the tree");
    else if (error == -EINVAL)
        reject(answer, 500, broken,
               "its 'access' is malformed, or it is not a regular file");
    else if (error == -EACCES)
        reject(answer, 500, broken, imds_tree_reason(error));
    else
        reject(answer, 500, "the host could not read the file\n", strerror(-error));
}

/* --- who may read it -------------------------------------------------------------- */

/* Return: the domain's directory, or -errno. Grants access if the token is right and the
 * peer belongs to the domain. */
static int
open_by_token(struct answer *answer, const struct imds_tree *tree,
              const struct path *path, const struct peer *peer)
{
    int domain = imds_tree_open_domain(tree, path->uuid);
    struct imds_access access;
    const char *reason = peer->reason;
    int error = domain;

    memcpy(answer->uuid, path->uuid, sizeof(answer->uuid));
    if (domain >= 0)
        error = imds_tree_read_access(tree, domain, &access);
    if (error == -ENOENT)
        reject(answer, 404, not_found, "no such domain");
    else if (error < 0)
        refuse_broken(answer, error);
    else if (!memeql_sec(access.text, path->token, IMDS_TOKEN_LENGTH))
        reject(answer, 404, not_found, "wrong token");
    if (answer->reason)
        return domain;
    if (peer->kind == PEER_QEMU) {
        answer->granted =
            imds_access_links(&access, NULL) & IMDS_LINK_SET(IMDS_LINK_USER);
        reason = "right token, but the domain has no user networking";
    } else if (peer->kind == PEER_NEIGHBOUR) {
        answer->granted =
            imds_access_links(&access, peer->mac) & IMDS_LINK_SET(IMDS_LINK_NEIGHBOUR);
        reason = "right token, but the domain does not have the peer's MAC";
    }
    if (!answer->granted)
        reject(answer, 404, not_found, reason);
    return domain;
}

/* --- documents -------------------------------------------------------------------- */

static void
give_document(struct answer *answer, const struct imds_tree *tree, int domain,
              const struct document_kind *kind)
{
    struct stat status;
    cleanup_close int fd = imds_tree_open_file(tree, domain, kind->path, &status);

    /* cloud-init retries a 404 ten times, for ten seconds, and ignores a seed without the
     * first two. */
    if (fd == -ENOENT) {
        give(answer, kind->type, "");
    } else if (fd < 0) {
        refuse_broken(answer, fd);
    } else {
        give(answer, kind->type, NULL);
        answer->fd = steal_fd(fd);
        answer->size = status.st_size;
    }
}

static void
answer_document(struct answer *answer, const struct http_request *request,
                const struct peer *peer, const struct imds_tree *tree)
{
    const struct path *path = &request->path;
    const struct document_kind *kind = path->document_kind;

    for (int attempt = 0; attempt < IMDS_ATTEMPTS; attempt++) {
        cleanup_close int domain = -1;

        *answer = ANSWER_NONE;
        answer->document = kind->path;
        domain = open_by_token(answer, tree, path, peer);
        if (answer->granted)
            give_document(answer, tree, domain, kind);
        /* If the domain was replaced or removed in the meantime, a missing file means
         * nothing, because the directory is being emptied. */
        if (domain < 0 || answer->fd >= 0 || fs_is_named(domain, tree->fd, answer->uuid))
            return;
    }
    reject(answer, 503, "the document is being replaced\n",
           "the document kept being replaced");
}

void
answer_make(struct answer *answer, const struct http_request *request,
            const struct peer *peer, const struct imds_tree *tree, int tree_error)
{
    const struct path *path = &request->path;

    *answer = ANSWER_NONE;
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
        reject(answer, 405, "only GET and HEAD are allowed\n", "neither GET nor HEAD");
    } else if (request->body) {
        reject(answer, 400, "a request must not have a body\n", "the request has a body");
    } else if (request->malformed) {
        reject(answer, 400, "the name of a header is malformed\n",
               "the name of a header is malformed");
    } else if (!path->is_health && !path->document_kind) {
        /* Do not log the path: it may contain a token. */
        reject(answer, 404, not_found, "no such path");
    } else if (path->is_health && tree_error < 0) {
        reject(answer, 503, broken, imds_tree_reason(tree_error));
    } else if (path->is_health) {
        give(answer, TEXT, "OK\n");
    } else if (tree) {
        answer_document(answer, request, peer, tree);
    } else {
        answer->document = path->document_kind->path;
        memcpy(answer->uuid, path->uuid, sizeof(answer->uuid));
        if (tree_error == -ENOENT)
            reject(answer, 404, not_found, imds_tree_reason(tree_error));
        else
            reject(answer, 500, broken, imds_tree_reason(tree_error));
    }
}

void
answer_refuse_rate(struct answer *answer)
{
    close_pointer(&answer->fd);
    answer->fd = -1;
    reject(answer, 429, "too many requests\n", "too many requests");
}

void
answer_clear(struct answer *answer)
{
    close_pointer(&answer->fd);
    *answer = ANSWER_NONE;
}
