/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the bytes are an image that somebody else made. For what reads ISO images
 * they stand behind the system area, 32 KiB that nobody looks at; other file systems have
 * their label at the very beginning.
 */
#include "config.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "fuzz.h"
#include "image/iso.h"
#include "image/label.h"

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
    struct disk disk = {.source = path};
    struct domain domain = {.disks = &disk, .disk_count = 1};

    label_read_disks(&domain);
    free(disk.label);
}

/* The seed of the image corpus/iso/seed, which is the only one to be found equal. */
static void
read_image(int fd)
{
    cleanup_seed struct seed seed = {.volume_id = "cidata"};
    cleanup_failure struct failure *failure = NULL;

    buffer_append_string(&seed_add_document(&seed, "meta-data")->data, "{}\n");
    buffer_append_string(&seed_add_document(&seed, "user-data")->data,
                         "#cloud-config\n");
    fuzz_succeeded(iso_verify(fd, &seed, &failure), &failure);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_close int whole = make_image(data, size, 0);
    cleanup_close int iso = make_image(data, size, SYSTEM_AREA);

    read_label(whole);
    read_label(iso);
    read_image(iso);
    return 0;
}
