/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: to write, libisofs lays out the image and makes its bytes in its own
 * thread, and we read them from its buffer. Equal seeds give equal bytes, because
 * everything that libisofs would take from the time, the host or the user is set: the
 * times of nodes and volume, the time zone, modes and owners; and documents are added in
 * the seed's order. The burn source's read function returns 0 both at the end and after an
 * error, so the number of bytes and the state of the buffer tell whether the image is
 * complete.
 *
 * To read, libisofs gets its blocks from our own source, which counts them: a tree that
 * needs more blocks than a seed's can is refused, and so a directory that contains itself
 * ends, too.
 */
#include "config.h"

#define LIBISOFS_WITHOUT_LIBBURN 1
#include <libisofs/libisofs.h>

#include "base/fs.h"
#include "image/image.h"

#define ISO_BLOCK 2048

/* For objects of libisofs that are released at the end of their scope. */
#define DEFINE_CLEANUP(type, release)                                                    \
    static void release##_pointer(                                                       \
        type **object) /* NOLINT(bugprone-macro-parentheses) */                          \
    {                                                                                    \
        if (*object)                                                                     \
            release(*object);                                                            \
    }

DEFINE_CLEANUP(IsoImage, iso_image_unref)
DEFINE_CLEANUP(IsoWriteOpts, iso_write_opts_free)
DEFINE_CLEANUP(IsoReadOpts, iso_read_opts_free)
DEFINE_CLEANUP(IsoReadImageFeatures, iso_read_image_features_destroy)
DEFINE_CLEANUP(IsoDataSource, iso_data_source_unref)
DEFINE_CLEANUP(IsoDirIter, iso_dir_iter_free)

#define cleanup_with(release) __attribute__((cleanup(release##_pointer)))

static int
libisofs_fail(struct failure **failure, int code, const char *step)
{
    return failure_set(
        failure, FAILURE_IMAGE,
        "%s: %s\n"
        "memory is full, or this is a bug: report it with the domain's XML",
        step, iso_error_to_msg(code));
}

/* Starts the library on its first call. */
static int
libisofs_start(struct failure **failure)
{
    static bool started;
    int code;

    if (started)
        return 0;
    /* Flag bit 0: do not change the locale; names are UTF-8 here. */
    code = iso_init_with_flag(1);
    if (code < 0)
        return libisofs_fail(failure, code, "could not start libisofs");
    iso_set_local_charset((char *)"UTF-8", 0);
    iso_set_msgs_severities((char *)"NEVER", (char *)"NEVER", (char *)"");
    started = true;
    return 0;
}

/* --- writing ------------------------------------------------------------------------ */

/* 2020-01-01 00:00:00 UTC, for everything that has a time. */
#define IMAGE_TIME 1577836800
#define IMAGE_TIME_TEXT "2020010100000000"

/* The smallest buffer that libisofs allows, and a chunk that leaves its thread room to go
 * on; larger ones cost page faults. */
#define FIFO_BLOCKS 32
#define CHUNK (8L * ISO_BLOCK)

