/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of progress on a terminal (PROGRESS_LIVE), and what is printed beside them: for
 * progress.c. With another style there are no lines, and the text is printed. */
#pragma once

#include "base/failure.h"
#include "cli/progress.h"

/* Prints the text, which ends with a line's end, for good, or nothing for NULL; and the lines
 * below it. The text, and what is in the rows, is fit to be shown. */
void progress_redraw(struct progress *progress, const char *text);

/* Prints the failure on standard error, in the place of the lines; and them below it. */
void progress_print_error(struct progress *progress, const struct failure *failure);
