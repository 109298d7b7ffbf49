/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a domain's report (store/report-file.h), as one stream, however often virtlogd
 * renames it:
 *
 *   UUID.report.1   the oldest, as far as it is still there
 *   UUID.report.0
 *   UUID.report     which grows
 *
 * Of what was there at first, the last LIMIT_REPORT_FILES bytes are read. A file that is
 * renamed or removed while it is read is read to its end, and then what has come after it.
 */
#pragma once

#include <sys/types.h>
#include <time.h>

#include "base/failure.h"
#include "store/guest-report.h"

struct report_reader {
    int root; /* borrowed from the caller of report_reader_init() */
    char *name;
    int file; /* that is read; -1 where there is none yet */
};

/* `root` must stay open as long as the reader is used. */
void report_reader_init(struct report_reader *reader, int root, const char *uuid);

/*
 * Reads the next bytes. Return: how many; 0 where there are no more, as yet; -1 where they
 * cannot be read.
 */
ssize_t report_reader_read(struct report_reader *reader, char *data, size_t size,
                           struct failure **failure);

void report_reader_clear(struct report_reader *reader);

#define cleanup_report_reader __attribute__((cleanup(report_reader_clear)))

/*
 * Reads all that is there into the report, to which GUEST_REPORT_EMPTY was assigned.
 * `written`, where not NULL, says when the guest wrote last, by the host's clock; 0 where
 * there is no file. Return: 0, also without a file; -1 where it cannot be read.
 */
int report_read(int root, const char *uuid, struct guest_report *report, time_t *written,
                struct failure **failure);

/* Who wants to know what the report says after each line of it that counts. */
struct report_listener {
    void (*said)(const struct guest_report *report, void *data);
    void *data;
};

/* The same, for a listener, too. */
int report_read_lines(int root, const char *uuid, struct guest_report *report,
                      const struct report_listener *listener, time_t *written,
                      struct failure **failure);
