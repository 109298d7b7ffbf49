/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting for guests, which `wait` does, and `start` with the domains that it starts
 * (waiting.c); and what that is made of: following domains (follow.c) and showing how far
 * they are (progress.c).
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include <libvirt/libvirt.h>

#include "base/failure.h"
#include "base/text.h"
#include "cli/cli.h"
#include "store/guest-report.h"
#include "store/report-file.h"

/* --- following -------------------------------------------------------------------- */

/*
 * Domains are followed: their guests' reports as they grow, and whether they run. Nothing
 * is polled: all events, those of inotify(7) too, come through libvirt's event loop.
 */

struct follow;

/* A domain that is followed. */
struct followed {
    struct follow *follow;
    virDomainPtr domain;
    char uuid[VIR_UUID_STRING_BUFLEN];
    bool active;                /* it ran when it was added, or has begun since */
    struct guest_report report; /* what the guest has said up to now */
    void *owner;                /* the caller's */
    /* follow.c's own: */
    struct report_reader reader; /* its file is -1 if there is none */
    int watch;                   /* of the file that is read; -1 for none */
    int lifecycle;               /* libvirt's number for the callback; -1 for none */
    int again;                   /* the timer after which it is read on */
    int retries;   /* how often yet, until virtlogd has made the next file */
    int end;       /* the timer that runs when the domain has stopped */
    int detail;    /* how it has stopped (virDomainEventStoppedDetailType) */
    bool stopping; /* it has, and what its guest said last may still come */
};

/* What happens; what fails is passed on and is the handler's then (failure_free). */
struct follow_events {
    void (*said)(struct followed *followed); /* each line of the report that counts */
    void (*started)(struct followed *followed, int detail);
    void (*begun)(
        struct followed *followed); /* the same, and its report was looked for */
    void (*stopped)(struct followed *followed, int detail);
    void (*failed)(struct followed *followed, struct failure *failure);
    void (*second)(struct follow *follow); /* one has passed */
    void (*deadline)(struct follow *follow);
};

struct follow {
    const struct follow_events *events;
    virConnectPtr connection;
    int root;
    void *owner; /* the caller's */
    bool over;   /* set by the caller: there is nothing left to follow */
    /* follow.c's own: */
    struct followed **list;
    size_t count;
    int notifier, notifier_handle; /* inotify's descriptor, and libvirt's number for it */
    int signals;                   /* a descriptor: signalfd(2)'s */
    int signals_handle;
    sigset_t signals_before;
    int clock; /* the timer of each second */
    int deadline;
    int signal; /* that has come */
    bool lost;  /* the connection */
};

/* Prepares to follow, and connects to libvirt on this host. `follow` is FOLLOW_NONE but
 * for its owner; `root` must stay open. */
int follow_open(struct follow *follow, const struct follow_events *events,
                const char *uri, int root, struct failure **failure);

/*
 * Adds the domain of that name or UUID, and reads what its guest has said up to now.
 * Return: owned by `follow`, the same if the domain was added before; NULL if there is
 * none, or nothing may be read.
 */
struct followed *follow_add(struct follow *follow, const char *name,
                            struct failure **failure);

/*
 * Passes on what happens until `over` is set, or SIGINT, SIGTERM or SIGHUP comes, whose
 * number is in follow->signal then. `deadline` is called after so many milliseconds,
 * unless they are -1; `second` is called each second if there is a clock. Return: 0, or
 * -1 if libvirt's daemon is gone.
 */
int follow_run(struct follow *follow, int milliseconds, bool clock,
               struct failure **failure);

void follow_close(struct follow *follow);

/* The value to begin with: follow_close() may be called with it. */
#define FOLLOW_NONE                                                                      \
    ((struct follow){.notifier = -1,                                                     \
                     .notifier_handle = -1,                                              \
                     .signals = -1,                                                      \
                     .signals_handle = -1,                                               \
                     .clock = -1,                                                        \
                     .deadline = -1})

/* --- showing ---------------------------------------------------------------------- */

/*
 * What is shown of them: a line for each domain, redrawn in place, on a terminal; else a
 * line for each event, or an object of JSON. Errors go to standard error, but with JSON
 * they are objects among the others.
 */

enum progress_style {
    PROGRESS_QUIET, /* errors alone */
    PROGRESS_LINES,
    PROGRESS_LIVE,
    PROGRESS_JSON,
};

