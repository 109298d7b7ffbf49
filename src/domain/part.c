/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <nettle/base64.h>

#include "base/names.h"
#include "domain/part.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

int
base64_decode(struct buffer *buffer, const char *text)
{
    size_t length = strlen(text);
    size_t size = BASE64_DECODE_LENGTH(length);
    struct base64_decode_ctx decoder;
    char *decoded = buffer_reserve(buffer, size);

    base64_decode_init(&decoder);
    if (!base64_decode_update(&decoder, &size, (uint8_t *)decoded, length, text) ||
        !base64_decode_final(&decoder))
        return -1;
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
    return 0;
}

void
base64_encode(struct buffer *buffer, const void *data, size_t size, size_t line)
{
    for (size_t at = 0, count; at < size; at += count) {
        size_t length;

        count = line > 0 && size - at > line ? line : size - at;
        length = BASE64_ENCODE_RAW_LENGTH(count);
        base64_encode_raw(buffer_reserve(buffer, length), count,
                          (const uint8_t *)data + at);
        buffer->size += length;
        buffer_append_string(buffer, line > 0 ? "\n" : "");
    }
}

static void
take_text(struct part *part, const char *text)
{
    size_t length = strlen(text);
    size_t end;

    for (;;) {
        size_t blanks = strspn(text, " \t\r");

        if (text[blanks] != '\n')
            break;
        part->skipped_lines++;
        text += blanks + 1;
        length -= blanks + 1;
    }
    end = length;
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t'))
        end--;
    if (end == 0 || text[end - 1] == '\n')
        length = end;
    buffer_append(&part->data, text, length);
}

static int
take_inline(struct part *part, const xmlNode *node, bool base64, struct failure **failure)
{
    const char *single = xml_single_text(node);
    cleanup_free char *joined = single ? NULL : xml_text(node);
    const char *text = single ? single : joined;
    cleanup_free char *encoding = xml_attribute(node, "encoding");

    part->origin = PART_INLINE;
    if (encoding && strcmp(encoding, "base64") != 0)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has an unknown encoding=\n"
                               "use encoding=\"base64\", or remove it");
    if (!encoding && !base64) {
        take_text(part, text);
    } else if (base64_decode(&part->data, text) < 0) {
        return vocabulary_fail(
            node, failure, FAILURE_BASE64,
            "must be base64, but its text is not\n"
            "encode it with 'base64 FILE', or declare it as plain text");
    }
    if (part->data.size > LIMIT_PART)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "has %zu bytes, expected at most %lu\n"
                               "let the guest fetch large files itself",
                               part->data.size, LIMIT_PART);
    return 0;
}

static int
take_reference(struct part *part, const xmlNode *node, struct failure **failure)
{
    cleanup_free char *file = xml_attribute(node, "file");
    cleanup_free char *secret = xml_attribute(node, "secret");
    cleanup_free char *encoding = xml_attribute(node, "encoding");

    if (file && secret)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has both file= and secret=\nkeep one of them");
    if (vocabulary_has_text(node))
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has both text and %s=\nkeep one of them",
                               file ? "file" : "secret");
    if (encoding)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has encoding=, which is for text in the element\n"
                               "remove encoding=: files and secrets are not decoded");
    if (file && part->key)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has key=, which belongs to secret=\nremove key=");
    part->origin = file ? PART_FILE : PART_SECRET;
    part->name = file ? steal(file) : steal(secret);
    if (strlen(part->name) > LIMIT_PATH || (part->key && strlen(part->key) > LIMIT_PATH))
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "names a file or a secret with more than %d bytes\n"
                               "give it a shorter name",
                               LIMIT_PATH);
    return 0;
}

bool
part_is_whole_secret(const struct part *part)
{
    const bool has_entries = part->kind == PART_META_DATA ||
                             part->kind == PART_SSH_KEYS ||
                             part->kind == PART_SSH_HOST_KEYS;

    if (part->origin == PART_GENERATED)
        return true;
    return part->origin == PART_SECRET && !part->key && has_entries;
}

struct buffer *
part_add_entry(struct part *part, const char *key)
{
    struct part_entry *entry = array_add(part->entries, part->entry_count);

    *entry = (struct part_entry){.key = xstrdup(key)};
    return &entry->data;
}

bool
part_is_password(const struct part *part)
{
    if (part->kind == PART_VALUE)
        return strcmp(part->element, "custom_script") != 0 &&
               strcmp(part->element, "content") != 0;
    return part->kind == PART_ADMIN_PASSWORD || part->kind == PART_PASSWORD ||
           part->kind == PART_ROOT_PASSWORD;
}

char *
part_word(const struct part *part)
{
    size_t length = part->data.size;
    const char *text = buffer_text(&part->data);

    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    return xstrndup(text, length);
}

static char *
describe_whole(const struct part *part)
{
    if (part->of_host)
        return xasprintf("%s, %s = %.256s", part->of_host, part->element, part->name);
    switch (part->origin) {
    case PART_FILE:
        return xasprintf("<%s file=\"%.256s\">", part->element, part->name);
    case PART_SECRET:
        return xasprintf("<%s secret=\"%.256s\">", part->element, part->name);
    case PART_GENERATED:
        return xasprintf("<cloud-init %s=\"generate\">", part->element);
    case PART_STORED:
        return xasprintf("<cloud-init %s=\"stored\">", part->element);
    case PART_INLINE:
        break;
    }
    return xasprintf("<%s>", part->element);
}

char *
part_describe(const struct part *part)
{
    cleanup_free char *whole = describe_whole(part);

    return part->number == 0 ? steal(whole)
                             : xasprintf("%s: part %d", whole, part->number);
}

