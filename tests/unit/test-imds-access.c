/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who gets what from the metadata server, and what the others are told. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "imds-host.h"
#include "imds/access.h"
#include "unit.h"

#define UUID UNIT_UUID
#define OTHER_UUID UNIT_OTHER_UUID
#define TOKEN IMDS_HOST_TOKEN
#define WRONG_TOKEN "fedcba9876543210fedcba9876543210"
#define MAC "52:54:00:00:00:01"
#define OTHER_MAC "52:54:00:00:00:02"

static const struct peer qemu = {.kind = PEER_QEMU, .local = true, .owner = 64055};
static const struct peer neighbour = {.kind = PEER_NEIGHBOUR, .mac = MAC};
static const struct peer other_neighbour = {.kind = PEER_NEIGHBOUR, .mac = OTHER_MAC};
static const struct peer root = {
    .kind = PEER_OTHER, .reason = "not of QEMU's user", .local = true};
static const struct peer behind_router = {.kind = PEER_OTHER, .reason = "not on a link"};

/* As cloud-init asks for its user-data. */
static void
ask(struct answer *answer, const struct imds_host *host, const char *uuid,
    const char *token, const struct peer *peer)
{
    cleanup_free char *name = xasprintf("/%s/%s/user-data", uuid, token);
    const struct http_request request = {.method = "GET", .path = path_read(name)};

    answer_make(answer, &request, peer, &host->reading, 0);
}

static void
assert_granted(const struct imds_host *host, const char *uuid, const struct peer *peer)
{
    cleanup_answer struct answer answer = ANSWER_NONE;

    ask(&answer, host, uuid, TOKEN, peer);
    assert_int_equal(answer.status, 200);
    assert_true(answer.granted && answer.fd >= 0);
}

static void
assert_not_granted(const struct imds_host *host, const char *token,
                   const struct peer *peer)
{
    cleanup_answer struct answer answer = ANSWER_NONE;

    ask(&answer, host, UUID, token, peer);
    assert_int_equal(answer.status, 404);
    assert_false(answer.granted || answer.fd >= 0);
}

static void
each_digit_of_a_token_counts(void **state)
{
    cleanup_imds_host struct imds_host host = imds_host_open(state);
    const struct imds_mac mac = {MAC, IMDS_LINK_NEIGHBOUR};

    imds_host_publish(&host, UUID, TOKEN, &mac, 1, "user-data", "ours");
    assert_granted(&host, UUID, &neighbour);
    for (size_t i = 0; i < IMDS_TOKEN_LENGTH; i++) {
        char token[] = TOKEN;

        token[i] = token[i] == '7' ? '8' : '7';
        assert_not_granted(&host, token, &neighbour);
    }
    assert_not_granted(&host, WRONG_TOKEN, &neighbour);
}

static void
a_domain_without_macs_is_nobodys(void **state)
{
    cleanup_imds_host struct imds_host host = imds_host_open(state);
    const struct peer nameless = {.kind = PEER_NEIGHBOUR};

    imds_host_publish(&host, UUID, TOKEN, NULL, 0, "user-data", "ours");
    assert_not_granted(&host, TOKEN, &qemu);
    assert_not_granted(&host, TOKEN, &neighbour);
    assert_not_granted(&host, TOKEN, &nameless);
    assert_not_granted(&host, TOKEN, &root);
    assert_not_granted(&host, TOKEN, &behind_router);
}

static void
each_link_has_its_own_kind_of_peer(void **state)
{
    cleanup_imds_host struct imds_host host = imds_host_open(state);
    const struct imds_mac user = {MAC, IMDS_LINK_USER};
    const struct imds_mac on_link = {MAC, IMDS_LINK_NEIGHBOUR};

    imds_host_publish(&host, UUID, TOKEN, &user, 1, "user-data", "ours");
    assert_granted(&host, UUID, &qemu);
    assert_not_granted(&host, TOKEN, &neighbour);
    imds_host_publish(&host, UUID, TOKEN, &on_link, 1, "user-data", "ours");
    assert_granted(&host, UUID, &neighbour);
    assert_not_granted(&host, TOKEN, &qemu);
    assert_not_granted(&host, TOKEN, &other_neighbour);
}

/* All that a client sees, and what it may be counted by (http.c). */
static void
assert_same_answer(const struct answer *one, const struct answer *other)
{
    assert_int_equal(one->status, other->status);
    assert_string_equal(one->type, other->type);
    assert_string_equal(one->text, other->text);
    assert_int_equal(one->fd, other->fd);
    assert_int_equal(one->granted, other->granted);
}

static void
a_right_token_in_wrong_hands_is_answered_as_a_wrong_one(void **state)
{
    cleanup_imds_host struct imds_host host = imds_host_open(state);
    const struct imds_mac mac = {MAC, IMDS_LINK_NEIGHBOUR};
    const struct peer *const others[] = {&qemu, &other_neighbour, &root, &behind_router};

    imds_host_publish(&host, UUID, TOKEN, &mac, 1, "user-data", "ours");
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        cleanup_answer struct answer right = ANSWER_NONE, wrong = ANSWER_NONE;
        cleanup_answer struct answer nobodys = ANSWER_NONE;

        ask(&right, &host, UUID, TOKEN, others[i]);
        ask(&wrong, &host, UUID, WRONG_TOKEN, others[i]);
        ask(&nobodys, &host, OTHER_UUID, TOKEN, others[i]);
        assert_same_answer(&right, &wrong);
        assert_same_answer(&right, &nobodys);
        assert_int_equal(right.status, 404);
        /* The log does tell them apart. */
        assert_string_not_equal(right.reason, wrong.reason);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(each_digit_of_a_token_counts),
        unit_test_in_directory(a_domain_without_macs_is_nobodys),
        unit_test_in_directory(each_link_has_its_own_kind_of_peer),
        unit_test_in_directory(a_right_token_in_wrong_hands_is_answered_as_a_wrong_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
