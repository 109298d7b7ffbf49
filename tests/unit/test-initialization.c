/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oVirt's <initialization>: domain/initialization.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/initialization.h"
#include "domain/xml.h"
#include "unit.h"

#define KEY "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVG"

#define USER(name, rest)                                                                 \
    "<ci:user><ci:user_name>" name "</ci:user_name>" rest "</ci:user>"
#define AUTHORIZED(name, key)                                                            \
    "<ci:authorized_key><ci:user><ci:user_name>" name "</ci:user_name></ci:user>"        \
    "<ci:key>" key "</ci:key></ci:authorized_key>"
#define FILE_OF(name, content)                                                           \
    "<ci:file><ci:name>" name "</ci:name><ci:content>" content "</ci:content></ci:file>"

static int
read_initialization(struct unit_domain *unit, const char *content,
                    struct failure **failure)
{
    cleanup_free char *request =
        xasprintf("<ci:cloud-init><ci:initialization>%s</ci:initialization>"
                  "</ci:cloud-init>",
                  content);

    return unit_request_read(unit, request, failure);
}

/* Return: what was read, owned by the unit. */
static const struct initialization *
reads(struct unit_domain *unit, const char *content)
{
    struct failure *failure = NULL;

    read_initialization(unit, content, &failure);
    assert_no_failure(failure);
    assert_non_null(unit->request.initialization);
    return unit->request.initialization;
}

static void
assert_refused(const char *content, enum failure_code code)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;

    if (read_initialization(&unit, content, &failure) == 0)
        print_error("taken: %s\n", content);
    else
        assert_true(failure->line > 0);
    assert_failure(&failure, code);
}

static void
assert_all_refused(const char *const *contents, enum failure_code code)
{
    for (; *contents; contents++)
        assert_refused(*contents, code);
}

/* --- what is read ----------------------------------------------------------------- */

static void
reads_every_single_value(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    const struct initialization *initialization = reads(
        &unit, "<ci:host_name> web1.example.org </ci:host_name>"
               "<ci:timezone>\nUTC\n</ci:timezone><ci:locale>C.UTF-8</ci:locale>"
               "<ci:user_name>admin</ci:user_name>"
               "<ci:root_password>r p</ci:root_password>"
               "<ci:regenerate_ssh_keys>true</ci:regenerate_ssh_keys>"
               "<ci:custom_script>a: b</ci:custom_script>"
               "<ci:phone_home>http://a/</ci:phone_home>"
               "<ci:cloud_init_network_protocol>ENI</ci:cloud_init_network_protocol>");

    (void)state;
    assert_string_equal(unit.request.hostname, "web1.example.org");
    assert_string_equal(initialization->timezone, "UTC");
    assert_string_equal(initialization->locale, "C.UTF-8");
    assert_string_equal(initialization->user_name, "admin");
    unit_assert_content(&initialization->root_password->data, "r p");
    assert_int_equal(initialization->regenerate_ssh_keys, INITIALIZATION_YES);
    unit_assert_content(&initialization->custom_script->data, "a: b");
    assert_string_equal(initialization->phone_home, "http://a/");
    assert_false(initialization->root_has_keys);
    assert_null(unit.request.network);
}

static void
says_nothing_where_nothing_is_said(void **state)
{
    const char *const contents[] = {
        "",
        "<ci:host_name/><ci:host><ci:address> </ci:address></ci:host><ci:timezone/>"
        "<ci:locale/><ci:user_name/><ci:regenerate_ssh_keys/><ci:phone_home/>"
        "<ci:authorized_ssh_keys/><ci:authorized_keys/><ci:users/><ci:files/>"
        "<ci:cloud_init_network_protocol/><ci:custom_script/>",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};
        const struct initialization *initialization = reads(&unit, contents[i]);

        assert_null(unit.request.hostname);
        assert_null(initialization->timezone);
        assert_null(initialization->locale);
        assert_null(initialization->user_name);
        assert_null(initialization->root_password);
        assert_null(initialization->phone_home);
        assert_int_equal(initialization->regenerate_ssh_keys, INITIALIZATION_UNSAID);
        assert_int_equal(initialization->user_count, 0);
        assert_int_equal(initialization->file_count, 0);
        assert_int_equal(unit.request.ssh_key_count, 0);
    }
}

