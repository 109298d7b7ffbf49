/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libyaml's tokens are walked, without their meaning. Between two of them
 * there are blanks, line ends and comments only, so a tab there that is in no comment
 * stands between tokens; PyYAML's scanner (scan_to_next_token) takes it for the beginning
 * of the next one. In plain text, in a directive and behind '|' and '>' it takes none
 * either; in quotes and in the lines of a block it does.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/limits.h"
#include "seed/yaml-source.h"

/* The data from the last token on; libyaml counts characters. */
struct rest {
    const char *position;
    const char *end;
    size_t index;
};

/* Most documents have nothing of it, and are not walked. */
static bool
is_suspect(const char *data, size_t size)
{
    const char *end = data + size;

    if (memchr(data, '\t', size) || memchr(data, (unsigned char)BYTE_ORDER_MARK[0], size))
        return true;
    for (const char *hash = memchr(data, '#', size); hash;
         hash = memchr(hash + 1, '#', (size_t)(end - hash - 1))) {
        if (hash > data && strchr("|>+-0123456789", hash[-1]))
            return true;
    }
    return false;
}

static bool
is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Moves to the character of that index. Return: where the text before it began. */
static const char *
move_to(struct rest *rest, size_t index)
{
    const char *start = rest->position;

    while (rest->index < index && rest->position < rest->end) {
        rest->position++;
        while (rest->position < rest->end && is_continuation(*rest->position))
            rest->position++;
        rest->index++;
    }
    return start;
}

/* Return: the first tab that is in no comment, or byte order mark, or NULL. Nothing else
 * than blanks, comments and such marks is there that is not ASCII. */
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

/* A block begins with '|' or '>', indicators, and then a blank or the end of the line. */
static const char *
find_in_block(const char *text, const char *end)
{
    const char *line_end = text;

    while (line_end < end && *line_end != '\n' && *line_end != '\r')
        line_end++;
    for (const char *indicator = text; indicator < line_end && *indicator != ' ';
         indicator++) {
        if (*indicator == '#')
            return indicator;
    }
    return find_in_blanks(text, line_end);
}

static const char *
find_in_token(const yaml_token_t *token, const char *text, const char *end)
{
    if (token->type != YAML_SCALAR_TOKEN)
        return find_in_blanks(text, end);
    switch (token->data.scalar.style) {
    case YAML_LITERAL_SCALAR_STYLE:
    case YAML_FOLDED_SCALAR_STYLE:
        return find_in_block(text, end);
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        return NULL;
    case YAML_PLAIN_SCALAR_STYLE:
    case YAML_ANY_SCALAR_STYLE:
        break;
    }
    return memchr(text, '\t', (size_t)(end - text));
}

/* Return: what is wrong in front of the token or in it, or NULL. */
static const char *
check_token(struct rest *rest, const yaml_token_t *token)
{
    const char *start = move_to(rest, token->start_mark.index);
    const char *found = find_in_blanks(start, rest->position);

    if (found)
        return found;
    start = move_to(rest, token->end_mark.index);
    return find_in_token(token, start, rest->position);
}

static size_t
count_lines(const char *data, const char *end)
{
    size_t count = 1;

    while ((data = memchr(data, '\n', (size_t)(end - data)))) {
        data++;
        count++;
    }
    return count;
}

/* Return: what PyYAML does not take, the character itself, or NULL. */
static const char *
find_bad_blank(const char *data, size_t size)
{
    struct rest rest = {.position = data, .end = data + size};
    const char *found = NULL;
    yaml_parser_t parser;
    bool last = false;

    if (!is_suspect(data, size))
        return NULL;
    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)data, size);
    while (!last && !found) {
        yaml_token_t token;

        if (!yaml_parser_scan(&parser, &token))
            break;
        last = token.type == YAML_STREAM_END_TOKEN;
        found = check_token(&rest, &token);
        yaml_token_delete(&token);
    }
    yaml_parser_delete(&parser);
    return found;
}

/* Of many %TAG directives libyaml compares each with all before it. */
static int
check_directives(const char *data, size_t size, struct failure **failure)
{
    const char *end = data + size;
    int count = 0;

    for (const char *line = data; line && line < end;
         line = memchr(line, '\n', (size_t)(end - line)), line = line ? line + 1 : NULL)
        count += *line == '%';
    if (count <= LIMIT_YAML_DIRECTIVES)
        return 0;
    failure_set(failure, FAILURE_LIMIT, "more than %d lines begin with '%%'",
                LIMIT_YAML_DIRECTIVES);
    return failure_hint(failure, "cloud-init's documents need no %%TAG");
}

static const char *
describe(char found)
{
    if (found == '\t')
        return "a tab stands between words";
    return found == '#' ? "a comment touches the '|' or '>' before it"
                        : "a byte order mark stands behind the beginning";
}

int
yaml_check_source(const char *data, size_t size, struct failure **failure)
{
    const char *found;

    if (size == 0)
        return 0;
    if (check_directives(data, size, failure) < 0)
        return -1;
    found = find_bad_blank(data, size);
    if (!found)
        return 0;
    failure_set(failure, FAILURE_YAML, "line %zu: %s", count_lines(data, found),
                describe(*found));
    return failure_hint(failure, "the guest's parser takes only spaces there");
}
