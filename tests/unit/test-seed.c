/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a request to the documents of its seed: seed/seed.h, seed/writers.h. */
#include "config.h"

#include <string.h>

#include <jansson.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/memory.h"
#include "seed/seed.h"
#include "seed/writers.h"
#include "unit.h"

#define KEY "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVG"

/* Checks and makes the seed of <ci:cloud-init>CONTENT</ci:cloud-init>, as a cold boot
 * does. */
static int
make(struct seed *seed, const char *content, struct failure **failure)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_free char *request = xasprintf("<ci:cloud-init>%s</ci:cloud-init>", content);

    unit_request_read(&unit, request, failure);
    assert_no_failure(*failure);
    if (unit_check_parts(&unit.request, failure) < 0)
        return -1;
    return seed_make(seed, &unit.request, failure);
}

static void
assert_document(const struct seed *seed, const char *path, const char *expected)
{
    const struct document *document = seed_find_document(seed, path);

    assert_non_null(document);
    unit_assert_content(&document->data, expected);
}

static void
assert_meta_data(const char *content, const char *expected)
{
    cleanup_seed struct seed seed = {0};
    struct failure *failure = NULL;

    make(&seed, content, &failure);
    assert_no_failure(failure);
    assert_document(&seed, "meta-data", expected);
}

static void
assert_refused(const char *content, enum failure_code code)
{
    cleanup_seed struct seed seed = {0};
    struct failure *failure = NULL;

    assert_int_equal(make(&seed, content, &failure), -1);
    assert_failure(&failure, code);
}

/* --- documents -------------------------------------------------------------------- */

static void
assert_begins(const struct seed *seed, const char *path, const char *text)
{
    const struct document *document = seed_find_document(seed, path);

    assert_non_null(document);
    assert_true(document->data.size >= strlen(text));
    assert_memory_equal(document->data.data, text, strlen(text));
}

/* NoCloud demands the first two, even where there is nothing to say. */
static void
has_meta_data_user_data_and_the_reporter_at_least(void **state)
{
    cleanup_seed struct seed seed = {0};
    struct failure *failure = NULL;

    (void)state;
    make(&seed, "", &failure);
    assert_no_failure(failure);
    assert_string_equal(seed.label, "cidata");
    assert_int_equal(seed.document_count, 3);
    assert_string_equal(seed.documents[0].path, "meta-data");
    assert_string_equal(seed.documents[1].path, "user-data");
    assert_int_equal(seed.documents[1].data.size, 0);
    assert_begins(&seed, "vendor-data", "#cloud-boothook\n#!/bin/sh\n");
}

