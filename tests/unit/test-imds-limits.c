/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often somebody may ask the metadata server, and how many connections they have. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "imds/clients.h"
#include "imds/listen.h"
#include "imds/rate.h"
#include "unit.h"

/* --- requests --------------------------------------------------------------------- */

static int
take(struct rate *rate, const char *name, int count, uint64_t now)
{
    int taken = 0;

    for (int i = 0; i < count; i++)
        taken += rate_take(rate, name, now);
    return taken;
}

static void
a_guest_has_a_burst_and_then_a_rate(void **state)
{
    struct rate *rate = rate_new(LIMIT_IMDS_RATE, LIMIT_IMDS_BURST);

    (void)state;
    assert_int_equal(take(rate, "one", 2 * LIMIT_IMDS_BURST, 1000), LIMIT_IMDS_BURST);
    assert_int_equal(take(rate, "one", 10, 1000), 0);
    assert_int_equal(take(rate, "one", LIMIT_IMDS_BURST, 2000), LIMIT_IMDS_RATE);
    assert_int_equal(take(rate, "one", 2 * LIMIT_IMDS_BURST, 10000000), LIMIT_IMDS_BURST);
    rate_free(rate);
}

static void
no_guest_takes_what_is_anothers(void **state)
{
    struct rate *rate = rate_new(LIMIT_IMDS_RATE, LIMIT_IMDS_BURST);

    (void)state;
    take(rate, "one", 1000, 1000);
    for (char name[] = "a"; name[0] <= 'z'; name[0]++)
        assert_int_equal(take(rate, name, 4, 1000), 4);
    rate_free(rate);
}

static void
a_rate_is_kept_among_thousands_of_others(void **state)
{
    struct rate *rate = rate_new(LIMIT_IMDS_RATE, LIMIT_IMDS_BURST);
    int limited = 0;

    (void)state;
    for (int i = 0; i < LIMIT_IMDS_RATE_SLOTS / 4; i++) {
        char name[12];

        snprintf(name, sizeof(name), "%d", i);
        take(rate, name, LIMIT_IMDS_BURST, 1000);
    }
    for (int i = 0; i < LIMIT_IMDS_RATE_SLOTS / 4; i++) {
        char name[12];

        snprintf(name, sizeof(name), "%d", i);
        limited += !rate_take(rate, name, 1000);
    }
    /* A few may have met in one place. */
    assert_true(limited > LIMIT_IMDS_RATE_SLOTS / 4 * 95 / 100);
    rate_free(rate);
}

/* --- connections ------------------------------------------------------------------ */

static int
option(int fd, int name)
{
    int value = -1;
    socklen_t size = sizeof(value);

    assert_int_equal(getsockopt(fd, SOL_SOCKET, name, &value, &size), 0);
    return value;
}

static void
the_kernel_keeps_little_for_a_connection(void **state)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_listeners struct listeners listeners = {.count = 0};
    struct sockaddr_in address;
    socklen_t size = sizeof(address);
    cleanup_close int client = socket(AF_INET, SOCK_STREAM, 0);
    cleanup_close int fd = -1;

    (void)state;
    listeners_add(&listeners, "127.0.0.1:0", &failure);
    assert_no_failure(failure);
    assert_int_equal(
        getsockname(listeners.items[0].fd, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, size), 0);
    fd = accept(listeners.items[0].fd, NULL, NULL);
    assert_true(fd >= 0);
    /* Twice what it is asked for (socket(7)). */
    assert_int_equal(option(fd, SO_SNDBUF), 2 * LIMIT_IMDS_SEND_BUFFER);
    assert_int_equal(option(fd, SO_RCVBUF), 2 * LIMIT_IMDS_RECEIVE_BUFFER);
}

static struct endpoint
endpoint(const char *address)
{
    struct endpoint endpoint = {.family = AF_INET, .port = 80};

    assert_int_equal(inet_pton(AF_INET, address, &endpoint.address), 1);
    return endpoint;
}

