/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layouts of seeds that cloud-init reads: seed/layout.h. */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "seed/layout.h"
#include "unit.h"

/* Return: the document of the layout with that label. */
static const struct layout_document *
find_document(const char *label, const char *path)
{
    const struct layout *layout = layout_find(label);

    assert_non_null(layout);
    return layout_find_document(layout, path);
}

static void
assert_takes(const char *label, const char *path, const char *data, const char *expected)
{
    const struct layout_document *document = find_document(label, path);
    cleanup_free char *taken = NULL;
    struct failure *failure = NULL;

    assert_non_null(document);
    taken = layout_describe(document, data, strlen(data), &failure);
    assert_no_failure(failure);
    assert_string_equal(taken, expected);
}

static void
assert_refuses(const char *label, const char *path, const char *data)
{
    const struct layout_document *document = find_document(label, path);
    cleanup_failure struct failure *failure = NULL;

    assert_non_null(document);
    assert_null(layout_describe(document, data, strlen(data), &failure));
    assert_non_null(failure);
}

static void
knows_a_seed_by_its_label(void **state)
{
    (void)state;
    assert_string_equal(layout_find("cidata")->datasource, "nocloud");
    assert_string_equal(layout_find("CIDATA")->datasource, "nocloud");
    assert_string_equal(layout_find("config-2")->datasource, "configdrive");
    assert_null(layout_find(""));
    assert_null(layout_find("cidata2"));
}

static void
says_what_is_taken_from_meta_data(void **state)
{
    (void)state;
    assert_takes("cidata", "meta-data", "instance-id: a\nlocal-hostname: b\n",
                 "instance-id a, local-hostname b");
    assert_takes("cidata", "meta-data", "{\"instance-id\": \"a\"}", "instance-id a");
    assert_takes("cidata", "meta-data", "local-hostname: b\n", "local-hostname b");
    assert_takes("cidata", "meta-data", "", "neither instance-id nor local-hostname");
    assert_refuses("cidata", "meta-data", "- instance-id\n");
    assert_takes("config-2", "openstack/latest/meta_data.json",
                 "{\"uuid\": \"a\", \"hostname\": \"b\"}", "uuid a, hostname b");
    assert_refuses("config-2", "openstack/latest/meta_data.json",
                   "{\"hostname\": \"b\"}");
    assert_refuses("config-2", "openstack/latest/meta_data.json", "uuid: a\n");
    assert_refuses("config-2", "openstack/latest/meta_data.json", "{\"uuid\": 1}");
    assert_refuses("config-2", "openstack/latest/meta_data.json", "");
}

static void
finds_what_cloud_init_would_stumble_over(void **state)
{
    (void)state;
    assert_refuses("cidata", "user-data", "a: 1\n");
    assert_refuses("cidata", "vendor-data", "#cloud-config\n- a\n");
    assert_refuses("cidata", "network-config", "ethernets: {}\n");
    assert_refuses("config-2", "openstack/latest/user_data", "a: 1\n");
    assert_refuses("config-2", "openstack/latest/vendor_data.json", "#cloud-config\n");
    assert_refuses("config-2", "openstack/latest/network_data.json", "{");
}

static void
takes_documents_that_are_empty(void **state)
{
    (void)state;
    assert_takes("cidata", "user-data", "", "nothing");
    assert_takes("cidata", "network-config", "", "nothing");
}

static void
assert_identity(const char *label, const char *path, const char *data,
                const char *instance_id, const char *hostname)
{
    cleanup_seed struct seed seed = {.label = xstrdup(label)};
    cleanup_identity struct identity identity = {0};
    struct failure *failure = NULL;

    buffer_append_string(&seed_add_document(&seed, path)->data, data);
    layout_read_identity(layout_find(label), &seed, &identity, &failure);
    assert_no_failure(failure);
    assert_string_equal(identity.instance_id, instance_id);
    assert_string_equal(identity.hostname, hostname);
    assert_true(identity_is_same(&identity, &identity));
}

static void
reads_who_the_guest_is(void **state)
{
    (void)state;
    assert_identity("cidata", "meta-data", "instance-id: a\nlocal-hostname: b\n", "a",
                    "b");
    assert_identity("config-2", "openstack/latest/meta_data.json",
                    "{\"uuid\": \"a\", \"instance_id\": \"c\", \"hostname\": \"b\"}", "a",
                    "b");
}

static void
reads_nobody_of_a_seed_without_meta_data(void **state)
{
    cleanup_seed struct seed seed = {.label = xstrdup("cidata")};
    cleanup_identity struct identity identity = {0};
    struct failure *failure = NULL;

    (void)state;
    seed_add_document(&seed, "user-data");
    assert_int_equal(
        layout_read_identity(layout_find("cidata"), &seed, &identity, &failure), -1);
    assert_failure(&failure, FAILURE_META_DATA);
    seed_add_document(&seed, "meta-data");
    layout_read_identity(layout_find("cidata"), &seed, &identity, &failure);
    assert_no_failure(failure);
    assert_null(identity.instance_id);
    assert_false(identity_is_same(&identity, &identity));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_a_seed_by_its_label),
        cmocka_unit_test(says_what_is_taken_from_meta_data),
        cmocka_unit_test(finds_what_cloud_init_would_stumble_over),
        cmocka_unit_test(takes_documents_that_are_empty),
        cmocka_unit_test(reads_who_the_guest_is),
        cmocka_unit_test(reads_nobody_of_a_seed_without_meta_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