static void
has_the_documents_in_the_same_order_always(void **state)
{
    const char *const order[] = {"meta-data", "user-data", "vendor-data",
                                 "network-config"};
    cleanup_seed struct seed seed = {0};
    struct failure *failure = NULL;

    (void)state;
    make(&seed,
         "<ci:network-config>version: 2\n</ci:network-config>"
         "<ci:vendor-data>#cloud-config\na: 1\n</ci:vendor-data>"
         "<ci:user-data>#!/bin/sh\n</ci:user-data>",
         &failure);
    assert_no_failure(failure);
    assert_int_equal(seed.document_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(seed.documents[i].path, order[i]);
    assert_document(&seed, "user-data", "#!/bin/sh\n");
    assert_begins(&seed, "vendor-data", "Content-Type: multipart/mixed; ");
    assert_document(&seed, "network-config", "version: 2\n");
}

static void
leaves_empty_documents_out(void **state)
{
    cleanup_seed struct seed seed = {0};
    struct failure *failure = NULL;

    (void)state;
    make(&seed,
         "<ci:vendor-data/><ci:network-config>\n </ci:network-config><ci:user-data/>",
         &failure);
    assert_no_failure(failure);
    assert_int_equal(seed.document_count, 3);
}

static void
puts_a_mask_in_the_place_of_a_secret(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_seed struct seed seed = {0};
    struct failure *failure = NULL;
    struct part *part;

    (void)state;
    unit_request_read(&unit,
                      "<ci:cloud-init><ci:user-data secret='web1' key='k'/>"
                      "</ci:cloud-init>",
                      &failure);
    part = parts_find(&unit.request.parts, PART_USER_DATA);
    /* As store/pipeline.h would. */
    buffer_append_string(&part->data, "#cloud-config\n");
    part_mask(part);
    seed_make(&seed, &unit.request, &failure);
    assert_no_failure(failure);
    assert_document(&seed, "user-data", "<secret web1/k>\n");
}

static void
refuses_what_the_guest_would(void **state)
{
    (void)state;
    assert_refused("<ci:user-data>a: 1</ci:user-data>", FAILURE_USER_DATA);
    assert_refused("<ci:vendor-data>a: 1</ci:vendor-data>", FAILURE_USER_DATA);
    assert_refused("<ci:vendor-data>#cloud-config\n- a</ci:vendor-data>", FAILURE_YAML);
    assert_refused("<ci:network-config>a: 1</ci:network-config>", FAILURE_NETWORK_CONFIG);
}

/* A guest that is resumed has long read it. */
static void
makes_the_seed_unchecked_where_it_is_asked_to(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_seed struct seed seed = {0};
    struct failure *failure = NULL;

    (void)state;
    unit_request_read(&unit,
                      "<ci:cloud-init><ci:user-data>a: 1</ci:user-data>"
                      "</ci:cloud-init>",
                      &failure);
    seed_make(&seed, &unit.request, &failure);
    assert_no_failure(failure);
    assert_document(&seed, "user-data", "a: 1");
}

static void
says_which_element_and_line_it_is_about(void **state)
{
    cleanup_seed struct seed seed = {0};
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    make(&seed, "\n\n<ci:vendor-data>a: 1</ci:vendor-data>", &failure);
    assert_int_equal(strncmp(failure->message, "<vendor-data>: ", 15), 0);
    assert_int_equal(failure->line, 3);
}

static void
refuses_more_than_the_limit(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_seed struct seed seed = {0};
    struct failure *failure = NULL;
    struct buffer *data;

    (void)state;
    unit_request_read(&unit,
                      "<ci:cloud-init><ci:user-data>#!/bin/sh\n</ci:user-data>"
                      "</ci:cloud-init>",
                      &failure);
    data = &parts_find(&unit.request.parts, PART_USER_DATA)->data;
    memset(buffer_reserve(data, LIMIT_SEED), 'x', LIMIT_SEED);
    data->size += LIMIT_SEED;
    assert_int_equal(seed_make(&seed, &unit.request, &failure), -1);
    assert_failure(&failure, FAILURE_LIMIT);
}

/* --- meta-data -------------------------------------------------------------------- */

static void
identifies_the_guest_by_its_domain(void **state)
{
    (void)state;
    assert_meta_data("", "{\n  \"instance-id\": \"" UNIT_UUID "\",\n"
                         "  \"local-hostname\": \"web1\"\n}\n");
}

static void
writes_what_the_request_says(void **state)
{
    (void)state;
    assert_meta_data(
        "<ci:meta-data><ci:entry name='environment'>a \"b\"\n\xc3\xa4</ci:entry>"
        "<ci:entry name='yes'>no</ci:entry></ci:meta-data>"
        "<ci:ssh-authorized-keys><ci:key>" KEY " a</ci:key><ci:key>" KEY
        " b</ci:key></ci:ssh-authorized-keys>"
        "<ci:instance-id policy='fixed'>i-7</ci:instance-id>"
        "<ci:hostname>db7.example.org</ci:hostname>",
        "{\n  \"instance-id\": \"i-7\",\n"
        "  \"local-hostname\": \"db7.example.org\",\n"
        "  \"public-keys\": [\n    \"" KEY " a\",\n    \"" KEY " b\"\n  ],\n"
        "  \"environment\": \"a \\\"b\\\"\\n\xc3\xa4\",\n"
        "  \"yes\": \"no\",\n"
        "  \"public_keys\": [\n    \"" KEY " a\",\n    \"" KEY " b\"\n  ]\n}\n");
}

/* JSON may hold these as they are, YAML not. */
static void
escapes_what_yaml_could_not_read(void **state)
{
    (void)state;
    assert_meta_data(
        "<ci:meta-data><ci:entry name='a'>\x7f \xc2\x85 \xe2\x80\xa8 \xe2\x80\xa9 "
        "\xe2\x82\xac</ci:entry></ci:meta-data>",
        "{\n  \"instance-id\": \"" UNIT_UUID "\",\n"
        "  \"local-hostname\": \"web1\",\n"
        "  \"a\": \"\\u007f \\u0085 \\u2028 \\u2029 \xe2\x82\xac\"\n}\n");
}

static void
owns_the_keys_that_it_generates(void **state)
{
    const char *const keys[] = {"instance-id", "local-hostname", "public-keys"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        cleanup_free char *content = xasprintf(
            "<ci:meta-data><ci:entry name='%s'>x</ci:entry></ci:meta-data>", keys[i]);

        assert_refused(content, FAILURE_META_DATA);
    }
}

/* --- devices with a tag ----------------------------------------------------------- */

static json_t *
devices_of(struct unit_domain *unit, const char *devices)
{
    cleanup_free char *xml = xasprintf("<domain type='kvm'><name>x</name><devices>%s"
                                       "</devices></domain>",
                                       devices);

    unit_domain_read(unit, xml);
    return devices_to_json(&unit->domain);
}

static void
devices_have_the_tags_of_their_aliases(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_json json_t *list = devices_of(
        &unit,
        "<disk><target dev='vda' bus='virtio'/><alias name='ua-root'/>"
        "<address type='pci' domain='0x0000' bus='0x04' slot='0x00' function='0x0'/></disk>"
        "<disk><target dev='sda' bus='scsi'/><alias name='ua-data'/>"
        "<address type='drive' controller='0' bus='0' target='0' unit='1'/></disk>"
        "<disk><target dev='vdb' bus='virtio'/><alias name='ua-late'/></disk>"
        "<hostdev mode='subsystem' type='pci'><alias name='ua-gpu'/>"
        "<address type='pci' domain='0x0000' bus='0x05' slot='0x02' function='0x1'/>"
        "</hostdev>"
        "<interface><mac address='52:54:00:AA:00:01'/><alias name='ua-lan'/>"
        "<address type='pci' domain='0x0000' bus='0x01' slot='0x00' function='0x0'/>"
        "</interface>");
    cleanup_free char *text = json_dumps(list, JSON_COMPACT);

    (void)state;
    assert_string_equal(
        text, "[{\"type\":\"nic\",\"bus\":\"pci\",\"address\":\"0000:01:00.0\","
              "\"mac\":\"52:54:00:aa:00:01\",\"tags\":[\"lan\"]},"
              "{\"type\":\"hostdev\",\"bus\":\"pci\",\"address\":\"0000:05:02.1\","
              "\"tags\":[\"gpu\"]},"
              "{\"type\":\"disk\",\"bus\":\"pci\",\"address\":\"0000:04:00.0\","
              "\"tags\":[\"root\"]},"
              "{\"type\":\"disk\",\"bus\":\"scsi\",\"tags\":[\"data\"]},"
              "{\"type\":\"disk\",\"tags\":[\"late\"]}]");
}

static void
devices_without_an_alias_of_the_users_are_passed_over(void **state)
{
    const char *const devices[] = {
        "",
        "<interface/>",
        "<disk><alias name='virtio-disk0'/></disk>",
        "<disk><alias name='ua-'/></disk>",
        "<disk><alias/></disk>",
        "<disk device='cdrom'><alias name='ua-virt-seed'/></disk>",
        "<controller><alias name='ua-virt-seed-scsi'/></controller>",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};

        assert_null(devices_of(&unit, devices[i]));
    }
}

