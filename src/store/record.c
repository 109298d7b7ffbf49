/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json.h"
#include "base/names.h"
#include "domain/digest.h"
#include "domain/vocabulary.h"
#include "host/record-file.h"
#include "seed/layout.h"
#include "store/record.h"

/* --- from JSON ---------------------------------------------------------------------- */

static bool
is_text(const json_t *value)
{
    return json_is_string(value) && json_string_length(value) <= LIMIT_RECORD_TEXT;
}

/* Return: the member, owned by the caller (free), or NULL. */
static char *
read_text(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return is_text(value) ? xstrdup(json_string_value(value)) : NULL;
}

static void
read_texts(const json_t *object, const char *key, char ***texts, size_t *count)
{
    const json_t *list = json_object_get(object, key);
    const json_t *value;
    size_t i;

    json_array_foreach((json_t *)list, i, value) {
        if (is_text(value) && *count < LIMIT_RECORD_TEXTS)
            texts_add(texts, count, xstrdup(json_string_value(value)));
    }
}

static bool
read_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

/* `object` may be NULL. */
static void
read_boot(const json_t *object, struct record_boot *boot)
{
    json_t *documents = json_object_get(object, "documents");
    const json_t *kept = json_object_get(object, "kept");
    const char *path;
    json_t *digest;

    boot->time = read_text(object, "time");
    if (!boot->time)
        return;
    boot->name = read_text(object, "name");
    boot->version = read_text(object, "version");
    boot->label = read_text(object, "label");
    boot->datasource = read_text(object, "datasource");
    boot->instance_id = read_text(object, "instance-id");
    boot->identity_alone = read_true(object, "identity-alone");
    boot->until_done = read_true(object, "until-done");
    boot->documents = xcalloc(json_object_size(documents), sizeof(*boot->documents));
    json_object_foreach(documents, path, digest) {
        const json_t *other = json_object_get(kept, path);

        if (is_text(digest))
            boot->documents[boot->document_count++] = (struct record_document){
                .path = xstrdup(path),
                .digest = xstrdup(json_string_value(digest)),
                .kept = is_text(other) ? xstrdup(json_string_value(other)) : NULL,
            };
    }
}

/* `object` may be NULL. */
static void
read_result(const json_t *object, struct record_result *result)
{
    const json_t *word = json_object_get(object, "state");

    result->state = guest_state_find_end(json_string_value(word));
    if (!guest_state_is_end(result->state))
        return;
    result->time = read_text(object, "time");
    result->datasource = read_text(object, "datasource");
    read_texts(object, "errors", &result->errors, &result->error_count);
    read_texts(object, "warnings", &result->warnings, &result->warning_count);
    guest_claim_read(&result->claim, object);
}

int
record_parse(struct record *record, const struct buffer *text, struct failure **failure)
{
    cleanup_json json_t *json = NULL;
    const json_t *earlier;

    *record = (struct record){0};
    if (!text->data)
        return 0;
    json = json_loadb(text->data, text->size, 0, NULL);
    if (!json_is_object(json))
        return failure_set(failure, FAILURE_RECORD,
                           "the record is not a JSON object\n"
                           "remove it; the next start writes it again");
    earlier = json_object_get(json, "earlier-result");
    record->done = read_text(json, "done");
    record->end = read_text(json, "end");
    record->cache_keep = read_true(json, "cache-keep");
    read_boot(json_object_get(json, "boot"), &record->boot);
    read_boot(json_object_get(json, "update"), &record->update);
    read_result(json_object_get(json, "result"), &record->result);
    read_result(earlier, &record->earlier);
    record->earlier_until = read_text(earlier, "until");
    return 0;
}

/* --- to JSON ---------------------------------------------------------------------- */

static void
add_text(json_t *object, const char *key, const char *text)
{
    cleanup_free char *beginning = text ? xstrndup(text, LIMIT_RECORD_TEXT) : NULL;

    if (text)
        json_set(object, key, json_outside_string(beginning));
}

static void
add_texts(json_t *object, const char *key, char *const *texts, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count && i < LIMIT_RECORD_TEXTS; i++) {
        cleanup_free char *beginning = xstrndup(texts[i], LIMIT_RECORD_TEXT);

        json_add(list, json_outside_string(beginning));
    }
    json_set(object, key, list);
}

