/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cloud-config of a request: seed/writers.h. */
#include "config.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/memory.h"
#include "seed/seed.h"
#include "seed/writers.h"
#include "seed/yaml.h"
#include "unit.h"

static void
write_request(struct buffer *buffer, const struct request *request)
{
    struct instance_id id;

    instance_id_begin(&id, request);
    cloud_config_write(buffer, request, &id);
}

static void
write_config(struct buffer *buffer, struct unit_domain *unit, const char *attributes,
             const char *content)
{
    struct failure *failure = NULL;
    cleanup_free char *request =
        xasprintf("<ci:cloud-init %s><ci:initialization>%s</ci:initialization>"
                  "</ci:cloud-init>",
                  attributes, content);

    unit_request_read(unit, request, &failure);
    assert_no_failure(failure);
    write_request(buffer, &unit->request);
}

/* The mapping is compared without its white space. */
static void
assert_config_of(const char *attributes, const char *content, const char *expected)
{
    cleanup_buffer struct buffer buffer = {0};
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_json json_t *json = NULL;
    cleanup_free char *compact = NULL;
    const char *header = "#cloud-config\n";

    write_config(&buffer, &unit, attributes, content);
    if (!*expected) {
        assert_int_equal(buffer.size, 0);
        return;
    }
    assert_memory_equal(buffer.data, header, strlen(header));
    json = json_loads(buffer.data + strlen(header), 0, NULL);
    compact = json_dumps(json, JSON_COMPACT);
    assert_string_equal(compact, expected);
}

static void
assert_config(const char *content, const char *expected)
{
    assert_config_of("", content, expected);
}

static void
is_a_header_and_a_mapping(void **state)
{
    cleanup_buffer struct buffer buffer = {0};
    cleanup_unit_domain struct unit_domain unit = {0};

    (void)state;
    write_config(&buffer, &unit, "",
                 "<ci:timezone>UTC</ci:timezone><ci:locale>C</ci:locale>");
    unit_assert_content(&buffer, "#cloud-config\n"
                                 "{\n"
                                 "  \"timezone\": \"UTC\",\n"
                                 "  \"locale\": \"C\"\n"
                                 "}\n");
}

static void
says_nothing_that_nobody_asked_for(void **state)
{
    (void)state;
    assert_config("", "");
    assert_config("<ci:host_name>web1</ci:host_name><ci:org_name>o</ci:org_name>"
                  "<ci:custom_script>a: b</ci:custom_script>",
                  "");
}

static void
gives_roots_password_to_root(void **state)
{
    (void)state;
    assert_config("<ci:root_password>a:\"b\" c</ci:root_password>",
                  "{\"chpasswd\":{\"expire\":false,\"users\":[{\"name\":\"root\","
                  "\"password\":\"a:\\\"b\\\" c\",\"type\":\"text\"}]},"
                  "\"ssh_pwauth\":true}");
}

static void
makes_users_beside_the_images_own(void **state)
{
    (void)state;
    assert_config("<ci:users><ci:user><ci:user_name>alice</ci:user_name>"
                  "<ci:password>p</ci:password></ci:user>"
                  "<ci:user><ci:user_name>bob</ci:user_name></ci:user></ci:users>",
                  "{\"users\":[\"default\",{\"name\":\"alice\","
                  "\"plain_text_passwd\":\"p\",\"lock_passwd\":false},"
                  "{\"name\":\"bob\"}],"
                  "\"chpasswd\":{\"expire\":false,\"users\":[{\"name\":\"alice\","
                  "\"password\":\"p\",\"type\":\"text\"}]},\"ssh_pwauth\":true}");
}

