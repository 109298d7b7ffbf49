/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One document that the request brings along: domain/part.h. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/part.h"
#include "domain/xml.h"
#include "unit.h"

/* A part and the element that it was read from. */
struct read_part {
    xmlDoc *doc;
    struct parts parts;
    struct part *part;
};

static void
read_part_clear(struct read_part *read)
{
    parts_clear(&read->parts);
    xmlFreeDoc(read->doc);
}

#define cleanup_read_part __attribute__((cleanup(read_part_clear)))

static int
read_element(struct read_part *read, const char *element, struct failure **failure)
{
    read->doc = unit_parse(element);
    read->part = parts_add(&read->parts, PART_USER_DATA, xmlDocGetRootElement(read->doc),
                           false, failure);
    return read->part ? 0 : -1;
}

static void
assert_refused(const char *element, enum failure_code code)
{
    cleanup_read_part struct read_part read = {0};
    struct failure *failure = NULL;

    assert_int_equal(read_element(&read, element, &failure), -1);
    assert_failure(&failure, code);
}

static void
assert_reads(const char *element, const char *expected)
{
    cleanup_read_part struct read_part read = {0};
    struct failure *failure = NULL;

    read_element(&read, element, &failure);
    assert_no_failure(failure);
    assert_int_equal(read.part->origin, PART_INLINE);
    unit_assert_content(&read.part->data, expected);
}

/* --- text ------------------------------------------------------------------------- */

static void
takes_text_as_it_stands(void **state)
{
    (void)state;
    assert_reads("<p>#cloud-config\na: 1\n</p>", "#cloud-config\na: 1\n");
    assert_reads("<p>#cloud-config</p>", "#cloud-config");
    assert_reads("<p>  indented\n\n  b\n\n</p>", "  indented\n\n  b\n\n");
    assert_reads("<p><![CDATA[#!/bin/sh\ntest 1 -lt 2 && echo '<a>'\n]]></p>",
                 "#!/bin/sh\ntest 1 -lt 2 && echo '<a>'\n");
    assert_reads("<p>a &lt; &#xe4;<!-- not this -->\n</p>", "a < \xc3\xa4\n");
}

/* What editors of XML add, and nothing else. */
static void
leaves_out_the_white_space_around_the_text(void **state)
{
    (void)state;
    assert_reads("<p>\n#cloud-config\na: 1\n      </p>", "#cloud-config\na: 1\n");
    assert_reads("<p>  \n\t\n\n#cloud-config\n</p>", "#cloud-config\n");
    assert_reads("<p>\n  indented\n  </p>", "  indented\n");
    assert_reads("<p>a  </p>", "a  ");
    assert_reads("<p>a\n\n  </p>", "a\n\n");
    assert_reads("<p>\r\na\r\n</p>", "a\n");
}

static void
takes_an_empty_element_for_no_text(void **state)
{
    (void)state;
    assert_reads("<p/>", "");
    assert_reads("<p></p>", "");
    assert_reads("<p>\n   </p>", "");
    assert_reads("<p>   </p>", "");
}

/* --- base64 ----------------------------------------------------------------------- */

static void
decodes_base64(void **state)
{
    (void)state;
    assert_reads("<p encoding='base64'>c2VlZA==</p>", "seed");
    assert_reads("<p encoding='base64'>\n   c2Vl\n\t ZA==\n  </p>", "seed");
    assert_reads("<p encoding='base64'>ICBhCiAg</p>", "  a\n  ");
    assert_reads("<p encoding='base64'/>", "");
}

static void
decodes_every_byte(void **state)
{
    cleanup_read_part struct read_part read = {0};
    struct failure *failure = NULL;

    (void)state;
    read_element(&read, "<p encoding='base64'>AP8KAA==</p>", &failure);
    assert_no_failure(failure);
    assert_int_equal(read.part->data.size, 4);
    assert_memory_equal(read.part->data.data, "\0\xff\n\0", 5);
}

static void
refuses_base64_that_is_none(void **state)
{
    const char *const texts[] = {"#cloud-config", "c2VlZA",   "c2VlZA=", "c2VlZA===",
                                 "c2VlZ",         "c2=lZA==", "====",    "\xc3\xa4"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        cleanup_free char *element = xasprintf("<p encoding='base64'>%s</p>", texts[i]);

        assert_refused(element, FAILURE_BASE64);
    }
}

