/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/scope.h"
#include "maker/maker.h"

/* --- hello ---------------------------------------------------------------------------- */

static void
config_get(struct config_files *config, struct message *message)
{
    uint32_t count;

    config->is_complete = message_get_number(message, 1);
    count = message_get_number(message, LIMIT_CONFIG_FILES);
    for (uint32_t i = 0; i < count && !message->is_bad; i++) {
        struct config_file *file = array_add(config->list, config->count);

        file->path = message_get_text(message, PATH_MAX, false);
        message_get_bytes(message, LIMIT_CONFIG, &file->text);
    }
}

static time_t
time_get(struct message *message)
{
    cleanup_buffer struct buffer bytes = {0};
    time_t time = 0;

    message_get_bytes(message, sizeof(time), &bytes);
    if (bytes.size == sizeof(time))
        memcpy(&time, bytes.data, sizeof(time));
    else
        message->is_bad = true;
    return time;
}

/* Without a home, the scope is the system's. Return: whether it is a scope. */
static bool
scope_get(struct message *message)
{
    cleanup_free char *home = message_get_text(message, LIMIT_PATH, true);
    cleanup_free char *runtime = message_get_text(message, LIMIT_PATH, true);

    if (message->is_bad || (runtime && !home))
        return false;
    return !home || scope_use_directories(home, runtime);
}

bool
hello_get(struct hello *hello, const struct buffer *content)
{
    struct message message = message_begin(content);

    if (!scope_get(&message))
        return false;
    hello->role = (enum maker_role)message_get_number(&message, MAKER_WIRE);
    message_get_bytes(&message, LIMIT_RECORD, &hello->record);
    switch (hello->role) {
    case MAKER_PREPARE:
        hello->uuid = message_get_text(&message, UUID_LENGTH, false);
        hello->resumes = message_get_number(&message, 1);
        hello->record_failure = message_get_failure(&message);
        config_get(&hello->config, &message);
        break;
    case MAKER_REPORT:
        message_get_bytes(&message, LIMIT_REPORT_READ, &hello->report);
        hello->written = time_get(&message);
        hello->end = message_get_text(&message, LIMIT_PATH, true);
        break;
    case MAKER_MERGE:
        message_get_bytes(&message, LIMIT_RECORD, &hello->next);
        break;
    case MAKER_WIRE:
        config_get(&hello->config, &message);
        break;
    }
    return message_is_over(&message);
}

/* --- needs ---------------------------------------------------------------------------- */

void
needs_put(const struct needs *needs, struct buffer *message)
{
    message_put_number(message, (uint32_t)needs->count);
    for (size_t i = 0; i < needs->count; i++) {
        message_put_number(message, needs->list[i].kind);
        message_put_text(message, needs->list[i].name);
        for (size_t key = 0; key < NEED_KEYS; key++)
            message_put_text(message, needs->list[i].keys[key]);
    }
}

bool
answers_get(struct needs *needs, const struct buffer *content)
{
    struct message message = message_begin(content);

    for (size_t i = 0; i < needs->count && !message.is_bad; i++) {
        struct need *need = &needs->list[i];
        uint32_t count;

        need->failure = message_get_failure(&message);
        need->error = -(int)message_get_number(&message, INT_MAX);
        need->place = message_get_text(&message, LIMIT_MAKER_TEXT, true);
        need->word =
            (enum need_word)message_get_number(&message, NEED_WORD_DEFINITION_WIRED);
        need->server.health =
            (enum imds_health)message_get_number(&message, IMDS_HEALTH_LAST);
        need->server.number = message_get_number(&message, UINT32_MAX);
        count = message_get_number(&message, LIMIT_ENTRIES);
        for (uint32_t entry = 0; entry < count && !message.is_bad; entry++) {
            cleanup_free char *key = message_get_text(&message, LIMIT_SECRET_NAME, true);

            message_get_bytes(&message, LIMIT_SEED, need_add_entry(need, key));
        }
    }
    return message_is_over(&message);
}

/* --- the verdict and other results ----------------------------------------------------- */

static void
texts_put(char *const *texts, size_t count, struct buffer *message)
{
    message_put_number(message, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        message_put_text(message, texts[i]);
}

static void
publication_put(const struct publication *publication, struct buffer *message)
{
    const struct imds_domain *served = &publication->served;

    message_put_number(message, publication->report);
    message_put_number(message, publication->has_image);
    message_put_number(message, publication->shim);
    message_put_text(message, served->token);
    if (!served->token)
        return;
    message_put_number(message, (uint32_t)served->mac_count);
    for (size_t i = 0; i < served->mac_count; i++) {
        message_put_text(message, served->macs[i].mac);
        message_put_number(message, served->macs[i].link);
    }
    message_put_number(message, (uint32_t)served->seed->document_count);
    for (size_t i = 0; i < served->seed->document_count; i++) {
        const struct document *document = &served->seed->documents[i];

        message_put_text(message, document->path);
        message_put_bytes(message, document->data.data, document->data.size);
    }
}

void
verdict_put(const struct verdict *verdict, struct buffer *message)
{
    message_put_number(message, verdict->kind);
    texts_put(verdict->notes, verdict->note_count, message);
    message_put_failure(message, verdict->refusal);
    message_put_text(message, verdict->hint_if_wired);
    if (verdict->kind != VERDICT_SEED)
        return;
    publication_put(&verdict->publication, message);
    message_put_bytes(message, verdict->key.private.data, verdict->key.private.size);
    message_put_text(message, verdict->key.public);
    message_put_text(message, verdict->digest);
    message_put_bytes(message, verdict->next_record.data, verdict->next_record.size);
}

void
result_put(const struct maker_result *result, const struct failure *failure,
           struct buffer *message)
{
    message_put_failure(message, failure);
    if (failure)
        return;
    message_put_bytes(message, result->text.data, result->text.size);
    message_put_number(message, result->event);
    texts_put(result->changes, result->change_count, message);
}
