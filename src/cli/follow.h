/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows domains: their guests' reports as they grow, and whether they run. Nothing is
 * polled: all events, those of inotify(7) too, come through libvirt's event loop.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include <libvirt/libvirt.h>

#include "base/failure.h"
#include "store/guest-report.h"
#include "store/report-file.h"

struct follow;

/* A domain that is followed. */
struct followed {
    struct follow *follow;
    virDomainPtr domain;
    char uuid[VIR_UUID_STRING_BUFLEN];
    bool has_run;               /* it ran when it was added, or was started since */
    struct guest_report report; /* what the guest has said so far */
    void *owner;                /* the caller's */
    /* follow.c's own: */
    struct report_reader reader; /* its file is -1 if there is none */
    int watch;                   /* of the file that is read; -1 for none */
    int lifecycle;               /* libvirt's number for the callback; -1 for none */
    int read_timer;              /* to read on */
    int retries;    /* how often yet, until virtlogd has made the next file */
    int stop_timer; /* runs when the domain has stopped */
    int detail;     /* how it has stopped (virDomainEventStoppedDetailType) */
    bool stopping;  /* it has, and what its guest said last may still come */
};

/* What happens. The handler of `failed` owns the failure (failure_free). */
struct follow_events {
    void (*said)(struct followed *followed); /* each line of the report that counts */
    void (*started)(struct followed *followed, int detail);
    /* The same, and its report was looked for. */
    void (*begun)(struct followed *followed);
    void (*stopped)(struct followed *followed, int detail);
    void (*failed)(struct followed *followed, struct failure *failure);
};

struct follow {
    const struct follow_events *events;
    virConnectPtr connection;
    int root;
    void *owner; /* the caller's */
    bool over;   /* set by the caller when there is nothing left to follow */
    /* follow.c's own: */
    struct followed **list;
    size_t count;
    int notifier, notifier_handle; /* inotify's descriptor, and libvirt's number for it */
    int signals;                   /* a descriptor: signalfd(2)'s */
    int signals_handle;
    sigset_t signals_before;
    int signal; /* that has come */
    bool lost;  /* the connection */
};

/* Prepares to follow, and connects to libvirt on this host. `follow` is FOLLOW_NONE
 * except for its owner; `root` must stay open. */
int follow_open(struct follow *follow, const struct follow_events *events,
                const char *uri, int root, struct failure **failure);

/*
 * Adds the domain with that name or UUID, and reads what its guest has said so far.
 * Return: owned by `follow`, the same if the domain was added before; NULL if there is no
 * such domain, or its report may not be read.
 */
struct followed *follow_add(struct follow *follow, const char *name,
                            struct failure **failure);

/* Passes on what happens until `over` is set, or until SIGINT, SIGTERM or SIGHUP arrives,
 * whose number is then in follow->signal. Return: 0, or -1 if libvirt's daemon is gone. */
int follow_run(struct follow *follow, struct failure **failure);

void follow_close(struct follow *follow);

/* The value to begin with: follow_close() may be called with it. */
#define FOLLOW_NONE                                                                      \
    ((struct follow){                                                                    \
        .notifier = -1, .notifier_handle = -1, .signals = -1, .signals_handle = -1})
