/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The little of libxml2 that reading and wiring need: domain/xml.h. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/xml.h"
#include "unit.h"

/* --- documents --------------------------------------------------------------------- */

static void
assert_refused(const char *text, enum failure_code code)
{
    struct failure *failure = NULL;

    assert_null(xml_parse(text, text ? strlen(text) : 0, "test", &failure));
    assert_failure(&failure, code);
}

static void
refuses_what_is_empty(void **state)
{
    (void)state;
    assert_refused(NULL, FAILURE_XML);
    assert_refused("", FAILURE_XML);
    assert_refused(" \n\t\r\n", FAILURE_XML);
}

static void
refuses_what_is_not_well_formed(void **state)
{
    const char *const texts[] = {
        "domain",           "<domain>",      "<domain></other>",
        "<a/><b/>",         "<a>&none;</a>", "<a b=1/>",
        "<a b='1' b='2'/>", "<a>\xff</a>",   "<!-- only a comment -->",
        "<a/>more"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_refused(texts[i], FAILURE_XML);
}

static void
says_in_which_line_it_is_not_well_formed(void **state)
{
    const char *text = "<domain>\n<name>x</name>\n<uuid></domain>\n";
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    assert_null(xml_parse(text, strlen(text), "web1.xml", &failure));
    assert_int_equal(failure->line, 3);
    assert_non_null(strstr(failure->message, "web1.xml"));
    assert_non_null(strstr(failure->message, "line 3"));
    assert_null(strchr(failure->message, '\n'));
}

static void
refuses_document_types_and_their_entities(void **state)
{
    (void)state;
    assert_refused("<!DOCTYPE domain><domain/>", FAILURE_XML);
    assert_refused("<!DOCTYPE d [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><d>&e;</d>",
                   FAILURE_XML);
    assert_refused("<!DOCTYPE d [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]><d>&b;</d>",
                   FAILURE_XML);
}

static void
refuses_what_is_too_large_or_too_deep(void **state)
{
    cleanup_buffer struct buffer deep = {0};
    cleanup_free char *large = xcalloc(1, LIMIT_DOMAIN_XML + 2);

    (void)state;
    memset(large, ' ', LIMIT_DOMAIN_XML + 1);
    assert_refused(large, FAILURE_LIMIT);
    for (int i = 0; i < 10000; i++)
        buffer_append_string(&deep, "<a>");
    for (int i = 0; i < 10000; i++)
        buffer_append_string(&deep, "</a>");
    assert_refused(deep.data, FAILURE_XML);
}

/* --- text --------------------------------------------------------------------------- */

static void
assert_formats(const xmlDoc *doc, const char *expected)
{
    cleanup_free char *text = xml_format(doc);

    assert_string_equal(text, expected);
}

struct form {
    const char *text;
    const char *formatted; /* NULL: as `text` */
};

static void
assert_forms(const struct form *forms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleanup_xml xmlDoc *doc = unit_parse(forms[i].text);

        assert_formats(doc, forms[i].formatted ? forms[i].formatted : forms[i].text);
    }
}

static void
writes_what_virsh_dumpxml_printed_as_it_was(void **state)
{
    static const struct form forms[] = {
        {"<domain type='kvm'/>", NULL},
        {"<domain>\n  <name>a</name>\n</domain>\n\n", NULL},
        {"<domain type='kvm' xmlns:q='urn:q'>\n  <q:arg value='a&apos;b&quot;'/>\n"
         "</domain>\n",
         NULL},
        {"<d>&apos;\xc3\xa4&quot; &lt;&amp;&gt;\ttwo\nlines </d>\n", NULL},
        {"<d>\n  <metadata>\n    <a:b xmlns:a=\"urn:a\" c=\"'&quot;&lt;&#10;\">'\"&gt;"
         "</a:b>\n    <c xmlns=\"urn:c\"/>\n  </metadata>\n  <e f='1'/>\n</d>\n",
         NULL},
        {"<d><metadata><![CDATA[#!/bin/sh\necho '<&>'\n]]></metadata></d>\n", NULL},
    };

    (void)state;
    assert_forms(forms, ARRAY_SIZE(forms));
}

static void
writes_other_documents_in_that_form(void **state)
{
    static const struct form forms[] = {
        {"<d  a = \"1\"\r\n\tb=\"it's\" ></d >\r\n", "<d a='1' b='it&apos;s'/>\n"},
        {"<d xmlns=\"urn:d\" xmlns:e=\"urn:e\" e:a=\"1\"/>",
         "<d e:a='1' xmlns='urn:d' xmlns:e='urn:e'/>"},
        {"<d><metadata><m e:a='1' xmlns:e='urn:e'/></metadata></d>",
         "<d><metadata><m xmlns:e=\"urn:e\" e:a=\"1\"/></metadata></d>"},
        {"\xef\xbb\xbf<d>&#xe4;&#38;</d>", "<d>\xc3\xa4&amp;</d>"},
        {"<d><metadata/><e><metadata a=\"1\"/></e></d>",
         "<d><metadata/><e><metadata a='1'/></e></d>"},
    };

    (void)state;
    assert_forms(forms, ARRAY_SIZE(forms));
}

