/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A domain's XML as libvirt writes it: host/domain-text.h. */
#include "config.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "domain-values.h"
#include "domain/xml.h"
#include "host/domain-text.h"
#include "unit.h"

#define HEAD "<domain type='kvm' id='1'>\n  <name>web1</name>\n"
#define UUID "  <uuid>" UNIT_UUID "</uuid>\n"
#define OTHER_UUID "<uuid>" UNIT_OTHER_UUID "</uuid>"

/* --- whose domain it is ------------------------------------------------------------- */

static int
identify(struct domain_identity *identity, const char *xml, struct failure **failure)
{
    cleanup_buffer struct buffer text = {0};

    buffer_append_string(&text, xml);
    return domain_identity_read(identity, &text, failure);
}

static void
reads_the_name_and_the_uuid(void **state)
{
    static const struct {
        const char *xml;
        const char *name;
    } cases[] = {
        {HEAD UUID "</domain>\n", "web1"},
        /* What follows does not matter. */
        {HEAD UUID, "web1"},
        {HEAD UUID "  <metadata>" OTHER_UUID "</metadata>\n</domain>", "web1"},
        {"<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>\n"
         "  <name>a &lt;b&gt; &amp;lt; &quot;&apos;/name</name>\n" UUID,
         "a <b> &lt; \"'/name"},
        {"<domain type='kvm'>\n  <name>&lt;/name&gt;\n  &lt;uuid&gt;" UNIT_OTHER_UUID
         "&lt;/uuid&gt;</name>\n" UUID,
         "</name>\n  <uuid>" UNIT_OTHER_UUID "</uuid>"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_domain_identity struct domain_identity identity = {0};
        cleanup_failure struct failure *failure = NULL;

        identify(&identity, cases[i].xml, &failure);
        assert_no_failure(failure);
        assert_string_equal(identity.name, cases[i].name);
        assert_string_equal(identity.uuid, UNIT_UUID);
    }
}

static void
takes_them_from_no_other_place(void **state)
{
    static const char *const cases[] = {
        "",
        "\n",
        UUID,
        HEAD,
        HEAD "</domain>\n",
        HEAD "  <title>" OTHER_UUID "</title>\n</domain>\n",
        HEAD "  <title>x</title>\n" UUID "</domain>\n",
        HEAD "  <sysinfo type='smbios'>\n    <system>\n      " OTHER_UUID,
        HEAD "  <metadata>\n    " OTHER_UUID "\n  </metadata>\n</domain>\n",
        HEAD "\n" UUID,
        HEAD " " UUID,
        HEAD "  <!-- -->\n" UUID,
        HEAD "  <uuid>4DEA22B3-1D52-D8F3-2516-782E98AB3FA0</uuid>\n",
        HEAD "  <uuid>" UNIT_UUID "0</uuid>\n",
        HEAD "  <uuid>" UNIT_UUID " </uuid>\n",
        HEAD "  <uuid>4dea22b3-1d52-d8f3-2516-782e98ab3fa</uuid>\n",
        HEAD "  <uuid/>\n",
        HEAD "  <uuid>" UNIT_UUID,
        "<domain type='kvm'>\n  <name></name>\n" UUID,
        "<domain type='kvm'>\n  <name/>\n" UUID,
        "<domain type='kvm'>\n  <name>a<b/></name>\n" UUID,
        "<domain type='kvm'>\n  <name><![CDATA[a]]></name>\n" UUID,
        "<domain type='kvm'>\n  <name>&#97;</name>\n" UUID,
        "<domain type='kvm'>\n" UUID "  <name>web1</name>\n",
        "<domain type='kvm'>\n  <title>\n  <name>web1</name>\n" UUID,
        "<domain type='kvm'/>\n  <name>web1</name>\n" UUID,
        "<domain type=\"kvm\">\n  <name>web1</name>\n" UUID,
        "<domain id='1'>\n  <name>web1</name>\n" UUID,
        "<domain type='>\n  <name>web1</name>\n" UUID,
        "<domain type='kvm'  <name>web1</name>\n" UUID,
        "<domains type='kvm'>\n  <name>web1</name>\n" UUID,
        "<?xml version='1.0'?>\n" HEAD UUID,
        "<!-- a comment -->\n" HEAD UUID,
        "\xef\xbb\xbf" HEAD UUID,
        " " HEAD UUID,
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_domain_identity struct domain_identity identity = {0};
        struct failure *failure = NULL;

        if (identify(&identity, cases[i], &failure) == 0)
            fail_msg("identified: %s", cases[i]);
        assert_null(identity.name);
        assert_failure(&failure, FAILURE_XML);
    }
}

/* --- the values in it ---------------------------------------------------------------- */

static int
read_content(struct domain_values *values, const char *content, struct failure **failure)
{
    cleanup_buffer struct buffer xml = {0};

    buffer_printf(&xml, "<domain>%s</domain>\n", content);
    return domain_values_read(values, &xml, failure);
}

/* Asserts that these are the values, one in a line. */
static void
assert_values(const char *content, const char *expected)
{
    cleanup_domain_values struct domain_values values = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_buffer struct buffer found = {0};

    read_content(&values, content, &failure);
    assert_no_failure(failure);
    for (size_t i = 0; i < values.count; i++)
        buffer_printf(&found, "%s\n", values.texts[i]);
    assert_string_equal(buffer_text(&found), expected);
}

static void
assert_refused(const char *content, const char *reason)
{
    cleanup_domain_values struct domain_values values = {0};
    struct failure *failure = NULL;

    if (read_content(&values, content, &failure) == 0)
        fail_msg("read: %s", content);
    if (!strstr(failure->message, reason))
        fail_msg("%s: %s", content, failure->message);
    assert_failure(&failure, FAILURE_XML);
}

static void
reads_values_with_their_elements(void **state)
{
    (void)state;
    assert_values("", "");
    assert_values("\n  <a b='1' c='&apos;&quot; x'/>\n", "domain a 1\ndomain a '\" x\n");
    assert_values("<a>/x</a><a></a><a> </a>", "domain a /x\ndomain a  \n");
    assert_values("<a>&lt;b c=&apos;/x&apos;/&gt;&amp;amp;</a>",
                  "domain a <b c='/x'/>&amp;\n");
    assert_values("<devices>\n  <disk type='file'>\n    <source file='/x'/>\n  </disk>\n"
                  "</devices>",
                  "devices disk file\ndisk source /x\n");
    assert_values("<q:a xmlns:q='http://x/y' b='1'><q:c q:d='2'>3</q:c></q:a>",
                  "domain q:a 1\nq:a q:c 2\nq:a q:c 3\n");
    /* libvirt writes them as they are. */
    assert_values("<a b='1\n\r\t2'>3\r\n4</a>", "domain a 1\n\r\t2\ndomain a 3\r\n4\n");
}

static void
names_the_device(void **state)
{
    static const char content[] =
        "<domain type='kvm'>\n<os><kernel>1</kernel></os>\n<devices>"
        "\n<disk><a><b c='2'/></a></disk></devices></domain>";
    static const struct {
        const char *text;
        const char *device;
        int line;
    } expected[] = {{"kvm", "domain", 1}, {"1", "os", 2}, {"2", "disk", 4}};
    cleanup_domain_text struct domain_text text = {0};
    cleanup_buffer struct buffer xml = {0};
    struct failure *failure = NULL;
    struct domain_value value;

    (void)state;
    buffer_append_string(&xml, content);
    assert_int_equal(domain_text_begin(&text, &xml, &failure), 0);
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        assert_int_equal(domain_text_next(&text, &value, &failure), 1);
        assert_string_equal(value.text, expected[i].text);
        assert_true(text_part_is(value.device, expected[i].device));
        assert_int_equal(domain_text_line(&text, value.device.start), expected[i].line);
    }
    assert_int_equal(domain_text_next(&text, &value, &failure), 0);
}

