/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cloud-init recognises user-data by: seed/seed.h. */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "seed/content.h"
#include "unit.h"

static void
assert_takes(const char *data, size_t size)
{
    struct failure *failure = NULL;

    if (user_data_check(data, size, false, NULL, &failure) < 0)
        print_error("refused:\n%s\n", data);
    assert_no_failure(failure);
}

static void
assert_refuses(const char *text, enum failure_code code)
{
    struct failure *failure = NULL;

    if (user_data_check(text, strlen(text), false, NULL, &failure) == 0)
        print_error("taken:\n%s\n", text);
    assert_failure(&failure, code);
}

static void
takes_every_header_of_cloud_init(void **state)
{
    const char *const texts[] = {
        "#cloud-config\na: 1\n",
        "#cloud-config",
        "#Cloud-Config\na: 1\n",
        "#cloud-config-archive\n- type: text/cloud-config\n  content: 'a: 1'\n",
        "#cloud-config-jsonp\n[{ \"op\": \"add\" }]\n",
        "#cloud-boothook\n#!/bin/sh\n",
        "#include\nhttp://192.0.2.1/a\n",
        "#include-once\nhttp://192.0.2.1/a\n",
        "#part-handler\ndef list_types(): pass\n",
        "#!/bin/sh\necho hello\n",
        "#!/usr/bin/env python3\n",
        "## template: jinja\n#cloud-config\na: {{ v1.local_hostname }}\n",
        "## template: jinja\n\n#!/bin/sh\n",
        "## template: jinja\n{% set a = 1 %}\n#cloud-config\n",
        "## template: jinja\n",
        "## template: jinja",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_takes(texts[i], strlen(texts[i]));
}

static void
takes_data_that_is_packed(void **state)
{
    const char *mime =
        "Content-Type: multipart/mixed; boundary=\"x\"\nMIME-Version: 1.0\n"
        "\n--x\n";
    /* #!/bin/sh */
    static const char packed[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x53\x56\xd4\x4f\xca\xcc\xd3"
        "\x2f\xce\xe0\x02\x00\x1d\x9d\xfb\x04\x0a\x00\x00\x00";

    (void)state;
    assert_takes(packed, sizeof(packed) - 1);
    assert_takes(mime, strlen(mime));
    assert_takes("mime-version: 1.0\n", 18);
}

static void
takes_what_is_empty(void **state)
{
    (void)state;
    assert_takes("", 0);
    assert_takes(" \n\t\n", 4);
}

/* cloud-init strips it, except where a line must be the first. */
static void
takes_white_space_before_most_headers(void **state)
{
    (void)state;
    assert_takes("\n  #cloud-config\na: 1\n", 22);
    assert_takes("\n#include\nhttp://192.0.2.1/\n", 28);
    assert_refuses("## template: jinja\na: 1\n", FAILURE_USER_DATA);
    assert_refuses("## template: jinja\n#include\nhttp://192.0.2.1/a\n",
                   FAILURE_USER_DATA);
    assert_refuses("\n#!/bin/sh\n", FAILURE_USER_DATA);
    assert_refuses("  #!/bin/sh\n", FAILURE_USER_DATA);
    assert_refuses("\n## template: jinja\n#cloud-config\n", FAILURE_USER_DATA);
}

static void
refuses_what_cloud_init_would_ignore(void **state)
{
    const char *const texts[] = {
        "a: 1\n",
        "package_update: true\n",
        "cloud-config\n",
        "# no header\n",
        "echo hello\n",
        "<powershell>\n",
        "{\"ignition\": {}}",
        "# comment\n#cloud-config\n",
        "\xef\xbb\xbf#cloud-config\n",
        "Mime: no\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_refuses(texts[i], FAILURE_USER_DATA);
}

/* cloudbase-init's own pattern for each is in userdatautils.py. */
static void
takes_scripts_of_windows_for_windows_alone(void **state)
{
    const char *const texts[] = {
        "rem cmd\r\ndir\r\n",
        "#ps1\nGet-Date\n",
        "#ps1_sysnative\r\nGet-Date\n",
        "#ps1_x86\nGet-Date\n",
        "<powershell>Get-Date</powershell>",
        "<script>dir</script>",
    };
    const char *const bad[] = {"REM CMD\n", "#ps1", "#ps2\n", " #ps1\n", "\n<script>a"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct failure *failure = NULL;

        user_data_check(texts[i], strlen(texts[i]), true, NULL, &failure);
        assert_no_failure(failure);
        assert_refuses(texts[i], FAILURE_USER_DATA);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct failure *failure = NULL;

        assert_int_equal(user_data_check(bad[i], strlen(bad[i]), true, NULL, &failure),
                         -1);
        assert_failure(&failure, FAILURE_USER_DATA);
    }
}

static void
tells_of_the_space_in_the_header(void **state)
{
    const char *text = "# cloud-config\na: 1\n";
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    assert_int_equal(user_data_check(text, strlen(text), false, NULL, &failure), -1);
    assert_int_equal(failure->code, FAILURE_USER_DATA);
    assert_non_null(strstr(failure->hint, "remove the space"));
}

static void
reads_cloud_config_as_the_guest_would(void **state)
{
    (void)state;
    assert_refuses("#cloud-config\na: 1\n\tb: 2\n", FAILURE_YAML);
    assert_refuses("#cloud-config\n- a\n", FAILURE_YAML);
    assert_refuses("#cloud-config\na: 1\n---\nb: 2\n", FAILURE_YAML);
    assert_refuses("#cloud-config-archive\na: 1\n", FAILURE_YAML);
    assert_refuses("#cloud-config-archive\n[", FAILURE_YAML);
}

/* Its whole first stage: no users, no keys. */
static void
refuses_what_stops_cloud_init(void **state)
{
    const char *const bad[] = {
        "#cloud-config\na: {on: 1, name: 2}\n", "#cloud-config\na:\n  1: x\n  b: y\n",
        "#cloud-config\na:\n- ~: x\n  b: y\n",  "#cloud-config\na: {2026-01-01: b}\n",
        "#cloud-config\na: &a [*a]\n",
    };
    const char *const good[] = {
        "#cloud-config-archive\n- {type: text/cloud-config, content: 'a: 1'}\n"
        "- '#!/bin/sh'\n- {content: '#!/bin/sh', filename: 1, launch-index: 2}\n"
        "- {type: ~, content: !!binary c2VlZA==, Merge-Type: list()}\n- [a]\n- {}\n",
        "#cloud-config-archive\n- &a {content: 'a: 1'}\n- {<<: *a, Merge-Type: list()}\n",
        "#cloud-config-archive\n",
        "#cloud-config\na: {1: x, 2.5: y, on: z}\nb: {'on': 1, name: 2}\n",
        "#cloud-config\na: &a {1: x}\nb: {<<: *a, 2: y}\n",
        "#include # a\n# b\n\nhttp://192.0.2.1/\n  http://192.0.2.2/#a\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_refuses(bad[i], FAILURE_YAML);
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        assert_takes(good[i], strlen(good[i]));
}

static void
has_a_word_for_each_kind(void **state)
{
    const struct {
        const char *text;
        const char *word;
    } cases[] = {
        {"", "nothing"},
        {" \n", "nothing"},
        {"#cloud-config\n", "cloud-config"},
        {"a: 1\n", "unknown"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_string_equal(
            user_data_kind_name(user_data_kind(cases[i].text, strlen(cases[i].text))),
            cases[i].word);
}

/* What comes after "mime-version:" is not searched for ever. */
static void
looks_for_mime_at_the_beginning_alone(void **state)
{
    char text[6000];

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text + 5000, "mime-version: 1.0", 18);
    assert_refuses(text, FAILURE_USER_DATA);
}

/* cloud-init parses what has the word as a message. Its first line says whether it has
 * headers; where it has none, all of it is the text. */
static void
takes_the_word_of_mime_for_a_header_only_in_front(void **state)
{
    const char *const plain[] = {
        "#cloud-config\n# MIME-Version: 1.0\nhostname: a\n",
        "\n#cloud-config\n# mime-version: 1\nhostname: a\n",
        "#!/bin/sh\necho Mime-Version: 1\n",
    };
    const char *const lost[] = {
        " #cloud-config\n# mime-version: 1\nhostname: a\n",
        "#cloud-config:mime-version:\na: 1\n",
        "#!/a:mime-version:\necho\n",
        "hello\nmime-version: 1\n",
        "\nMIME-Version: 1.0\nContent-Type: text/cloud-config\n\na: 1\n",
    };
    const char *mime =
        "From x\nmime-version: 1.0\nContent-Type: text/cloud-config\n\na: 1\n";

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
        assert_takes(plain[i], strlen(plain[i]));
        assert_int_not_equal(user_data_kind(plain[i], strlen(plain[i])), USER_DATA_MIME);
    }
    for (size_t i = 0; i < ARRAY_SIZE(lost); i++)
        assert_refuses(lost[i], FAILURE_USER_DATA);
    assert_refuses("#cloud-config\n# mime-version: 1\n- a\n", FAILURE_YAML);
    assert_takes(mime, strlen(mime));
    assert_int_equal(user_data_kind(mime, strlen(mime)), USER_DATA_MIME);
}

static void
holds_nothing_of_the_data_in_its_messages(void **state)
{
    const char *const texts[] = {"hunter2\n", "#cloud-config\nhunter2\n",
                                 "#cloud-config\na: [hunter2\n", " #!/bin/hunter2\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        cleanup_failure struct failure *failure = NULL;

        assert_int_equal(
            user_data_check(texts[i], strlen(texts[i]), false, NULL, &failure), -1);
        assert_null(strstr(failure->message, "hunter2"));
        assert_null(strstr(failure->hint, "hunter2"));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_every_header_of_cloud_init),
        cmocka_unit_test(takes_data_that_is_packed),
        cmocka_unit_test(takes_what_is_empty),
        cmocka_unit_test(takes_white_space_before_most_headers),
        cmocka_unit_test(refuses_what_cloud_init_would_ignore),
        cmocka_unit_test(takes_scripts_of_windows_for_windows_alone),
        cmocka_unit_test(tells_of_the_space_in_the_header),
        cmocka_unit_test(reads_cloud_config_as_the_guest_would),
        cmocka_unit_test(refuses_what_stops_cloud_init),
        cmocka_unit_test(has_a_word_for_each_kind),
        cmocka_unit_test(looks_for_mime_at_the_beginning_alone),
        cmocka_unit_test(takes_the_word_of_mime_for_a_header_only_in_front),
        cmocka_unit_test(holds_nothing_of_the_data_in_its_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
