/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <nettle/base64.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/part.h"
#include "domain/xml.h"

static const char *const kind_names[PART_KINDS] = {
    [PART_USER_DATA] = "user-data",
    [PART_VENDOR_DATA] = "vendor-data",
    [PART_NETWORK_CONFIG] = "network-config",
};

const char *
part_kind_name(enum part_kind kind)
{
    return kind_names[kind];
}

static int
fail_part(const struct part *part, struct failure **failure, const char *message,
          const char *hint)
{
    failure_set(failure, FAILURE_REQUEST, "<%s> %s", part_kind_name(part->kind), message);
    failure_at_line(failure, part->line);
    return failure_hint(failure, "%s", hint);
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
take_base64(struct part *part, const char *text, struct failure **failure)
{
    size_t length = strlen(text);
    size_t size = BASE64_DECODE_LENGTH(length);
    struct base64_decode_ctx decoder;
    uint8_t *decoded = (uint8_t *)buffer_reserve(&part->data, size);

    base64_decode_init(&decoder);
    if (!base64_decode_update(&decoder, &size, decoded, length, text) ||
        !base64_decode_final(&decoder)) {
        fail_part(part, failure, "says encoding=\"base64\", but its text is not base64",
                  "encode it with 'base64 FILE', or leave encoding= away");
        (*failure)->code = FAILURE_BASE64;
        return -1;
    }
    part->data.size = size;
    part->data.data[size] = '\0';
    return 0;
}

static int
take_inline(struct part *part, const xmlNode *node, struct failure **failure)
{
    cleanup_free char *text = xml_text(node);
    cleanup_free char *encoding = xml_attribute(node, "encoding");

    part->origin = PART_INLINE;
    if (!encoding)
        take_text(part, text);
    else if (strcmp(encoding, "base64") != 0)
        return fail_part(part, failure, "has an unknown encoding=",
                         "the one encoding is encoding=\"base64\"");
    else if (take_base64(part, text, failure) < 0)
        return -1;
    if (part->data.size > LIMIT_PART) {
        failure_set(failure, FAILURE_LIMIT, "<%s> has %zu bytes, at most %lu",
                    part_kind_name(part->kind), part->data.size, LIMIT_PART);
        failure_at_line(failure, part->line);
        return failure_hint(failure, "let the guest fetch large files itself");
    }
    return 0;
}

static bool
has_content(const xmlNode *node)
{
    cleanup_free char *text = xml_text(node);

    return text[strspn(text, " \t\r\n")] != '\0';
}

static int
take_reference(struct part *part, const xmlNode *node, struct failure **failure)
{
    cleanup_free char *file = xml_attribute(node, "file");
    cleanup_free char *secret = xml_attribute(node, "secret");
    cleanup_free char *encoding = xml_attribute(node, "encoding");

    if (file && secret)
        return fail_part(part, failure, "has both file= and secret=", "keep one of them");
    if (has_content(node))
        return fail_part(part, failure,
                         file ? "has both text and file=" : "has both text and secret=",
                         "keep one of them");
    if (encoding)
        return fail_part(part, failure, "has encoding=, which is for text in the element",
                         "remove encoding=: files and secrets are taken as they are");
    if (file && part->key)
        return fail_part(part, failure,
                         "has key=, which belongs to secret=", "remove key=");
    part->origin = file ? PART_FILE : PART_SECRET;
    part->name = file ? steal(file) : steal(secret);
    return 0;
}

char *
part_describe(const struct part *part)
{
    const char *kind = part_kind_name(part->kind);

    switch (part->origin) {
    case PART_FILE:
        return xasprintf("<%s file=\"%.256s\">", kind, part->name);
    case PART_SECRET:
        return xasprintf("<%s secret=\"%.256s\">", kind, part->name);
    case PART_ABSENT:
    case PART_INLINE:
        break;
    }
    return xasprintf("<%s>", kind);
}

int
part_read(struct part *part, const xmlNode *node, struct failure **failure)
{
    part->line = xml_line(node);
    part->key = xml_attribute(node, "key");
    if (xmlHasProp(node, (const xmlChar *)"file") ||
        xmlHasProp(node, (const xmlChar *)"secret"))
        return take_reference(part, node, failure);
    if (part->key)
        return fail_part(part, failure, "has key= without secret=",
                         "name the secret, too: secret=\"NAME\"");
    return take_inline(part, node, failure);
}

void
part_clear(struct part *part)
{
    free(part->name);
    free(part->key);
    buffer_clear(&part->data);
    *part = (struct part){.kind = part->kind};
}
