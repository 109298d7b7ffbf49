/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/fs.h"
#include "base/process.h"

int
process_begin(void)
{
    signal(SIGCHLD, SIG_DFL);
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* The lowest free descriptor is this one. */
        if (open("/dev/null", O_RDWR) < 0)
            return -errno;
    }
    return 0;
}

void
process_harden(void)
{
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
#ifndef __SANITIZE_ADDRESS__
    /* LeakSanitizer needs to trace the process. */
    prctl(PR_SET_DUMPABLE, 0);
#endif
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    umask(022);
}

static const char *late_message;
static const volatile sig_atomic_t *late_status;

static void
on_alarm(int signal_number)
{
    if (write(STDERR_FILENO, late_message, strlen(late_message)) < 0)
        _exit(*late_status);
    _exit(*late_status);
}

void
process_limit_time(unsigned int seconds, const char *message,
                   const volatile sig_atomic_t *status)
{
    sigset_t alarms;

    late_message = message;
    late_status = status;
    /* Signals that VDSM's threads block are blocked here, too. */
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    signal(SIGALRM, on_alarm);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(seconds);
}

int64_t
clock_milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

char *
process_path_beside(const char *name)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length < 0)
        return NULL;
    path[length] = '\0';
    return xasprintf("%.*s%s", (int)(fs_base_name(path) - path), path, name);
}

int
process_seal(int memfd)
{
    const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

    return fcntl(memfd, F_ADD_SEALS, seals) < 0 ? -errno : 0;
}

int
process_document(const char *name, const struct buffer *content)
{
    cleanup_close int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int error = fd < 0 ? -errno : fs_write_all(fd, content->data, content->size);

    if (error == 0 && fchmod(fd, 0444) < 0)
        error = -errno;
    if (error == 0)
        error = process_seal(fd);
    return error < 0 ? error : steal_fd(fd);
}