static void
knows_a_password_that_is_a_hash(void **state)
{
    static const struct {
        const char *password;
        const char *type;
    } cases[] = {
        {"$6$salt$hash", "hash"},
        {"$6$rounds=9$salt$hash", "hash"},
        {"$y$j9T$salt$hash", "hash"},
        {"$2b$05$saltandhash", "hash"},
        {"$1$salt$hash", "hash"},
        {"$6$salt", "text"},
        {"$6$sa lt$hash", "text"},
        {"$6$salt$ha:sh", "text"},
        {"$9$salt$hash", "text"},
        {"$$$", "text"},
        {"!", "text"},
        {"RANDOM", "text"},
        {" x$6$salt$hash", "text"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *content =
            xasprintf("<ci:root_password>%s</ci:root_password>", cases[i].password);
        cleanup_free char *expected =
            xasprintf("{\"chpasswd\":{\"expire\":false,\"users\":[{\"name\":\"root\","
                      "\"password\":\"%s\",\"type\":\"%s\"}]},\"ssh_pwauth\":true}",
                      cases[i].password, cases[i].type);

        assert_config(content, expected);
    }
}

static void
names_the_default_user(void **state)
{
    (void)state;
    assert_config("<ci:user_name>admin</ci:user_name>",
                  "{\"user\":{\"name\":\"admin\"}}");
    assert_config("<ci:user_name>root</ci:user_name>",
                  "{\"user\":{\"name\":\"root\"},\"disable_root\":false}");
}

static void
lets_root_in_whose_keys_were_given(void **state)
{
    const char *key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVG";
    cleanup_free char *of_root =
        xasprintf("<ci:authorized_ssh_keys>%s</ci:authorized_ssh_keys>", key);
    cleanup_free char *of_bob = xasprintf(
        "<ci:authorized_keys><ci:authorized_key><ci:user><ci:user_name>bob</ci:user_name>"
        "</ci:user><ci:key>%s</ci:key></ci:authorized_key></ci:authorized_keys>",
        key);
    cleanup_free char *bob = xasprintf(
        "{\"users\":[\"default\",{\"name\":\"bob\",\"ssh_authorized_keys\":[\"%s\"]}]}",
        key);

    (void)state;
    assert_config(of_root, "{\"disable_root\":false}");
    assert_config(of_bob, bob);
}

static void
renews_the_hosts_keys_as_it_is_told(void **state)
{
    (void)state;
    assert_config("<ci:regenerate_ssh_keys>true</ci:regenerate_ssh_keys>",
                  "{\"ssh_deletekeys\":true}");
    assert_config("<ci:regenerate_ssh_keys>false</ci:regenerate_ssh_keys>",
                  "{\"ssh_deletekeys\":false}");
}

static void
leaves_no_other_host_keys_beside_those_that_are_given(void **state)
{
    cleanup_buffer struct buffer buffer = {0};
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;

    (void)state;
    unit_request_read(&unit,
                      "<ci:cloud-init><ci:ssh-host-keys secret='s'/><ci:initialization>"
                      "<ci:regenerate_ssh_keys>false</ci:regenerate_ssh_keys>"
                      "</ci:initialization></ci:cloud-init>",
                      &failure);
    assert_no_failure(failure);
    write_request(&buffer, &unit.request);
    assert_non_null(strstr(buffer.data, "\"ssh_deletekeys\": true"));
}

static void
writes_files_of_every_byte(void **state)
{
    const char *files =
        "<ci:files><ci:file><ci:name>/a</ci:name><ci:content>AP8=</ci:content>"
        "<ci:type>BASE64</ci:type></ci:file><ci:file><ci:name>/b \"c\"</ci:name>"
        "<ci:content/></ci:file></ci:files>";

    (void)state;
    assert_config(
        files,
        "{\"write_files\":[{\"path\":\"/a\",\"encoding\":\"b64\",\"content\":\"AP8=\"},"
        "{\"path\":\"/b \\\"c\\\"\",\"encoding\":\"b64\",\"content\":\"\"}]}");
    assert_config_of("datasource='configdrive'", files, "");
}

static void
phones_home(void **state)
{
    (void)state;
    assert_config("<ci:phone_home>http://a/$INSTANCE_ID</ci:phone_home>",
                  "{\"phone_home\":{\"url\":\"http://a/$INSTANCE_ID\",\"post\":\"all\","
                  "\"tries\":10}}");
}

static void
replaces_what_is_not_utf8_in_the_password_of_a_resumed_guest(void **state)
{
    cleanup_buffer struct buffer buffer = {0};
    cleanup_unit_domain struct unit_domain unit = {0};
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    unit_request_read(&unit,
                      "<ci:cloud-init><ci:initialization><ci:root_password secret='s'/>"
                      "</ci:initialization></ci:cloud-init>",
                      &failure);
    assert_no_failure(failure);
    buffer_append_string(&unit.request.initialization->root_password->data,
                         "hunter2\xff\n");
    write_request(&buffer, &unit.request);
    assert_non_null(strstr(buffer.data, "\"hunter2?\""));
}

/* Return: what seed_check_part() says of a secret password of that content. */
static int
check_password(const char *content, size_t size, struct failure **failure)
{
    cleanup_unit_domain struct unit_domain unit = {0};

    unit_request_read(&unit,
                      "<ci:cloud-init><ci:initialization><ci:root_password secret='s'/>"
                      "</ci:initialization></ci:cloud-init>",
                      failure);
    assert_no_failure(*failure);
    buffer_append(&unit.request.initialization->root_password->data, content, size);
    return unit_check_parts(&unit.request, failure);
}

static void
takes_one_line_for_a_password(void **state)
{
    static const char bad[][16] = {"",          "\n",          "hunter2\nb", "hunter2\rb",
                                   "hunter\t2", "hunter2\x1b", "hunter2\xff"};
    struct failure *failure = NULL;

    (void)state;
    check_password("a b\xc3\xa4\r\n", 7, &failure);
    assert_no_failure(failure);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        assert_int_equal(check_password(bad[i], strlen(bad[i]), &failure), -1);
        assert_null(strstr(failure->message, "hunter"));
        assert_failure(&failure, FAILURE_REQUEST);
    }
    assert_int_equal(check_password("hunter\0002", 8, &failure), -1);
    assert_failure(&failure, FAILURE_REQUEST);
}