static void
add_true(json_t *object, const char *key, bool value)
{
    if (value)
        json_set(object, key, json_true());
}

static json_t *
boot_to_json(const struct record_boot *boot)
{
    json_t *object = json_object();
    json_t *documents = json_object();
    cleanup_json json_t *kept = json_object();

    for (size_t i = 0; i < boot->document_count; i++) {
        cleanup_free char *path = xstrdup(boot->documents[i].path);

        utf8_repair(path);
        add_text(documents, path, boot->documents[i].digest);
        add_text(kept, path, boot->documents[i].kept);
    }
    add_text(object, "time", boot->time);
    add_text(object, "name", boot->name);
    add_text(object, "version", boot->version);
    add_text(object, "label", boot->label);
    add_text(object, "datasource", boot->datasource);
    add_text(object, "instance-id", boot->instance_id);
    add_true(object, "identity-alone", boot->identity_alone);
    add_true(object, "until-done", boot->until_done);
    json_set(object, "documents", documents);
    if (json_object_size(kept) > 0)
        json_must(json_object_set(object, "kept", kept));
    return object;
}

static void
add_result(json_t *json, const char *key, const struct record_result *result,
           const char *until)
{
    json_t *object;

    if (!guest_state_is_end(result->state))
        return;
    object = json_object();
    add_text(object, "time", result->time);
    add_text(object, "until", until);
    add_text(object, "state", guest_state_word(result->state));
    add_text(object, "datasource", result->datasource);
    add_texts(object, "errors", result->errors, result->error_count);
    add_texts(object, "warnings", result->warnings, result->warning_count);
    guest_claim_write(&result->claim, object);
    json_set(json, key, object);
}

void
record_format(const struct record *record, struct buffer *text)
{
    cleanup_json json_t *json = json_object();

    add_text(json, "done", record->done);
    add_text(json, "end", record->end);
    add_true(json, "cache-keep", record->cache_keep);
    if (record->boot.time)
        json_set(json, "boot", boot_to_json(&record->boot));
    if (record->update.time)
        json_set(json, "update", boot_to_json(&record->update));
    add_result(json, "result", &record->result, NULL);
    add_result(json, "earlier-result", &record->earlier, record->earlier_until);
    json_append(text, json);
}

/* --- the file ----------------------------------------------------------------------- */

int
record_read(int root, const char *uuid, struct record *record, struct failure **failure)
{
    cleanup_buffer struct buffer text = {0};

    *record = (struct record){0};
    if (record_read_text(root, uuid, &text, failure) < 0)
        return -1;
    if (record_parse(record, &text, failure) == 0)
        return 0;
    return failure_prefix(failure, "%s/%s" RECORD_SUFFIX, scope()->statedir, uuid);
}

int
record_write(int root, const char *uuid, const struct record *record,
             struct failure **failure)
{
    cleanup_buffer struct buffer text = {0};

    record_format(record, &text);
    return record_write_text(root, uuid, &text, failure);
}

/* --- in memory -------------------------------------------------------------------- */

void
record_boot_add_seed(struct record_boot *boot, const struct storage *storage,
                     const struct seed *seed)
{
    const struct layout *layout = layout_find(seed->label);
    cleanup_failure struct failure *ignored = NULL;
    cleanup_identity struct identity identity = {0};

    if (layout && layout_read_identity(layout, seed, &identity, &ignored) == 0)
        boot->instance_id = steal(identity.instance_id);
    if (storage == &storage_imds) {
        boot->datasource = xstrdup("nocloud-net");
    } else {
        boot->label = xstrdup(seed->label);
        boot->datasource = layout ? xstrdup(layout->datasource) : NULL;
    }
    boot->documents = xcalloc(seed->document_count, sizeof(*boot->documents));
    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *document = &seed->documents[i];
        const struct layout_document *known =
            layout ? layout_find_document(layout, document->path) : NULL;

        if (document->unread)
            continue;
        boot->documents[boot->document_count++] = (struct record_document){
            .path = xstrdup(document->path),
            .digest = digest_make(&document->data),
            .kept = known ? layout_kept_digest(known, document) : NULL,
        };
    }
}