/* Return: libisofs's code for the first setting that it refuses, or a positive number. */
static int
set_options(IsoWriteOpts *options)
{
    const int results[] = {
        iso_write_opts_set_iso_level(options, 3),
        iso_write_opts_set_rockridge(options, 1),
        iso_write_opts_set_joliet(options, 1),
        /* Without this, the label would be in upper case. */
        iso_write_opts_set_relaxed_vol_atts(options, 1),
        /* Keep Joliet names as they are: do not append ";1" or add a dot. */
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

static int
add_document(IsoImage *image, const struct document *document)
{
    IsoDir *dir = iso_image_get_root(image);
    const char *name = document->path;
    const struct buffer *data = &document->data;
    IsoStream *stream = NULL;
    IsoFile *file = NULL;
    unsigned char *copy;
    int code;

    for (const char *slash; (slash = strchr(name, '/')); name = slash + 1) {
        cleanup_free char *parent = xstrndup(name, (size_t)(slash - name));
        IsoNode *node = NULL;

        code = iso_dir_get_node(dir, parent, &node);
        if (code == 0)
            code = iso_image_add_new_dir(image, dir, parent, (IsoDir **)&node);
        if (code < 0)
            return code;
        dir = (IsoDir *)node;
    }
    copy = xmalloc(data->size);
    if (data->size > 0)
        memcpy(copy, data->data, data->size);
    /* From here on, the stream owns the copy. */
    code = iso_memory_stream_new(copy, data->size, &stream);
    if (code < 0) {
        free(copy);
        return code;
    }
    code = iso_image_add_new_file(image, dir, name, stream, &file);
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
            return libisofs_fail(failure, ISO_WRITE_ERROR, "could not make the image");
        error = fs_write_all(fd, chunk, (size_t)wanted);
        if (error < 0)
            return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                     "could not write the image");
        remaining -= wanted;
    }
    /* The thread's last step may come after its last byte, so wait for it by reading
     * again. 2: the input has ended without an error; 6: and all of it was consumed. */
    if (source->read_xt(source, chunk, ISO_BLOCK) == 0) {
        state = iso_ring_buffer_get_status(source, &size, &free_bytes);
        if (state == 2 || state == 6)
            return 0;
    }
    return libisofs_fail(failure, ISO_WRITE_ERROR, "could not finish the image");
}

int
iso_write(int fd, const struct seed *seed, struct failure **failure)
{
    cleanup_with(iso_write_opts_free) IsoWriteOpts *options = NULL;
    cleanup_with(iso_image_unref) IsoImage *image = NULL;
    struct burn_source *source = NULL;
    int code, result;

    if (libisofs_start(failure) < 0)
        return -1;
    code = iso_image_new(seed->label, &image);
    if (code < 0)
        return libisofs_fail(failure, code, "could not make the volume");
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
        return libisofs_fail(failure, code, "could not lay out the image");
    result = copy_image(fd, source, failure);
    if (result < 0)
        source->cancel(source);
    source->free_data(source);
    free(source);
    return result;
}

/* --- reading: the file as libisofs's source of blocks --------------------------------- */

struct block_source {
    int fd;
    long blocks_left;
};

static int
source_open_or_close(IsoDataSource *source)
{
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
}

/* --- reading: the tree ---------------------------------------------------------------------- */

static int
fail_unreadable(struct failure **failure, const char *why)
{
    return failure_set(failure, FAILURE_IMAGE,
                       "not a readable ISO 9660 image: %s\n"
                       "see what it is: blkid -p FILE",
                       why);
}

static int
fail_limit(struct failure **failure, const char *what, unsigned long limit,
           const char *unit)
{
    return failure_set(failure, FAILURE_LIMIT,
                       "the image %s %lu %s\n"
                       "a seed is smaller: name another image",
                       what, limit, unit);
}

static int
add_file(struct seed *seed, IsoNode *node, const char *path, struct failure **failure)
{
    struct document *file;
    IsoStream *stream;
    int result = 0;
    off_t size;
    char *data;

    if (seed->document_count == LIMIT_IMAGE_FILES)
        return fail_limit(failure, "has more than", LIMIT_IMAGE_FILES, "files");
    file = seed_add_document(seed, path);
    file->unread = true;
    /* Symbolic links, devices and so on are only listed. */
    if (iso_node_get_type(node) != LIBISO_FILE)
        return 0;
    stream = iso_file_get_stream((IsoFile *)node);
    size = iso_stream_get_size(stream);
    file->size = size > 0 ? (size_t)size : 0;
    if (file->size > LIMIT_SEED)
        return 0;
    file->unread = false;
    data = buffer_reserve(&file->data, file->size);
    if (iso_stream_open(stream) < 0)
        return fail_unreadable(failure, path);
    while (file->data.size < file->size && result == 0) {
        int count =
            iso_stream_read(stream, data + file->data.size, file->size - file->data.size);

        if (count <= 0)
            result = fail_unreadable(failure, path);
        else
            file->data.size += (size_t)count;
    }
    iso_stream_close(stream);
    data[file->data.size] = '\0';
    return result;
}

