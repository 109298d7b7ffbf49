/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST
#include <zlib.h>

#include "base/limits.h"
#include "seed/gzip.h"

/* zlib's code for "gzip alone, with its largest window". */
#define GZIP_WINDOW (MAX_WBITS + 16)
#define CHUNK (64 * KIB)

bool
gzip_is(const char *data, size_t size)
{
    return size >= 2 && memcmp(data, "\x1f\x8b", 2) == 0;
}

static int
fail_damaged(struct failure **failure)
{
    failure_set(failure, FAILURE_USER_DATA, "begins as gzip and is damaged or cut off");
    return failure_hint(failure, "compress it again, and see 'gzip --test FILE'");
}

static int
fail_large(struct failure **failure)
{
    failure_set(failure, FAILURE_LIMIT, "holds more than %lu MiB when decompressed",
                LIMIT_SEED / MIB);
    return failure_hint(failure, "let the guest fetch large files itself");
}

/* A member ends: another may follow, as in a file that was appended to. */
static int
next_member(z_stream *stream, int code)
{
    return code == Z_STREAM_END && stream->avail_in > 0 ? inflateReset(stream) : code;
}

static int
inflate_all(struct buffer *buffer, z_stream *stream, struct failure **failure)
{
    int code = Z_OK;

    while (code == Z_OK) {
        char *chunk = buffer_reserve(buffer, CHUNK);

        stream->next_out = (Bytef *)chunk;
        stream->avail_out = CHUNK;
        code = next_member(stream, inflate(stream, Z_NO_FLUSH));
        buffer->size += CHUNK - stream->avail_out;
        buffer->data[buffer->size] = '\0';
        if (buffer->size > LIMIT_SEED)
            return fail_large(failure);
    }
    return code == Z_STREAM_END ? 0 : fail_damaged(failure);
}

int
gzip_read(struct buffer *buffer, const char *data, size_t size, struct failure **failure)
{
    z_stream stream = {.next_in = (const Bytef *)data, .avail_in = (uInt)size};
    int result;

    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        abort();
    result = inflate_all(buffer, &stream, failure);
    inflateEnd(&stream);
    return result;
}
