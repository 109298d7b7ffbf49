/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a request asks for. Paths are compared as they came: nothing is decoded, for no name
 * here needs it, and so no spelling but one leads anywhere.
 *
 *   /healthz
 *   /UUID/TOKEN/NAME            for NAME the names of the documents
 *   /v1/NAME                    the same, of the guest that the peer is
 *   /openstack, /openstack/latest/NAME
 *                               the same in OpenStack's layout
 */
#pragma once

#include <stdbool.h>

#include "store/imds-tree.h"

struct document_kind {
    const char *path; /* below UUID/ in the tree, unless it has its `text` here */
    const char *type; /* its media type */
    const char *text; /* all of it, where it is the same for every guest; else NULL */
    bool always;      /* empty, where it is not there; else 404 */
    bool guarded;     /* wants the header 'Metadata: true' */
};

enum path_kind {
    PATH_UNKNOWN,
    PATH_HEALTH,
    PATH_TOKEN, /* says which domain, with its token */
    PATH_PEER,  /* the domain is the peer's, which is known by its MAC alone */
    PATH_SHUT,  /* the same, where the server shall know nobody so */
};

struct path {
    enum path_kind kind;
    char uuid[UUID_LENGTH + 1];                /* of PATH_TOKEN */
    char token[IMDS_TOKEN_LENGTH + 1];         /* of PATH_TOKEN */
    const struct document_kind *document_kind; /* of PATH_TOKEN and PATH_PEER */
};

struct path path_read(const char *text);

/* What of a request matters here; all of it is borrowed. */
struct http_request {
    const char *method;
    struct path path;
    bool metadata;  /* there is 'Metadata: true' */
    bool body;      /* a body follows, or could be thought to follow */
    bool malformed; /* some name is not one to some reader */
};

/* Takes a header of the request; `value` is NULL if it has none. */
void http_request_add_header(struct http_request *request, const char *name,
                             const char *value);
