/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <signal.h>
#include <sys/signalfd.h>

#include "base/process.h"

int
process_catch_signals(const int *signals)
{
    sigset_t set;
    int fd;

    sigemptyset(&set);
    for (; *signals; signals++) {
        struct sigaction action;

        if (sigaction(*signals, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, *signals);
    }
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return -errno;
    sigprocmask(SIG_BLOCK, &set, NULL);
    return fd;
}