static void
keeps_characters_that_reading_would_change(void **state)
{
    static const struct form forms[] = {
        {"<d a='&#9;&#10;&#13;'>&#13;\n</d>\n", NULL},
        {"<d><metadata a=\"&#9;&#10;&#13;\">&#13;\n</metadata></d>\n", NULL},
        {"<d xml:space='preserve'> <a> x <b/> y\n</a> </d>\n", NULL},
        {"<d><![CDATA[a]]]]><![CDATA[>b]]></d>\n", NULL},
        {"<d>&lt;![CDATA[x]]&gt; &amp;amp;</d>\n", NULL},
    };

    (void)state;
    assert_forms(forms, ARRAY_SIZE(forms));
}

static void
keeps_comments_instructions_and_a_declaration(void **state)
{
    static const struct form forms[] = {
        {"<!-- a\n b --><?pi?>\n\n<d><!-- 'in' --><?pi x='&'?></d><!-- end -->",
         "<!-- a\n b -->\n<?pi?>\n<d><!-- 'in' --><?pi x='&'?></d>\n<!-- end -->"},
        {"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<d/>\n", NULL},
        {"<?xml version='1.0' standalone='yes'?><d/>\n",
         "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<d/>\n"},
        {"<?xml version='1.0' encoding='ISO-8859-1'?>\n<a>\xe4</a>\n",
         "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a>\xc3\xa4</a>\n"},
    };

    (void)state;
    assert_forms(forms, ARRAY_SIZE(forms));
}

