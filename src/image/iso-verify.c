/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "image/iso.h"
#include "image/libisofs.h"

/* --- the file as libisofs's source of blocks -------------------------------------- */

static int
source_open(IsoDataSource *source)
{
    (void)source;
    return ISO_SUCCESS;
}

static int
source_close(IsoDataSource *source)
{
    (void)source;
    return ISO_SUCCESS;
}

static int
source_read_block(IsoDataSource *source, uint32_t lba, uint8_t *buffer)
{
    const int *fd = source->data;
    ssize_t count = pread(*fd, buffer, ISO_BLOCK, (off_t)lba * ISO_BLOCK);

    return count == ISO_BLOCK ? ISO_SUCCESS : ISO_DATA_SOURCE_MISHAP;
}

static void
source_free_data(IsoDataSource *source)
{
    (void)source;
}

/* libisofs frees the source itself with its last reference. `fd` must outlive it. */
static IsoDataSource *
new_source(int *fd)
{
    IsoDataSource *source = xcalloc(1, sizeof(*source));

    *source = (IsoDataSource){
        .version = 0,
        .refcount = 1,
        .open = source_open,
        .close = source_close,
        .read_block = source_read_block,
        .free_data = source_free_data,
        .data = fd,
    };
    return source;
}

static void
source_pointer(IsoDataSource **source)
{
    iso_data_source_unref(*source);
}

static void
read_options_pointer(IsoReadOpts **options)
{
    if (*options)
        iso_read_opts_free(*options);
}

/* --- comparison ------------------------------------------------------------------- */

static int
fail_different(struct failure **failure, const char *what)
{
    failure_set(failure, FAILURE_IMAGE,
                "the image reads back differently from what was written: %s", what);
    return failure_hint(failure,
                        "look for errors of the disk or the memory in the kernel's "
                        "log; the seed was not put in place");
}

/* Return: whether the stream's bytes, all of them, are the document's. */
static bool
stream_equals(IsoStream *stream, const struct buffer *data)
{
    size_t offset = 0;
    char chunk[16 * 1024];

    if (iso_stream_get_size(stream) != (off_t)data->size)
        return false;
    if (iso_stream_open(stream) < 0)
        return false;
    while (offset < data->size) {
        size_t wanted =
            data->size - offset < sizeof(chunk) ? data->size - offset : sizeof(chunk);
        int count = iso_stream_read(stream, chunk, wanted);

        if (count <= 0 || memcmp(chunk, data->data + offset, (size_t)count) != 0)
            break;
        offset += (size_t)count;
    }
    iso_stream_close(stream);
    return offset == data->size;
}

static int
compare_document(IsoImage *image, const struct document *document,
                 struct failure **failure)
{
    cleanup_free char *path = xasprintf("/%s", document->path);
    IsoNode *node = NULL;

    if (iso_image_path_to_node(image, path, &node) != 1 ||
        iso_node_get_type(node) != LIBISO_FILE)
        return fail_different(failure, document->path);
    if (!stream_equals(iso_file_get_stream((IsoFile *)node), &document->data))
        return fail_different(failure, document->path);
    return 0;
}

static int
compare(IsoImage *image, const struct seed *seed, struct failure **failure)
{
    const char *volume_id = iso_image_get_volume_id(image);

    if (!volume_id || strcmp(volume_id, seed->volume_id) != 0)
        return fail_different(failure, "label");
    for (size_t i = 0; i < seed->document_count; i++) {
        if (compare_document(image, &seed->documents[i], failure) < 0)
            return -1;
    }
    return 0;
}

int
iso_verify(int fd, const struct seed *seed, struct failure **failure)
{
    __attribute__((cleanup(read_options_pointer))) IsoReadOpts *options = NULL;
    __attribute__((cleanup(source_pointer))) IsoDataSource *source = new_source(&fd);
    cleanup_iso_image IsoImage *image = NULL;
    int code;

    if (libisofs_start(failure) < 0)
        return -1;
    code = iso_image_new("verify", &image);
    if (code >= 0)
        code = iso_read_opts_new(&options, 0);
    if (code >= 0)
        code = iso_image_import(image, source, options, NULL);
    if (code < 0)
        return fail_different(failure, iso_error_to_msg(code));
    return compare(image, seed, failure);
}
