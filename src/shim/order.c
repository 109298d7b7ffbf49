/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "shim/command.h"

static int
fail_open(const char *name, int error, struct failure **failure)
{
    failure_set_errno(failure, FAILURE_RUNDIR, error, "could not open %s/%s",
                      VIRT_SEED_RUNDIR, name);
    if (error == ENOENT)
        return failure_hint(failure,
                            "virt-seed-hook makes it: see that it is in "
                            "/etc/libvirt/hooks/qemu.d, reload libvirt's daemon once "
                            "after it was installed, and start the domain by libvirt");
    if (error == EACCES)
        return failure_hint(failure, "see what denies it: the rules of AppArmor, or the "
                                     "boolean virt_seed_emulator of SELinux, in "
                                     "virt-seed-qemu(8)");
    return failure_hint(failure, "remove it, and see what put it there");
}

static int
fail_file(const char *name, const char *what, struct failure **failure)
{
    return failure_set(failure, FAILURE_RUNDIR,
                       "%s/%s %s\n"
                       "remove it, and see what put it there; the hook makes it anew at "
                       "the next start",
                       VIRT_SEED_RUNDIR, name, what);
}

/* QEMU's user cannot put a file of root's there; whoever could, could do anything. */
static int
check_file(int directory, int fd, const char *name, struct failure **failure)
{
    struct stat parent, file;

    if (fstat(directory, &parent) < 0 || fstat(fd, &file) < 0)
        return fail_open(name, errno, failure);
    if (!S_ISREG(file.st_mode))
        return fail_file(name, "is no regular file", failure);
    if (parent.st_mode & 022)
        return fail_file(name, "is in a directory that others may write into", failure);
    if (file.st_uid != parent.st_uid)
        return fail_file(name, "does not belong to the owner of its directory", failure);
    if (file.st_mode & 022)
        return fail_file(name, "may be written by others", failure);
    return 0;
}

static bool
is_printable(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] < ' ' || text[i] > '~')
            return false;
    }
    return true;
}

/* Return: whether that is what it says. */
static bool
take_lines(struct order *order, const struct buffer *content)
{
    const char *end = memchr(content->data, '\n', content->size);
    size_t length = end ? (size_t)(end - content->data) : 0;
    size_t rest = end ? content->size - length - 1 : 0;

    if (!end || length > LIMIT_SERIAL || !is_printable(content->data, length))
        return false;
    order->report = rest > 0;
    if (order->report && (rest != strlen(SHIM_REPORT_LINE) ||
                          memcmp(end + 1, SHIM_REPORT_LINE, rest) != 0))
        return false;
    order->serial = xstrndup(content->data, length);
    return true;
}

static int
read_lines(struct order *order, int directory, const char *name, struct failure **failure)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const size_t limit = LIMIT_SERIAL + 1 + strlen(SHIM_REPORT_LINE);
    cleanup_buffer struct buffer content = {0};
    cleanup_close int fd = openat(directory, name, flags);

    if (fd < 0)
        return fail_open(name, errno, failure);
    if (check_file(directory, fd, name, failure) < 0)
        return -1;
    if (fs_read_all(fd, limit, &content) == 0 && take_lines(order, &content))
        return 0;
    return fail_file(name,
                     "is not a line of printable ASCII, ended, with or without 'report' "
                     "in another behind it",
                     failure);
}

int
order_read(struct order *order, int root, const char *uuid, struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s" SHIM_SUFFIX, uuid);
    /* O_PATH: QEMU's user may not list it. The path without its slash is below root. */
    cleanup_close int directory =
        openat(root, &VIRT_SEED_RUNDIR[1], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (directory < 0)
        return fail_open(name, errno, failure);
    return read_lines(order, directory, name, failure);
}

void
order_clear(struct order *order)
{
    free(order->serial);
    *order = (struct order){0};
}
