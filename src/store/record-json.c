/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: what is known of an object is taken out of it; what is left are the others,
 * to which the known ones are added when it is written again.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/limits.h"
#include "store/record-json.h"

/* --- reading ---------------------------------------------------------------------- */

static bool
is_text(const json_t *value)
{
    return json_is_string(value) && json_string_length(value) <= LIMIT_RECORD_TEXT;
}

static void
take_text(json_t *object, const char *key, char **text)
{
    const json_t *value = json_object_get(object, key);

    if (!is_text(value))
        return;
    *text = xstrdup(json_string_value(value));
    json_object_del(object, key);
}

static bool
take_true(json_t *object, const char *key)
{
    if (!json_is_true(json_object_get(object, key)))
        return false;
    json_object_del(object, key);
    return true;
}

static bool
are_texts(const json_t *list)
{
    const json_t *value;
    size_t i;

    if (!json_is_array(list) || json_array_size(list) > LIMIT_RECORD_TEXTS)
        return false;
    json_array_foreach(list, i, value)
    {
        if (!is_text(value))
            return false;
    }
    return true;
}

static void
take_texts(json_t *object, const char *key, char ***texts, size_t *count)
{
    const json_t *list = json_object_get(object, key);
    const json_t *value;
    size_t i;

    if (!are_texts(list))
        return;
    *texts = xcalloc(json_array_size(list), sizeof(**texts));
    json_array_foreach(list, i, value)(*texts)[(*count)++] =
        xstrdup(json_string_value(value));
    json_object_del(object, key);
}

static void
take_documents(json_t *object, struct record_boot *boot)
{
    json_t *documents = json_object_get(object, "documents");
    const char *path;
    const json_t *digest;

    if (!json_is_object(documents))
        return;
    boot->documents = xcalloc(json_object_size(documents), sizeof(*boot->documents));
    json_object_foreach(documents, path, digest)
    {
        if (is_text(digest))
            boot->documents[boot->document_count++] = (struct record_document){
                xstrdup(path), xstrdup(json_string_value(digest))};
    }
    json_object_del(object, "documents");
}

/* Return: the member, taken out of the object and owned by the caller, if it is an object
 * with such a text; else NULL. */
static json_t *
take_object(json_t *object, const char *key, const char *text)
{
    json_t *member = json_object_get(object, key);

    if (!is_text(json_object_get(member, text)))
        return NULL;
    json_incref(member);
    json_object_del(object, key);
    return member;
}

static void
take_boot(json_t *record, const char *key, struct record_boot *boot)
{
    json_t *object = take_object(record, key, "time");

    if (!object)
        return;
    take_text(object, "time", &boot->time);
    take_text(object, "name", &boot->name);
    take_text(object, "version", &boot->version);
    take_text(object, "label", &boot->label);
    take_text(object, "datasource", &boot->datasource);
    take_text(object, "instance-id", &boot->instance_id);
    boot->identity_alone = take_true(object, "identity-alone");
    boot->cache_keep = take_true(object, "cache-keep");
    take_documents(object, boot);
    boot->others = object;
}

static void
take_result(json_t *record, struct record_result *result)
{
    const json_t *word = json_object_get(json_object_get(record, "result"), "state");
    json_t *object;

    result->state = guest_state_find_end(json_string_value(word));
    object =
        guest_state_is_end(result->state) ? take_object(record, "result", "state") : NULL;
    if (!object)
        return;
    json_object_del(object, "state");
    take_text(object, "time", &result->time);
    take_text(object, "datasource", &result->datasource);
    take_texts(object, "errors", &result->errors, &result->error_count);
    take_texts(object, "warnings", &result->warnings, &result->warning_count);
    result->others = object;
}

void
record_from_json(struct record *record, json_t *json)
{
    *record = (struct record){.others = json};
    take_text(json, "done", &record->done);
    take_boot(json, "boot", &record->boot);
    take_boot(json, "update", &record->update);
    take_result(json, &record->result);
}

/* --- writing ---------------------------------------------------------------------- */

/* Return: an object with the members that are not known. */
static json_t *
start_object(json_t *others)
{
    json_t *object = others ? json_copy(others) : json_object();

    if (!object)
        abort();
    return object;
}

static json_t *
make_text(const char *text)
{
    cleanup_free char *beginning = xstrndup(text, LIMIT_RECORD_TEXT);

    return json_outside_string(beginning);
}

static void
add_text(json_t *object, const char *key, const char *text)
{
    if (text)
        json_must(json_object_set_new(object, key, make_text(text)));
}

static void
add_texts(json_t *object, const char *key, char *const *texts, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count && i < LIMIT_RECORD_TEXTS; i++)
        json_must(json_array_append_new(list, make_text(texts[i])));
    json_must(json_object_set_new(object, key, list));
}

static void
add_true(json_t *object, const char *key, bool value)
{
    if (value)
        json_must(json_object_set_new(object, key, json_true()));
}

static void
add_boot(json_t *record, const char *key, const struct record_boot *boot)
{
    json_t *object = start_object(boot->others);
    json_t *documents = json_object();

    for (size_t i = 0; i < boot->document_count; i++) {
        cleanup_free char *path = xstrdup(boot->documents[i].path);

        utf8_repair(path);
        add_text(documents, path, boot->documents[i].digest);
    }
    add_text(object, "time", boot->time);
    add_text(object, "name", boot->name);
    add_text(object, "version", boot->version);
    add_text(object, "label", boot->label);
    add_text(object, "datasource", boot->datasource);
    add_text(object, "instance-id", boot->instance_id);
    add_true(object, "identity-alone", boot->identity_alone);
    add_true(object, "cache-keep", boot->cache_keep);
    json_must(json_object_set_new(object, "documents", documents));
    json_must(json_object_set_new(record, key, object));
}

static void
add_result(json_t *record, const struct record_result *result)
{
    json_t *object = start_object(result->others);

    add_text(object, "time", result->time);
    add_text(object, "state", guest_state_word(result->state));
    add_text(object, "datasource", result->datasource);
    add_texts(object, "errors", result->errors, result->error_count);
    add_texts(object, "warnings", result->warnings, result->warning_count);
    json_must(json_object_set_new(record, "result", object));
}

json_t *
record_to_json(const struct record *record)
{
    json_t *object = start_object(record->others);

    add_text(object, "done", record->done);
    if (record->boot.time)
        add_boot(object, "boot", &record->boot);
    if (record->update.time)
        add_boot(object, "update", &record->update);
    if (guest_state_is_end(record->result.state))
        add_result(object, &record->result);
    return object;
}
