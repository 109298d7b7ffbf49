/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is shown of the domains that are waited for: a line or a JSON object for each
 * event. Errors go to standard error; with JSON they are objects among the others. */
#pragma once

#include "store/guest-report.h"

enum progress_style {
    PROGRESS_QUIET, /* errors alone */
    PROGRESS_LINES,
    PROGRESS_JSON,
};

/* Texts of errors or warnings that were shown, LIMIT_EVENTS at most. */
struct progress_texts {
    char **list;
    size_t count;
};

/* What was shown of a domain. */
struct progress {
    enum progress_style style;
    char *name;       /* safe to print; owned */
    const char *uuid; /* borrowed */
    char boot[UUID_LENGTH + 1];
    struct guest_stage_times stages[GUEST_STAGE_COUNT];
    struct progress_texts errors, warnings; /* of this boot's */
    size_t events; /* how many were shown of all; LIMIT_EVENTS at most */
};

void progress_open(struct progress *progress, enum progress_style style, const char *name,
                   const char *uuid);

/* Shows what is new in the report. If a guest says too much, only its end is shown. */
void progress_show(struct progress *progress, const struct guest_report *report);

/* Shows an event of the domain itself. */
void progress_note(struct progress *progress, const char *event);

/* Shows what is waited for, which is no event in JSON. */
void progress_wait_for(struct progress *progress, const char *what);

/* Shows how the waiting for a domain has ended: in a word, and with the exit status for
 * that. `report` is what is known of the guest, or NULL; `failure` is NULL if all is
 * well. */
void progress_finish(struct progress *progress, const char *outcome, int status,
                     const struct guest_report *report, const struct failure *failure);

void progress_close(struct progress *progress);
