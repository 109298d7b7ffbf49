/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <endian.h>

#include "host/label.h"

/* The end of the volume id of ISO 9660. */
#define LABEL_END 32840
/* No tool makes a larger disk for a seed: OpenStack's have 64 MiB, others' a few. */
#define SEED_DISK_MAX (128 * MIB)

/* Return: whether the bytes at that offset are the text, in upper or lower case, and then
 * blanks. */
static bool
has_label(int fd, off_t offset, size_t size, const char *text)
{
    char label[32];
    const size_t length = strlen(text);

    if (pread(fd, label, size, offset) != (ssize_t)size ||
        strncasecmp(label, text, length) != 0)
        return false;
    while (size > length && (label[size - 1] == ' ' || label[size - 1] == '\0'))
        size--;
    return size == length;
}

static bool
has_bytes(int fd, off_t offset, const char *bytes, size_t size)
{
    char found[8];

    return pread(fd, found, size, offset) == (ssize_t)size &&
           memcmp(found, bytes, size) == 0;
}

/* Where the label is in a qcow2 image, only its tables say; but its header has the disk's
 * size (QEMU's docs/interop/qcow2.txt). */
static enum need_word
read_qcow2(int fd)
{
    uint64_t size;

    if (pread(fd, &size, sizeof(size), 24) == sizeof(size) &&
        be64toh(size) > SEED_DISK_MAX)
        return NEED_WORD_LABEL_OTHER;
    return NEED_WORD_NONE;
}

/* The volume id of ISO 9660 (ECMA-119, 8.4), and the label in FAT's boot sector: of FAT12
 * and FAT16, or FAT32. */
static enum need_word
read_label(int fd, off_t size)
{
    static const char *const labels[] = {"cidata", "config-2"};
    const bool is_iso = has_bytes(fd, 32769, "CD001", 5);

    if (has_bytes(fd, 0, "QFI\xfb", 4))
        return read_qcow2(fd);
    if (!is_iso && !has_bytes(fd, 510, "\x55\xaa", 2))
        return size < LABEL_END ? NEED_WORD_NONE : NEED_WORD_LABEL_OTHER;
    for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
        if (is_iso && has_label(fd, 32808, 32, labels[i]))
            return NEED_WORD_LABEL_OF_SEED;
        if (!is_iso &&
            (has_label(fd, 43, 11, labels[i]) || has_label(fd, 71, 11, labels[i])))
            return NEED_WORD_LABEL_OF_SEED;
    }
    return NEED_WORD_LABEL_OTHER;
}

enum need_word
label_find(const char *path)
{
    /* Opening a device or a FIFO has effects, so the type is checked first, with a
     * descriptor that does not open the file. */
    cleanup_close int found = open(path, O_PATH | O_CLOEXEC);
    cleanup_free char *again = xasprintf("/proc/self/fd/%d", found);
    cleanup_close int fd = -1;
    struct stat status;

    if (found < 0 || fstat(found, &status) < 0 || !S_ISREG(status.st_mode))
        return NEED_WORD_NONE;
    fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return fd < 0 ? NEED_WORD_NONE : read_label(fd, status.st_size);
}
