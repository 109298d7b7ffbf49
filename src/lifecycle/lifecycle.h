/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the hook does at each of libvirt's operations (https://libvirt.org/hooks.html,
 * "/etc/libvirt/hooks/qemu"). An operation returns -1 to make libvirt abort what it was
 * about to do; the user then sees the failure.
 */
#pragma once

#include "base/base.h"

/* One operation of libvirt's on a domain. */
struct lifecycle {
    int root;              /* borrowed */
    const char *argument;  /* the domain's name, from libvirt, whatever the XML says */
    const char *name;      /* the same, from the XML, except at restore and migrate */
    const char *uuid;      /* of the domain; NULL at restore and migrate */
    const char *operation; /* libvirt's word for it */
    /* Why the guest has ended, in libvirt's word ("saved"); NULL before libvirt 10.5, which
     * does not tell, and at other operations than release. */
    const char *end;
    /* As libvirt has it; at restore and migrate the caller's, which is not read. */
    const struct buffer *xml;
};

/*
 * Runs the operation of the hook's arguments, NAME OPERATION SUBOPERATION EXTRA, which end
 * with NULL, on the XML on standard input, for the system or the caller's session. `root` is
 * the path of the directory that is the host's "/". Return: the exit status.
 */
int lifecycle_run(const char *root, bool is_session, char *const *arguments);

/* prepare: makes the seed before libvirt looks for it. Refuses a cold boot without the
 * seed that was asked for; a resumed start only if its seed cannot be made, it would get
 * another domain's seed or report, a path forbids it, or others may write to the run-time
 * directory or the reports'. */
int lifecycle_prepare(struct lifecycle *lifecycle, struct failure **failure);

/* start (prepare.c): looks at the paths again, since the XML now has the backing files that
 * the disks' images name. Any failure refuses the start, a resumed one, too. */
int lifecycle_start(struct lifecycle *lifecycle, struct failure **failure);

/* started: the guest runs with the seed that prepare made; the record says so from now on.
 * A failure ends the guest: it has another seed. */
int lifecycle_started(struct lifecycle *lifecycle, struct failure **failure);

/* restore, migrate (prepare.c): notes that the next prepare of the domain with that name
 * resumes a guest. Does not know the XML: it is the caller's, before libvirt compares it
 * with the saved one. Logs a failure; without the mark, that prepare is only stricter.
 * Return: 0. */
int lifecycle_resume(struct lifecycle *lifecycle, struct failure **failure);

/* release: removes the seed and the report, records the guest's result, and keeps its log. */
int lifecycle_release(struct lifecycle *lifecycle, struct failure **failure);

/* --- what the operations share ----------------------------------------------------- */

/*
 * Has the report of a guest that has ended read, and records cloud-init's result; with
 * boots="until-done", success also records the guest as done. Logs failures.
 */
void lifecycle_record_result(const struct lifecycle *lifecycle);

/* --- the system's log ------------------------------------------------------------- */

/* A field of a journal entry. Its value cannot be taken for another field. */
struct journal_field {
    const char *name;  /* upper case letters, digits and underscores */
    const char *value; /* NULL: omitted */
};

enum lifecycle_event {
    LIFECYCLE_SEED_MADE,
    LIFECYCLE_START_REFUSED,
    LIFECYCLE_SEED_REMOVED,
    LIFECYCLE_GUEST_DONE, /* as it has reported */
    LIFECYCLE_GUEST_FAILED,
};

/* Logs the event; `more`, unless NULL, is an additional field. */
void lifecycle_log_event(const struct lifecycle *lifecycle, enum lifecycle_event event,
                         const struct journal_field *more, const char *text);

/* Logs a warning about something that the user would not see otherwise. */
void lifecycle_log(const struct lifecycle *lifecycle, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lifecycle_log_failure(const struct lifecycle *lifecycle, const char *what,
                           const struct failure *failure);