/* Texts of errors or warnings that were shown, LIMIT_EVENTS at most. */
struct progress_texts {
    char **list;
    size_t count;
};

/* A domain, and what was shown of it. */
struct progress_row {
    char *name; /* fit to be shown */
    char *uuid;
    char *event;            /* the last one */
    enum guest_stage stage; /* the last one that has started */
    bool over;              /* it is no longer waited for */
    char boot[UUID_LENGTH + 1];
    struct guest_stage_times stages[GUEST_STAGE_COUNT];
    struct progress_texts errors, warnings; /* of this boot's */
    size_t events; /* how many were shown of all; LIMIT_EVENTS at most */
};

struct progress {
    enum progress_style style;
    struct progress_row **rows;
    size_t count;
    size_t drawn; /* lines on the terminal, above the cursor */
    struct timespec start;
};

/* On a terminal that can be redrawn it is, unless `quiet` or `json` asks for something
 * else. */
void progress_open(struct progress *progress, bool quiet, bool json);

/* Return: the domain's row, owned by `progress`. */
struct progress_row *progress_add(struct progress *progress, const char *name,
                                  const char *uuid);

/* Shows what the report says and did not say before. A guest that says too much is shown
 * no more, but in the end. */
void progress_show(struct progress *progress, struct progress_row *row,
                   const struct guest_report *report);

/* Shows an event of the domain itself, in a word. */
void progress_note(struct progress *progress, struct progress_row *row,
                   const char *event);

/* How the waiting for a domain has come to its end. */
struct progress_end {
    const char *outcome;               /* in a word */
    int status;                        /* the exit status that it stands for */
    const struct guest_report *report; /* as far as it is known, or NULL */
    const struct failure *failure;     /* NULL where all is well */
};

void progress_finish(struct progress *progress, struct progress_row *row,
                     const struct progress_end *end);

/* A second has passed. */
void progress_tick(struct progress *progress);

/* Leaves the terminal's cursor at the beginning of an empty line. */
void progress_close(struct progress *progress);

/* --- waiting ---------------------------------------------------------------------- */

struct waiting_options {
    const char
        *timeout; /* in seconds, as the user wrote it; NULL for as long as it takes */
    bool next;    /* a boot that is complete does not count */
    bool scrub;   /* replace the seed of a guest that is done */
    bool json;
    bool no_wait; /* the caller ends it as soon as the domain runs */
};

struct waiting {
    struct follow follow; /* which knows a signal that has ended the waiting */
    const struct waiting_options *options;
    const struct context *context;
    struct progress progress;
    struct waited **list;
    size_t count;
    int milliseconds; /* of the timeout, or -1 */
};

/* A domain that is waited for. */
struct waited {
    struct waiting *waiting;
    struct followed *followed;
    struct progress_row *row;
    char passed[UUID_LENGTH + 1]; /* the boot that does not count (next), or "" */
    bool next;                    /* the boot to wait for is yet to come */
    bool starts;                  /* the caller starts the domain */
    bool begun;                   /* the boot that counts has begun */
    bool over;
    int status;
};

/* Prepares to wait, and connects to libvirt on this host. Both pointers must stay. If there is a
 * timeout and libvirt's daemon does not answer then, an alarm(2) ends the process soon after it
 * with STATUS_TIMEOUT. */
int waiting_open(struct waiting *waiting, const struct context *context,
                 const struct waiting_options *options, struct failure **failure);

/* Return: the domain of that name or UUID, owned by `waiting`; the same if it is added
 * twice; NULL on failure. */
struct waited *waiting_add(struct waiting *waiting, const char *name,
                           struct failure **failure);

/* Looks at a domain that runs, or is to be started by somebody else; the waiting for it
 * may be over then. */
void waiting_begin(struct waited *waited);

/* The caller is going to start the domain: what its guest said before does not count. */
void waiting_begin_start(struct waited *waited);

/* Ends the waiting for a domain; `failure` is NULL if all is well. */
void waiting_finish(struct waited *waited, const char *outcome, int status,
                    const struct failure *failure);

/* Waits until it is over for every domain that was added. Return: 0, or -1 with a
 * failure. */
int waiting_run(struct waiting *waiting, struct failure **failure);

/* Ends it all; a signal that has ended the waiting ends the process. Return: the exit status,
 * the first of 1, 3, 124 that a domain has, or 0; if it failed, 4 without the domain, 5
 * without libvirt, else 1. */
int waiting_close(struct waiting *waiting, const struct failure *failure);
