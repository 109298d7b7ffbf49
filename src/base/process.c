/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/process.h"

int
process_open_standard(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* The lowest free descriptor is this one. */
        if (open("/dev/null", O_RDWR) < 0)
            return -errno;
    }
    return 0;
}

int
process_keep_descriptors(int input, int output)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0 || dup2(input < 0 ? null : input, 0) < 0 ||
        dup2(output < 0 ? null : output, 1) < 0 || dup2(null, 2) < 0 ||
        close_range(3, ~0U, 0) < 0)
        return -errno;
    return 0;
}

int
process_detach_descriptors(void)
{
    return process_keep_descriptors(-1, -1);
}

void
process_harden(void)
{
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
#ifndef __SANITIZE_ADDRESS__
    /* LeakSanitizer is such a tracer. */
    prctl(PR_SET_DUMPABLE, 0);
#endif
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    umask(022);
}

char *
process_path_beside(const char *name)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *slash;

    if (length < 0)
        return NULL;
    path[length] = '\0';
    slash = strrchr(path, '/');
    if (!slash) {
        errno = ENOENT;
        return NULL;
    }
    slash[1] = '\0';
    return xasprintf("%s%s", path, name);
}
