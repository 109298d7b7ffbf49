/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a domain asks for: domain/request.h. */
#include "config.h"

#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "unit.h"

#define KEY "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVG"

/* Reads <ci:cloud-init ATTRIBUTES>CONTENT</ci:cloud-init>. */
static int
read_cloud_init(struct unit_domain *unit, const char *attributes, const char *content,
                struct failure **failure)
{
    cleanup_free char *request =
        xasprintf("<ci:cloud-init %s>%s</ci:cloud-init>", attributes, content);

    return unit_request_read(unit, request, failure);
}

static void
assert_refused(const char *attributes, const char *content, enum failure_code code)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;

    if (read_cloud_init(&unit, attributes, content, &failure) == 0)
        print_error("taken: %s %s\n", attributes, content);
    assert_failure(&failure, code);
}

/* --- what it says ----------------------------------------------------------------- */

static void
has_defaults_for_everything(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;
    const struct request *request = &unit.request;

    (void)state;
    read_cloud_init(&unit, "", "", &failure);
    assert_no_failure(failure);
    assert_string_equal(request->datasource->name, "nocloud");
    assert_int_equal(request->bus, DOMAIN_BUS_OTHER);
    assert_true(request->serial);
    assert_false(request->cache);
    assert_null(request->hostname);
    assert_int_equal(request->instance_id_policy, INSTANCE_ID_DOMAIN);
    assert_null(request->instance_id);
    assert_int_equal(request->ssh_key_count, 0);
    assert_int_equal(request->meta_data_count, 0);
    assert_int_equal(request->parts.count, 0);
    assert_null(request->network);
    assert_null(request->initialization);
}

static void
reads_every_element(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;
    const struct request *request = &unit.request;

    (void)state;
    read_cloud_init(&unit,
                    "datasource='nocloud' bus='sata' serial='no' smbios-was='absent'",
                    "<!-- a comment -->"
                    "<ci:hostname>\n web1.example.org </ci:hostname>"
                    "<ci:instance-id policy='fixed'> i-1 </ci:instance-id>"
                    "<ci:ssh-authorized-keys><ci:key>\n" KEY " a\n</ci:key>"
                    "<ci:key>" KEY " b</ci:key></ci:ssh-authorized-keys>"
                    "<ci:user-data>u</ci:user-data>"
                    "<ci:meta-data><ci:entry name='k'>v</ci:entry>"
                    "<ci:entry name='empty'/></ci:meta-data>"
                    "<ci:network-config file='n'/>"
                    "<ci:vendor-data secret='v' key='w'/>",
                    &failure);
    assert_no_failure(failure);
    assert_int_equal(request->bus, DOMAIN_BUS_SATA);
    assert_false(request->serial);
    assert_string_equal(request->hostname, "web1.example.org");
    assert_int_equal(request->instance_id_policy, INSTANCE_ID_FIXED);
    assert_string_equal(request->instance_id, "i-1");
    assert_int_equal(request->ssh_key_count, 2);
    assert_string_equal(request->ssh_keys[0], KEY " a");
    assert_string_equal(request->ssh_keys[1], KEY " b");
    assert_int_equal(request->meta_data_count, 2);
    assert_string_equal(request->meta_data[0].key, "k");
    assert_string_equal(request->meta_data[0].value, "v");
    assert_string_equal(request->meta_data[1].value, "");
    unit_assert_content(&parts_find(&request->parts, PART_USER_DATA)->data, "u");
    assert_string_equal(parts_find(&request->parts, PART_NETWORK_CONFIG)->name, "n");
    assert_string_equal(parts_find(&request->parts, PART_VENDOR_DATA)->key, "w");
}

static void
takes_every_bus(void **state)
{
    const char *const names[] = {"scsi", "sata", "ide", "usb", "virtio"};
    struct failure *failure = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};
        cleanup_free char *attributes = xasprintf("bus='%s'", names[i]);

        read_cloud_init(&unit, attributes, "", &failure);
        assert_no_failure(failure);
        assert_string_equal(domain_bus_name(unit.request.bus), names[i]);
    }
}

static void
takes_the_words_for_the_defaults(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;

    (void)state;
    read_cloud_init(&unit, "bus='auto' serial='yes'", "<ci:instance-id policy='domain'/>",
                    &failure);
    assert_no_failure(failure);
    assert_int_equal(unit.request.bus, DOMAIN_BUS_OTHER);
    assert_true(unit.request.serial);
    assert_int_equal(unit.request.instance_id_policy, INSTANCE_ID_DOMAIN);
}

static void
reads_an_instance_id_without_a_policy(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;

    (void)state;
    read_cloud_init(&unit, "", "<ci:instance-id/>", &failure);
    assert_no_failure(failure);
    assert_int_equal(unit.request.instance_id_policy, INSTANCE_ID_DOMAIN);
}

/* --- finding it ------------------------------------------------------------------- */