static void
a_peer_on_another_machine_has_few_places(void **state)
{
    struct clients *clients = clients_new(100);
    const struct endpoint own = endpoint("169.254.169.254");
    const struct endpoint peer = endpoint("192.168.122.2");
    const struct endpoint other = endpoint("192.168.126.2");
    struct client *last = NULL;

    (void)state;
    for (int i = 0; i < LIMIT_IMDS_PEER_CONNECTIONS; i++) {
        last = clients_add(clients, -1, &own, &peer, 0);
        assert_non_null(last);
    }
    assert_null(clients_add(clients, -1, &own, &peer, 0));
    assert_non_null(clients_add(clients, -1, &own, &other, 0));
    clients_remove(clients, last);
    assert_non_null(clients_add(clients, -1, &own, &peer, 0));
    clients_free(clients);
}

static void
guests_of_this_host_share_an_address_and_have_all_places(void **state)
{
    struct clients *clients = clients_new(100);
    const struct endpoint own = endpoint("169.254.169.254");

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_non_null(clients_add(clients, -1, &own, &own, 0));
    assert_true(clients_is_full(clients));
    assert_null(clients_add(clients, -1, &own, &own, 0));
    clients_free(clients);
}

/* Makes a connection over loopback. */
static void
make_pair(int pair[2])
{
    struct endpoint any = endpoint("127.0.0.1");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = any.address.ipv4};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    pair[1] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(pair[1], (struct sockaddr *)&address, size), 0);
    pair[0] = accept(listener, NULL, NULL);
    assert_true(pair[0] >= 0);
    close(listener);
}

static bool
is_reset(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == ECONNRESET;
}

/* A connection for each of `clients`, whose other ends go to `far`. */
static void
add_connections(struct clients *clients, struct client **list, int *far, int count,
                uint64_t now)
{
    const struct endpoint own = endpoint("127.0.0.1");

    for (int i = 0; i < count; i++) {
        int pair[2];

        make_pair(pair);
        list[i] = clients_add(clients, pair[0], &own, &own, now + (uint64_t)i);
        assert_non_null(list[i]);
        far[i] = pair[1];
    }
}

static int
count_reset(const int *far, int count)
{
    int reset = 0;

    for (int i = 0; i < count; i++)
        reset += is_reset(far[i]);
    return reset;
}

static void
close_connections(struct client **list, const int *far, int count)
{
    for (int i = 0; i < count; i++) {
        close(list[i]->fd);
        close(far[i]);
    }
}

static void
the_oldest_make_room_before_there_is_none(void **state)
{
    struct clients *clients = clients_new(16);
    struct client *list[16];
    int far[16];

    (void)state;
    add_connections(clients, list, far, 14, 1000);
    assert_int_equal(clients_end_old(clients, 1020), LIMIT_IMDS_ASK_SECONDS * 1000 - 20);
    assert_int_equal(count_reset(far, 14), 0);
    add_connections(clients, &list[14], &far[14], 2, 1020);
    clients_end_old(clients, 1022);
    assert_int_equal(count_reset(far, 2), 2);
    assert_int_equal(count_reset(&far[2], 14), 0);
    /* They are ended once, until libmicrohttpd has seen it. */
    clients_end_old(clients, 1023);
    assert_int_equal(count_reset(&far[2], 14), 0);
    close_connections(list, far, 16);
    clients_free(clients);
}

static void
those_who_take_the_places_make_room(void **state)
{
    struct clients *clients = clients_new(16);
    struct client *list[16];
    int far[16];

    (void)state;
    /* Most do not take their answers, and one has just come. */
    add_connections(clients, list, far, 15, 1000);
    for (int i = 0; i < 14; i++)
        clients_answered(clients, list[i], 1100);
    clients_end_old(clients, 1200);
    assert_int_equal(count_reset(far, 1), 1);
    assert_int_equal(count_reset(&far[1], 14), 0);
    close_connections(list, far, 15);
    clients_free(clients);
    clients = clients_new(16);
    /* Most say nothing, and one takes its answer slowly. */
    add_connections(clients, list, far, 15, 1000);
    clients_answered(clients, list[0], 1100);
    clients_end_old(clients, 1200);
    assert_int_equal(count_reset(far, 1), 0);
    assert_int_equal(count_reset(&far[1], 1), 1);
    close_connections(list, far, 15);
    clients_free(clients);
}

