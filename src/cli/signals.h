/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals by which somebody ends a command that waits: SIGINT, SIGTERM and SIGHUP, but
 * those that are ignored, as by nohup(1). */
#pragma once

#include <signal.h>

struct signals {
    int fd; /* readable when one has come */
    sigset_t before;
};

/* From here on they end nothing. Return: 0, or -errno where they do so as before. */
int signals_open(struct signals *signals);

/* Return: the number of the one that has come, or 0. */
int signals_take(const struct signals *signals);

/* They do as before. */
void signals_close(struct signals *signals);

#define SIGNALS_NONE ((struct signals){.fd = -1})
