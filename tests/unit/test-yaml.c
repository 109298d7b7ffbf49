/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML as the guest reads it: seed/yaml.h. */
#include "config.h"

#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/memory.h"
#include "seed/yaml.h"
#include "unit.h"

static int
read_text(const char *text, enum yaml_shape shape, struct failure **failure)
{
    return yaml_check(text, strlen(text), shape, failure);
}

static void
assert_takes(const char *text)
{
    struct failure *failure = NULL;

    if (read_text(text, YAML_ONE_MAPPING, &failure) < 0)
        print_error("refused:\n%s\n", text);
    assert_no_failure(failure);
}

static void
assert_refuses(const char *text, enum failure_code code)
{
    struct failure *failure = NULL;

    if (read_text(text, YAML_ONE_MAPPING, &failure) == 0)
        print_error("taken:\n%s\n", text);
    assert_failure(&failure, code);
}

/* --- good ------------------------------------------------------------------------- */

static void
takes_what_safe_load_takes(void **state)
{
    const char *const texts[] = {
        "a: 1\n",
        "a: 1",
        "%YAML 1.1\n---\na: 1\n...\n",
        "---\na: 1\n",
        "# a comment\n\na: 1\n",
        "{a: 1, b: [2, {c: 3}]}",
        "a: |\n  text: not a key\n   \tindented with a tab\nb: >-\n  x\n",
        "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n",
        "a: !!str 1\nb: !!binary c2VlZA==\n",
        "a: &x [{b: 1}, {c: 2}]\nd:\n  <<: *x\n",
        "a: &x {b: 1}\nc: {<<: [*x, {d: 1}], e: 2}\n'<<': 1\n",
        "a: &x b\n? *x\n: c\n=: d\n",
        "a: \"b\tc\" # d\te\nf: |\n  g\th\ni: 'j\n\tk'\n",
        "a: b?c\nd: ['?', \"e?\"]\n",
        "\ufeffa: 1\nb: 2\n",
        "\xef\xbb\xbf# \xc3\xa4\tb\n\xc3\xa4: \"\t\"\n",
        "'quoted key': \"\\u00e4\"\n? plain\n: v\n",
        "a: \xc3\xa4\n",
        "a: 1\r\nb: 2\r\n",
        "a: 1\na: 2\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_takes(texts[i]);
}

static void
takes_nothing_at_all(void **state)
{
    (void)state;
    assert_takes("");
    assert_takes("#cloud-config\n");
    assert_takes("---\n...\n");
}

/* A comment ends at each of YAML's line breaks. */
static void
knows_what_is_empty(void **state)
{
    const char *const empty[] = {
        "",           " \t\r\n",  "# a: 1\n",       "# a\r# b: 1\n",
        "---\n...\n", "---\n# a", "\ufeff# a: 1\n", "# a\n\t\n",
    };
    const char *const full[] = {
        "a: 1",
        "# a\rb: 1",
        "# a\302\205b: 1",
        "# a\u2028b: 1",
        "# a\u2029b: 1",
        "# a\r\nb: 1\n",
        "''",
        "--- !!str\n",
        "[",
        "\x01",
        "~",
        "a: [\n# b",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(empty); i++)
        assert_true(yaml_is_empty(empty[i], strlen(empty[i])));
    for (size_t i = 0; i < ARRAY_SIZE(full); i++)
        assert_false(yaml_is_empty(full[i], strlen(full[i])));
    assert_true(yaml_is_empty(NULL, 0));
}

/* Quotes, a block and a tag make an empty text of it. */
static void
refuses_an_empty_text_as_the_root(void **state)
{
    (void)state;
    assert_refuses("''", FAILURE_YAML);
    assert_refuses("\"\"", FAILURE_YAML);
    assert_refuses("|", FAILURE_YAML);
    assert_refuses("--- >\n", FAILURE_YAML);
    assert_refuses("!!str", FAILURE_YAML);
}

/* --- bad -------------------------------------------------------------------------- */

static void
refuses_what_is_not_yaml(void **state)
{
    const char *const texts[] = {
        "a: 1\n\tb: 2\n", "a:\n\t- b\n",
        "a: [1, 2\n",     "a: {b: 1\n",
        "a: 'open\n",     "a: b: c\n",
        "a: 1\n b: 2\n",  "- a\nb: 1\n",
        "a: @b\n",        "a: `b`\n",
        "a: \"\\q\"\n",   "a: \x01\n",
        "a: \xff\xfe\n",  "%YAML 2.0\n---\na: 1\n",
        "a: %b\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_refuses(texts[i], FAILURE_YAML);
}

static void
refuses_another_root(void **state)
{
    struct failure *failure = NULL;

    (void)state;
    assert_refuses("- a\n", FAILURE_YAML);
    assert_refuses("just text\n", FAILURE_YAML);
    assert_int_equal(read_text("- a: 1\n", YAML_ONE_SEQUENCE, &failure), 0);
    assert_int_equal(read_text("a: 1\n", YAML_ONE_SEQUENCE, &failure), -1);
    assert_failure(&failure, FAILURE_YAML);
}

static void
refuses_tags_other_than_text_and_bytes(void **state)
{
    (void)state;
    assert_refuses("a: !vault x\n", FAILURE_YAML);
    assert_refuses("a: !<tag:example.org,2026:x> [1]\n", FAILURE_YAML);
    assert_refuses("a: !Ref {b: 1}\n", FAILURE_YAML);
    assert_refuses("a: !!python/object:os.system {}\n", FAILURE_YAML);
    assert_refuses("a: !!foo 1\n", FAILURE_YAML);
    assert_refuses("a: !!int 1\n", FAILURE_YAML);
    assert_refuses("a: !!seq [1]\n", FAILURE_YAML);
    assert_refuses("a: ! [1]\n", FAILURE_YAML);
    assert_refuses("a: !!str [1]\n", FAILURE_YAML);
    assert_refuses("a: !!binary x\n", FAILURE_YAML);
    assert_refuses("a: !!binary \"c2Vl\\0\"\n", FAILURE_YAML);
    assert_refuses("!x a: 1\n", FAILURE_YAML);
}

static void
refuses_a_second_document(void **state)
{
    (void)state;
    assert_refuses("a: 1\n---\nb: 2\n", FAILURE_YAML);
    assert_refuses("---\n---\n", FAILURE_YAML);
}

static void
refuses_to_merge_what_is_no_mapping(void **state)
{
    (void)state;
    assert_refuses("<<: 1\n", FAILURE_YAML);
    assert_refuses("a: &x 1\n<<: *x\n", FAILURE_YAML);
    assert_refuses("<<: [1]\n", FAILURE_YAML);
    assert_refuses("<<: [{a: 1}, [b]]\n", FAILURE_YAML);
    assert_refuses("a: &x [{b: 1}, c]\n<<: *x\n", FAILURE_YAML);
    assert_refuses("a: &x {b: 1}\nc: &y [*x, 1]\n<<: [*x, *y]\n", FAILURE_YAML);
    assert_refuses("<<:\n  - a: 1\n  - b\n", FAILURE_YAML);
    assert_takes("<<: []\n<<: {}\na: [1]\n'<<': 1\n!!str <<: 1\n");
    assert_takes("a: &x {b: 1}\n<<: *x\n? &y d\n: 1\n? *y\n: 2\n");
}

static void
refuses_what_the_guest_reads_otherwise(void **state)
{
    (void)state;
    assert_refuses("a: [http://example.org/?b=c]\n", FAILURE_YAML);
    assert_refuses("{a: b?c}\n", FAILURE_YAML);
}

/* PyYAML since 5.1 takes it for a key's. */
static void
refuses_a_colon_before_a_bracket_with_a_hint(void **state)
{
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    assert_int_equal(read_text("{a: 1,\n b:[x]}", YAML_ONE_MAPPING, &failure), -1);
    assert_int_equal(failure->code, FAILURE_YAML);
    assert_non_null(strstr(failure->message, "line 2"));
    assert_string_equal(failure->hint, "write a space after the ':'");
}

static void
refuses_a_collection_as_a_key(void **state)
{
    (void)state;
    assert_refuses("a: &x [1]\n? *x\n: 1\n", FAILURE_YAML);
    assert_refuses("a: &x {b: 1}\n*x : 1\n", FAILURE_YAML);
    assert_refuses("[a, b]: 1\n", FAILURE_YAML);
    assert_refuses("? {a: 1}\n: 2\n", FAILURE_YAML);
    assert_refuses("a:\n  ? - b\n  : 1\n", FAILURE_YAML);
}

static void
refuses_an_alias_without_its_anchor(void **state)
{
    (void)state;
    assert_refuses("a: *x\n", FAILURE_YAML);
    assert_refuses("a: *x\nb: &x 1\n", FAILURE_YAML);
}

static void
refuses_what_contains_itself(void **state)
{
    (void)state;
    assert_refuses("a: &x [*x]\n", FAILURE_YAML);
    assert_refuses("&x a: {b: *x}\nc: &y {d: [*y]}\n", FAILURE_YAML);
    assert_refuses("a: &x {<<: *x, b: 1}\n", FAILURE_YAML);
}

static void
says_the_line_and_nothing_of_the_content(void **state)
{
    const char *text = "a: 1\nb: 2\npassword: [hunter2\n";
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    assert_int_equal(read_text(text, YAML_ONE_MAPPING, &failure), -1);
    assert_non_null(strstr(failure->message, "line "));
    assert_null(strstr(failure->message, "hunter2"));
    failure_free(steal(failure));
    assert_int_equal(read_text("a: 1\nb: !hunter2 x\n", YAML_ONE_MAPPING, &failure), -1);
    assert_non_null(strstr(failure->message, "line 2"));
    assert_null(strstr(failure->message, "hunter2"));
}

/* --- limits ----------------------------------------------------------------------- */

/* Return: `before`, `count` times `text`, and `after`. */
static struct buffer
repeat(const char *before, const char *text, unsigned long count, const char *after)
{
    struct buffer buffer = {0};

    buffer_append_string(&buffer, before);
    for (unsigned long i = 0; i < count; i++)
        buffer_append_string(&buffer, text);
    buffer_append_string(&buffer, after);
    return buffer;
}

static void
knows_its_limits(void **state)
{
    cleanup_buffer struct buffer level = repeat("", "{a: ", LIMIT_YAML_DEPTH, "1");
    cleanup_buffer struct buffer aliases =
        repeat("a: &x 1\nb: [", "*x, ", LIMIT_YAML_ALIASES, "1]\n");
    cleanup_buffer struct buffer deeper = {0};
    cleanup_buffer struct buffer more = {0};
    cleanup_buffer struct buffer nodes = {0};
    cleanup_buffer struct buffer directives = {0};

    (void)state;
    deeper = repeat("{a: ", level.data, 1, "");
    for (int i = 0; i < LIMIT_YAML_DEPTH; i++) {
        buffer_append_string(&level, "}");
        buffer_append_string(&deeper, "}");
    }
    buffer_append_string(&deeper, "}");
    assert_takes(level.data);
    assert_refuses(deeper.data, FAILURE_LIMIT);

    more = repeat("a: &x 1\nb: [*x, ", "*x, ", LIMIT_YAML_ALIASES, "1]\n");
    assert_takes(aliases.data);
    assert_refuses(more.data, FAILURE_LIMIT);

    nodes = repeat("a: [", "1,", LIMIT_YAML_NODES, "]");
    assert_refuses(nodes.data, FAILURE_LIMIT);

    directives = repeat("", "%TAG !a! tag:a\n", LIMIT_YAML_DIRECTIVES + 1, "---\na: 1\n");
    assert_refuses(directives.data, FAILURE_LIMIT);
}

/* libyaml looks through all brackets that are open for each one that opens. */
static void
ends_soon_though_brackets_never_close(void **state)
{
    const char *const texts[] = {"[", "{", "[{", "- ", "? ", "a: [", "!!seq [", "&a ["};
    const clock_t begin = clock();

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        cleanup_buffer struct buffer tab = repeat("# a\n\t", texts[i], 64 * KIB, "");
        cleanup_buffer struct buffer later =
            repeat("a: \"\t\"\nb: ", texts[i], 64 * KIB, "\t");
        struct failure *failure = NULL;

        assert_int_equal(read_text(tab.data, YAML_ONE_MAPPING, &failure), -1);
        failure_free(steal(failure));
        assert_int_equal(read_text(later.data, YAML_ONE_MAPPING, &failure), -1);
        failure_free(failure);
    }
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
}

/* --- values by their keys --------------------------------------------------------- */

static void
assert_answer(const char *text, const char *first, const char *second,
              const char *expected)
{
    struct failure *failure = NULL;
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *node;

    yaml_read(&yaml, text, strlen(text), YAML_ONE_MAPPING, &failure);
    assert_no_failure(failure);
    node = yaml_get(yaml.root, first);
    if (second)
        node = yaml_get(node, second);
    if (expected)
        assert_string_equal(node->text, expected);
    else
        assert_true(!node || node->kind != YAML_SCALAR);
}

static void
finds_values_by_their_keys(void **state)
{
    (void)state;
    assert_answer("version: 2\n", "version", NULL, "2");
    assert_answer("version: '2'\n", "version", NULL, "2");
    assert_answer("a: {version: 1}\nversion: 2\n", "version", NULL, "2");
    assert_answer("network:\n  version: 2\n", "network", "version", "2");
    assert_answer("network:\n  ethernets: {a: {version: 3}}\n", "network", "version",
                  NULL);
    assert_answer("network: [version, 2]\n", "network", "version", NULL);
    assert_answer("version: {a: 2}\n", "version", NULL, NULL);
    assert_answer("x: version\n", "version", NULL, NULL);
    assert_answer("a: [b]\nversion: 2\n", "version", NULL, "2");
    assert_answer("a: &x b\n? *x\n: c\nversion: 2\n", "version", NULL, "2");
    /* As in Python, the last one counts. */
    assert_answer("version: 1\nversion: 2\n", "version", NULL, "2");
    assert_answer("", "version", NULL, NULL);
    assert_answer("a: &x {version: 1}\n<<: *x\n", "version", NULL, "1");
    assert_answer("version: 2\n<<: {version: 1}\n", "version", NULL, "2");
    assert_answer("<<: [{a: 1}, {version: 2}, {version: 3}]\n", "version", NULL, "2");
    assert_answer("network: {<<: {version: 2}}\n", "network", "version", "2");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_safe_load_takes),
        cmocka_unit_test(takes_nothing_at_all),
        cmocka_unit_test(knows_what_is_empty),
        cmocka_unit_test(refuses_an_empty_text_as_the_root),
        cmocka_unit_test(refuses_to_merge_what_is_no_mapping),
        cmocka_unit_test(refuses_what_is_not_yaml),
        cmocka_unit_test(refuses_another_root),
        cmocka_unit_test(refuses_tags_other_than_text_and_bytes),
        cmocka_unit_test(refuses_a_second_document),
        cmocka_unit_test(refuses_what_the_guest_reads_otherwise),
        cmocka_unit_test(refuses_a_colon_before_a_bracket_with_a_hint),
        cmocka_unit_test(refuses_a_collection_as_a_key),
        cmocka_unit_test(refuses_an_alias_without_its_anchor),
        cmocka_unit_test(refuses_what_contains_itself),
        cmocka_unit_test(says_the_line_and_nothing_of_the_content),
        cmocka_unit_test(knows_its_limits),
        cmocka_unit_test(ends_soon_though_brackets_never_close),
        cmocka_unit_test(finds_values_by_their_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