static void
says_that_a_domain_asks_for_nothing(void **state)
{
    const char *const contents[] = {"", "<a:cloud-init xmlns:a='urn:other'/>",
                                    "<cloud-init/>",
                                    "<x:y xmlns:x='urn:x'><ci:cloud-init/></x:y>"};
    struct failure *failure = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};

        assert_int_equal(unit_request_read(&unit, contents[i], &failure), -1);
        assert_null(request_find(&unit.domain));
        assert_failure(&failure, FAILURE_REQUEST_MISSING);
    }
}

static void
finds_it_beside_the_elements_of_others(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;

    (void)state;
    unit_request_read(&unit,
                      "<o:libosinfo xmlns:o='urn:o'/><v xmlns='" REQUEST_NAMESPACE "x'/>"
                      "<cloud-init xmlns='" REQUEST_NAMESPACE "'><hostname>a</hostname>"
                      "</cloud-init>",
                      &failure);
    assert_no_failure(failure);
    assert_string_equal(unit.request.hostname, "a");
}

/* libvirt keeps the first of a namespace and drops the others. */
static void
refuses_a_second_element_of_the_namespace(void **state)
{
    const char *const contents[] = {"<ci:cloud-init/><ci:cloud-init/>",
                                    "<ci:cloud-init/><ci:other/>",
                                    "<ci:other/><ci:cloud-init/>"};
    struct failure *failure = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};

        assert_int_equal(unit_request_read(&unit, contents[i], &failure), -1);
        assert_failure(&failure, FAILURE_REQUEST);
    }
}

/* --- what it may not say ---------------------------------------------------------- */

static void
refuses_unknown_elements(void **state)
{
    (void)state;
    assert_refused("", "<ci:users/>", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:Hostname>a</ci:Hostname>", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<hostname>a</hostname>", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<o:hostname xmlns:o='urn:o'>a</o:hostname>",
                   FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:hostname><ci:b>a</ci:b></ci:hostname>",
                   FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:user-data><b>a</b></ci:user-data>", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:ssh-authorized-keys><ci:keys/></ci:ssh-authorized-keys>",
                   FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:ssh-authorized-keys><key/></ci:ssh-authorized-keys>",
                   FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:meta-data><ci:key/></ci:meta-data>", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:meta-data><ci:entry name='a'><b/></ci:entry></ci:meta-data>",
                   FAILURE_REQUEST_UNKNOWN);
}

static void
refuses_unknown_attributes(void **state)
{
    (void)state;
    assert_refused("source='x'", "", FAILURE_REQUEST_UNKNOWN);
    assert_refused("ci:bus='scsi'", "", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:hostname fqdn='yes'>a</ci:hostname>",
                   FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:instance-id Policy='fixed'>a</ci:instance-id>",
                   FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:user-data path='a'/>", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:user-data ci:file='a'/>", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:vendor-data from='a'/>", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:meta-data encoding='a'/>", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:admin-password file='a'/>", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:ssh-host-keys key='a'/>", FAILURE_REQUEST_UNKNOWN);
    assert_refused("", "<ci:meta-data><ci:entry key='a'/></ci:meta-data>",
                   FAILURE_REQUEST_UNKNOWN);
    assert_refused("",
                   "<ci:ssh-authorized-keys><ci:key type='a'/></ci:ssh-authorized-keys>",
                   FAILURE_REQUEST_UNKNOWN);
}

static void
refuses_unknown_values(void **state)
{
    (void)state;
    assert_refused("datasource='ec2'", "", FAILURE_REQUEST);
    assert_refused("", "<ci:network-config from='guests'/>", FAILURE_REQUEST);
    assert_refused("datasource=''", "", FAILURE_REQUEST);
    assert_refused("bus='fdc'", "", FAILURE_REQUEST);
    assert_refused("bus='other'", "", FAILURE_REQUEST);
    assert_refused("bus=''", "", FAILURE_REQUEST);
    assert_refused("serial='maybe'", "", FAILURE_REQUEST);
    assert_refused("serial='No'", "", FAILURE_REQUEST);
}

static void
refuses_an_element_that_is_there_twice(void **state)
{
    const char *const names[] = {"hostname",  "instance-id", "ssh-authorized-keys",
                                 "meta-data", "vendor-data", "network-config"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const char *text = i == 0 ? "a" : "";
        cleanup_free char *content =
            xasprintf("<ci:%s>%s</ci:%s><!-- again --><ci:%s>%s</ci:%s>", names[i], text,
                      names[i], names[i], text, names[i]);

        assert_refused("", content, FAILURE_REQUEST);
    }
}

static void
refuses_text_beside_the_elements(void **state)
{
    (void)state;
    assert_refused("", "#cloud-config", FAILURE_REQUEST);
    assert_refused("", "<ci:hostname>a</ci:hostname><![CDATA[x]]>", FAILURE_REQUEST);
    assert_refused("", "<ci:ssh-authorized-keys>" KEY "</ci:ssh-authorized-keys>",
                   FAILURE_REQUEST);
    assert_refused("", "<ci:meta-data>a: 1</ci:meta-data>", FAILURE_REQUEST);
}