static void
who_was_there_is_awaited_and_who_comes_is_not(void **state)
{
    struct clients *clients = clients_new(16);
    struct client *list[4];
    int far[4];

    (void)state;
    add_connections(clients, list, far, 3, 1000);
    clients_answered(clients, list[1], 1001);
    assert_int_equal(clients_awaited(clients), 0);
    clients_await_all(clients);
    assert_int_equal(clients_awaited(clients), 3);
    add_connections(clients, &list[3], &far[3], 1, 1002);
    clients_answered(clients, list[0], 1003);
    assert_int_equal(clients_awaited(clients), 3);
    close_connections(list, far, 4);
    for (int i = 0; i < 3; i++)
        clients_remove(clients, list[i]);
    assert_int_equal(clients_awaited(clients), 0);
    assert_int_equal(clients_count(clients), 1);
    clients_remove(clients, list[3]);
    assert_int_equal(clients_awaited(clients), 0);
    clients_free(clients);
}

static void
to_ask_there_is_less_time_than_for_the_answer(void **state)
{
    struct clients *clients = clients_new(3);
    const struct endpoint own = endpoint("127.0.0.1");
    int asking[2], answered[2];

    (void)state;
    make_pair(asking);
    make_pair(answered);
    clients_answered(clients, clients_add(clients, answered[0], &own, &own, 0), 100);
    clients_remove(clients, clients_add(clients, asking[0], &own, &own, 200));
    assert_int_equal(clients_end_old(clients, 100), LIMIT_IMDS_ANSWER_SECONDS * 1000);
    clients_free(clients);
    clients = clients_new(3);
    clients_answered(clients, clients_add(clients, answered[0], &own, &own, 0), 0);
    clients_add(clients, asking[0], &own, &own, 0);
    clients_end_old(clients, LIMIT_IMDS_ASK_SECONDS * 1000);
    assert_true(is_reset(asking[1]));
    assert_false(is_reset(answered[1]));
    clients_end_old(clients, LIMIT_IMDS_ANSWER_SECONDS * 1000);
    assert_true(is_reset(answered[1]));
    for (int i = 0; i < 2; i++) {
        close(asking[i]);
        close(answered[i]);
    }
    clients_free(clients);
}

