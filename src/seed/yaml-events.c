/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "seed/yaml-events.h"
#include "seed/yaml-source.h"

static int
fail_parser(const yaml_parser_t *parser, struct failure **failure)
{
    const yaml_mark_t *mark = &parser->problem_mark;

    if (parser->error == YAML_READER_ERROR)
        failure_set(failure, FAILURE_YAML, "not YAML at byte %zu: %s",
                    parser->problem_offset, parser->problem);
    else
        failure_set(failure, FAILURE_YAML, "line %zu, column %zu: not YAML: %s%s%s",
                    mark->line + 1, mark->column + 1,
                    parser->context ? parser->context : "", parser->context ? ": " : "",
                    parser->problem);
    return failure_hint(failure, "mend the YAML");
}

static int
walk(yaml_parser_t *parser,
     int (*take)(void *data, const yaml_event_t *event, struct failure **failure),
     void *data, struct failure **failure)
{
    for (unsigned long count = 0; count < LIMIT_YAML_EVENTS; count++) {
        yaml_event_t event;
        bool last;
        int result;

        if (!yaml_parser_parse(parser, &event))
            return fail_parser(parser, failure);
        last = event.type == YAML_STREAM_END_EVENT;
        result = take(data, &event, failure);
        yaml_event_delete(&event);
        if (result < 0 || last)
            return result;
    }
    failure_set(failure, FAILURE_LIMIT, "more than %d nodes", LIMIT_YAML_EVENTS);
    return failure_hint(failure, "split the document");
}

int
yaml_walk(const char *text, size_t size,
          int (*take)(void *data, const yaml_event_t *event, struct failure **failure),
          void *data, struct failure **failure)
{
    const size_t mark = strlen(BYTE_ORDER_MARK);
    yaml_parser_t parser;
    int result;

    /* libyaml counts it as a column. */
    if (size >= mark && memcmp(text, BYTE_ORDER_MARK, mark) == 0) {
        text += mark;
        size -= mark;
    }
    if (yaml_check_source(text, size, failure) < 0)
        return -1;
    if (!yaml_parser_initialize(&parser))
        abort();
    /* cloud-init decodes it as UTF-8, whatever its first bytes say. */
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    result = walk(&parser, take, data, failure);
    yaml_parser_delete(&parser);
    return result;
}
