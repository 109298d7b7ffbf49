/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metadata server from its start to its end.
 *
 * How it works: one thread; what waits, waits in one poll(2), whose descriptors are the
 * signals, and the epoll(7) that libmicrohttpd keeps for each listening socket and its
 * connections. A connection carries one request, as cloud-init's do: what could hide behind a first
 * one, in a body or in the pipe, is never read, and there is nothing to lose when the server
 * ends.
 *
 * At SIGTERM or SIGINT it ends as soon as all that had been accepted is answered. Where one
 * takes its answer slowly, the others are served meanwhile, and whoever comes then has a few
 * seconds when that is over. What systemd listens for waits in its socket for the next
 * server. A second signal is an end at once.
 */
#pragma once

#include "base/failure.h"
#include "imds/http.h"
#include "imds/listen.h"

/* Serves until it is told to end. */
int server_run(struct listeners *listeners, const struct http_options *options,
               struct failure **failure);