static void
a_place_is_kept_until_the_answer_has_arrived(void **state)
{
    struct clients *clients = clients_new(16);
    static char answer[512 * 1024];
    struct client *list[2];
    int far[2], small = 4096;

    (void)state;
    add_connections(clients, list, far, 2, 1000);
    for (int i = 0; i < 2; i++) {
        clients_answered(clients, list[i], 1000);
        setsockopt(far[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
        assert_true(send(list[i]->fd, answer, sizeof(answer), MSG_DONTWAIT) > 0);
    }
    /* The first is sent, as far as libmicrohttpd knows; the second is broken off. */
    clients_sent(list[0]);
    for (int i = 0; i < 2; i++) {
        int fd = list[i]->fd;

        clients_leave(clients, list[i], 1100);
        close(fd);
    }
    assert_int_equal(clients_count(clients), 1);
    while (recv(far[1], answer, sizeof(answer), 0) > 0)
        ;
    assert_int_equal(errno, ECONNRESET);
    assert_int_equal(clients_end_old(clients, 1200), 100);
    assert_int_equal(clients_count(clients), 1);
    while (recv(far[0], answer, sizeof(answer), 0) > 0)
        ;
    /* The far end may say so a little later. */
    for (uint64_t now = 1300; clients_count(clients) > 0 && now < 3000; now += 100) {
        clients_end_old(clients, now);
        usleep(10000);
    }
    assert_int_equal(clients_count(clients), 0);
    close(far[0]);
    close(far[1]);
    clients_free(clients);
}

/* Fills the connection, whose far end does not read, and lets libmicrohttpd leave it. */
static void
fill_and_leave(struct clients *clients, struct client *client)
{
    static char answer[512 * 1024];
    int fd = client->fd;

    while (send(fd, answer, sizeof(answer), MSG_DONTWAIT) > 0)
        ;
    clients_leave(clients, client, 1000);
    close(fd);
}

static void
what_was_answered_to_no_request_keeps_its_place_too(void **state)
{
    struct clients *clients = clients_new(16);
    struct client *client;
    int far;

    (void)state;
    add_connections(clients, &client, &far, 1, 1000);
    fill_and_leave(clients, client);
    clients_end_old(clients, 1200);
    assert_int_equal(clients_count(clients), 1);
    close(far);
    clients_free(clients);
}

static void
a_peer_that_resets_gives_its_place_back(void **state)
{
    const struct linger reset = {.l_onoff = 1};
    struct clients *clients = clients_new(16);
    struct client *client;
    int far;

    (void)state;
    add_connections(clients, &client, &far, 1, 1000);
    fill_and_leave(clients, client);
    setsockopt(far, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(far);
    clients_end_old(clients, 1200);
    assert_int_equal(clients_count(clients), 0);
    clients_free(clients);
}

static void
what_does_not_arrive_is_reset(void **state)
{
    struct clients *clients = clients_new(16);
    static char answer[512 * 1024];
    struct client *client;
    int far;

    (void)state;
    add_connections(clients, &client, &far, 1, 1000);
    clients_answered(clients, client, 1000);
    clients_sent(client);
    fill_and_leave(clients, client);
    clients_end_old(clients, LIMIT_IMDS_ARRIVE_SECONDS * 1000);
    assert_int_equal(clients_count(clients), 1);
    clients_end_old(clients, 1000 + LIMIT_IMDS_ARRIVE_SECONDS * 1000);
    assert_int_equal(clients_count(clients), 0);
    while (recv(far, answer, sizeof(answer), 0) > 0)
        ;
    assert_int_equal(errno, ECONNRESET);
    close(far);
    clients_free(clients);
}

static void
want_of_places_is_counted(void **state)
{
    struct clients *clients = clients_new(100);
    const struct endpoint own = endpoint("169.254.169.254");
    const struct endpoint peer = endpoint("192.168.122.2");
    struct pressure pressure;

    (void)state;
    for (int i = 0; i < LIMIT_IMDS_PEER_CONNECTIONS + 3; i++)
        clients_add(clients, -1, &own, &peer, 0);
    for (int i = 0; i < 75; i++)
        clients_add(clients, -1, &own, &own, 0);
    clients_end_old(clients, 1);
    pressure = clients_take_pressure(clients);
    assert_int_equal(pressure.refused, 3);
    assert_int_equal(pressure.ended, LIMIT_IMDS_PEER_CONNECTIONS + 75 - 88);
    assert_int_equal(clients_take_pressure(clients).ended, 0);
    clients_free(clients);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guest_has_a_burst_and_then_a_rate),
        cmocka_unit_test(no_guest_takes_what_is_anothers),
        cmocka_unit_test(a_rate_is_kept_among_thousands_of_others),
        cmocka_unit_test(the_kernel_keeps_little_for_a_connection),
        cmocka_unit_test(a_peer_on_another_machine_has_few_places),
        cmocka_unit_test(guests_of_this_host_share_an_address_and_have_all_places),
        cmocka_unit_test(the_oldest_make_room_before_there_is_none),
        cmocka_unit_test(those_who_take_the_places_make_room),
        cmocka_unit_test(who_was_there_is_awaited_and_who_comes_is_not),
        cmocka_unit_test(a_place_is_kept_until_the_answer_has_arrived),
        cmocka_unit_test(what_was_answered_to_no_request_keeps_its_place_too),
        cmocka_unit_test(a_peer_that_resets_gives_its_place_back),
        cmocka_unit_test(what_does_not_arrive_is_reset),
        cmocka_unit_test(want_of_places_is_counted),
        cmocka_unit_test(to_ask_there_is_less_time_than_for_the_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
