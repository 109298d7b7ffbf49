/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the guests' reports are kept: /var/log/libvirt/virt-seed/UUID.report, and their logs:
 * UUID.log there while the guest runs, then in the state directory. QEMU writes
 * what the guest sends through virtlogd, which opens the file as root. If it becomes
 * large, virtlogd renames it to UUID.report.0 and begins a new one (virtlogd.conf,
 * max_size and max_backups). A boot takes a few KiB: only a guest that floods its report
 * gets that far. Renamed files are removed with the report, but not read.
 *
 * With the emulator shim, QEMU's user writes it, at most LIMIT_SHIM_REPORT bytes, under
 * its second name UUID.libvirt-UUID (base/names.h, shim/command.c).
 *
 * Those who may use libvirt may read reports; others may not, even if they know the UUID.
 * A log may hold secrets, so it is root's alone.
 */
#pragma once

#include "base/base.h"

/* Who writes the report. */
enum report_writer {
    REPORT_BY_NOBODY,           /* there is no report */
    REPORT_BY_VIRTLOGD,         /* as root */
    REPORT_AND_LOG_BY_VIRTLOGD, /* both */
    REPORT_BY_SHIM, /* as QEMU's user, under a second name, which it then gets */
};

/*
 * Makes the domain's report, and its log if it has one: empty ones in place of the old files,
 * or with `keep`, for a resumed guest, keeps those that exist.
 */
int report_file_make(int root, const char *uuid, enum report_writer writer, bool keep,
                     struct failure **failure);

/* Return: whether the domain has a report that is not empty. */
bool report_file_has_content(int root, const char *uuid);

/* Removes the report, its copies that virtlogd has renamed, and its second name. */
int report_file_remove(int root, const char *uuid, struct failure **failure);

/* --- the log ------------------------------------------------------------------------ */

/* Moves the last LIMIT_LOG bytes of the log, if there are any, to the state directory, and
 * removes its copies. */
int log_file_keep(int root, const char *uuid, struct failure **failure);

/* Removes the log from the state directory, and one that a crash of the host has left in the
 * reports' directory, unless report_file_make() for that writer is about to replace that. */
int log_file_forget(int root, const char *uuid, enum report_writer writer,
                    struct failure **failure);

/* --- reading ------------------------------------------------------------------------ */

/* Opens such a file at its last `limit` bytes. Return: a descriptor, owned by the caller, or
 * -errno; -EINVAL if it is not a regular file. */
int report_file_open_end(int directory, const char *name, size_t limit,
                         struct stat *status);

/* Appends its last `limit` bytes, if the file and the directory are there; `status` is then
 * fstat(2)'s. Return: 0 or -errno. */
int report_file_read_end(int directory, const char *name, size_t limit,
                         struct buffer *text, struct stat *status);

/* Appends the last LIMIT_REPORT_FILE bytes of the report. `written` gets the time of the
 * guest's last write, by the host's clock, 0 if there is no file, which is no failure. */
int report_file_read(int root, const char *uuid, struct buffer *text, time_t *written,
                     struct failure **failure);