int
part_locate(const struct part *part, struct failure **failure)
{
    const bool is_kept = part->origin == PART_GENERATED || part->origin == PART_STORED;

    if (part->element && !part->of_host && !is_kept) {
        (*failure)->part = xstrdup(part->element);
        (*failure)->part_index = part->index;
        if ((*failure)->part_line > 0)
            (*failure)->part_line += part->skipped_lines;
    }
    return failure_at_line(failure, part->line);
}

int
part_fail(const struct part *part, struct failure **failure)
{
    cleanup_free char *description = part_describe(part);

    failure_prefix(failure, "%s", description);
    return part_locate(part, failure);
}

static void
put_placeholder(struct buffer *data, const char *name, const char *key, const char *end)
{
    buffer_clear(data);
    buffer_printf(data, "<secret %s/%s>%s", name, key, end);
}

static void
clear_entries(struct part *part)
{
    for (size_t i = 0; i < part->entry_count; i++) {
        free(part->entries[i].key);
        buffer_clear(&part->entries[i].data);
    }
    free(part->entries);
    part->entries = NULL;
    part->entry_count = 0;
}

void
part_mask(struct part *part)
{
    switch (part->origin) {
    case PART_SECRET:
        for (size_t i = 0; i < part->entry_count; i++)
            put_placeholder(&part->entries[i].data, part->name, part->entries[i].key, "");
        if (!part_is_whole_secret(part))
            put_placeholder(&part->data, part->name, part->key, "\n");
        else if (part->entry_count == 0)
            put_placeholder(part_add_entry(part, "*"), part->name, "*", "");
        break;
    case PART_GENERATED:
        clear_entries(part);
        buffer_append_string(part_add_entry(part, HOST_KEY_NAME), PART_GENERATED_MASK);
        buffer_append_string(part_add_entry(part, HOST_KEY_PUBLIC_NAME),
                             PART_GENERATED_MASK);
        break;
    case PART_STORED:
        buffer_clear(&part->data);
        buffer_append_string(&part->data, PART_STORED_MASK);
        break;
    case PART_INLINE:
    case PART_FILE:
        return;
    }
    part->masked = true;
}

/* --- the list --------------------------------------------------------------------- */

static struct part *
new_part(struct parts *parts, enum part_kind kind, const char *element)
{
    struct part *part = xcalloc(1, sizeof(*part));

    part->kind = kind;
    part->element = xstrdup(element);
    /* The elements are pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
    *array_add(parts->list, parts->count) = part;
    return part;
}

bool
part_is_reference(const xmlNode *node)
{
    return xmlHasProp(node, (const xmlChar *)"file") ||
           xmlHasProp(node, (const xmlChar *)"secret");
}

struct part *
parts_add(struct parts *parts, enum part_kind kind, const xmlNode *node, bool base64,
          struct failure **failure)
{
    struct part *part;
    int result;

    if (parts->count == LIMIT_PARTS) {
        vocabulary_fail(node, failure, FAILURE_LIMIT,
                        "occurs too many times, at most %d documents, files and values\n"
                        "remove some",
                        LIMIT_PARTS);
        return NULL;
    }
    part = new_part(parts, kind, (const char *)node->name);
    part->line = xml_line(node);
    for (const xmlNode *other = node->prev; other; other = other->prev)
        part->index += xmlStrEqual(other->name, node->name);
    part->key = xml_attribute(node, "key");
    if (part_is_reference(node))
        result = take_reference(part, node, failure);
    else if (part->key)
        result = vocabulary_fail(node, failure, FAILURE_REQUEST,
                                 "has key= without secret=\nadd secret=\"NAME\"");
    else
        result = take_inline(part, node, base64, failure);
    if (result < 0)
        part_locate(part, failure);
    return result < 0 ? NULL : part;
}

struct part *
parts_add_of_host(struct parts *parts, enum part_kind kind, const char *setting,
                  const char *file, const char *configuration)
{
    struct part *part = new_part(parts, kind, setting);

    /* The elements are pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
    memmove(&parts->list[1], parts->list, (parts->count - 1) * sizeof(*parts->list));
    parts->list[0] = part;
    part->origin = PART_FILE;
    part->of_host = xstrdup(configuration);
    part->name = xstrdup(file);
    return part;
}

struct part *
parts_find(const struct parts *parts, enum part_kind kind)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->list[i]->kind == kind)
            return parts->list[i];
    }
    return NULL;
}

struct part *
parts_next(const struct parts *parts, const struct part *part)
{
    bool after = false;

    for (size_t i = 0; i < parts->count; i++) {
        if (after && parts->list[i]->kind == part->kind)
            return parts->list[i];
        after = after || parts->list[i] == part;
    }
    return NULL;
}

struct part *
parts_add_kept(struct parts *parts, enum part_kind kind, enum part_origin origin,
               const char *attribute, const xmlNode *node)
{
    struct part *part = new_part(parts, kind, attribute);

    part->origin = origin;
    part->line = xml_line(node);
    return part;
}

int
parts_check_size(const struct parts *parts, struct failure **failure)
{
    size_t size = 0;

    for (size_t i = 0; i < parts->count; i++) {
        const struct part *part = parts->list[i];

        size += part->data.size;
        for (size_t entry = 0; entry < part->entry_count; entry++)
            size += part->entries[entry].data.size;
    }
    if (size <= LIMIT_SEED)
        return 0;
    return failure_set(failure, FAILURE_LIMIT,
                       "its documents are larger than %lu MiB in total\n"
                       "let the guest fetch large files itself",
                       LIMIT_SEED / MIB);
}

void
parts_clear(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = parts->list[i];

        free(part->element);
        free(part->name);
        free(part->key);
        free(part->of_host);
        buffer_clear(&part->data);
        clear_entries(part);
        free(part);
    }
    free(parts->list);
    *parts = (struct parts){0};
}