static void
takes_a_password_up_to_the_limit(void **state)
{
    char password[LIMIT_PASSWORD + 1];
    struct failure *failure = NULL;

    (void)state;
    memset(password, 'a', sizeof(password));
    check_password(password, LIMIT_PASSWORD, &failure);
    assert_no_failure(failure);
    assert_int_equal(check_password(password, LIMIT_PASSWORD + 1, &failure), -1);
    assert_failure(&failure, FAILURE_REQUEST);
}

/* The masks of dump are read by people. */
static void
shows_the_mask_of_a_file_as_it_is(void **state)
{
    cleanup_buffer struct buffer buffer = {0};
    cleanup_unit_domain struct unit_domain unit = {0};
    struct failure *failure = NULL;

    (void)state;
    unit_request_read(&unit,
                      "<ci:cloud-init><ci:initialization><ci:files><ci:file>"
                      "<ci:name>/a</ci:name><ci:content secret='s' key='k'/></ci:file>"
                      "</ci:files></ci:initialization></ci:cloud-init>",
                      &failure);
    assert_no_failure(failure);
    part_mask(unit.request.initialization->files[0].content);
    write_request(&buffer, &unit.request);
    assert_non_null(strstr(buffer.data, "\"content\": \"<secret s/k>\\n\""));
}

static void
escapes_what_yaml_would_take_for_something_else(void **state)
{
    cleanup_buffer struct buffer buffer = {0};
    cleanup_json json_t *json =
        json_pack("[s]", "a\x7f\xc2\x85\xc2\xa0\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\n"
                         "\xf0\x9f\x98\x80");

    (void)state;
    yaml_text_append(&buffer, json);
    unit_assert_content(&buffer, "[\n  \"a\\u007f\\u0085\xc2\xa0\\u2028\\u2029"
                                 "\xe2\x80\xaa\\n\xf0\x9f\x98\x80\"\n]\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_header_and_a_mapping),
        cmocka_unit_test(says_nothing_that_nobody_asked_for),
        cmocka_unit_test(gives_roots_password_to_root),
        cmocka_unit_test(makes_users_beside_the_images_own),
        cmocka_unit_test(knows_a_password_that_is_a_hash),
        cmocka_unit_test(names_the_default_user),
        cmocka_unit_test(lets_root_in_whose_keys_were_given),
        cmocka_unit_test(renews_the_hosts_keys_as_it_is_told),
        cmocka_unit_test(leaves_no_other_host_keys_beside_those_that_are_given),
        cmocka_unit_test(writes_files_of_every_byte),
        cmocka_unit_test(phones_home),
        cmocka_unit_test(replaces_what_is_not_utf8_in_the_password_of_a_resumed_guest),
        cmocka_unit_test(takes_one_line_for_a_password),
        cmocka_unit_test(takes_a_password_up_to_the_limit),
        cmocka_unit_test(shows_the_mask_of_a_file_as_it_is),
        cmocka_unit_test(escapes_what_yaml_would_take_for_something_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
