/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between two documents, for people. */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"

/* Return: whether the document is text: UTF-8 without control characters, but for the tab
 * and the ends of lines. */
bool text_diff_is_text(const struct buffer *document);

/*
 * Appends the unified diff, as diff(1) makes it, of two documents that are text.
 * Return: whether there was one: diff(1) was there, and kept within LIMIT_DIFF….
 */
bool text_diff(const char *old_label, const struct buffer *old_document,
               const char *label, const struct buffer *document, struct buffer *output);