static void
skips_texts_for_others(void **state)
{
    (void)state;
    assert_values("<title>/x</title><description>/y</description><a>1</a>",
                  "domain a 1\n");
    assert_values("<title/><metadata/><metadata></metadata><a>1</a>", "domain a 1\n");
    assert_values(
        "<metadata xmlns:x=\"urn:x\" y='1'><x:y z=\"&#10;\"><!-- --><![CDATA[</]]>"
        "</x:y><metadatas>/</metadatas></metadata><a>1</a>",
        "domain a 1\n");
    /* Not those of other elements. */
    assert_values("<a><title>1</title><metadata>2</metadata></a>",
                  "a title 1\na metadata 2\n");
    assert_refused("<a><metadata><![CDATA[]]></metadata></a>", "a comment, a CDATA");
}

/* What they hide is found, or the document is refused. */
static void
metadata_hides_nothing_behind_it(void **state)
{
    static const char device[] = "<devices><disk><source file='/x'/></disk></devices>";
    static const char *const cases[] = {
        /* What libvirt would write as metadata of another one's elements. */
        "<metadata><metadata></metadata>%s<x/></metadata>",
        "<metadata><metadata></metadata>%s<metadata></metadata></metadata>",
        "<metadata><![CDATA[<metadata>]]></metadata>%s<metadata></metadata>",
        "<metadata><![CDATA[</metadata>]]></metadata>%s",
        "<metadata><!--<metadata>--></metadata>%s<metadata></metadata>",
        "<metadata><!--</metadata>--></metadata>%s",
        "<metadata><x y=\"<metadata>\"/></metadata>%s<metadata></metadata>",
        "<metadata><metadata/></metadata>%s<metadata></metadata>",
        "<metadata></metadata >%s<metadata></metadata>",
        "<metadata></metadata\n>%s<metadata></metadata>",
        "<metadata x='>'></metadata>%s<metadata></metadata>",
        "<metadata x=\"/>'\"></metadata>%s<metadata></metadata>",
        "<metadata/>%s<metadata></metadata>",
        "<metadata />%s<metadata></metadata>",
        "<metadatas></metadatas>%s<metadata></metadata>",
        "<x:metadata/>%s<metadata></metadata>",
        "<title></title >%s<title></title>",
        "<title/>%s<title></title>",
        "<description><![CDATA[<description>]]></description>%s<description/>",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_domain_values struct domain_values values = {0};
        cleanup_failure struct failure *failure = NULL;
        const char *hole = strstr(cases[i], "%s");
        cleanup_free char *content =
            xasprintf("%.*s%s%s", (int)(hole - cases[i]), cases[i], device, hole + 2);

        if (read_content(&values, content, &failure) == 0 &&
            !texts_have(values.texts, values.count, "disk source /x"))
            fail_msg("hidden: %s", content);
    }
    assert_values("<metadata><a/></metadata><b>1</b><metadata>2</metadata>",
                  "domain b 1\n");
}