static void
takes_either_protocol_of_the_network(void **state)
{
    const char *const nics =
        "<ci:nic_configurations><ci:nic_configuration><ci:name>eth0</ci:name>"
        "<ci:boot_protocol>dhcp</ci:boot_protocol></ci:nic_configuration>"
        "</ci:nic_configurations><ci:dns_servers>192.0.2.1</ci:dns_servers>";
    const char *const protocols[] = {"eni", "openstack_metadata"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        cleanup_unit_domain struct unit_domain unit = {0};
        cleanup_free char *content = xasprintf("<ci:cloud_init_network_protocol>%s"
                                               "</ci:cloud_init_network_protocol>%s",
                                               protocols[i], nics);

        reads(&unit, content);
        assert_int_equal(unit.request.network->nic_count, 1);
        assert_int_equal(unit.request.network->nics[0].nameserver_count, 1);
    }
}

static void
takes_no_nics_for_no_network(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};

    (void)state;
    reads(&unit, "<ci:nic_configurations/>");
    assert_null(unit.request.network);
}

static void
takes_the_deprecated_name_of_the_host(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};

    (void)state;
    reads(&unit, "<ci:host><ci:address>web1</ci:address></ci:host>");
    assert_string_equal(unit.request.hostname, "web1");
}

static void
gathers_what_is_said_of_a_user(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    const struct initialization *initialization = reads(
        &unit,
        "<ci:authorized_keys>" AUTHORIZED("bob", KEY " 1") AUTHORIZED("alice", KEY " 2")
            AUTHORIZED("bob", KEY
                       " 3") "</ci:authorized_keys>"
                             "<ci:users>" USER("bob", "<ci:password secret='s' key='k'/>")
                                 USER("carol", "") "</ci:users>");

    (void)state;
    assert_int_equal(initialization->user_count, 3);
    assert_string_equal(initialization->users[0].name, "bob");
    assert_string_equal(initialization->users[0].password->key, "k");
    assert_int_equal(initialization->users[0].ssh_key_count, 2);
    assert_string_equal(initialization->users[0].ssh_keys[1], KEY " 3");
    assert_string_equal(initialization->users[1].name, "alice");
    assert_null(initialization->users[1].password);
    assert_string_equal(initialization->users[2].name, "carol");
    assert_int_equal(initialization->users[2].ssh_key_count, 0);
    assert_false(initialization->root_has_keys);
}

static void
knows_root_by_its_name(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    const struct initialization *initialization = reads(
        &unit,
        "<ci:users>" USER("root", "<ci:password>p</ci:password>") "</ci:users><ci:authorized_keys>" AUTHORIZED(
            "root",
            KEY " 1") "<ci:authorized_key><ci:key>" KEY " 2</ci:key></ci:authorized_key>"
                      "</ci:authorized_keys><ci:authorized_ssh_keys>\n\n  " KEY " 3\n"
                      "# a comment\n" KEY " 4</ci:authorized_ssh_keys>");

    (void)state;
    unit_assert_content(&initialization->root_password->data, "p");
    assert_int_equal(initialization->user_count, 0);
    assert_true(initialization->root_has_keys);
    assert_int_equal(unit.request.ssh_key_count, 4);
    assert_string_equal(unit.request.ssh_keys[0], KEY " 1");
    assert_string_equal(unit.request.ssh_keys[3], KEY " 4");
}

static void
decodes_files_of_type_base64(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    const struct initialization *initialization = reads(
        &unit,
        "<ci:files>" FILE_OF(
            "/a",
            "plain") "<ci:file><ci:type> base64 </ci:type>"
                     "<ci:content>\n YQBi\n</ci:content><ci:name>/b</ci:name></ci:file>"
                     "<ci:file><ci:name>/c</ci:name><ci:type>PlainText</ci:type>"
                     "<ci:content encoding='base64'>Yw==</ci:content></ci:file>"
                     "<ci:file><ci:name>/d</ci:name><ci:content file='f'/></ci:file>"
                     "</ci:files>");

    (void)state;
    assert_int_equal(initialization->file_count, 4);
    assert_string_equal(initialization->files[0].path, "/a");
    unit_assert_content(&initialization->files[0].content->data, "plain");
    assert_int_equal(initialization->files[1].content->data.size, 3);
    assert_memory_equal(initialization->files[1].content->data.data, "a\0b", 3);
    unit_assert_content(&initialization->files[2].content->data, "c");
    assert_int_equal(initialization->files[3].content->origin, PART_FILE);
}

/* --- what is refused -------------------------------------------------------------- */