static void
refuses_what_is_no_instance_id(void **state)
{
    const char *const texts[] = {"",     "  ",  "a b",    "../a", ".a",       "a/b",
                                 "a\\b", "a;b", "&quot;", "a'",   "\xc3\xa4", "a\nb"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        cleanup_free char *content =
            xasprintf("<ci:instance-id policy='fixed'>%s</ci:instance-id>", texts[i]);

        assert_refused("", content, FAILURE_INSTANCE_ID);
    }
    assert_refused("", "<ci:instance-id>a</ci:instance-id>", FAILURE_INSTANCE_ID);
    assert_refused("", "<ci:instance-id policy='domain'>a</ci:instance-id>",
                   FAILURE_INSTANCE_ID);
    assert_refused("", "<ci:instance-id policy='random'/>", FAILURE_INSTANCE_ID);
}

static void
refuses_bad_values_of_elements(void **state)
{
    (void)state;
    assert_refused("", "<ci:hostname>a_b</ci:hostname>", FAILURE_HOSTNAME);
    assert_refused("", "<ci:hostname/>", FAILURE_HOSTNAME);
    assert_refused("", "<ci:ssh-authorized-keys><ci:key/></ci:ssh-authorized-keys>",
                   FAILURE_SSH_KEY);
    assert_refused("", "<ci:meta-data><ci:entry>a</ci:entry></ci:meta-data>",
                   FAILURE_META_DATA);
    assert_refused("", "<ci:meta-data><ci:entry name=''>a</ci:entry></ci:meta-data>",
                   FAILURE_META_DATA);
    assert_refused(
        "", "<ci:meta-data><ci:entry name='a'/><ci:entry name='a'/></ci:meta-data>",
        FAILURE_META_DATA);
    assert_refused("", "<ci:user-data file='a'>b</ci:user-data>", FAILURE_REQUEST);
}

/* --- limits ----------------------------------------------------------------------- */

static void
refuses_more_meta_data_than_the_limit(void **state)
{
    cleanup_buffer struct buffer entries = {0};
    cleanup_buffer struct buffer value = {0};

    (void)state;
    buffer_append_string(&entries, "<ci:meta-data>");
    for (int i = 0; i <= LIMIT_ENTRIES; i++) {
        cleanup_free char *entry = xasprintf("<ci:entry name='k%d'/>", i);

        buffer_append_string(&entries, entry);
    }
    buffer_append_string(&entries, "</ci:meta-data>");
    assert_refused("", entries.data, FAILURE_LIMIT);

    buffer_append_string(&value, "<ci:meta-data><ci:entry name='a'>");
    memset(buffer_reserve(&value, LIMIT_ENTRY_VALUE + 1), 'x', LIMIT_ENTRY_VALUE + 1);
    value.size += LIMIT_ENTRY_VALUE + 1;
    buffer_append_string(&value, "</ci:entry></ci:meta-data>");
    assert_refused("", value.data, FAILURE_LIMIT);
}

static void
refuses_more_keys_than_the_limit(void **state)
{
    cleanup_buffer struct buffer keys = {0};

    (void)state;
    buffer_append_string(&keys, "<ci:ssh-authorized-keys>");
    for (int i = 0; i <= LIMIT_SSH_KEYS; i++)
        buffer_append_string(&keys, "<ci:key>" KEY "</ci:key>");
    buffer_append_string(&keys, "</ci:ssh-authorized-keys>");
    assert_refused("", keys.data, FAILURE_LIMIT);
}

static void
says_the_line_of_what_it_refuses(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    read_cloud_init(&unit, "", "\n\n<ci:hostname>a</ci:hostname>\n<ci:user/>", &failure);
    assert_int_equal(failure->line, 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_defaults_for_everything),
        cmocka_unit_test(reads_every_element),
        cmocka_unit_test(takes_every_bus),
        cmocka_unit_test(takes_the_words_for_the_defaults),
        cmocka_unit_test(reads_an_instance_id_without_a_policy),
        cmocka_unit_test(says_that_a_domain_asks_for_nothing),
        cmocka_unit_test(finds_it_beside_the_elements_of_others),
        cmocka_unit_test(refuses_a_second_element_of_the_namespace),
        cmocka_unit_test(refuses_unknown_elements),
        cmocka_unit_test(refuses_unknown_attributes),
        cmocka_unit_test(refuses_unknown_values),
        cmocka_unit_test(refuses_an_element_that_is_there_twice),
        cmocka_unit_test(refuses_text_beside_the_elements),
        cmocka_unit_test(refuses_what_is_no_instance_id),
        cmocka_unit_test(refuses_bad_values_of_elements),
        cmocka_unit_test(refuses_more_meta_data_than_the_limit),
        cmocka_unit_test(refuses_more_keys_than_the_limit),
        cmocka_unit_test(says_the_line_of_what_it_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
