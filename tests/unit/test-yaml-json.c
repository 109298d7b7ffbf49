/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML as values: seed/yaml.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/memory.h"
#include "seed/yaml.h"
#include "unit.h"

/* A document, and its value as JSON. */
struct example {
    const char *yaml;
    const char *json;
};

static json_t *
load(const char *yaml, struct failure **failure)
{
    return yaml_load(yaml, strlen(yaml), YAML_ONE_DOCUMENT, failure);
}

static void
assert_value(const json_t *value, const char *yaml, const char *expected)
{
    cleanup_free char *found = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    if (!found || strcmp(found, expected) != 0)
        print_error("of:\n%s\n", yaml);
    assert_string_equal(found, expected);
}

static void
assert_examples(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct failure *failure = NULL;
        cleanup_json json_t *value = load(examples[i].yaml, &failure);

        if (!value)
            print_error("refused:\n%s\n", examples[i].yaml);
        assert_no_failure(failure);
        assert_value(value, examples[i].yaml, examples[i].json);
    }
}

#define assert_all(examples)                                                             \
    assert_examples(examples, sizeof(examples) / sizeof((examples)[0]))

static void
assert_refuses(const char *yaml, enum failure_code code)
{
    struct failure *failure = NULL;
    cleanup_json json_t *value = load(yaml, &failure);

    if (value)
        print_error("taken:\n%.500s\n", yaml);
    assert_null(value);
    assert_failure(&failure, code);
}

/* --- scalars ---------------------------------------------------------------------- */

static void
resolves_words(void **state)
{
    const struct example examples[] = {
        {"[yes, Yes, YES, true, True, TRUE, on, On, ON]",
         "[true,true,true,true,true,true,true,true,true]"},
        {"[no, No, NO, false, False, FALSE, off, Off, OFF]",
         "[false,false,false,false,false,false,false,false,false]"},
        {"[~, null, Null, NULL, ]", "[null,null,null,null]"},
        {"a:\nb: ''\n", "{\"a\":null,\"b\":\"\"}"},
        {"[y, n, yEs, oN, nULL, tRUE, 'yes', \"no\", 'null', '~']",
         "[\"y\",\"n\",\"yEs\",\"oN\",\"nULL\",\"tRUE\",\"yes\",\"no\",\"null\",\"~\"]"},
        {"a: |\n  yes\nb: >-\n  12\n", "{\"a\":\"yes\\n\",\"b\":\"12\"}"},
    };

    (void)state;
    assert_all(examples);
}

static void
resolves_integers(void **state)
{
    const struct example examples[] = {
        {"[0, -0, +0, 7, -7, +7, 1_000, 12__3_]", "[0,0,0,7,-7,7,1000,123]"},
        {"[010, -010, 0_17, 00, 0_, 08, 0o17]", "[8,-8,15,0,0,\"08\",\"0o17\"]"},
        {"[0x1F, -0xff, 0xd_e, 0b101, -0b1_0, 0b2, 0xg]",
         "[31,-255,222,5,-2,\"0b2\",\"0xg\"]"},
        {"[3:25:45, -1:30, 1:60, 1:5, 0:30, 1:2x, 1_0:01]",
         "[12345,-90,\"1:60\",65,\"0:30\",\"1:2x\",601]"},
        {"[9223372036854775807, -9223372036854775807, 0777777777777777777777]",
         "[9223372036854775807,-9223372036854775807,9223372036854775807]"},
        {"['010', \"1\", 1a, '-', --1, +, 1-2, 52:54:00:12:34:56]",
         "[\"010\",\"1\",\"1a\",\"-\",\"--1\",\"+\",\"1-2\",41135085296]"},
        {"[2026-11-21, 2026-11-21T10:00:00Z]",
         "[\"2026-11-21\",\"2026-11-21T10:00:00Z\"]"},
    };

    (void)state;
    assert_all(examples);
}

static void
resolves_floats(void **state)
{
    const struct example examples[] = {
        {"[1.5, -1.5, +1.5, 1., .5, 1_0.2_5, 6.25e+2, 5.0E-1]",
         "[1.5,-1.5,1.5,1.0,0.5,10.25,625.0,0.5]"},
        {"[1e3, 1.5e3, +.5, -.5, ., .e+3, 1.2.3, 1.5e+, 192.0.2.1, ._5]",
         "[\"1e3\",\"1.5e3\",\"+.5\",\"-.5\",\".\",\".e+3\",\"1.2.3\",\"1.5e+\","
         "\"192.0.2.1\",\"._5\"]"},
        {"[190:20:30.5, -1:30.5, 1:60.5]", "[685230.5,-90.5,\"1:60.5\"]"},
    };

    (void)state;
    assert_all(examples);
}

