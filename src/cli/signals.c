/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/signals.h"

static void
select_signals(sigset_t *set)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    sigemptyset(set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction action;

        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, numbers[i]);
    }
}

int
signals_open(struct signals *signals)
{
    sigset_t set;

    select_signals(&set);
    signals->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals->fd < 0)
        return -errno;
    sigprocmask(SIG_BLOCK, &set, &signals->before);
    return 0;
}

int
signals_take(const struct signals *signals)
{
    struct signalfd_siginfo info;

    return read(signals->fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo
                                                                  : 0;
}

void
signals_close(struct signals *signals)
{
    if (signals->fd < 0)
        return;
    sigprocmask(SIG_SETMASK, &signals->before, NULL);
    close(signals->fd);
    *signals = SIGNALS_NONE;
}
