/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the server says while it runs, on standard error: a line each, not many, none where
 * nobody takes them, and what was left out is counted. Nothing here may hold a token or content.
 */
#pragma once

void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Counts a line that is left out. */
void log_leave_out(void);
/* Says how many were left out, where there is room; which is otherwise said with the next line
 * that is not. */
void log_end(void);
