/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the guests' reports are kept: /var/log/libvirt/virt-seed/UUID.report. QEMU writes
 * there what the guest says, by virtlogd, which opens the file as root; where it has become
 * large virtlogd renames it to UUID.report.0, and what was that to UUID.report.1, and so on
 * (virtlogd.conf, max_size and max_backups), and begins another.
 *
 * With the emulator shim QEMU's user writes it, no more than LIMIT_SHIM_REPORT, by its second
 * name UUID.libvirt-UUID (base/names.h, shim/command.h).
 *
 * Who may use libvirt may read them; whoever else knows a domain's UUID may not.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/failure.h"

/* Return: the report's name in its directory, owned by the caller (free). */
char *report_file_name(const char *uuid);

/*
 * Makes the domain's report, which belongs to the user `writer`; an empty one in the place of
 * all that was there, or with `keep`, for a guest that is resumed, what is there stays.
 */
int report_file_make(int root, const char *uuid, uid_t writer, bool keep,
                     struct failure **failure);

/* Return: whether the domain has a report, and the guest has written something. */
bool report_file_has_content(int root, const char *uuid);

/* Gives it its second name. */
int report_file_link(int root, const char *uuid, struct failure **failure);

/* Removes it, with what virtlogd has renamed, and its second name. */
int report_file_remove(int root, const char *uuid, struct failure **failure);