static void
refuses_what_it_does_not_know(void **state)
{
    const char *const contents[] = {
        "<ci:hostname>a</ci:hostname>",
        "<ci:timezone zone='UTC'/>",
        "<ci:timezone><ci:name/></ci:timezone>",
        "<ci:timezone secret='s'/>",
        "<ci:root_password file='f'/>",
        "<ci:custom_script file='f'/>",
        "<ci:host><ci:name>a</ci:name></ci:host>",
        "<ci:users><ci:group/></ci:users>",
        "<ci:users>" USER("a", "<ci:uid>1</ci:uid>") "</ci:users>",
        "<ci:authorized_keys><ci:key>" KEY "</ci:key></ci:authorized_keys>",
        "<ci:files><ci:file><ci:path>/a</ci:path></ci:file></ci:files>",
        "<timezone>UTC</timezone>",
        NULL,
    };

    (void)state;
    assert_all_refused(contents, FAILURE_REQUEST_UNKNOWN);
}

static void
refuses_what_is_there_twice(void **state)
{
    const char *const contents[] = {
        "<ci:timezone/><ci:timezone/>",
        "<ci:root_password>a</ci:root_password><ci:root_password>a</ci:root_password>",
        "<ci:root_password>a</ci:root_password><ci:users>" USER(
            "root", "<ci:password>a</ci:password>") "</ci:users>",
        "<ci:users>" USER("root", "<ci:password>a</ci:password>")
            USER("root", "<ci:password>a</ci:password>") "</ci:users>",
        "<ci:users>" USER("a", "<ci:password>a</ci:password>")
            USER("a", "<ci:password>a</ci:password>") "</ci:users>",
        "<ci:users>" USER("a", "<ci:user_name>b</ci:user_name>") "</ci:users>",
        "<ci:users/><ci:users/>",
        "<ci:files><ci:file><ci:name>/a</ci:name><ci:name>/b</ci:name></ci:file></ci:files>",
        "<ci:org_name/><ci:org_name/>",
        NULL,
    };

    (void)state;
    assert_all_refused(contents, FAILURE_REQUEST);
    assert_refused("<ci:host_name>a</ci:host_name>"
                   "<ci:host><ci:address>a</ci:address></ci:host>",
                   FAILURE_HOSTNAME);
}

static void
refuses_values_that_the_guest_would_not_understand(void **state)
{
    const char *const contents[] = {
        "<ci:timezone>../UTC</ci:timezone>",
        "<ci:timezone>Asia&#10;Tokyo</ci:timezone>",
        "<ci:locale>en US</ci:locale>",
        "<ci:user_name>a:b</ci:user_name>",
        "<ci:user_name>default</ci:user_name>",
        "<ci:phone_home>ftp://a/</ci:phone_home>",
        "<ci:phone_home>http://a/&#10;b</ci:phone_home>",
        "<ci:regenerate_ssh_keys>yes</ci:regenerate_ssh_keys>",
        "<ci:cloud_init_network_protocol>v2</ci:cloud_init_network_protocol>",
        "<ci:users>" USER("a b", "") "</ci:users>",
        "<ci:root_password>******</ci:root_password>",
        "<ci:files>" FILE_OF("a", "") "</ci:files>",
        "<ci:files>" FILE_OF("/a/../b", "") "</ci:files>",
        "<ci:files>" FILE_OF("/a&#9;b", "") "</ci:files>",
        "<ci:files><ci:file><ci:name>/a</ci:name><ci:content/><ci:type>GZIP</ci:type>"
        "</ci:file></ci:files>",
        "<ci:files><ci:file><ci:name>/a</ci:name><ci:content secret='s'/>"
        "<ci:type>BASE64</ci:type></ci:file></ci:files>",
        NULL,
    };

    (void)state;
    assert_all_refused(contents, FAILURE_REQUEST);
    assert_refused("<ci:host_name>web_1</ci:host_name>", FAILURE_HOSTNAME);
    assert_refused("<ci:host_name>192.0.2.1</ci:host_name>", FAILURE_HOSTNAME);
    assert_refused("<ci:files><ci:file><ci:name>/a</ci:name><ci:content>*</ci:content>"
                   "<ci:type>BASE64</ci:type></ci:file></ci:files>",
                   FAILURE_BASE64);
}

