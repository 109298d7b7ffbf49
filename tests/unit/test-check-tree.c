/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A document as a tree, and what its scalars are: check/tree.h. */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "check/tree.h"
#include "unit.h"

static bool
load(struct tree *tree, const char *text)
{
    cleanup_buffer struct buffer data = {0};

    buffer_append_string(&data, text);
    return tree_load(tree, &data);
}

/* What PyYAML 6 makes of it, and whether str() gives back what was written. */
static const struct {
    const char *text;
    enum scalar scalar;
    bool as_written;
} scalars[] = {
    {"abc", SCALAR_TEXT, true},
    {"\"010\"", SCALAR_TEXT, true},
    {"'yes'", SCALAR_TEXT, true},
    {"!!str 010", SCALAR_TEXT, true},
    {"08", SCALAR_TEXT, true},
    {"1e3", SCALAR_TEXT, true},
    {"0o17", SCALAR_TEXT, true},
    {"12:60", SCALAR_TEXT, true},
    {"52:54:00:ab:cd:ef", SCALAR_TEXT, true},
    {"y", SCALAR_TEXT, true},
    {"~", SCALAR_NULL, false},
    {"Null", SCALAR_NULL, false},
    {"", SCALAR_NULL, false},
    {"yes", SCALAR_BOOLEAN, false},
    {"Off", SCALAR_BOOLEAN, false},
    {"true", SCALAR_BOOLEAN, false},
    {"True", SCALAR_BOOLEAN, true},
    {"5", SCALAR_INTEGER, true},
    {"-5", SCALAR_INTEGER, true},
    {"0", SCALAR_INTEGER, true},
    {"99999999999999999999", SCALAR_INTEGER, true},
    {"+5", SCALAR_INTEGER, false},
    {"-0", SCALAR_INTEGER, false},
    {"010", SCALAR_INTEGER, false},
    {"0x1F", SCALAR_INTEGER, false},
    {"1_000", SCALAR_INTEGER, false},
    {"52:54:00:12:34:56", SCALAR_INTEGER, false},
    {"1.5", SCALAR_FLOAT, true},
    {"100.0", SCALAR_FLOAT, true},
    {"1.50", SCALAR_FLOAT, false},
    {"01.5", SCALAR_FLOAT, false},
    {".5", SCALAR_FLOAT, false},
    {"5.", SCALAR_FLOAT, false},
    {"1.0e+3", SCALAR_FLOAT, false},
    {"2026-01-01", SCALAR_DATE, true},
};

static void
knows_what_pyyaml_makes_of_a_scalar(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
        cleanup_free char *text = xasprintf("a: %s\n", scalars[i].text);
        cleanup_tree struct tree tree = {0};
        const yaml_node_t *node;

        assert_true(load(&tree, text));
        node = tree_get(&tree, tree_root(&tree), "a");
        if (tree_scalar(node) != scalars[i].scalar ||
            tree_is_as_written(node) != scalars[i].as_written)
            print_error("of '%s'\n", scalars[i].text);
        assert_int_equal(tree_scalar(node), scalars[i].scalar);
        assert_int_equal(tree_is_as_written(node), scalars[i].as_written);
    }
}

static void
count(void *data, const struct tree_place *place, const yaml_node_t *node)
{
    unsigned long *nodes = data;

    (void)place, (void)node;
    ++*nodes;
}

static void
a_walk_has_an_end_though_the_tree_has_none(void **state)
{
    const char *const texts[] = {
        "a: &a [*a]\n",
        "a: &a [*a, *a]\n",
        "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
        "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
        "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n"
        "d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\n"
        "e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\n"
        "f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]\n"
        "g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f, *f]\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cleanup_tree struct tree tree = {0};
        unsigned long nodes = 0;

        assert_true(load(&tree, texts[i]));
        tree_walk(&tree, tree_root(&tree), count, &nodes);
        assert_true(nodes >= 1 && nodes <= LIMIT_YAML_EVENTS);
    }
}

static void
what_is_empty_or_broken_is_no_tree(void **state)
{
    struct tree tree;

    (void)state;
    assert_false(load(&tree, "# a comment\n"));
    assert_false(load(&tree, "a: [\n"));
    assert_false(load(&tree, "a: *b\n"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_pyyaml_makes_of_a_scalar),
        cmocka_unit_test(a_walk_has_an_end_though_the_tree_has_none),
        cmocka_unit_test(what_is_empty_or_broken_is_no_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