static void
takes_text_by_its_tag(void **state)
{
    const struct example examples[] = {
        {"[!!str 1, !!str yes]", "[\"1\",\"yes\"]"},
    };

    (void)state;
    assert_all(examples);
}

static void
refuses_what_json_cannot_hold(void **state)
{
    cleanup_free char *digits = xcalloc(1, 1000);
    const char *const texts[] = {
        "9223372036854775808",
        "-9223372036854775809",
        "0x10000000000000000",
        /* With 64 zeros. */
        ("0b1"
         "0000000000000000000000000000000000000000000000000000000000000000"),
        "99999999999999999999999999999",
        "9223372036854775807:00",
        "-.inf",
        ".inf",
        "+.INF",
        ".nan",
        ".NaN",
        "1.0e+999",
        "!!binary c2VlZA==",
        "\"a\\0b\"",
        "\"a\\0b\": 1",
        "0x_",
        "-0b_",
        "=",
        "a: <<",
        "- <<",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_refuses(texts[i], FAILURE_YAML);
    memset(digits, '9', 999);
    assert_refuses(digits, FAILURE_YAML);
}

/* --- structure -------------------------------------------------------------------- */

static void
takes_keys_as_text(void **state)
{
    const struct example examples[] = {
        {"{1: a, yes: b, ~: c, 'd': e, 010: f}",
         "{\"1\":\"a\",\"yes\":\"b\",\"~\":\"c\",\"d\":\"e\",\"010\":\"f\"}"},
        {"a: &x k\n? *x\n: 1\n", "{\"a\":\"k\",\"k\":1}"},
        {"&x k: 1\nb: *x\n", "{\"k\":1,\"b\":\"k\"}"},
        {"\"\\u00e4\": \xc3\xa4", "{\"\xc3\xa4\":\"\xc3\xa4\"}"},
    };

    (void)state;
    assert_all(examples);
    assert_refuses("[a]: 1", FAILURE_YAML);
    assert_refuses("? {a: 1}\n: 2", FAILURE_YAML);
    assert_refuses("a: &x [1]\n? *x\n: 2", FAILURE_YAML);
}

static void
merges_mappings(void **state)
{
    const struct example examples[] = {
        {"- &x {a: 1, b: 2}\n- {<<: *x, b: 3, c: 4}\n",
         "[{\"a\":1,\"b\":2},{\"b\":3,\"c\":4,\"a\":1}]"},
        {"- &x {a: 1, b: 1}\n- &y {b: 2, c: 2}\n- <<: [*x, *y]\n",
         "[{\"a\":1,\"b\":1},{\"b\":2,\"c\":2},{\"b\":1,\"c\":2,\"a\":1}]"},
        {"- &x {a: 1}\n- &y {<<: *x, b: 2}\n- {<<: *y}\n",
         "[{\"a\":1},{\"b\":2,\"a\":1},{\"b\":2,\"a\":1}]"},
        {"{<<: {a: 1}, <<: {a: 2}}", "{\"a\":2}"},
        {"{'<<': 1}", "{\"<<\":1}"},
        {"{<<: [], a: 1}", "{\"a\":1}"},
    };

    (void)state;
    assert_all(examples);
    assert_refuses("{<<: 1}", FAILURE_YAML);
    assert_refuses("{<<: }", FAILURE_YAML);
    assert_refuses("{<<: [1]}", FAILURE_YAML);
    assert_refuses("{<<: [[{a: 1}]]}", FAILURE_YAML);
}

static void
writes_out_what_aliases_stand_for(void **state)
{
    const char *yaml = "a: &x [1]\nb: *x\nc: {d: *x}\n";
    struct failure *failure = NULL;
    cleanup_json json_t *value = load(yaml, &failure);

    (void)state;
    assert_no_failure(failure);
    assert_value(value, yaml, "{\"a\":[1],\"b\":[1],\"c\":{\"d\":[1]}}");
}

static void
refuses_anchors_that_make_no_sense(void **state)
{
    (void)state;
    assert_refuses("a: *x", FAILURE_YAML);
    assert_refuses("&x [*x]", FAILURE_YAML);
    assert_refuses("&x {a: {b: *x}}", FAILURE_YAML);
    assert_refuses("[&x 1, &x 2]", FAILURE_YAML);
}

static void
reads_one_document(void **state)
{
    const struct example examples[] = {
        {"", "null"},
        {"# nothing\n", "null"},
        {"---\n...\n", "null"},
        {"--- 1", "1"},
        {"%YAML 1.1\n---\n{}\n...\n", "{}"},
    };

    (void)state;
    assert_all(examples);
    assert_refuses("a: 1\n---\nb: 1\n", FAILURE_YAML);
    assert_refuses("---\n---\n", FAILURE_YAML);
}

static void
reads_all_documents(void **state)
{
    const char *yaml = "a: &x 1\n---\n---\n- &x 2\n- *x\n";
    struct failure *failure = NULL;
    cleanup_json json_t *all = yaml_load(yaml, strlen(yaml), YAML_STREAM, &failure);
    cleanup_json json_t *none = NULL;

    (void)state;
    assert_no_failure(failure);
    assert_value(all, yaml, "[{\"a\":1},null,[2,2]]");
    none = yaml_load("", 0, YAML_STREAM, &failure);
    assert_value(none, "", "[]");
    /* An anchor is one of its own document. */
    yaml = "a: &x 1\n---\nb: *x\n";
    assert_null(yaml_load(yaml, strlen(yaml), YAML_STREAM, &failure));
    assert_failure(&failure, FAILURE_YAML);
}

static void
refuses_a_key_that_is_there_twice(void **state)
{
    const char *twice = "a: {b: 1,\n  b: 2}\n";
    const char *once = "- &x {a: 1}\n- {<<: *x, a: 2}\n";
    struct failure *failure = NULL;
    cleanup_json json_t *value = load(once, &failure);

    (void)state;
    assert_no_failure(failure);
    assert_non_null(value);
    assert_null(load(twice, &failure));
    assert_non_null(strstr(failure->message, "line 2"));
    assert_failure(&failure, FAILURE_YAML);
}

static void
refuses_what_is_not_yaml(void **state)
{
    const char *const texts[] = {
        "a: [1",   "a: 'x",       "a: b: c",   "a: 1\n\tb: 2", "@a",           "a: \x01",
        "a: \xff", "\"\\ud800\"", "- a\nb: 1", "a: \"\\q\"",   "\xef\xbf\xbe",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_refuses(texts[i], FAILURE_YAML);
}

static void
says_the_line_and_nothing_of_the_content(void **state)
{
    const char *const texts[] = {
        "a: 1\n\nb: [!hunter2 x]\n",
        "a: 1\n\nb: .nan # hunter2\n",
        "a: 1\n\nb: *hunter2\n",
        "a: 1\n\nb: {&x hunter2: &x 2}\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        cleanup_failure struct failure *failure = NULL;

        assert_null(load(texts[i], &failure));
        assert_non_null(strstr(failure->message, "line 3: "));
        assert_null(strstr(failure->message, "hunter2"));
    }
}

/* --- limits ----------------------------------------------------------------------- */

/* Appends `count` times `text`. */
static void
repeat(struct buffer *buffer, const char *text, unsigned long count)
{
    while (count-- > 0)
        buffer_append_string(buffer, text);
}

static void
knows_how_deep_it_may_be(void **state)
{
    cleanup_buffer struct buffer level = {0}, deeper = {0}, chain = {0};

    (void)state;
    repeat(&level, "[", LIMIT_YAML_DEPTH);
    repeat(&level, "]", LIMIT_YAML_DEPTH);
    repeat(&deeper, "[", LIMIT_YAML_DEPTH + 1);
    repeat(&deeper, "]", LIMIT_YAML_DEPTH + 1);
    json_decref(load(level.data, &(struct failure *){NULL}));
    assert_refuses(deeper.data, FAILURE_LIMIT);
    /* Flat as written, deep if its aliases are followed. */
    buffer_append_string(&chain, "- &a0 [x]\n");
    for (int i = 1; i < LIMIT_YAML_ANCHORS; i++) {
        cleanup_free char *line = xasprintf("- &a%d [*a%d]\n", i, i - 1);

        buffer_append_string(&chain, line);
    }
    assert_refuses(chain.data, FAILURE_LIMIT);
}

static void
refuses_bombs(void **state)
{
    cleanup_buffer struct buffer doubling = {0}, text = {0}, merges = {0};

    (void)state;
    buffer_append_string(&doubling, "- &a0 x\n");
    for (int i = 1; i < 60; i++) {
        cleanup_free char *line = xasprintf("- &a%d [*a%d, *a%d]\n", i, i - 1, i - 1);

        buffer_append_string(&doubling, line);
    }
    assert_refuses(doubling.data, FAILURE_LIMIT);

    buffer_append_string(&text, "- &x ");
    repeat(&text, "0123456789abcdef", 64 * KIB);
    repeat(&text, "\n- *x", 20);
    assert_refuses(text.data, FAILURE_LIMIT);

    buffer_append_string(&merges, "- &x {");
    for (int i = 0; i < 1000; i++) {
        cleanup_free char *item = xasprintf("a%d: 1, ", i);

        buffer_append_string(&merges, item);
    }
    buffer_append_string(&merges, "}\n");
    repeat(&merges, "- {<<: *x}\n", LIMIT_YAML_ALIASES);
    assert_refuses(merges.data, FAILURE_LIMIT);
}

static void
knows_how_much_there_may_be(void **state)
{
    cleanup_buffer struct buffer values = {0}, keys = {0}, aliases = {0}, anchors = {0},
                                 directives = {0}, bytes = {0}, stream = {0};
    struct failure *failure = NULL;

    (void)state;
    buffer_append_string(&values, "[");
    repeat(&values, "{},", LIMIT_YAML_NODES);
    buffer_append_string(&values, "]");
    assert_refuses(values.data, FAILURE_LIMIT);

    buffer_append_string(&keys, "{");
    repeat(&keys, "a: ,", LIMIT_YAML_NODES / 2 + 1);
    buffer_append_string(&keys, "}");
    assert_refuses(keys.data, FAILURE_LIMIT);

    buffer_append_string(&aliases, "- &x 1\n");
    repeat(&aliases, "- *x\n", LIMIT_YAML_ALIASES + 1);
    assert_refuses(aliases.data, FAILURE_LIMIT);

    for (int i = 0; i <= LIMIT_YAML_ANCHORS; i++) {
        cleanup_free char *line = xasprintf("- &a%d 1\n", i);

        buffer_append_string(&anchors, line);
    }
    assert_refuses(anchors.data, FAILURE_LIMIT);

    /* Of all documents together. */
    repeat(&stream, "---\n&a 1\n", LIMIT_YAML_ANCHORS + 1);
    assert_null(yaml_load(stream.data, stream.size, YAML_STREAM, &failure));
    assert_failure(&failure, FAILURE_LIMIT);

    repeat(&directives, "%TAG !a! tag:a\n", LIMIT_YAML_DIRECTIVES + 1);
    buffer_append_string(&directives, "---\na: 1\n");
    assert_refuses(directives.data, FAILURE_LIMIT);

    repeat(&bytes, "# 0123456789abc\n", LIMIT_PART / 16);
    json_decref(load(bytes.data, &(struct failure *){NULL}));
    buffer_append_string(&bytes, "#");
    assert_refuses(bytes.data, FAILURE_LIMIT);
}

/* What may be taken at most is taken in bounded memory. */
static void
stays_small(void **state)
{
    cleanup_buffer struct buffer flow = {0};
    struct failure *failure = NULL;
    struct rusage before, after;
    json_t *value;

    (void)state;
    buffer_append_string(&flow, "[");
    repeat(&flow, "{},", LIMIT_YAML_NODES - 1);
    buffer_append_string(&flow, "]");
    getrusage(RUSAGE_SELF, &before);
    value = load(flow.data, &failure);
    getrusage(RUSAGE_SELF, &after);
    assert_no_failure(failure);
    json_decref(value);
    assert_true(after.ru_maxrss - before.ru_maxrss < 512 * 1024);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resolves_words),
        cmocka_unit_test(resolves_integers),
        cmocka_unit_test(resolves_floats),
        cmocka_unit_test(takes_text_by_its_tag),
        cmocka_unit_test(refuses_what_json_cannot_hold),
        cmocka_unit_test(takes_keys_as_text),
        cmocka_unit_test(merges_mappings),
        cmocka_unit_test(writes_out_what_aliases_stand_for),
        cmocka_unit_test(refuses_anchors_that_make_no_sense),
        cmocka_unit_test(reads_one_document),
        cmocka_unit_test(reads_all_documents),
        cmocka_unit_test(refuses_a_key_that_is_there_twice),
        cmocka_unit_test(refuses_what_is_not_yaml),
        cmocka_unit_test(says_the_line_and_nothing_of_the_content),
        cmocka_unit_test(knows_how_deep_it_may_be),
        cmocka_unit_test(refuses_bombs),
        cmocka_unit_test(knows_how_much_there_may_be),
        cmocka_unit_test(stays_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
