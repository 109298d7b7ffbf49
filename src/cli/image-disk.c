/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/child.h"
#include "base/user.h"
#include "cli/images.h"

#define COPY_SECONDS (4 * 60 * 60)

/* --- what an image says of itself ------------------------------------------------------ */

/* Of the header of qcow2, version 2 and 3 (QEMU's docs/interop/qcow2.rst): numbers are
 * big-endian. */
#define QCOW2_MAGIC "QFI\xfb"
#define QCOW2_VERSION 4
#define QCOW2_BACKING_FILE 8 /* where its name is, or 0 */
#define QCOW2_SIZE 24
#define QCOW2_INCOMPATIBLE 72 /* only in version 3 */
#define QCOW2_EXTERNAL_DATA 4 /* of these bits */
#define QCOW2_HEADER 104

/* What people download, too. */
static const struct {
    const char *magic;
    const char *name;
    const char *convert;
} others[] = {
    {"KDMV", "VMDK", "qemu-img convert -O qcow2"},
    {"# Disk DescriptorFile", "VMDK", "qemu-img convert -O qcow2"},
    {"<<< Oracle", "VDI", "qemu-img convert -O qcow2"},
    {"vhdxfile", "VHDX", "qemu-img convert -O qcow2"},
    {"conectix", "VHD", "qemu-img convert -O qcow2"},
    {"QED", "QED", "qemu-img convert -O qcow2"},
    {"\xfd"
     "7zXZ",
     "xz", "xz --decompress"},
    {"\x1f\x8b", "gzip", "gunzip"},
    {"BZh", "bzip2", "bunzip2"},
    {"\x28\xb5\x2f\xfd", "zstd", "unzstd"},
};

static uint64_t
read_number(const unsigned char *bytes, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++)
        number = number << 8 | bytes[i];
    return number;
}

static int
check_qcow2(const unsigned char *header, const char *name, uint64_t *size,
            struct failure **failure)
{
    const uint64_t version = read_number(header + QCOW2_VERSION, 4);
    const uint64_t bits = version >= 3 ? read_number(header + QCOW2_INCOMPATIBLE, 8) : 0;
    const char *what = NULL;

    *size = read_number(header + QCOW2_SIZE, 8);
    if (version != 2 && version != 3)
        return failure_set(failure, FAILURE_SYSTEM,
                           "the image '%s' is qcow2 of version %ju, expected 2 or 3\n"
                           "get another one",
                           name, (uintmax_t)version);
    if (read_number(header + QCOW2_BACKING_FILE, 8) != 0)
        what = "a backing file";
    if (bits & QCOW2_EXTERNAL_DATA)
        what = "an external data file";
    if (!what)
        return 0;
    return failure_set(failure, FAILURE_SYSTEM,
                       "the image '%s' needs %s, which may be any file of this host\n"
                       "if you trust it, make a whole image of it: qemu-img convert -O "
                       "qcow2",
                       name, what);
}

int
image_check(struct source *source, int fd, const char *name, struct failure **failure)
{
    unsigned char header[QCOW2_HEADER] = {0};
    const ssize_t length = pread(fd, header, sizeof(header), 0);
    struct stat status;

    if (length < 0 || fstat(fd, &status) < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not read the image '%s'", name);
    source->format = "qcow2";
    if (memcmp(header, QCOW2_MAGIC, 4) == 0)
        return check_qcow2(header, name, &source->size, failure);
    source->format = "raw";
    source->size = (uint64_t)status.st_size;
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        if (memcmp(header, others[i].magic, strlen(others[i].magic)) == 0)
            return failure_set(failure, FAILURE_SYSTEM,
                               "the image '%s' is in the format %s, expected qcow2 or a "
                               "raw image\n"
                               "convert it first: %s",
                               name, others[i].name, others[i].convert);
    }
    if (source->size % 512 == 0 && source->size >= MIB)
        return 0;
    return failure_set(failure, FAILURE_SYSTEM,
                       "'%s' is not an image: neither qcow2, nor of whole sectors\n"
                       "give the image of a disk with cloud-init in it",
                       name);
}