static void
has_no_network_config_of_white_space_and_comments(void **state)
{
    static const char *const datasources_of_disks[] = {"nocloud", "configdrive"};
    static const char *const texts[] = {"# only a comment\n",
                                        " \t\r\n\n  # and a second"};
    struct failure *failure = NULL;

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_SIZE(texts); i++) {
        cleanup_unit_domain struct unit_domain unit = {0};
        cleanup_seed struct seed seed = {0};
        cleanup_free char *request =
            xasprintf("<ci:cloud-init datasource='%s'>"
                      "<ci:network-config>%s</ci:network-config></ci:cloud-init>",
                      datasources_of_disks[i % 2], texts[i / 2]);

        unit_request_read(&unit, request, &failure);
        assert_no_failure(failure);
        unit_check_parts(&unit.request, &failure);
        assert_no_failure(failure);
        seed_make(&seed, &unit.request, &failure);
        assert_no_failure(failure);
        assert_null(seed_find_document(&seed, "network-config"));
        assert_null(seed_find_document(&seed, "openstack/latest/network_data.json"));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_meta_data_user_data_and_the_reporter_at_least),
        cmocka_unit_test(has_the_documents_in_the_same_order_always),
        cmocka_unit_test(leaves_empty_documents_out),
        cmocka_unit_test(puts_a_mask_in_the_place_of_a_secret),
        cmocka_unit_test(refuses_what_the_guest_would),
        cmocka_unit_test(makes_the_seed_unchecked_where_it_is_asked_to),
        cmocka_unit_test(says_which_element_and_line_it_is_about),
        cmocka_unit_test(refuses_more_than_the_limit),
        cmocka_unit_test(identifies_the_guest_by_its_domain),
        cmocka_unit_test(writes_what_the_request_says),
        cmocka_unit_test(escapes_what_yaml_could_not_read),
        cmocka_unit_test(owns_the_keys_that_it_generates),
        cmocka_unit_test(devices_have_the_tags_of_their_aliases),
        cmocka_unit_test(devices_without_an_alias_of_the_users_are_passed_over),
        cmocka_unit_test(has_no_network_config_of_white_space_and_comments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
