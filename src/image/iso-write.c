/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libisofs lays out the image and makes its bytes in a thread of its own,
 * we take them from its buffer and write them.
 *
 * Equal seeds give equal bytes because everything that libisofs would take from the
 * moment, the host or the user is set: the times of the nodes and of the volume, the
 * time zone, modes and owners; and because the documents are added in the seed's order.
 *
 * The reading function of a burn source returns 0 both at the end and after an error,
 * so the number of bytes and the buffer's own state decide whether the image is whole.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/memory.h"
#include "image/iso.h"
#include "image/libisofs.h"

/* 2020-01-01 00:00:00 UTC, for whatever wants a time. */
#define IMAGE_TIME 1577836800
#define IMAGE_TIME_TEXT "2020010100000000"

/* The least that libisofs takes, and a chunk that lets its thread go on meanwhile: bigger
 * ones cost page faults. */
#define FIFO_BLOCKS 32
#define CHUNK (8L * ISO_BLOCK)

int
libisofs_start(struct failure **failure)
{
    static bool started;
    int code;

    if (started)
        return 0;
    /* Flag bit 0: the locale stays alone; names are UTF-8 here. */
    code = iso_init_with_flag(1);
    if (code < 0)
        return libisofs_fail(failure, code, "start of libisofs");
    iso_set_local_charset((char *)"UTF-8", 0);
    iso_set_msgs_severities((char *)"NEVER", (char *)"NEVER", (char *)"");
    started = true;
    return 0;
}

int
libisofs_fail(struct failure **failure, int code, const char *step)
{
    return failure_set(failure, FAILURE_IMAGE,
                       "%s: %s\n"
                       "this is a defect or a full memory: report it with the domain's "
                       "XML",
                       step, iso_error_to_msg(code));
}

static void
options_pointer(IsoWriteOpts **options)
{
    if (*options)
        iso_write_opts_free(*options);
}

#define cleanup_options __attribute__((cleanup(options_pointer)))

/* Return: libisofs's code of the first setting that it refused, or a positive number. */
static int
set_options(IsoWriteOpts *options)
{
    const int results[] = {
        iso_write_opts_set_iso_level(options, 3),
        iso_write_opts_set_rockridge(options, 1),
        iso_write_opts_set_joliet(options, 1),
        /* Without it the label would be written in upper case. */
        iso_write_opts_set_relaxed_vol_atts(options, 1),
        /* Joliet names as they are: no ";1" after them, no dot forced into them. */
        iso_write_opts_set_omit_version_numbers(options, 2),
        iso_write_opts_set_no_force_dots(options, 2),
        iso_write_opts_set_output_charset(options, "UTF-8"),
        iso_write_opts_set_old_empty(options, 1),
        iso_write_opts_set_fifo_size(options, FIFO_BLOCKS),
        /* Equal bytes. */
        iso_write_opts_set_replace_timestamps(options, 2),
        iso_write_opts_set_default_timestamp(options, IMAGE_TIME),
        iso_write_opts_set_pvd_times(options, IMAGE_TIME, IMAGE_TIME, 0, 0,
                                     (char *)IMAGE_TIME_TEXT),
        iso_write_opts_set_always_gmt(options, 1),
        iso_write_opts_set_replace_mode(options, 2, 2, 2, 2),
        iso_write_opts_set_default_dir_mode(options, 0500),
        iso_write_opts_set_default_file_mode(options, 0400),
        iso_write_opts_set_default_uid(options, 0),
        iso_write_opts_set_default_gid(options, 0),
    };

    for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
        if (results[i] < 0)
            return results[i];
    }
    return ISO_SUCCESS;
}

/* Return: the directory in which the path's last component goes, made where it is
 * missing, or NULL. */
static IsoDir *
parent_directory(IsoImage *image, const char *path)
{
    IsoDir *dir = iso_image_get_root(image);

    for (const char *slash = strchr(path, '/'); slash; slash = strchr(path, '/')) {
        cleanup_free char *name = xstrndup(path, (size_t)(slash - path));
        IsoNode *node = NULL;

        if (iso_dir_get_node(dir, name, &node) == 1) {
            dir = (IsoDir *)node;
        } else if (iso_image_add_new_dir(image, dir, name, &dir) < 0) {
            return NULL;
        }
        path = slash + 1;
    }
    return dir;
}

static int
add_document(IsoImage *image, const struct document *document)
{
    IsoDir *dir = parent_directory(image, document->path);
    const struct buffer *data = &document->data;
    IsoStream *stream = NULL;
    IsoFile *file = NULL;
    unsigned char *copy;
    int code;

    if (!dir)
        return ISO_OUT_OF_MEM;
    copy = xmalloc(data->size);
    if (data->size > 0)
        memcpy(copy, data->data, data->size);
    /* The stream owns the copy from here on. */
    code = iso_memory_stream_new(copy, data->size, &stream);
    if (code < 0) {
        free(copy);
        return code;
    }
    code =
        iso_image_add_new_file(image, dir, fs_base_name(document->path), stream, &file);
    if (code < 0)
        iso_stream_unref(stream);
    return code;
}

static int
copy_image(int fd, struct burn_source *source, struct failure **failure)
{
    cleanup_free unsigned char *chunk = xmalloc(CHUNK);
    off_t remaining = source->get_size(source);
    size_t size, free_bytes;
    int state;

    while (remaining > 0) {
        int wanted = remaining < CHUNK ? (int)remaining : CHUNK;
        int error;

        if (source->read_xt(source, chunk, wanted) != wanted)
            return libisofs_fail(failure, ISO_WRITE_ERROR, "making of the image");
        error = fs_write_all(fd, chunk, (size_t)wanted);
        if (error < 0)
            return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                     "could not write the image");
        remaining -= wanted;
    }
    /* The thread's last step may come a moment after its last byte. 2: the input has ended
     * without error; 6: and all of it was consumed. */
    if (source->read_xt(source, chunk, ISO_BLOCK) == 0) {
        state = iso_ring_buffer_get_status(source, &size, &free_bytes);
        if (state == 2 || state == 6)
            return 0;
    }
    return libisofs_fail(failure, ISO_WRITE_ERROR, "end of the image");
}

int
iso_write(int fd, const struct seed *seed, struct failure **failure)
{
    cleanup_options IsoWriteOpts *options = NULL;
    cleanup_iso_image IsoImage *image = NULL;
    struct burn_source *source = NULL;
    int code, result;

    if (libisofs_start(failure) < 0)
        return -1;
    code = iso_image_new(seed->volume_id, &image);
    if (code < 0)
        return libisofs_fail(failure, code, "making of the volume");
    for (size_t i = 0; i < seed->document_count; i++) {
        code = add_document(image, &seed->documents[i]);
        if (code < 0)
            return libisofs_fail(failure, code, seed->documents[i].path);
    }
    code = iso_write_opts_new(&options, 0);
    if (code >= 0)
        code = set_options(options);
    if (code >= 0)
        code = iso_image_create_burn_source(image, options, &source);
    if (code < 0)
        return libisofs_fail(failure, code, "layout of the image");
    result = copy_image(fd, source, failure);
    if (result < 0)
        source->cancel(source);
    source->free_data(source);
    free(source);
    return result;
}