/* --- disks ------------------------------------------------------------------------------ */

/* Runs the program on the file, which it gets as /proc/self/fd/N; without privileges the
 * file is the other user's meanwhile. */
static int
run_on_file(const char *const *words, const int *files, bool unprivileged, int seconds,
            struct failure **failure)
{
    cleanup_buffer struct buffer output = {0};
    const struct child child = {
        .words = words,
        .documents = files,
        .output = LIMIT_QEMU_IMG_OUTPUT,
        .memory = LIMIT_QEMU_IMG_MEMORY,
        .seconds = seconds,
        .unprivileged = unprivileged,
    };
    const bool gives = unprivileged && geteuid() == 0;
    int status;

    if (gives && fchown(files[0], NOBODY, NOBODY) < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not give the new disk to the user who owns "
                                 "nothing");
    status = child_run(&child, &output);
    if (gives && fchown(files[0], 0, 0) < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not take the new disk back");
    if (status == 0)
        return 0;
    if (status == CHILD_MISSING)
        return failure_set(failure, FAILURE_SYSTEM,
                           "could not run %s, which makes disks\n"
                           "install it: the package qemu-utils, or qemu-img",
                           words[0]);
    buffer_append_string(&output, "");
    return failure_set(failure, FAILURE_SYSTEM, "%s could not make the disk: %.500s",
                       words[0],
                       *buffer_text(&output) ? output.data : "it does not say why");
}

int
disk_make_layer(int disk, const char *base, const char *format, uint64_t size,
                struct failure **failure)
{
    const int files[] = {disk, -1};
    cleanup_free char *path = xasprintf("/proc/self/fd/%d", disk);
    cleanup_free char *bytes = xasprintf("%ju", (uintmax_t)size);
    /* -u: it does not open the base. */
    const char *const words[] = {"qemu-img", "create", "-q",   "-u", "-f",  "qcow2", "-b",
                                 base,       "-F",     format, path, bytes, NULL};

    return run_on_file(words, files, true, LIMIT_QEMU_IMG_SECONDS, failure);
}

/* Holes stay holes, and on some file systems nothing is copied at all. */
static int
make_copy(int disk, const struct source *source, uint64_t size, struct failure **failure)
{
    const int files[] = {disk, source->file, -1};
    cleanup_free char *from = xasprintf("/proc/self/fd/%d", source->file);
    cleanup_free char *path = xasprintf("/proc/self/fd/%d", disk);
    cleanup_free char *bytes = xasprintf("%ju", (uintmax_t)size);
    const char *const copy[] = {"cp", "--sparse=auto", "--reflink=auto", "--", from, path,
                                NULL};
    const char *const resize[] = {"qemu-img",     "resize", "-q",  "-f",
                                  source->format, path,     bytes, NULL};
    const int alone[] = {disk, -1};
    struct source now;

    if (run_on_file(copy, files, false, COPY_SECONDS, failure) < 0 ||
        image_check(&now, disk, "of the new disk", failure) < 0)
        return -1;
    if (strcmp(now.format, source->format) != 0)
        return failure_set(failure, FAILURE_SYSTEM,
                           "the image changed while it was copied\n"
                           "run the command again when nobody writes to it");
    if (now.size == size)
        return 0;
    return run_on_file(resize, alone, true, LIMIT_QEMU_IMG_SECONDS, failure);
}

int
disk_make(struct tmpfile *disk, const struct pool *pool, const char *target,
          const struct source *source, uint64_t size, struct failure **failure)
{
    const int error = tmpfile_open(disk, pool->directory, target);
    cleanup_free char *base = NULL;

    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not make a file in %s", pool->path);
    if (source->file >= 0)
        return make_copy(disk->fd, source, size, failure);
    base = xasprintf("%s/%s", pool->path, source->name);
    return disk_make_layer(disk->fd, base, source->format, size, failure);
}
