/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "cli/text-diff.h"
#include "import/element.h"

/* diff's exit status: 0 is the same, 1 different, 2 trouble. */
#define DIFF_DIFFERENT 1

bool
text_diff_is_text(const struct buffer *document)
{
    return document->size == 0 || element_can_hold(document->data, document->size);
}

bool
text_diff(const char *old_label, const struct buffer *old_document, const char *label,
          const struct buffer *document, struct buffer *output)
{
    cleanup_close int old_file = child_document("old", old_document);
    cleanup_close int file = child_document("new", document);
    cleanup_free char *old_path = xasprintf("/proc/self/fd/%d", old_file);
    cleanup_free char *path = xasprintf("/proc/self/fd/%d", file);
    char *words[] = {(char *)"diff",
                     (char *)"--unified",
                     (char *)"--text",
                     (char *)"--label",
                     (char *)old_label,
                     (char *)"--label",
                     (char *)label,
                     old_path,
                     path,
                     NULL};
    /* No translation, no TMPDIR of the user's. */
    char *environment[] = {(char *)"LC_ALL=C", NULL};
    const int documents[] = {old_file, file, -1};
    const struct child child = {
        .words = words,
        .environment = environment,
        .documents = documents,
        .output = LIMIT_DIFF_OUTPUT,
        .memory = LIMIT_DIFF_MEMORY,
        .seconds = LIMIT_DIFF_SECONDS,
    };

    return old_file >= 0 && file >= 0 && child_run(&child, output) == DIFF_DIFFERENT;
}