static void
says_what_to_do_about_a_document_in_metadata(void **state)
{
    cleanup_domain_values struct domain_values values = {0};
    struct failure *failure = NULL;

    (void)state;
    assert_int_equal(
        read_content(&values, "<metadata>\n<a><![CDATA[</metadata>]]></a>\n</metadata>",
                     &failure),
        -1);
    assert_non_null(strstr(failure->message, "line 2: an end tag has another name"));
    assert_non_null(strstr(failure->hint, "&lt;/metadata>"));
    assert_failure(&failure, FAILURE_XML);
}

static void
refuses_what_libvirt_does_not_write(void **state)
{
    static const struct {
        const char *content;
        const char *reason;
    } cases[] = {
        {"<!-- -->", "a comment"},
        {"<a><!-- --></a>", "a comment"},
        {"<a><![CDATA[x]]></a>", "a comment"},
        {"<?x?>", "a comment"},
        {"<!DOCTYPE x>", "a comment"},
        {"< a/>", "a comment"},
        {"<a b=\"1\"/>", "not in quotes"},
        {"<a b=1/>", "not in quotes"},
        {"<a b/>", "has no value"},
        {"<a b ='1'/>", "has no value"},
        {"<a b= '1'/>", "not in quotes"},
        {"<a b='1'c='2'/>", "more than attributes"},
        {"<a =''/>", "more than attributes"},
        {"<a / >", "more than attributes"},
        {"<a 1='1'/>", "more than attributes"},
        {"<a xmlns:='/x'/>", "more than attributes"},
        {"<a xmlns:1='/x'/>", "more than attributes"},
        {"<a:/>", "a comment"},
        {"<:a/>", "a comment"},
        {"<a b='<'/>", "contains '<'"},
        {"<a b='&#47;'/>", "an entity"},
        {"<a>&#x2f;</a>", "an entity"},
        {"<a>&x;</a>", "an entity"},
        {"<a>& </a>", "an entity"},
        {"<a>&am</a>", "an entity"},
        {"<a>&LT;</a>", "an entity"},
        {"<a xmlns='urn:x'/>", "without a prefix"},
        {"<title xmlns='urn:x'>/x</title>", "without a prefix"},
        {"<a>x<b/></a>", "a text is between"},
        {"<a><b/>x<c/></a>", "a text is between"},
        {"x<a/>", "a text is between"},
        {"<a></b>", "another name"},
        {"<a></A>", "another name"},
        {"<a></a >", "more than a name"},
        {"</domain></domain>", "something follows"},
        {"</domain>x<domain>", "something follows"},
        {"</domain><!-- --><domain>", "something follows"},
        {"</a>", "another name"},
        /* Without an end. */
        {"<", "a comment"},
        {"<a", "more than attributes"},
        {"<a ", "more than attributes"},
        {"<a b", "has no value"},
        {"<a b=", "not in quotes"},
        {"<a b='", "or does not end"},
        {"<a b='1", "or does not end"},
        {"<a>", "another name"},
        {"<a>x", "another name"},
        {"<metadata", "more than attributes"},
        {"<metadata>", "does not end"},
        {"<metadata><x></metadatas>", "does not end"},
        {"<metadata x=\"", "does not end"},
        {"<title>", "does not end"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_refused(cases[i].content, cases[i].reason);
}

static void
refuses_what_is_not_a_whole_domain(void **state)
{
    static const char *const cases[] = {
        "",
        "\n",
        "x",
        "<",
        "</domain>",
        "<domains/>",
        "<x/>",
        "<metadata/>",
        "<domain",
        "<domain>",
        "<domain>\n",
        "<domain><",
        "<domain></",
        "<domain></domain",
        "<domain/><domain/>",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_domain_values struct domain_values values = {0};
        cleanup_buffer struct buffer xml = {0};
        struct failure *failure = NULL;

        buffer_append_string(&xml, cases[i]);
        if (domain_values_read(&values, &xml, &failure) == 0)
            fail_msg("read: %s", cases[i]);
        assert_failure(&failure, FAILURE_XML);
    }
}

static void
refuses_a_nul(void **state)
{
    static const char content[] = "<domain><a b='/x\0'/></domain>";
    cleanup_domain_values struct domain_values values = {0};
    cleanup_buffer struct buffer xml = {0};
    struct failure *failure = NULL;

    (void)state;
    buffer_append(&xml, content, sizeof(content) - 1);
    assert_int_equal(domain_values_read(&values, &xml, &failure), -1);
    assert_non_null(strstr(failure->message, "NUL"));
    assert_failure(&failure, FAILURE_XML);
}

/* --- how much of it ------------------------------------------------------------------ */

static void
reads_deep_elements_up_to_a_limit(void **state)
{
    (void)state;
    for (size_t depth = LIMIT_XML_DEPTH - 1; depth <= LIMIT_XML_DEPTH + 1; depth++) {
        cleanup_domain_values struct domain_values values = {0};
        cleanup_buffer struct buffer content = {0};
        struct failure *failure = NULL;
        int result;

        for (size_t i = 1; i < depth; i++)
            buffer_append_string(&content, "<a>");
        buffer_append_string(&content, "x");
        for (size_t i = 1; i < depth; i++)
            buffer_append_string(&content, "</a>");
        result = read_content(&values, content.data, &failure);
        if (depth <= LIMIT_XML_DEPTH) {
            assert_no_failure(failure);
            assert_int_equal(values.count, 1);
            assert_string_equal(values.texts[0], "a a x");
        } else {
            assert_int_equal(result, -1);
            assert_failure(&failure, FAILURE_XML);
        }
    }
}

/* Each of them fills the limit of a domain's XML. */
static void
reads_large_documents_fast(void **state)
{
    static const char *const pieces[] = {
        "<x a='/a'/>",
        "<x>/a</x>",
        "<x>&amp;&amp;&amp;&amp;</x>",
        "<a a='&lt;b'></a>\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
        cleanup_domain_text struct domain_text text = {0};
        cleanup_buffer struct buffer xml = {0};
        struct failure *failure = NULL;
        struct domain_value value;
        size_t written = 0, count = 0;
        clock_t start;

        buffer_reserve(&xml, LIMIT_DOMAIN_XML);
        buffer_append_string(&xml, "<domain>");
        for (; xml.size < LIMIT_DOMAIN_XML - 100; written++)
            buffer_append_string(&xml, pieces[i]);
        buffer_append_string(&xml, "</domain>");
        start = clock();
        domain_text_begin(&text, &xml, &failure);
        while (domain_text_next(&text, &value, &failure) > 0)
            count++;
        /* It takes 40 ms; in valgrind, seconds. */
        assert_true(clock() - start < 60 * CLOCKS_PER_SEC);
        assert_no_failure(failure);
        assert_int_equal(count, written);
    }
}

/* --- compared with libxml2 ----------------------------------------------------------- */

static size_t compared;

static void
compare(const char *path, const xmlNode *root)
{
    cleanup_buffer struct buffer xml = xml_format_as_libvirt(root);
    cleanup_domain_values struct domain_values found = {0};
    cleanup_domain_values struct domain_values expected = {0};
    cleanup_failure struct failure *failure = NULL;

    domain_values_walk(&expected, root);
    if (domain_values_read(&found, &xml, &failure) < 0) {
        /* Of elements with such a namespace, libvirt reads none. */
        if (!strstr(failure->message, "a namespace without a prefix"))
            fail_msg("%s: %s", path, failure->message);
        return;
    }
    for (size_t i = 0; i < expected.count && i < found.count; i++) {
        if (strcmp(found.texts[i], expected.texts[i]) != 0)
            fail_msg("%s: '%s', expected '%s'", path, found.texts[i], expected.texts[i]);
    }
    assert_int_equal(found.count, expected.count);
    compared++;
}

/* Compares what is not a domain as the content of one. */
static void
compare_document(const char *path, const struct buffer *text)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_xml xmlDoc *doc = xml_parse(text->data, text->size, path, &failure);
    xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    xmlNode *domain;

    if (!root)
        return;
    if (!root->ns && xmlStrEqual(root->name, BAD_CAST "domain")) {
        compare(path, root);
        return;
    }
    domain = xmlNewDocNode(doc, NULL, BAD_CAST "domain", NULL);
    xmlDocSetRootElement(doc, domain);
    xmlAddChild(domain, root);
    compare(path, domain);
}

static int
compare_file(const char *path, const struct stat *status, int type, struct FTW *place)
{
    const char *suffix = strrchr(path, '.');
    const bool is_xml = suffix && strcmp(suffix, ".xml") == 0;
    cleanup_close int fd = -1;
    cleanup_buffer struct buffer text = {0};

    (void)status;
    (void)place;
    /* What is for the reader itself is for its fuzz target. */
    if (type != FTW_F || strstr(path, "/corpus/paths/"))
        return 0;
    if (!is_xml && !strstr(path, "/corpus/"))
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fs_read_all(fd, LIMIT_DOMAIN_XML, &text), 0);
    if (text.size > 0)
        compare_document(path, &text);
    return 0;
}

static void
finds_what_libxml2_finds(void **state)
{
    cleanup_free char *tests = xasprintf("%s/tests", getenv("top_srcdir"));
    cleanup_free char *examples = xasprintf("%s/xml", getenv("top_srcdir"));

    (void)state;
    assert_int_equal(nftw(tests, compare_file, 16, FTW_PHYS), 0);
    assert_int_equal(nftw(examples, compare_file, 16, FTW_PHYS), 0);
    assert_true(compared > 900);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_name_and_the_uuid),
        cmocka_unit_test(takes_them_from_no_other_place),
        cmocka_unit_test(reads_values_with_their_elements),
        cmocka_unit_test(names_the_device),
        cmocka_unit_test(skips_texts_for_others),
        cmocka_unit_test(metadata_hides_nothing_behind_it),
        cmocka_unit_test(says_what_to_do_about_a_document_in_metadata),
        cmocka_unit_test(refuses_what_libvirt_does_not_write),
        cmocka_unit_test(refuses_what_is_not_a_whole_domain),
        cmocka_unit_test(refuses_a_nul),
        cmocka_unit_test(reads_deep_elements_up_to_a_limit),
        cmocka_unit_test(reads_large_documents_fast),
        cmocka_unit_test(finds_what_libxml2_finds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