static void
refuses_what_misses_its_other_half(void **state)
{
    const char *const contents[] = {
        "<ci:users><ci:user/></ci:users>",
        "<ci:users><ci:user><ci:password>a</ci:password></ci:user></ci:users>",
        "<ci:files><ci:file/></ci:files>",
        "<ci:files><ci:file><ci:name>/a</ci:name></ci:file></ci:files>",
        "<ci:files><ci:file><ci:content>a</ci:content></ci:file></ci:files>",
        NULL,
    };

    (void)state;
    assert_all_refused(contents, FAILURE_REQUEST);
    assert_refused("<ci:authorized_keys><ci:authorized_key/></ci:authorized_keys>",
                   FAILURE_SSH_KEY);
}

static void
refuses_text_between_elements(void **state)
{
    const char *const contents[] = {
        "UTC",
        "<ci:host>web1</ci:host>",
        "<ci:users>a</ci:users>",
        "<ci:files><ci:file>a</ci:file></ci:files>",
        "<ci:authorized_keys>" KEY "</ci:authorized_keys>",
        NULL,
    };

    (void)state;
    assert_all_refused(contents, FAILURE_REQUEST);
}

static void
refuses_keys_that_are_none(void **state)
{
    const char *const contents[] = {
        "<ci:authorized_ssh_keys>" KEY "\nhunter2</ci:authorized_ssh_keys>",
        "<ci:authorized_keys>" AUTHORIZED("root", "hunter2") "</ci:authorized_keys>",
        "<ci:authorized_keys>" AUTHORIZED("root", KEY "\n" KEY) "</ci:authorized_keys>",
        "<ci:authorized_keys>" AUTHORIZED("a", "") "</ci:authorized_keys>",
        NULL,
    };

    (void)state;
    assert_all_refused(contents, FAILURE_SSH_KEY);
}

/* Return: so many of the elements, each with its number in the place of '%zu', between
 * the tags; owned by the caller (free). */
static char *
many(const char *parent, const char *format_begin, const char *format_end, size_t count)
{
    struct buffer text = {0};
    cleanup_free char *open = xasprintf("<ci:%s>", parent);
    cleanup_free char *close = xasprintf("</ci:%s>", parent);

    buffer_append_string(&text, open);
    for (size_t i = 0; i < count; i++) {
        cleanup_free char *element = xasprintf("%s%zu%s", format_begin, i, format_end);

        buffer_append_string(&text, element);
    }
    buffer_append_string(&text, close);
    return text.data;
}

static void
assert_at_most(const char *parent, const char *begin, const char *end, size_t limit)
{
    cleanup_free char *most = many(parent, begin, end, limit);
    cleanup_free char *more = many(parent, begin, end, limit + 1);
    cleanup_unit_domain struct unit_domain unit = {0};

    reads(&unit, most);
    assert_refused(more, FAILURE_LIMIT);
}

static void
refuses_too_many(void **state)
{
    (void)state;
    assert_at_most("users", "<ci:user><ci:user_name>u", "</ci:user_name></ci:user>",
                   LIMIT_USERS);
    assert_at_most("files", "<ci:file><ci:name>/", "</ci:name><ci:content/></ci:file>",
                   LIMIT_FILES);
    assert_at_most("authorized_ssh_keys", KEY " ", "\n", LIMIT_SSH_KEYS);
    assert_at_most("authorized_keys", "<ci:authorized_key><ci:key>" KEY " ",
                   "</ci:key></ci:authorized_key>", LIMIT_SSH_KEYS);
}

static void
refuses_what_the_request_says_as_well(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;

    (void)state;
    unit_request_read(
        &unit,
        "<ci:cloud-init><ci:hostname>a</ci:hostname><ci:initialization>"
        "<ci:host_name>a</ci:host_name></ci:initialization></ci:cloud-init>",
        &failure);
    assert_failure(&failure, FAILURE_REQUEST);
}

static void
repeats_no_password_in_a_message(void **state)
{
    const char *const contents[] = {
        "<ci:root_password secret='s'>hunter2</ci:root_password>",
        "<ci:root_password key='k'>hunter2</ci:root_password>",
        "<ci:root_password>hunter2</ci:root_password><ci:root_password>hunter2"
        "</ci:root_password>",
        "<ci:users><ci:user><ci:password>hunter2</ci:password></ci:user></ci:users>",
        "<ci:users>hunter2</ci:users>",
        "<ci:files><ci:file><ci:content>hunter2</ci:content></ci:file></ci:files>",
        "<ci:files><ci:file><ci:name>/a</ci:name><ci:content>hunter2!</ci:content>"
        "<ci:type>BASE64</ci:type></ci:file></ci:files>",
        "<ci:authorized_ssh_keys>hunter2</ci:authorized_ssh_keys>",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};
        cleanup_failure struct failure *failure = NULL;

        assert_int_equal(read_initialization(&unit, contents[i], &failure), -1);
        assert_null(strstr(failure->message, "hunter2"));
        assert_null(strstr(failure->hint, "hunter2"));
    }
}

