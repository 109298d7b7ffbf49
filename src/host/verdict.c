/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "host/verdict.h"

void
verdict_note(struct verdict *verdict, const char *format, ...)
{
    va_list arguments;

    if (verdict->note_count >= LIMIT_NOTES)
        return;
    va_start(arguments, format);
    texts_add(&verdict->notes, &verdict->note_count, xvasprintf(format, arguments));
    va_end(arguments);
}

void
verdict_clear(struct verdict *verdict)
{
    texts_free(verdict->notes, verdict->note_count);
    failure_free(verdict->refusal);
    free(verdict->hint_if_wired);
    publication_clear(&verdict->publication);
    seed_clear(&verdict->seed);
    host_key_clear(&verdict->key);
    free(verdict->server);
    free(verdict->digest);
    buffer_clear(&verdict->next_record);
    *verdict = VERDICT_NONE;
}

void
maker_result_clear(struct maker_result *result)
{
    buffer_clear(&result->record);
    *result = (struct maker_result){0};
}

void
wired_clear(struct wired *wired)
{
    texts_free(wired->changes, wired->change_count);
    buffer_clear(&wired->xml);
    *wired = (struct wired){0};
}
