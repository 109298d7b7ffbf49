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

int
gzip_read(struct buffer *buffer, const char *data, size_t size, struct failure **failure)
{
    z_stream stream = {.next_in = (const Bytef *)data, .avail_in = (uInt)size};
    int code = inflateInit2(&stream, GZIP_WINDOW);

    if (code != Z_OK)
        abort();
    while (code == Z_OK && buffer->size <= LIMIT_SEED) {
        stream.next_out = (Bytef *)buffer_reserve(buffer, CHUNK);
        stream.avail_out = CHUNK;
        code = inflate(&stream, Z_NO_FLUSH);
        /* Another member may follow, as in a file that was appended to. */
        if (code == Z_STREAM_END && stream.avail_in > 0)
            code = inflateReset(&stream);
        buffer->size += CHUNK - stream.avail_out;
        buffer->data[buffer->size] = '\0';
    }
    inflateEnd(&stream);
    if (buffer->size > LIMIT_SEED)
        return failure_set(failure, FAILURE_LIMIT,
                           "holds more than %lu MiB when decompressed\n"
                           "let the guest fetch large files itself",
                           LIMIT_SEED / MIB);
    if (code == Z_STREAM_END)
        return 0;
    return failure_set(failure, FAILURE_USER_DATA,
                       "begins as gzip and is damaged or cut off\n"
                       "compress it again, and see 'gzip --test FILE'");
}