/* --- the schema ------------------------------------------------------------------- */

static bool
is(const xmlNode *node, const char *name)
{
    return xmlStrEqual(node->name, (const xmlChar *)name);
}

/* Return: what the <ref> refers to. */
static const xmlNode *
find_definition(const xmlNode *ref)
{
    cleanup_free char *name = xml_attribute(ref, "name");

    for (const xmlNode *node = xml_first_element(xmlDocGetRootElement(ref->doc)); node;
         node = xml_next_element(node)) {
        cleanup_free char *defined =
            is(node, "define") ? xml_attribute(node, "name") : NULL;

        if (defined && strcmp(defined, name) == 0)
            return node;
    }
    fail_msg("no <define name='%s'>", name);
    return NULL;
}

/* Return: the pattern's element of that name; not of those within its elements. */
static const xmlNode *
find_element(const xmlNode *pattern, const char *name)
{
    for (const xmlNode *node = xml_first_element(pattern); node;
         node = xml_next_element(node)) {
        const xmlNode *found = NULL;

        if (is(node, "element")) {
            cleanup_free char *own = xml_attribute(node, "name");

            found = own && strcmp(own, name) == 0 ? node : NULL;
        } else {
            found = find_element(is(node, "ref") ? find_definition(node) : node, name);
        }
        if (found)
            return found;
    }
    return NULL;
}

static void assert_same(const xmlNode *pattern, const struct vocabulary_element *words);

/* Each element of the pattern has a row, and the same elements below it. */
static void
assert_has_all(const struct vocabulary_element *words, const xmlNode *pattern)
{
    for (const xmlNode *node = xml_first_element(pattern); node;
         node = xml_next_element(node)) {
        cleanup_free char *name = xml_attribute(node, "name");
        const struct vocabulary_element *word = words;

        if (!is(node, "element")) {
            assert_has_all(words, is(node, "ref") ? find_definition(node) : node);
            continue;
        }
        while (word->name && strcmp(word->name, name) != 0)
            word++;
        if (!word->name)
            fail_msg("the schema has <%s>, and the table has not", name);
        /* It has no name, so anything may be there. */
        if (word->children &&
            !(xml_first_element(node) && is(xml_first_element(node), "ref") &&
              !find_element(node, word->children[0].name)))
            assert_same(node, word->children);
    }
}

static void
assert_same(const xmlNode *pattern, const struct vocabulary_element *words)
{
    assert_has_all(words, pattern);
    for (; words->name; words++) {
        if (!find_element(pattern, words->name))
            fail_msg("the table has <%s>, and the schema has not", words->name);
    }
}

static void
has_the_elements_of_the_schema(void **state)
{
    cleanup_free char *path = xasprintf("%s/xml/cloud-init.rng", getenv("top_srcdir"));
    cleanup_xml xmlDoc *schema = xmlReadFile(path, NULL, XML_PARSE_NONET);
    const xmlNode *element = NULL;

    (void)state;
    assert_non_null(schema);
    for (const xmlNode *node = xml_first_element(xmlDocGetRootElement(schema));
         node && !element; node = xml_next_element(node))
        element = is(node, "define") ? find_element(node, "initialization") : NULL;
    assert_non_null(element);
    assert_same(element, initialization_elements);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_single_value),
        cmocka_unit_test(says_nothing_where_nothing_is_said),
        cmocka_unit_test(takes_either_protocol_of_the_network),
        cmocka_unit_test(takes_no_nics_for_no_network),
        cmocka_unit_test(takes_the_deprecated_name_of_the_host),
        cmocka_unit_test(gathers_what_is_said_of_a_user),
        cmocka_unit_test(knows_root_by_its_name),
        cmocka_unit_test(decodes_files_of_type_base64),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(refuses_what_is_there_twice),
        cmocka_unit_test(refuses_values_that_the_guest_would_not_understand),
        cmocka_unit_test(refuses_what_misses_its_other_half),
        cmocka_unit_test(refuses_text_between_elements),
        cmocka_unit_test(refuses_keys_that_are_none),
        cmocka_unit_test(refuses_too_many),
        cmocka_unit_test(refuses_what_the_request_says_as_well),
        cmocka_unit_test(repeats_no_password_in_a_message),
        cmocka_unit_test(has_the_elements_of_the_schema),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
