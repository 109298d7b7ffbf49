/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/memory.h"
#include "base/tmpfile.h"
#include "cli/output.h"

bool
output_is_standard(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

int
output_open_directory(const char *path, const char **name, struct failure **failure)
{
    const char *slash = strrchr(path, '/');
    cleanup_free char *directory =
        slash ? xstrndup(path, (size_t)(slash - path + 1)) : xstrdup(".");
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *name = slash ? slash + 1 : path;
    if (fd < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno, "could not open '%s'",
                                 directory);
    if (!**name) {
        close(fd);
        return failure_set(failure, FAILURE_USAGE, "'%s' is a directory, expected a file",
                           path);
    }
    return fd;
}

static int
write_file(int directory, const char *name, const char *data, size_t size)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    struct stat status;
    mode_t mode = 0600;
    int error;

    if (fstatat(directory, name, &status, 0) == 0)
        mode = status.st_mode & 07777;
    error = tmpfile_open(&tmpfile, directory, name);
    if (error == 0)
        error = fs_write_all(tmpfile.fd, data, size);
    if (error == 0 && fchmod(tmpfile.fd, mode) < 0)
        error = -errno;
    return error == 0 ? tmpfile_publish(&tmpfile, name) : error;
}

int
output_write(const char *path, const char *data, size_t size, struct failure **failure)
{
    cleanup_close int directory = -1;
    const char *name = "standard output";
    int error;

    if (output_is_standard(path)) {
        error = fs_write_all(STDOUT_FILENO, data, size);
    } else {
        directory = output_open_directory(path, &name, failure);
        if (directory < 0)
            return -1;
        error = write_file(directory, name, data, size);
    }
    if (error == 0)
        return 0;
    return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not write %s", name);
}
