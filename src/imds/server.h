/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From connections to answers.
 *
 * How it works: one thread; what waits, waits in one poll(2), whose descriptors are the
 * listening sockets, the signals, and the epoll(7) that libmicrohttpd keeps for all
 * connections. A connection is accepted here, so that it can be counted before anything is
 * spent on it, and then is libmicrohttpd's, which reads the request and sends the answer.
 * It carries one request, as cloud-init's do: what could hide behind a first one, in a body
 * or in the pipe, is never read, and there is nothing to lose when the server ends.
 *
 * Nothing is kept of a domain. Each turn of the loop opens the tree anew, and each request
 * its domain in it, and is answered from what it has opened; so both may be replaced at any
 * time, and a server that is started in the place of this one gives the same bytes.
 *
 * At SIGTERM or SIGINT nothing more is accepted, and what was accepted is answered. What
 * systemd listens for waits in its socket for the next server.
 */
#pragma once

#include <stdbool.h>

#include "base/failure.h"
#include "imds/listen.h"

struct server_options {
    int root;     /* the directory that stands for "/"; borrowed */
    bool by_mac;  /* know guests without a token by their MAC */
    bool verbose; /* say what is served, too */
};

/* Serves until it is told to end. */
int server_run(struct listeners *listeners, const struct server_options *options,
               struct failure **failure);
