/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows a guest's report (host/report-file.h). */
#pragma once

#include <sys/types.h>

#include "base/failure.h"

/* Reads a report that may grow, be renamed or be removed during that: reads it to its
 * end, and then the next file of that name. */
struct report_reader {
    int root; /* borrowed from the caller of report_reader_init() */
    char *uuid;
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
