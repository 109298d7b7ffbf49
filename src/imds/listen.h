/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sockets that the server listens on: its own, or those that systemd hands it. */
#pragma once

#include <stddef.h>

#include "base/failure.h"
#include "base/limits.h"
#include "imds/endpoint.h"

struct listener {
    int fd; /* owned */
    struct endpoint own;
};

struct listeners {
    struct listener items[LIMIT_IMDS_LISTENERS];
    size_t count;
};

/* Takes what socket activation left (sd_listen_fds(3)), which may be nothing. */
int listeners_inherit(struct listeners *listeners, struct failure **failure);

/* Listens on "ADDRESS:PORT" or "[ADDRESS]:PORT" as well; with port 0 on any free one. */
int listeners_add(struct listeners *listeners, const char *text,
                  struct failure **failure);

void listeners_close(struct listeners *listeners);

#define cleanup_listeners __attribute__((cleanup(listeners_close)))
