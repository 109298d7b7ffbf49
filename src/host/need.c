/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "host/need.h"

struct need *
needs_add(struct needs *needs, enum need_kind kind, const char *name)
{
    struct need *need = array_add(needs->list, needs->count);

    *need = (struct need){.kind = kind, .name = name ? xstrdup(name) : NULL};
    return need;
}

struct buffer *
need_add_entry(struct need *need, const char *key)
{
    struct need_entry *entry = array_add(need->entries, need->entry_count);

    *entry = (struct need_entry){.key = key ? xstrdup(key) : NULL};
    return &entry->content;
}

void
need_remove_entries(struct need *need)
{
    for (size_t i = 0; i < need->entry_count; i++) {
        free(need->entries[i].key);
        buffer_clear(&need->entries[i].content);
    }
    free(steal(need->entries));
    need->entry_count = 0;
}

static void
clear(struct need *need)
{
    free(need->name);
    for (size_t i = 0; i < NEED_KEYS; i++)
        free(need->keys[i]);
    failure_free(need->failure);
    free(need->place);
    need_remove_entries(need);
}

void
needs_clear(struct needs *needs)
{
    for (size_t i = 0; i < needs->count; i++)
        clear(&needs->list[i]);
    free(needs->list);
    *needs = (struct needs){0};
}