static void
set_boot(struct record_boot *place, struct record_boot *boot)
{
    record_boot_clear(place);
    *place = *boot;
    *boot = (struct record_boot){0};
}

void
record_set_boot(struct record *record, struct record_boot *boot)
{
    if (boot->time && guest_state_is_end(record->result.state)) {
        record_result_clear(&record->earlier);
        free(record->earlier_until);
        record->earlier = record->result;
        record->earlier_until = xstrdup(boot->time);
        record->result = (struct record_result){0};
    }
    record_result_clear(&record->result);
    record_boot_clear(&record->update);
    free(steal(record->end));
    set_boot(&record->boot, boot);
}

/* How a guest ends, in libvirt's words; at "failed" it did not start, and what was saved
 * stays so. */
static const char *const final_ends[] = {"shutdown", "destroyed", "crashed", NULL};
static const char *const resumable_ends[] = {"migrated", "saved", "from snapshot", NULL};

void
record_set_end(struct record *record, const char *word)
{
    if (!word || (!word_is_in(word, final_ends) && !word_is_in(word, resumable_ends)))
        return;
    free(record->end);
    record->end = xstrdup(word);
}

bool
record_forget_later_boot(struct record *record)
{
    struct record_boot none = {0};

    if (!record->end || word_is_in(record->end, resumable_ends))
        return false;
    record_set_boot(record, &none);
    return true;
}

void
record_set_update(struct record *record, struct record_boot *update)
{
    set_boot(&record->update, update);
}

void
record_set_result(struct record *record, struct record_result *result)
{
    record_result_clear(&record->result);
    record->result = *result;
    *result = (struct record_result){0};
}

char *
record_time(time_t seconds)
{
    struct tm calendar;
    char text[sizeof("2026-01-01T00:00:00Z")];

    if (gmtime_r(&seconds, &calendar) &&
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &calendar) > 0)
        return xstrdup(text);
    return xstrdup("1970-01-01T00:00:00Z");
}

struct record_result *
record_result_at(struct record *record, time_t taken)
{
    struct record_result *earlier = &record->earlier;
    cleanup_free char *time = record_time(taken);

    if (!guest_state_is_end(earlier->state) || !earlier->time || !record->earlier_until)
        return NULL;
    /* Times of the same second have no order. */
    if (strcmp(earlier->time, time) >= 0 || strcmp(time, record->earlier_until) >= 0)
        return NULL;
    return earlier;
}

const struct record_document *
record_find_document(const struct record_boot *boot, const char *path)
{
    for (size_t i = 0; i < boot->document_count; i++) {
        if (strcmp(boot->documents[i].path, path) == 0)
            return &boot->documents[i];
    }
    return NULL;
}

bool
record_boot_is_same(const struct record_boot *one, const struct record_boot *other)
{
    for (size_t i = 0; i < one->document_count; i++) {
        const struct record_document *same =
            record_find_document(other, one->documents[i].path);

        if (!same || strcmp(same->digest, one->documents[i].digest) != 0)
            return false;
    }
    return one->document_count == other->document_count;
}

void
record_boot_clear(struct record_boot *boot)
{
    free(boot->time);
    free(boot->name);
    free(boot->version);
    free(boot->label);
    free(boot->datasource);
    free(boot->instance_id);
    for (size_t i = 0; i < boot->document_count; i++) {
        free(boot->documents[i].path);
        free(boot->documents[i].digest);
        free(boot->documents[i].kept);
    }
    free(boot->documents);
    *boot = (struct record_boot){0};
}

void
record_result_clear(struct record_result *result)
{
    free(result->time);
    free(result->datasource);
    texts_free(result->errors, result->error_count);
    texts_free(result->warnings, result->warning_count);
    guest_claim_clear(&result->claim);
    *result = (struct record_result){0};
}

void
record_clear(struct record *record)
{
    free(record->done);
    free(record->end);
    record_boot_clear(&record->boot);
    record_boot_clear(&record->update);
    record_result_clear(&record->result);
    record_result_clear(&record->earlier);
    free(record->earlier_until);
    *record = (struct record){0};
}
