/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the guests' reports are kept: /var/log/libvirt/virt-seed/UUID.report. QEMU writes
 * what the guest sends through virtlogd, which opens the file as root. If it becomes
 * large, virtlogd renames it to UUID.report.0 and begins a new one (virtlogd.conf,
 * max_size and max_backups). A boot takes a few KiB: only a guest that floods its report
 * gets that far. Renamed files are removed with the report, but not read.
 *
 * With the emulator shim, QEMU's user writes it, at most LIMIT_SHIM_REPORT bytes, under
 * its second name UUID.libvirt-UUID (base/names.h, shim/command.c).
 *
 * Those who may use libvirt may read reports; others may not, even if they know the UUID.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/failure.h"

/* Who writes the report. */
enum report_writer {
    REPORT_BY_NOBODY,   /* there is no report */
    REPORT_BY_VIRTLOGD, /* as root */
    REPORT_BY_SHIM,     /* as QEMU's user, under a second name, which it then gets */
};

/*
 * Makes the domain's report: an empty one in place of the old files, or with `keep`, for
 * a resumed guest, keeps an existing one.
 */
int report_file_make(int root, const char *uuid, enum report_writer writer, bool keep,
                     struct failure **failure);

/* Return: whether the domain has a report that is not empty. */
bool report_file_has_content(int root, const char *uuid);

/* Removes it, the copies that virtlogd has renamed, and its second name. */
int report_file_remove(int root, const char *uuid, struct failure **failure);

/* --- reading ---------------------------------------------------------------------- */

/* Reads a report that may grow, be renamed or be removed during that: reads it to its
 * end, and then the next file of that name. */
struct report_reader {
    int root; /* borrowed from the caller of report_reader_init() */
    char *name;
    int file; /* the current one; -1 if there is none yet */
};

/* `root` must stay open while the reader is used. */
void report_reader_init(struct report_reader *reader, int root, const char *uuid);

/*
 * Reads the next bytes, starting at the last LIMIT_REPORT_FILE bytes of the report.
 * Return: how many; 0 if there are no more so far; -1 if they cannot be read.
 */
ssize_t report_reader_read(struct report_reader *reader, char *data, size_t size,
                           struct failure **failure);

void report_reader_clear(struct report_reader *reader);

#define cleanup_report_reader __attribute__((cleanup(report_reader_clear)))

/* Appends the whole file. `written` gets the time of the guest's last write, by the host's
 * clock, 0 if there is no file, which is no failure. */
int report_file_read(int root, const char *uuid, struct buffer *text, time_t *written,
                     struct failure **failure);
