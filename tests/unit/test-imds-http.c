/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With whom somebody shares what he may ask the metadata server, and may have in its
 * log. */
#include "config.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/memory.h"
#include "imds/http.h"
#include "unit.h"

static const struct peer qemu = {.kind = PEER_QEMU, .local = true, .owner = 64055};
static const struct peer root = {.kind = PEER_OTHER, .local = true, .owner = 0};
static const struct peer router = {.kind = PEER_OTHER};

static void
open_http(struct http *http)
{
    cleanup_failure struct failure *failure = NULL;

    *http = HTTP_NONE;
    http->root = -1;
    http_open(http, 2, &failure);
    assert_no_failure(failure);
}

#define cleanup_http __attribute__((cleanup(http_close)))

typedef bool may_have(struct http *http, const struct peer *peer,
                      const struct answer *answer);

/* Return: how much of `count` the peer gets; of the domain where it is granted, else it
 * asks for that in vain. */
static int
use(struct http *http, may_have *may, const struct peer *peer, const char *uuid,
    bool granted, int count)
{
    struct answer answer = {.fd = -1, .granted = granted};
    int had = 0;

    snprintf(answer.uuid, sizeof(answer.uuid), "%s", uuid);
    for (int i = 0; i < count; i++)
        had += may(http, peer, &answer);
    return had;
}

static struct peer
neighbour(unsigned int number)
{
    struct peer peer = {.kind = PEER_NEIGHBOUR};

    snprintf(peer.mac, sizeof(peer.mac), "52:54:00:00:%02x:%02x", number / 256 % 256,
             number % 256);
    return peer;
}

/* To be called for the requests and for the log. */
static void
assert_all_have_their_own(may_have *may, int burst)
{
    cleanup_http struct http http;
    const struct peer one = neighbour(1), other = neighbour(2);
    const struct peer *const all[] = {&qemu, &root, &router, &one, &other};

    open_http(&http);
    /* Guests of user networking are one user's processes, but each has its domain. */
    assert_int_equal(use(&http, may, &qemu, UNIT_UUID, true, 2 * burst), burst);
    assert_int_equal(use(&http, may, &qemu, UNIT_OTHER_UUID, true, 2 * burst), burst);
    /* Who has no domain, but tries to have one, uses up what is his. */
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        assert_int_equal(use(&http, may, all[i], "a domain", false, 2 * burst), burst);
    assert_int_equal(use(&http, may, &qemu, "a domain", true, 2 * burst), burst);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        assert_int_equal(use(&http, may, all[i], "another domain", false, 1), 0);
}

static void
each_guest_and_each_peer_may_ask_for_itself(void **state)
{
    (void)state;
    assert_all_have_their_own(http_may_ask, LIMIT_IMDS_BURST);
}

static void
each_guest_and_each_peer_has_its_lines_of_the_log(void **state)
{
    (void)state;
    assert_all_have_their_own(http_may_log, LIMIT_IMDS_LOG_BURST);
}

static void
a_crowd_of_macs_has_no_more_of_the_log_than_all_of_them_may(void **state)
{
    cleanup_http struct http http;
    int lines = 0;

    (void)state;
    open_http(&http);
    for (unsigned int i = 0; i < 1000; i++) {
        const struct peer peer = neighbour(i);

        lines += use(&http, http_may_log, &peer, UNIT_UUID, false, 3);
    }
    assert_int_equal(lines, LIMIT_IMDS_LOG_CROWD_BURST);
    /* Those who are known for what they are can still be heard. */
    assert_int_equal(use(&http, http_may_log, &root, UNIT_UUID, false, 1), 1);
    assert_int_equal(use(&http, http_may_log, &qemu, UNIT_UUID, true, 1), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_guest_and_each_peer_may_ask_for_itself),
        cmocka_unit_test(each_guest_and_each_peer_has_its_lines_of_the_log),
        cmocka_unit_test(a_crowd_of_macs_has_no_more_of_the_log_than_all_of_them_may),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