static void
refuses_another_encoding(void **state)
{
    (void)state;
    assert_refused("<p encoding='gzip'>x</p>", FAILURE_REQUEST);
    assert_refused("<p encoding=''>x</p>", FAILURE_REQUEST);
}

static void
refuses_more_than_the_limit(void **state)
{
    cleanup_buffer struct buffer element = {0};

    (void)state;
    buffer_append_string(&element, "<p>");
    memset(buffer_reserve(&element, LIMIT_PART + 1), 'x', LIMIT_PART + 1);
    element.size += LIMIT_PART + 1;
    buffer_append_string(&element, "</p>");
    assert_refused(element.data, FAILURE_LIMIT);
}

/* --- references ------------------------------------------------------------------- */

static void
notes_files_and_secrets(void **state)
{
    cleanup_read_part struct read_part file = {0};
    cleanup_read_part struct read_part secret = {0};
    cleanup_read_part struct read_part key = {0};
    struct failure *failure = NULL;

    (void)state;
    read_element(&file, "<p file='site/base.yaml'/>", &failure);
    assert_int_equal(file.part->origin, PART_FILE);
    assert_string_equal(file.part->name, "site/base.yaml");
    read_element(&secret, "<p secret='web1'>\n  </p>", &failure);
    assert_int_equal(secret.part->origin, PART_SECRET);
    assert_string_equal(secret.part->name, "web1");
    assert_null(secret.part->key);
    read_element(&key, "<p secret='web1' key='k'/>", &failure);
    assert_string_equal(key.part->key, "k");
    assert_int_equal(key.part->data.size, 0);
    assert_no_failure(failure);
}

static void
refuses_references_that_contradict_each_other(void **state)
{
    (void)state;
    assert_refused("<p file='a'>text</p>", FAILURE_REQUEST);
    assert_refused("<p secret='a'>text</p>", FAILURE_REQUEST);
    assert_refused("<p file='a' secret='b'/>", FAILURE_REQUEST);
    assert_refused("<p file='a' key='b'/>", FAILURE_REQUEST);
    assert_refused("<p key='b'/>", FAILURE_REQUEST);
    assert_refused("<p key='b'>text</p>", FAILURE_REQUEST);
    assert_refused("<p file='a' encoding='base64'/>", FAILURE_REQUEST);
    assert_refused("<p secret='a' encoding='base64'/>", FAILURE_REQUEST);
}

static void
says_the_line_of_the_element(void **state)
{
    cleanup_read_part struct read_part read = {0};
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    read_element(&read, "<!-- 1\n2 -->\n<p key='b'/>", &failure);
    assert_int_equal(failure->line, 3);
    assert_non_null(strstr(failure->message, "<p>"));
}

static void
describes_itself_in_messages(void **state)
{
    const struct {
        struct part part;
        const char *expected;
    } cases[] = {
        {{.element = (char *)"user-data", .origin = PART_INLINE}, "<user-data>"},
        {{.element = (char *)"vendor-data", .origin = PART_FILE, .name = (char *)"a/b"},
         "<vendor-data file=\"a/b\">"},
        {{.element = (char *)"network-config",
          .origin = PART_SECRET,
          .name = (char *)"web1"},
         "<network-config secret=\"web1\">"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *description = part_describe(&cases[i].part);

        assert_string_equal(description, cases[i].expected);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_text_as_it_stands),
        cmocka_unit_test(leaves_out_the_white_space_around_the_text),
        cmocka_unit_test(takes_an_empty_element_for_no_text),
        cmocka_unit_test(decodes_base64),
        cmocka_unit_test(decodes_every_byte),
        cmocka_unit_test(refuses_base64_that_is_none),
        cmocka_unit_test(refuses_another_encoding),
        cmocka_unit_test(refuses_more_than_the_limit),
        cmocka_unit_test(notes_files_and_secrets),
        cmocka_unit_test(refuses_references_that_contradict_each_other),
        cmocka_unit_test(says_the_line_of_the_element),
        cmocka_unit_test(describes_itself_in_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
