/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting for guests, which `wait` does, and `start`, `apply` and `try` with the domains
 * that they start or reboot. follow.c says what happens to them, waiting.c decides when the
 * waiting is over, and progress.c shows both.
 */
#pragma once

#include <signal.h>

#include <libvirt/libvirt.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "store/guest-report.h"

struct waiting_options {
    /* In seconds, as the user wrote it; NULL for as long as it takes. */
    const char *timeout;
    bool next;    /* a boot that is complete does not count */
    bool scrub;   /* replace the seed of a guest that is done */
    bool no_wait; /* the caller ends it as soon as the domain runs */
    /* Where the guest's own logs can be read; NULL: in the guest. */
    const char *logs;
};

/* The rows of a command's options for it, whose member is `waiting`. */
#define WAITING_ROWS                                                                     \
    OPTION(0, "timeout", "SECONDS", waiting.timeout, "give up after SECONDS")
#define SCRUB_ROW                                                                        \
    OPTION(0, "scrub", NULL, waiting.scrub,                                              \
           "once a guest is done, replace its seed with an empty one")

struct waiting {
    const struct waiting_options *options;
    const struct context *context;
    struct guest **guests;
    size_t count;
    int milliseconds; /* of the timeout, or -1 */
    bool is_finished; /* for every domain, or nobody reads the output */
    int signal;       /* that has ended it, or 0 */
    /* follow.c's own: */
    virConnectPtr connection;
    bool lost;                     /* the connection */
    int notifier, notifier_handle; /* inotify's descriptor, and libvirt's number for it */
    int signals, signals_handle;   /* signalfd(2)'s */
    sigset_t signals_before;
};

/* A domain that is waited for, and its guest. */
struct guest {
    struct waiting *waiting;
    virDomainPtr domain;
    char uuid[VIR_UUID_STRING_BUFLEN];
    struct progress progress;
    bool has_run;                 /* it ran when it was added, or was started since */
    struct guest_report report;   /* what the guest has said so far */
    char passed[UUID_LENGTH + 1]; /* the boot that does not count (next), or "" */
    bool next;                    /* the boot to wait for is yet to come */
    bool starts;                  /* the caller starts the domain */
    bool begun;                   /* the boot that counts has begun */
    bool is_finished;
    int status;
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

/* Fails if they contradict each other, or are none. */
int waiting_check_options(const struct waiting_options *options,
                          struct failure **failure);

/* Prepares to wait, and connects to libvirt on this host. Both pointers must stay. If
 * there is a timeout and libvirt's daemon does not answer then, an alarm(2) ends the
 * process soon after it with STATUS_TIMEOUT. */
int waiting_open(struct waiting *waiting, const struct context *context,
                 const struct waiting_options *options, struct failure **failure);

/* Return: the domain of that name or UUID, owned by `waiting`; the same if it is added
 * twice; NULL on failure. */
struct guest *waiting_add(struct waiting *waiting, const char *name,
                          struct failure **failure);

/* Begins to wait for a domain that runs, or that somebody else starts; the waiting may be
 * over right away. */
void waiting_begin(struct guest *guest);

/* The same for a domain that the caller is going to start: what its guest said before
 * does not count. */
void waiting_begin_start(struct guest *guest);

/* The same for a domain that the caller is going to reboot. */
void waiting_begin_reboot(struct guest *guest);

/* Ends the waiting for a domain: in a word, and with the exit status for that. `report` is what
 * is known of the guest, or NULL; `failure` is NULL if all is well. */
void waiting_finish(struct guest *guest, const char *outcome, int status,
                    const struct guest_report *report, const struct failure *failure);

/* Waits until every domain that was added is over. Return: 0, or -1 with a failure. */
int waiting_run(struct waiting *waiting, struct failure **failure);

/* Closes everything; if a signal has ended the waiting, it ends the process. Return: the
 * exit status: the first of 1, 3, 124 that a domain has, or 0; with a failure, 4 if there
 * is no such domain, 5 if libvirt cannot be reached, else 1. */
int waiting_close(struct waiting *waiting, const struct failure *failure);

/* What `start` does with the operands' domains: starts and waits for them. Return: as a
 * command's run(). */
int waiting_start(const struct context *context, const struct waiting_options *waiting,
                  struct failure **failure);

/* --- follow.c: what happens to them ------------------------------------------------ */

/*
 * It follows the domains: their guests' reports as they grow, and whether they run. Nothing
 * is polled: all events, those of inotify(7) too, come through libvirt's event loop.
 */

/* Prepares to follow, and connects to libvirt on this host. The descriptors and handles of
 * `waiting` are -1. */
int follow_open(struct waiting *waiting, struct failure **failure);

/* Begins to follow a domain, and reads what its guest has said so far. Fails if its report
 * may not be read. */
int follow_add(struct guest *guest, struct failure **failure);

/* Passes on what happens until waiting->is_finished is set, or until SIGINT, SIGTERM or
 * SIGHUP arrives, whose number is then in waiting->signal. Return: 0, or -1 if libvirt's
 * daemon is gone. */
int follow_run(struct waiting *waiting, struct failure **failure);

void follow_close(struct waiting *waiting);

/* What it calls: for each line of the report that counts. */
void waiting_on_report(struct guest *guest);

/* `detail` is libvirt's virDomainEventStartedDetailType. */
void waiting_on_start(struct guest *guest, int detail);

/* After waiting_on_start(), when the domain runs and its report was looked for. */
void waiting_on_run(struct guest *guest);

/* `detail` is libvirt's virDomainEventStoppedDetailType. */
void waiting_on_stop(struct guest *guest, int detail);

/* Its report can no longer be read. */
void waiting_on_failure(struct guest *guest, struct failure **reason);