/* Names come from the image and become paths. */
static bool
is_safe_name(const char *name)
{
    if (!*name || strchr(name, '/') || strlen(name) > LIMIT_FILE_NAME)
        return false;
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int
add_directory(struct seed *seed, IsoDir *dir, const char *prefix, int depth,
              struct failure **failure)
{
    cleanup_with(iso_dir_iter_free) IsoDirIter *iterator = NULL;
    IsoNode *node;

    if (depth > LIMIT_IMAGE_DEPTH)
        return fail_limit(failure, "is nested deeper than", LIMIT_IMAGE_DEPTH,
                          "directories");
    if (iso_dir_get_children(dir, &iterator) < 0)
        return fail_unreadable(failure, "a directory");
    while (iso_dir_iter_next(iterator, &node) == 1) {
        const char *name = iso_node_get_name(node);
        cleanup_free char *path = xasprintf("%s%s", prefix, name);
        int result;

        if (!is_safe_name(name))
            return failure_set(failure, FAILURE_IMAGE,
                               "the image has a file whose name could lead out of its "
                               "directory\n"
                               "do not trust this image");
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

/* libisofs's own words are about its interface. */
static const char *
explain(int code, const struct stat *status)
{
    if (S_ISDIR(status->st_mode))
        return "it is a directory";
    if (status->st_size == 0)
        return "it is empty";
    if (code == (int)ISO_WRONG_PVD)
        return "it has no volume descriptor";
    return "it is none, or is cut off or damaged";
}

/* --- reading: the image ---------------------------------------------------------------------- */

int
iso_read(int fd, struct seed *seed, struct failure **failure)
{
    struct block_source blocks = {.fd = fd, .blocks_left = LIMIT_IMAGE_TREE_BLOCKS};
    /* libisofs frees it with its last reference; `blocks` must outlive it. */
    cleanup_with(iso_data_source_unref) IsoDataSource *source =
        xcalloc(1, sizeof(*source));
    cleanup_with(iso_read_opts_free) IsoReadOpts *options = NULL;
    /* Unused, but libisofs 1.5.6 writes to it, although its interface allows NULL. */
    cleanup_with(iso_read_image_features_destroy) IsoReadImageFeatures *features = NULL;
    cleanup_with(iso_image_unref) IsoImage *image = NULL;
    struct stat status = {0};
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
        return fail_limit(failure, "is larger than", LIMIT_IMAGE / MIB, "MiB");
    if (libisofs_start(failure) < 0)
        return -1;
    code = iso_image_new("", &image);
    if (code >= 0)
        code = iso_read_opts_new(&options, 0);
    if (code >= 0)
        code = iso_image_import(image, source, options, &features);
    if (code < 0)
        return fail_unreadable(failure, explain(code, &status));
    label = iso_image_get_volume_id(image);
    seed->label = xstrdup(label ? label : "");
    blocks.blocks_left = LIMIT_IMAGE / ISO_BLOCK;
    return add_directory(seed, iso_image_get_root(image), "", 1, failure);
}

/* --- verifying ----------------------------------------------------------------------- */

static int
fail_different(struct failure **failure, const char *what)
{
    return failure_set(failure, FAILURE_IMAGE,
                       "the image that was read back differs from what was written: %s\n"
                       "look for disk or memory errors in the kernel's log; the seed was "
                       "not put in place",
                       what);
}

int
iso_verify(int fd, const struct seed *seed, struct failure **failure)
{
    cleanup_seed struct seed image = {0};

    if (iso_read(fd, &image, failure) < 0)
        return failure_prefix(failure, "the image that was written");
    if (strcmp(image.label, seed->label) != 0)
        return fail_different(failure, "label");
    if (image.document_count != seed->document_count)
        return fail_different(failure, "number of documents");
    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *document = &seed->documents[i];
        const struct document *found = seed_find_document(&image, document->path);

        if (!found || found->unread || !buffer_is_same(&found->data, &document->data))
            return fail_different(failure, document->path);
    }
    return 0;
}
