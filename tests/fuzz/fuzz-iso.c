/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the bytes are an image that somebody else made. For what reads ISO images
 * they come after the system area, 32 KiB that no reader uses; other file systems have
 * their label at the very beginning.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "fuzz.h"
#include "host/label.h"
#include "image/image.h"
#include "seed/layout.h"

/* LeakSanitizer asks for it: libisofs forgets what it had read where an image ends in the
 * middle of a file of several extents. */
const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
    return "leak:libisofs.so";
}

#define SYSTEM_AREA ((off_t)(32 * KIB))

/* Return: a file with the bytes from `offset` on, owned by the caller. */
static int
make_image(const uint8_t *data, size_t size, off_t offset)
{
    int fd = memfd_create("image", MFD_CLOEXEC);

    fuzz_require(fd >= 0 && lseek(fd, offset, SEEK_SET) == offset);
    fuzz_require(fs_write_all(fd, data, size) == 0);
    return fd;
}

static void
read_label(int fd)
{
    cleanup_free char *path = xasprintf("/proc/self/fd/%d", fd);

    label_find(path);
}

/* Whoever writes the files below a directory must not be led out of it. */
static bool
is_inside(const char *path)
{
    for (;;) {
        size_t length = strcspn(path, "/");

        if (length == 0 || (length == 1 && path[0] == '.') ||
            (length == 2 && path[0] == '.' && path[1] == '.'))
            return false;
        if (!path[length])
            return true;
        path += length + 1;
    }
}

static void
read_document(const struct layout *layout, const struct document *file)
{
    const struct layout_document *document =
        layout ? layout_find_document(layout, file->path) : NULL;
    cleanup_failure struct failure *failure = NULL;
    cleanup_free char *description = NULL;

    if (!document || file->unread)
        return;
    description = layout_describe(document, file->data.data, file->data.size, &failure);
    fuzz_succeeded(description ? 0 : -1, &failure);
}

/* Return: whether it is an image at all. */
static bool
read_image(int fd)
{
    cleanup_seed struct seed volume = {0};
    cleanup_failure struct failure *failure = NULL;
    const struct layout *layout;

    if (!fuzz_succeeded(iso_read(fd, &volume, &failure), &failure))
        return false;
    layout = layout_find(volume.label);
    for (size_t i = 0; i < volume.document_count; i++) {
        const struct document *file = &volume.documents[i];

        fuzz_require(is_inside(file->path));
        fuzz_require(!file->unread || file->data.size == 0);
        read_document(layout, file);
    }
    return true;
}

/* The seed of the image corpus/iso/seed, which is the only one to be found equal. */
static void
compare_image(int fd)
{
    cleanup_seed struct seed seed = {.label = xstrdup("cidata")};
    cleanup_failure struct failure *failure = NULL;

    buffer_append_string(&seed_add_document(&seed, "meta-data")->data, "{}\n");
    buffer_append_string(&seed_add_document(&seed, "user-data")->data, "#cloud-config\n");
    fuzz_succeeded(iso_verify(fd, &seed, &failure), &failure);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_close int whole = make_image(data, size, 0);
    cleanup_close int iso = make_image(data, size, SYSTEM_AREA);

    read_label(whole);
    read_label(iso);
    if (read_image(iso))
        compare_image(iso);
    return 0;
}
