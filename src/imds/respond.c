/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/memory.h"
#include "imds/respond.h"

/* What libmicrohttpd sends, with its size before it. */
struct content {
    size_t size;
    char data[];
};

/* libmicrohttpd older than 0.9.74 hands nothing but the data to it. */
static void
free_content(void *data)
{
    struct content *content = (void *)((char *)data - offsetof(struct content, data));

    explicit_bzero(content->data, content->size);
    free(content);
}

/* Small documents are read at once: then nothing of the host's is held while they are
 * sent, and they go out with the header. */
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

static struct MHD_Response *
make_body(struct answer *answer)
{
    struct MHD_Response *response;

    /* libmicrohttpd reads it only. */
    if (answer->fd < 0)
        return MHD_create_response_from_buffer(strlen(answer->text), (void *)answer->text,
                                               MHD_RESPMEM_PERSISTENT);
    if (answer->size <= (off_t)LIMIT_IMDS_READ_AT_ONCE)
        return respond_from_memory(answer);
    response = MHD_create_response_from_fd64((uint64_t)answer->size, answer->fd);
    if (response)
        answer->fd = -1;
    return response;
}

static void
add_headers(struct MHD_Response *response, const struct answer *answer)
{
    if (answer->type)
        MHD_add_response_header(response, "Content-Type", answer->type);
    if (answer->tag[0])
        MHD_add_response_header(response, "ETag", answer->tag);
    if (answer->granted)
        MHD_add_response_header(response, "Cache-Control", "private, no-cache");
    if (answer->status == 405)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    if (answer->status == 429)
        MHD_add_response_header(response, "Retry-After", "1");
    MHD_add_response_header(response, "Connection", "close");
}

struct MHD_Response *
respond(struct answer *answer)
{
    struct MHD_Response *response = make_body(answer);

    if (response)
        add_headers(response, answer);
    return response;
}
