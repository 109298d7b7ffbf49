/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "imds/path.h"

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
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        if (strcmp(documents[i].path, name) == 0)
            return &documents[i];
    }
    return NULL;
}

/* Takes the part up to the next slash, when it has the length of `part`. Return: what is
 * behind the slash, or NULL. */
static const char *
take_part(const char *text, char *part, size_t length)
{
    if (strcspn(text, "/") != length || text[length] != '/')
        return NULL;
    memcpy(part, text, length);
    part[length] = '\0';
    return text + length + 1;
}

static struct path
read_token_path(const char *text)
{
    struct path path = {.kind = PATH_UNKNOWN};
    const char *rest = take_part(text, path.uuid, UUID_LENGTH);

    rest = rest ? take_part(rest, path.token, IMDS_TOKEN_LENGTH) : NULL;
    path.document_kind = rest ? find_document(rest) : NULL;
    if (path.document_kind && imds_is_uuid(path.uuid) && imds_is_token(path.token))
        path.kind = PATH_TOKEN;
    return path;
}

static struct path
read_peer_path(const char *name)
{
    const struct document_kind *found = find_document(name);

    return (struct path){.kind = found ? PATH_PEER : PATH_UNKNOWN,
                         .document_kind = found};
}

struct path
path_read(const char *text)
{
    static const char v1[] = "/v1/";

    if (strcmp(text, "/healthz") == 0)
        return (struct path){.kind = PATH_HEALTH};
    if (text[0] != '/')
        return (struct path){.kind = PATH_UNKNOWN};
    if (strncmp(text, v1, strlen(v1)) == 0)
        return read_peer_path(text + strlen(v1));
    if (strcmp(text + 1, VERSIONS) == 0 ||
        strncmp(text + 1, OPENSTACK, strlen(OPENSTACK)) == 0)
        return read_peer_path(text + 1);
    return read_token_path(text + 1);
}
