/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "cli/extract.h"

/* Return: the directory that the path's last component goes into, made where it is
 * missing, or -errno; `name` gets the component, borrowed from the path. */
static int
open_parent(int root, const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    cleanup_free char *parent = slash ? xstrndup(path, (size_t)(slash - path)) : NULL;
    int fd;

    *name = slash ? slash + 1 : path;
    if (parent)
        return fs_make_directories(root, parent, 0700);
    fd = fcntl(root, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? -errno : fd;
}

/* Return: 0 or -errno. */
static int
extract_file(int root, const struct document *file)
{
    const char *name;
    cleanup_close int parent = open_parent(root, file->path, &name);
    cleanup_close int fd = -1;

    if (parent < 0)
        return parent;
    fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fs_write_all(fd, file->data.data, file->data.size);
}

int
extract_volume(const struct seed *volume, const char *path, struct failure **failure)
{
    cleanup_close int root = -1;

    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno, "could not make '%s'",
                                 path);
    root = fs_open_root(path);
    if (root < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, root, "could not open '%s'",
                                 path);
    for (size_t i = 0; i < volume->document_count; i++) {
        const struct document *file = &volume->documents[i];
        int error = file->unread ? 0 : extract_file(root, file);

        if (error < 0)
            return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                     "could not write '%s/%s'\n"
                                     "name an empty directory: nothing is overwritten",
                                     path, file->path);
    }
    return 0;
}
