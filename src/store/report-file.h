/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the guests' reports are kept: /var/log/libvirt/virt-seed/UUID.report. QEMU writes
 * there what the guest says, by virtlogd, which opens the file as root. If it becomes
 * large, virtlogd renames it to UUID.report.0 and begins another (virtlogd.conf, max_size
 * and max_backups). A boot takes some KiB: only a guest that floods its report gets
 * there, and what was renamed is removed with the rest, but not read.
 *
 * With the emulator shim QEMU's user writes it, no more than LIMIT_SHIM_REPORT, by its
 * second name UUID.libvirt-UUID (base/names.h, shim/command.c).
 *
 * Who may use libvirt may read them; whoever else knows a domain's UUID may not.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/failure.h"
#include "store/guest-report.h"

/* Who writes the report. */
enum report_writer {
    REPORT_BY_VIRTLOGD, /* as root */
    REPORT_BY_SHIM,     /* as QEMU's user, by its second name, which it gets then */
};

/*
 * Makes the domain's report; an empty one in the place of all that was there, or with
 * `keep`, for a guest that is resumed, what is there stays.
 */
int report_file_make(int root, const char *uuid, enum report_writer writer, bool keep,
                     struct failure **failure);

/* Return: whether the domain has a report, and the guest has written something. */
bool report_file_has_content(int root, const char *uuid);

/* Removes it, with what virtlogd has renamed, and its second name. */
int report_file_remove(int root, const char *uuid, struct failure **failure);

/* --- reading ---------------------------------------------------------------------- */

/* Reads a report that may grow, and be renamed or removed meanwhile: then it is read to
 * its end, and after it the next one with its name. */
struct report_reader {
    int root; /* borrowed from the caller of report_reader_init() */
    char *name;
    int file; /* that is read; -1 if there is none yet */
};

/* `root` must stay open as long as the reader is used. */
void report_reader_init(struct report_reader *reader, int root, const char *uuid);

/*
 * Reads the next bytes; at first, the last LIMIT_REPORT_FILE that there are. Return: how
 * many; 0 if there are no more, as yet; -1 if they cannot be read.
 */
ssize_t report_reader_read(struct report_reader *reader, char *data, size_t size,
                           struct failure **failure);

void report_reader_clear(struct report_reader *reader);

#define cleanup_report_reader __attribute__((cleanup(report_reader_clear)))

/* Who wants to know what the report says after each line of it that counts. */
struct report_listener {
    void (*said)(const struct guest_report *report, void *data);
    void *data;
};

/*
 * Reads all that is there into the report, to which GUEST_REPORT_EMPTY was assigned.
 * `listener` and `written` may be NULL; `written` is when the guest wrote last, by the
 * host's clock, 0 if there is no file. Return: 0, also without a file; -1 if it cannot be
 * read.
 */
int report_read(int root, const char *uuid, struct guest_report *report,
                const struct report_listener *listener, time_t *written,
                struct failure **failure);
