/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/verdict.h"

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
    buffer_clear(&result->text);
    texts_free(result->changes, result->change_count);
    *result = (struct maker_result){0};
}
