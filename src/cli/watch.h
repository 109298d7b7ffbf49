/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `virt-seed watch` consists of: cmd-watch.c listens to libvirt, watch-wiring.c
 * wires the domains that were defined, and watch-leftovers.c removes what virt-seed keeps
 * of those that were undefined.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libvirt/libvirt.h>

#include "base/failure.h"
#include "cli/cli.h"

/* A domain to look at. */
struct watched {
    char uuid[VIR_UUID_STRING_BUFLEN];
    int64_t due;     /* when, by clock_milliseconds() */
    int definitions; /* how many were noted since it was last looked at */
};

struct watched_list {
    struct watched *list;
    size_t count;
};

/* A domain that was wired, or could not be, lately. */
struct recent {
    char uuid[VIR_UUID_STRING_BUFLEN];
    int64_t since; /* by clock_milliseconds() */
    int count;
    bool is_new; /* wired when it was last looked at */
};

struct watch {
    const struct context *context;
    virConnectPtr connection; /* NULL while libvirt's daemon is away */
    /* watch-wiring.c's: */
    int wiring_timer;            /* looks at the next domain */
    struct watched_list changed; /* by events */
    struct watched_list listed;  /* when it was connected */
    size_t next;                 /* of the listed ones */
    size_t wired;                /* of the listed ones */
    int64_t listed_since;
    struct recent recent[64];
    /* watch-leftovers.c's: */
    struct gone **gone;
    size_t gone_count;
    /* cmd-watch.c's: */
    int lifecycle, metadata; /* libvirt's numbers for the callbacks; -1 for none */
    bool lost;               /* the connection */
    bool ending;             /* a signal has come */
    int signals;             /* a descriptor: signalfd(2)'s */
    int connect_timer;       /* connects again */
    int connect_delay;       /* in milliseconds */
    bool must_connect;
    char *problem; /* why libvirt could not be reached, as it was logged last */
};

/* syslog(3)'s */
enum watch_priority {
    WATCH_ERROR = 3,
    WATCH_NOTICE = 5,
    WATCH_INFO = 6
};

/* Logs a line. */
void watch_log(enum watch_priority priority, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- wiring -------------------------------------------------------------------------- */

void watch_wiring_open(struct watch *watch);

/* Has all definitions looked at, one after the other. */
int watch_wiring_list(struct watch *watch, struct failure **failure);

/* Has the domain looked at before those, as soon as nobody has changed it for a moment;
 * `is_defined` says that it was defined and not changed otherwise. */
void watch_wiring_note(struct watch *watch, const char *uuid, bool is_defined);

/* The connection is gone, and what was noted with it. */
void watch_wiring_clear(struct watch *watch);

/* --- leftovers ----------------------------------------------------------------------- */

void watch_leftovers_note_undefined(struct watch *watch, const char *uuid);
/* `detail` is libvirt's virDomainEventStoppedDetailType. */
void watch_leftovers_note_stopped(struct watch *watch, const char *uuid, int detail);
/* The domain was defined or started here. */
void watch_leftovers_note_here(struct watch *watch, const char *uuid);
void watch_leftovers_clear(struct watch *watch);
