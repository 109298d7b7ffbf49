/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libisofs reads the image's tree through a source of blocks that we give it.
 * The source counts: a tree that needs more blocks than a seed's can is no seed's, and a
 * directory that contains itself ends there as well.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/memory.h"
#include "image/iso.h"
#include "image/libisofs.h"

/* --- the file as libisofs's source of blocks -------------------------------------- */

struct block_source {
    int fd;
    long blocks_left;
};

static int
source_open_or_close(IsoDataSource *source)
{
    (void)source;
    return ISO_SUCCESS;
}

static int
source_read_block(IsoDataSource *source, uint32_t lba, uint8_t *buffer)
{
    struct block_source *blocks = source->data;
    size_t done = 0;

    if (blocks->blocks_left-- <= 0)
        return ISO_DATA_SOURCE_FATAL;
    while (done < ISO_BLOCK) {
        ssize_t count = pread(blocks->fd, buffer + done, ISO_BLOCK - done,
                              (off_t)lba * ISO_BLOCK + (off_t)done);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return ISO_DATA_SOURCE_MISHAP;
        done += (size_t)count;
    }
    return ISO_SUCCESS;
}

static void
source_free_data(IsoDataSource *source)
{
    (void)source;
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

static void
read_features_pointer(IsoReadImageFeatures **features)
{
    if (*features)
        iso_read_image_features_destroy(*features);
}

static void
iterator_pointer(IsoDirIter **iterator)
{
    if (*iterator)
        iso_dir_iter_free(*iterator);
}

/* --- the tree ---------------------------------------------------------------------- */

static int
fail_unreadable(struct failure **failure, const char *why)
{
    return failure_set(failure, FAILURE_IMAGE,
                       "not a readable ISO 9660 image: %s\n"
                       "see what it is: blkid -p FILE",
                       why);
}

static int
fail_no_seed(struct failure **failure, const char *what, unsigned long limit,
             const char *unit)
{
    return failure_set(failure, FAILURE_LIMIT,
                       "the image %s %lu %s\nseeds are small; this is something else",
                       what, limit, unit);
}

/* Names come from the image and become paths. */
static int
check_name(const char *name, struct failure **failure)
{
    if (*name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
        !strchr(name, '/') && strlen(name) <= 255)
        return 0;
    return failure_set(failure, FAILURE_IMAGE,
                       "the image has a file whose name could lead out of its "
                       "directory\n"
                       "do not trust this image");
}

static int
read_stream(IsoStream *stream, struct document *file, struct failure **failure)
{
    char *end = buffer_reserve(&file->data, file->size);
    int result = 0;

    if (iso_stream_open(stream) < 0)
        return fail_unreadable(failure, file->path);
    while (file->data.size < file->size && result == 0) {
        int count =
            iso_stream_read(stream, end + file->data.size, file->size - file->data.size);

        if (count <= 0)
            result = fail_unreadable(failure, file->path);
        else
            file->data.size += (size_t)count;
    }
    iso_stream_close(stream);
    end[file->data.size] = '\0';
    return result;
}

static int
add_file(struct seed *seed, IsoNode *node, const char *path, struct failure **failure)
{
    struct document *file;
    IsoStream *stream;
    off_t size;

    if (seed->document_count == LIMIT_IMAGE_FILES)
        return fail_no_seed(failure, "has more than", LIMIT_IMAGE_FILES, "files");
    file = seed_add_document(seed, path);
    file->unread = true;
    /* Symbolic links, devices and the like are listed, and no more. */
    if (iso_node_get_type(node) != LIBISO_FILE)
        return 0;
    stream = iso_file_get_stream((IsoFile *)node);
    size = iso_stream_get_size(stream);
    file->size = size > 0 ? (size_t)size : 0;
    if (file->size > LIMIT_SEED)
        return 0;
    file->unread = false;
    return read_stream(stream, file, failure);
}

static int
add_directory(struct seed *seed, IsoDir *dir, const char *prefix, int depth,
              struct failure **failure)
{
    __attribute__((cleanup(iterator_pointer))) IsoDirIter *iterator = NULL;
    IsoNode *node;

    if (depth > LIMIT_IMAGE_DEPTH)
        return fail_no_seed(failure, "is nested deeper than", LIMIT_IMAGE_DEPTH,
                            "directories");
    if (iso_dir_get_children(dir, &iterator) < 0)
        return fail_unreadable(failure, "a directory");
    while (iso_dir_iter_next(iterator, &node) == 1) {
        const char *name = iso_node_get_name(node);
        cleanup_free char *path = xasprintf("%s%s", prefix, name);
        int result;

        if (check_name(name, failure) < 0)
            return -1;
        if (iso_node_get_type(node) == LIBISO_DIR) {
            cleanup_free char *inner = xasprintf("%s/", path);

            result = add_directory(seed, (IsoDir *)node, inner, depth + 1, failure);
        } else {
            result = add_file(seed, node, path, failure);
        }
        if (result < 0)
            return -1;
    }
    return 0;
}

/* --- the image ---------------------------------------------------------------------- */

int
iso_read(int fd, struct seed *seed, struct failure **failure)
{
    struct block_source blocks = {.fd = fd, .blocks_left = LIMIT_IMAGE_TREE_BLOCKS};
    /* libisofs frees it with its last reference; `blocks` must outlive it. */
    __attribute__((cleanup(source_pointer))) IsoDataSource *source =
        xcalloc(1, sizeof(*source));
    __attribute__((cleanup(read_options_pointer))) IsoReadOpts *options = NULL;
    /* Not used, but libisofs 1.5.6 writes to it even though its interface allows NULL. */
    __attribute__((cleanup(read_features_pointer))) IsoReadImageFeatures *features = NULL;
    cleanup_iso_image IsoImage *image = NULL;
    struct stat status;
    const char *label;
    int code;

    *seed = (struct seed){0};
    *source = (IsoDataSource){
        .version = 0,
        .refcount = 1,
        .open = source_open_or_close,
        .close = source_open_or_close,
        .read_block = source_read_block,
        .free_data = source_free_data,
        .data = &blocks,
    };
    if (fstat(fd, &status) == 0 && status.st_size > (off_t)LIMIT_IMAGE)
        return fail_no_seed(failure, "is larger than", LIMIT_IMAGE / MIB, "MiB");
    if (libisofs_start(failure) < 0)
        return -1;
    code = iso_image_new("", &image);
    if (code >= 0)
        code = iso_read_opts_new(&options, 0);
    if (code >= 0)
        code = iso_image_import(image, source, options, &features);
    if (code < 0)
        return fail_unreadable(failure, iso_error_to_msg(code));
    label = iso_image_get_volume_id(image);
    seed->volume_id = xstrdup(label ? label : "");
    blocks.blocks_left = LIMIT_IMAGE / ISO_BLOCK;
    return add_directory(seed, iso_image_get_root(image), "", 1, failure);
}