static void
formats_what_libvirt_reads_in_the_same_lines(void **state)
{
    static const struct form forms[] = {
        {"<d>\n  <e f='1'/>\n</d>\n", "<d>\n  <e f='1'/>\n</d>"},
        {"<?xml version='1.0'?>\n<!-- a -->\n<d><?pi?></d>", "\n\n<d></d>"},
        {"<d><!-- a\n --><e f=\"1\"\n g='2'/><h/></d>",
         "<d>\n\n<e f='1' g='2'/><h/></d>"},
        {"<d><e>a<![CDATA['<b>']]><!-- -->&#13;c</e></d>",
         "<d><e>a&apos;&lt;b&gt;&apos;\rc</e></d>"},
        {"<d e='&#9;&#10;&quot;&apos;'/>", "<d e='\t\n&quot;&apos;'/>"},
        {"<d>a<e/>\n<![CDATA[b]]></d>", "<d><e/>\n</d>"},
        {"<d><metadata><!-- --><a b='1'><![CDATA[<]]></a></metadata></d>",
         "<d><metadata><!-- --><a b=\"1\"><![CDATA[<]]></a></metadata></d>"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        cleanup_xml xmlDoc *doc = unit_parse(forms[i].text);
        cleanup_buffer struct buffer text =
            xml_format_as_libvirt(xmlDocGetRootElement(doc));

        unit_assert_content(&text, forms[i].formatted);
    }
}

static void
keeps_the_name_of_a_namespace(void **state)
{
    cleanup_xml xmlDoc *doc =
        unit_parse("<d xmlns:a='urn:a?b=1&amp;&lt;&quot;c&apos;=2'/>");
    cleanup_free char *text = xml_format(doc);
    cleanup_xml xmlDoc *again = unit_parse(text);

    (void)state;
    assert_string_equal((const char *)xmlDocGetRootElement(again)->nsDef->href,
                        (const char *)xmlDocGetRootElement(doc)->nsDef->href);
}

/* --- looking around ---------------------------------------------------------------- */

static void
finds_elements_without_a_namespace(void **state)
{
    cleanup_xml xmlDoc *doc =
        unit_parse("<d xmlns:q='urn:q'><q:a/>text<a n='1'/><b/><a n='2'><c/></a></d>");
    const xmlNode *root = xmlDocGetRootElement(doc);
    const xmlNode *first = xml_child(root, "a");

    (void)state;
    assert_true(xml_attribute_is(first, "n", "1"));
    assert_true(xml_attribute_is(xml_next(first, "a"), "n", "2"));
    assert_null(xml_next(xml_next(first, "a"), "a"));
    assert_null(xml_child(root, "c"));
    assert_null(xml_child(NULL, "a"));
    assert_non_null(xml_child(root, "b"));
    assert_null(xml_child(xml_child(root, "a"), "c"));
    assert_string_equal((const char *)xml_first_element(root)->ns->href, "urn:q");
}

static void
reads_attributes_without_a_namespace(void **state)
{
    cleanup_xml xmlDoc *doc = unit_parse("<d xmlns:q='urn:q' q:a='1' b='2' empty=''/>");
    const xmlNode *root = xmlDocGetRootElement(doc);
    cleanup_free char *empty = xml_attribute(root, "empty");

    (void)state;
    assert_null(xml_attribute(root, "a"));
    assert_true(xml_attribute_is(root, "b", "2"));
    assert_false(xml_attribute_is(root, "b", "3"));
    assert_false(xml_attribute_is(root, "c", ""));
    assert_string_equal(empty, "");
}

static void
lends_a_text_that_is_in_one_piece(void **state)
{
    cleanup_xml xmlDoc *doc =
        unit_parse("<r><a>x &amp; y</a><a><![CDATA[<z>]]></a><a/>"
                   "<a>x<b/></a><a>x<!-- y --></a><a><b>x</b></a></r>");
    const char *const expected[] = {"x & y", "<z>", NULL, NULL, NULL, NULL};
    const xmlNode *node = xml_child(xmlDocGetRootElement(doc), "a");

    (void)state;
    for (size_t i = 0; i < 6; i++, node = xml_next(node, "a")) {
        const char *text = xml_single_text(node);

        if (expected[i])
            assert_string_equal(text, expected[i]);
        else
            assert_null(text);
    }
}

static void
reads_decimal_numbers_alone(void **state)
{
    cleanup_xml xmlDoc *doc =
        unit_parse("<d a='12' b='012' c='' d='-1' e=' 1' f='1x' g='0x1' "
                   "h='99999999999999999999' i='13'/>");
    const xmlNode *root = xmlDocGetRootElement(doc);

    (void)state;
    assert_int_equal(xml_attribute_number(root, "a", 12), 12);
    assert_int_equal(xml_attribute_number(root, "b", 12), 12);
    for (const char *name = "c\0d\0e\0f\0g\0h\0i\0j\0"; *name; name += 2)
        assert_int_equal(xml_attribute_number(root, name, 12), -1);
}

/* --- changing ---------------------------------------------------------------------- */

static void
indents_what_it_adds_as_its_neighbours(void **state)
{
    cleanup_xml xmlDoc *doc = unit_parse("<d>\n   <a/>\n   <b/>\n</d>");
    xmlNode *root = xmlDocGetRootElement(doc);

    (void)state;
    xml_add_after(xml_child(root, "a"), "after");
    xml_add_child(xml_add_child(root, "last"), "child");
    assert_formats(doc, "<d>\n   <a/>\n   <after/>\n   <b/>\n   <last>\n     <child/>\n"
                        "   </last>\n</d>");
}

static void
adds_no_white_space_where_there_was_none(void **state)
{
    cleanup_xml xmlDoc *doc = unit_parse("<d><a/></d>");
    xmlNode *root = xmlDocGetRootElement(doc);

    (void)state;
    xml_add_child(xml_add_after(xml_child(root, "a"), "b"), "c");
    assert_formats(doc, "<d><a/><b><c/></b></d>");
}

static void
removes_what_it_has_added(void **state)
{
    const char *const texts[] = {
        "<d>\n  <a/>\n</d>\n", "<d>\n\n\t<!-- x --><a/></d>\n", "<d><a/></d>\n",
        "<d>\n  <!-- only a comment -->\n</d>\n", "<d>text<a/>text</d>\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        cleanup_xml xmlDoc *doc = unit_parse(texts[i]);
        xmlNode *root = xmlDocGetRootElement(doc);

        xml_remove(xml_add_child(root, "added"));
        if (xml_child(root, "a"))
            xml_remove(xml_add_after(xml_child(root, "a"), "added"));
        assert_formats(doc, texts[i]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_empty),
        cmocka_unit_test(refuses_what_is_not_well_formed),
        cmocka_unit_test(says_in_which_line_it_is_not_well_formed),
        cmocka_unit_test(refuses_document_types_and_their_entities),
        cmocka_unit_test(refuses_what_is_too_large_or_too_deep),
        cmocka_unit_test(writes_what_virsh_dumpxml_printed_as_it_was),
        cmocka_unit_test(writes_other_documents_in_that_form),
        cmocka_unit_test(keeps_characters_that_reading_would_change),
        cmocka_unit_test(keeps_comments_instructions_and_a_declaration),
        cmocka_unit_test(formats_what_libvirt_reads_in_the_same_lines),
        cmocka_unit_test(keeps_the_name_of_a_namespace),
        cmocka_unit_test(finds_elements_without_a_namespace),
        cmocka_unit_test(reads_attributes_without_a_namespace),
        cmocka_unit_test(lends_a_text_that_is_in_one_piece),
        cmocka_unit_test(reads_decimal_numbers_alone),
        cmocka_unit_test(indents_what_it_adds_as_its_neighbours),
        cmocka_unit_test(adds_no_white_space_where_there_was_none),
        cmocka_unit_test(removes_what_it_has_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
