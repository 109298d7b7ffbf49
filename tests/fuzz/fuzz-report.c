/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the bytes are what a guest writes to its port. However they come, all at
 * once or in pieces, they say the same, and what is kept of them can be shown.
 */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "fuzz.h"
#include "store/guest-report.h"

static bool
is_harmless(const char *text, size_t limit)
{
    cleanup_free char *copy = xstrdup(text);

    utf8_replace_controls(copy);
    return strcmp(copy, text) == 0 && strlen(text) <= limit &&
           utf8_is_valid(text, strlen(text));
}

static void
check_messages(const struct guest_messages *messages)
{
    fuzz_require(messages->count <= LIMIT_REPORT_MESSAGES);
    for (size_t i = 0; i < messages->count; i++)
        fuzz_require(is_harmless(messages->list[i].text, LIMIT_REPORT_TEXT));
}

static void
check_report(const struct guest_report *report)
{
    fuzz_require((report->state == GUEST_STATE_NOTHING) == (report->boot[0] == '\0'));
    fuzz_require(is_harmless(report->boot, UUID_LENGTH));
    fuzz_require(!report->datasource ||
                 is_harmless(report->datasource, LIMIT_REPORT_DATASOURCE));
    fuzz_require(report->line.size <= LIMIT_REPORT_LINE);
    fuzz_require(!guest_state_is_end(report->state) ||
                 (report->errors.count > 0) == (report->state == GUEST_STATE_FAILED));
    for (int i = 0; i < GUEST_STAGE_COUNT; i++) {
        fuzz_require(report->stages[i].start >= 0);
        fuzz_require(report->stages[i].finish >= 0);
    }
    check_messages(&report->errors);
    check_messages(&report->warnings);
}

static size_t
feed(struct guest_report *report, const char *data, size_t size, size_t piece)
{
    size_t count = 0;

    while (size > 0) {
        bool news;
        size_t taken =
            guest_report_feed(report, data, size < piece ? size : piece, &news);

        fuzz_require(taken > 0 && taken <= size);
        count += news;
        data += taken;
        size -= taken;
        check_report(report);
    }
    return count;
}

static bool
is_same(const struct guest_messages *one, const struct guest_messages *other)
{
    if (one->count != other->count || one->left_out != other->left_out)
        return false;
    for (size_t i = 0; i < one->count; i++) {
        if (one->list[i].stage != other->list[i].stage ||
            strcmp(one->list[i].text, other->list[i].text) != 0)
            return false;
    }
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    cleanup_guest_report struct guest_report whole = GUEST_REPORT_EMPTY;
    cleanup_guest_report struct guest_report pieces = GUEST_REPORT_EMPTY;

    fuzz_require(feed(&whole, text, size, size) == feed(&pieces, text, size, 7));
    fuzz_require(whole.state == pieces.state);
    fuzz_require(strcmp(whole.boot, pieces.boot) == 0);
    fuzz_require(is_same(&whole.errors, &pieces.errors));
    fuzz_require(is_same(&whole.warnings, &pieces.warnings));
    return 0;
}
