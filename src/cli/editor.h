/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's editor, on a text in a temporary file; one at a time. If a signal ends this
 * process, the file stays: there may be something in it that nobody wants to lose. */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "base/failure.h"

/* Makes the file, with that text. `name` is a word of its name; by the suffix, editors
 * know the language. */
int editor_open(const char *name, const char *suffix, const struct buffer *text,
                struct failure **failure);

/* Runs $VISUAL, $EDITOR or vi until it ends. `text` gets what is then in the file, even if
 * the editor failed. */
int editor_run(struct buffer *text, struct failure **failure);

/* Removes the file, or keeps it and says where it is. */
void editor_close(bool keep);
