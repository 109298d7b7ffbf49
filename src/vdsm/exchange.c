/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "vdsm/vdsm.h"

#define VARIABLE "_hook_domxml"

static int
fail_errno(const struct exchange *exchange, int error, const char *what,
           struct failure **failure)
{
    return failure_set_errno(failure, FAILURE_SYSTEM, error,
                             "could not %s '%s'\n"
                             "check with 'df' and 'ls -l' that there is free space, and "
                             "that VDSM's user may write there",
                             what, exchange->path);
}

int
exchange_read(struct exchange *exchange, struct failure **failure)
{
    const char *path = getenv(VARIABLE);
    cleanup_free char *directory = NULL;
    cleanup_close int fd = -1;
    int error;

    *exchange = EXCHANGE_NONE;
    if (!path || !*path)
        return failure_set(failure, FAILURE_USAGE,
                           "the environment has no " VARIABLE ": not run by VDSM\n"
                           "VDSM runs this hook before a VM starts; to wire a libvirt "
                           "domain, run 'virt-seed wire'");
    exchange->path = path;
    exchange->name = fs_base_name(path);
    directory = exchange->name > path ? xstrndup(path, (size_t)(exchange->name - path))
                                      : xstrdup(".");
    exchange->directory = fs_open_root(directory);
    if (exchange->directory < 0)
        return fail_errno(exchange, exchange->directory, "open the directory of",
                          failure);
    /* Opened for writing, too: a read-only file must not be replaced. */
    fd = openat(exchange->directory, exchange->name,
                O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &exchange->status) < 0)
        return fail_errno(exchange, errno, "open", failure);
    /* The XML that VDSM starts must be a file that VDSM wrote. */
    if (!S_ISREG(exchange->status.st_mode) || exchange->status.st_uid != geteuid())
        return failure_set(failure, FAILURE_SYSTEM,
                           "'%s' is not a regular file owned by user %u\n"
                           "let VDSM run this hook: it creates the file that " VARIABLE
                           " names, as the user that runs its hooks",
                           path, geteuid());
    error = fs_read_all(fd, LIMIT_DOMAIN_XML, &exchange->text);
    return error < 0 ? fail_errno(exchange, error, "read", failure) : 0;
}

int
exchange_replace(const struct exchange *exchange, const char *text,
                 struct failure **failure)
{
    int error =
        fs_replace_file(exchange->directory, exchange->name, text,
                        exchange->status.st_mode & 07777, exchange->status.st_gid);

    return error < 0 ? fail_errno(exchange, error, "replace", failure) : 0;
}

void
exchange_clear(struct exchange *exchange)
{
    buffer_clear(&exchange->text);
    close_pointer(&exchange->directory);
    *exchange = EXCHANGE_NONE;
}
