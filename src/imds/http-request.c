/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "imds/http-request.h"

#define TEXT "text/plain; charset=utf-8"
#define BYTES "application/octet-stream"
#define JSON "application/json"
#define VERSIONS "openstack"
#define OPENSTACK VERSIONS "/latest/"

/* cloud-init asks ten times, for ten seconds, for each of the first four that is a 404, and
 * takes the seed for none without the first two. */
static const struct document_kind documents[] = {
    {.path = IMDS_META_DATA, .type = TEXT, .always = true},
    {.path = IMDS_USER_DATA, .type = BYTES, .always = true},
    {.path = IMDS_VENDOR_DATA, .type = BYTES, .always = true},
    {.path = IMDS_NETWORK_CONFIG, .type = TEXT, .always = true},
    {.path = IMDS_IDENTITY, .type = JSON, .guarded = true},
    /* cloud-init asks for it first (DataSourceOpenStack.wait_for_metadata_service). */
    {.path = VERSIONS, .type = TEXT, .text = "latest\n"},
    {.path = OPENSTACK "meta_data.json", .type = JSON},
    {.path = OPENSTACK "user_data", .type = BYTES},
    {.path = OPENSTACK "vendor_data.json", .type = JSON},
    {.path = OPENSTACK "vendor_data2.json", .type = JSON},
    {.path = OPENSTACK "network_data.json", .type = JSON},
};

static const struct document_kind *
find_document(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(documents); i++) {
        if (strcmp(documents[i].path, name) == 0)
            return &documents[i];
    }
    return NULL;
}

/* UUID/TOKEN/NAME. */
static struct path
read_token_path(const char *text)
{
    struct path path = {.kind = PATH_UNKNOWN};
    const char *token, *name;

    if (strcspn(text, "/") != UUID_LENGTH || text[UUID_LENGTH] != '/')
        return path;
    token = text + UUID_LENGTH + 1;
    if (strcspn(token, "/") != IMDS_TOKEN_LENGTH || token[IMDS_TOKEN_LENGTH] != '/')
        return path;
    name = token + IMDS_TOKEN_LENGTH + 1;
    memcpy(path.uuid, text, UUID_LENGTH);
    memcpy(path.token, token, IMDS_TOKEN_LENGTH);
    path.document_kind = find_document(name);
    if (path.document_kind && imds_is_uuid(path.uuid) && imds_is_token(path.token))
        path.kind = PATH_TOKEN;
    return path;
}

struct path
path_read(const char *text)
{
    static const char v1[] = "/v1/";
    const struct document_kind *own = NULL;

    if (strcmp(text, "/healthz") == 0)
        return (struct path){.kind = PATH_HEALTH};
    if (text[0] != '/')
        return (struct path){.kind = PATH_UNKNOWN};
    if (strncmp(text, v1, strlen(v1)) == 0)
        own = find_document(text + strlen(v1));
    else if (strcmp(text + 1, VERSIONS) == 0 ||
             strncmp(text + 1, OPENSTACK, strlen(OPENSTACK)) == 0)
        own = find_document(text + 1);
    else
        return read_token_path(text + 1);
    return (struct path){.kind = own ? PATH_PEER : PATH_UNKNOWN, .document_kind = own};
}

/* --- headers ---------------------------------------------------------------------- */

/* Blanks after a value are not part of it (RFC 9110, section 5.5). */
static bool
is_word(const char *value, const char *word)
{
    size_t length = strlen(word);

    return strncasecmp(value, word, length) == 0 &&
           !value[length + strspn(value + length, " \t")];
}

void
http_request_add_header(struct http_request *request, const char *name, const char *value)
{
    if (!*name || strpbrk(name, " \t"))
        request->malformed = true;
    /* One that means a body to some reader is enough: no request here has one. */
    else if (strcasecmp(name, "Transfer-Encoding") == 0 ||
             strcasecmp(name, "Upgrade") == 0 ||
             (strcasecmp(name, "Content-Length") == 0 &&
              !(value && strcmp(value, "0") == 0)))
        request->body = true;
    else if (value && strcasecmp(name, "Metadata") == 0)
        request->metadata = is_word(value, "true");
}
