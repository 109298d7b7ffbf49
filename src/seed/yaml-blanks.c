/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include <yaml.h>

#include "seed/yaml.h"

void
yaml_blanks_begin(struct yaml_blanks *blanks, const char *data, size_t size)
{
    const char *end = data + size;
    bool suspect =
        memchr(data, '\t', size) || memchr(data, (unsigned char)BYTE_ORDER_MARK[0], size);

    for (const char *hash = memchr(data, '#', size); hash && !suspect;
         hash = memchr(hash + 1, '#', (size_t)(end - hash - 1)))
        suspect = hash > data && strchr("|>+-0123456789", hash[-1]);
    *blanks =
        (struct yaml_blanks){.data = data, .rest = suspect ? data : NULL, .end = end};
}

const char *
yaml_skip_characters(const char *text, const char *end, size_t count)
{
    for (; count > 0 && text < end; count--) {
        text++;
        while (text < end && ((unsigned char)*text & 0xc0) == 0x80)
            text++;
    }
    return text;
}

/* Moves to the character with that index. Return: the text before it. */
static const char *
move_to(struct yaml_blanks *blanks, size_t index)
{
    const char *start = blanks->rest;

    if (index > blanks->index) {
        blanks->rest = yaml_skip_characters(start, blanks->end, index - blanks->index);
        blanks->index = index;
    }
    return start;
}

/* Return: the first tab or byte order mark that is not in a comment, or NULL. */
static const char *
find_in_blanks(const char *text, const char *end)
{
    bool comment = false;

    for (; text < end; text++) {
        if (!comment && (*text == '\t' || *text == BYTE_ORDER_MARK[0]))
            return text;
        comment = *text != '\n' && *text != '\r' && (comment || *text == '#');
    }
    return NULL;
}

/* Return: the beginning of the scalar, after its tag and anchor. */
static const char *
skip_properties(const char *text, const char *end)
{
    while (text < end && (*text == '!' || *text == '&')) {
        while (text < end && !isspace((unsigned char)*text))
            text++;
        while (text < end && (isspace((unsigned char)*text) || *text == '#')) {
            if (*text == '#')
                text = memchr(text, '\n', (size_t)(end - text)) ?: end - 1;
            text++;
        }
    }
    return text;
}

/* PyYAML accepts any blank in quotes and in the lines of a block. */
static const char *
find_in_scalar(yaml_scalar_style_t style, const char *text, const char *end)
{
    const char *content = skip_properties(text, end);
    const char *found = find_in_blanks(text, content);

    if (found)
        return found;
    if (style == YAML_PLAIN_SCALAR_STYLE)
        return memchr(content, '\t', (size_t)(end - content));
    if (style != YAML_LITERAL_SCALAR_STYLE && style != YAML_FOLDED_SCALAR_STYLE)
        return NULL;
    /* '|' or '>' and its indicators must be followed by a blank or the end of the line. */
    text = content;
    while (content < end && !strchr(" #\n\r", *content))
        content++;
    if (content < end && *content == '#')
        return content;
    while (content < end && *content != '\n' && *content != '\r')
        content++;
    return find_in_blanks(text, content);
}

int
yaml_blanks_check(struct yaml_blanks *blanks, const yaml_event_t *event,
                  struct failure **failure)
{
    const char *start, *found;
    int line = 1;

    if (!blanks->rest ||
        (event->type != YAML_SCALAR_EVENT && event->type != YAML_STREAM_END_EVENT))
        return 0;
    start = move_to(blanks, event->start_mark.index);
    found = find_in_blanks(start, blanks->rest);
    if (!found && event->type == YAML_SCALAR_EVENT) {
        start = move_to(blanks, event->end_mark.index);
        found = find_in_scalar(event->data.scalar.style, start, blanks->rest);
    }
    if (!found)
        return 0;
    for (const char *at = blanks->data; at < found; at++)
        line += *at == '\n';
    return yaml_fail(line, FAILURE_YAML,
                     *found == '\t'  ? "a tab between words"
                     : *found == '#' ? "a comment touches the '|' or '>' before it"
                                     : "a byte order mark is not at the beginning",
                     "the guest's parser takes only spaces there", failure);
}
