/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often somebody may ask the metadata server, and how many connections they have. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "base/memory.h"
#include "imds/connections.h"
#include "imds/socket.h"
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
    free(rate);
}

static void
no_guest_takes_what_is_anothers(void **state)
{
    struct rate *rate = rate_new(LIMIT_IMDS_RATE, LIMIT_IMDS_BURST);

    (void)state;
    take(rate, "one", 1000, 1000);
    for (char name[] = "a"; name[0] <= 'z'; name[0]++)
        assert_int_equal(take(rate, name, 4, 1000), 4);
    free(rate);
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
    free(rate);
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
    assert_int_equal(getsockname(listeners.fds[0], (struct sockaddr *)&address, &size),
                     0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, size), 0);
    fd = accept(listeners.fds[0], NULL, NULL);
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
clear(struct connections *connections, struct connection **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        connections_remove(connections, list[i], 0);
    assert_int_equal(connections->count, 0);
}

static void
a_peer_on_another_machine_has_few_places(void **state)
{
    const struct endpoint own = endpoint("169.254.169.254");
    const struct endpoint peer = endpoint("192.168.122.2");
    const struct endpoint other = endpoint("192.168.126.2");
    struct connection *list[LIMIT_IMDS_PEER_CONNECTIONS + 3];
    struct connections connections;
    size_t count = 0;

    (void)state;
    connections_init(&connections, 100);
    while (count < LIMIT_IMDS_PEER_CONNECTIONS) {
        list[count] = connections_add(&connections, -1, &own, &peer, 0);
        assert_int_equal(list[count++]->state, CONNECTION_ASKING);
    }
    list[count] = connections_add(&connections, -1, &own, &peer, 0);
    assert_int_equal(list[count++]->state, CONNECTION_ENDED);
    assert_int_equal(connections.refused, 1);
    list[count] = connections_add(&connections, -1, &own, &other, 0);
    assert_int_equal(list[count++]->state, CONNECTION_ASKING);
    connections_remove(&connections, list[0], 0);
    list[0] = connections_add(&connections, -1, &own, &peer, 0);
    assert_int_equal(list[0]->state, CONNECTION_ASKING);
    clear(&connections, list, count);
}

static void
guests_of_this_host_share_an_address_and_have_all_places(void **state)
{
    const struct endpoint own = endpoint("169.254.169.254");
    struct connection *list[100];
    struct connections connections;

    (void)state;
    connections_init(&connections, 100);
    for (int i = 0; i < 100; i++) {
        list[i] = connections_add(&connections, -1, &own, &own, 0);
        assert_int_equal(list[i]->state, CONNECTION_ASKING);
    }
    connections_end_old(&connections, 1);
    /* One in eight is kept free. */
    assert_int_equal(connections.made_room, 12);
    assert_int_equal(connections.refused, 0);
    clear(&connections, list, 100);
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

/* So many connections, one each millisecond, whose other ends go to `far`. */
static void
add_connections(struct connections *connections, struct connection **list, int *far,
                int count, uint64_t now)
{
    const struct endpoint own = endpoint("127.0.0.1");

    for (int i = 0; i < count; i++) {
        int pair[2];

        make_pair(pair);
        list[i] = connections_add(connections, pair[0], &own, &own, now + (uint64_t)i);
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

/* As libmicrohttpd does it. */
static void
leave(struct connections *connections, struct connection *connection)
{
    int fd = connection->fd;

    connections_remove(connections, connection, 2000);
    close(fd);
}

static void
close_connections(struct connections *connections, struct connection **list,
                  const int *far, int count)
{
    for (int i = 0; i < count; i++) {
        leave(connections, list[i]);
        close(far[i]);
    }
}

static void
the_oldest_make_room_before_there_is_none(void **state)
{
    struct connections connections;
    struct connection *list[16];
    int far[16];

    (void)state;
    connections_init(&connections, 16);
    add_connections(&connections, list, far, 14, 1000);
    assert_int_equal(connections_end_old(&connections, 1020),
                     LIMIT_IMDS_ASK_SECONDS * 1000 - 20);
    assert_int_equal(count_reset(far, 14), 0);
    add_connections(&connections, &list[14], &far[14], 2, 1020);
    connections_end_old(&connections, 1022);
    assert_int_equal(count_reset(far, 2), 2);
    assert_int_equal(count_reset(&far[2], 14), 0);
    /* They are ended once, until libmicrohttpd has seen it. */
    connections_end_old(&connections, 1023);
    assert_int_equal(count_reset(&far[2], 14), 0);
    close_connections(&connections, list, far, 16);
}

static void
those_who_take_the_places_make_room(void **state)
{
    struct connections connections;
    struct connection *list[16];
    int far[16];

    (void)state;
    connections_init(&connections, 16);
    /* Most do not take their answers, and one has just come. */
    add_connections(&connections, list, far, 15, 1000);
    for (int i = 0; i < 14; i++)
        connections_answer(&connections, list[i], 1100);
    connections_end_old(&connections, 1200);
    assert_int_equal(count_reset(far, 1), 1);
    assert_int_equal(count_reset(&far[1], 14), 0);
    close_connections(&connections, list, far, 15);
    /* Most say nothing, and one takes its answer slowly. */
    add_connections(&connections, list, far, 15, 1000);
    connections_answer(&connections, list[0], 1100);
    connections_end_old(&connections, 1200);
    assert_int_equal(count_reset(far, 1), 0);
    assert_int_equal(count_reset(&far[1], 1), 1);
    close_connections(&connections, list, far, 15);
}

static void
who_was_there_is_awaited_and_who_comes_is_not(void **state)
{
    struct connections connections;
    struct connection *list[3];
    int far[3];

    (void)state;
    connections_init(&connections, 16);
    add_connections(&connections, list, far, 2, 1000);
    connections_answer(&connections, list[1], 1002);
    add_connections(&connections, &list[2], &far[2], 1, 1003);
    assert_true(connections_has_begun_by(&connections, 1002));
    leave(&connections, list[0]);
    assert_true(connections_has_begun_by(&connections, 1002));
    leave(&connections, list[1]);
    assert_false(connections_has_begun_by(&connections, 1002));
    leave(&connections, list[2]);
    for (int i = 0; i < 3; i++)
        close(far[i]);
}

static void
to_ask_there_is_less_time_than_for_the_answer(void **state)
{
    struct connections connections;
    struct connection *list[2];
    int far[2];

    (void)state;
    connections_init(&connections, 16);
    add_connections(&connections, list, far, 2, 0);
    connections_answer(&connections, list[0], 100);
    connections_end_old(&connections, 1 + LIMIT_IMDS_ASK_SECONDS * 1000);
    assert_false(is_reset(far[0]));
    assert_true(is_reset(far[1]));
    assert_int_equal(connections_end_old(&connections, 100),
                     LIMIT_IMDS_ANSWER_SECONDS * 1000);
    connections_end_old(&connections, 100 + LIMIT_IMDS_ANSWER_SECONDS * 1000);
    assert_true(is_reset(far[0]));
    close_connections(&connections, list, far, 2);
}

static void
what_is_sent_arrives_and_what_is_broken_off_is_reset(void **state)
{
    static char answer[512 * 1024];
    struct connections connections;
    struct connection *list[2];
    ssize_t sent[2], got;
    int far[2], small = 4096;

    (void)state;
    connections_init(&connections, 16);
    add_connections(&connections, list, far, 2, 1000);
    for (int i = 0; i < 2; i++) {
        connections_answer(&connections, list[i], 1000);
        setsockopt(far[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
        /* What the peer sends after its request costs it no byte of the answer. */
        assert_int_equal(send(far[i], "more", 4, 0), 4);
        sent[i] = send(list[i]->fd, answer, sizeof(answer), MSG_DONTWAIT);
        assert_true(sent[i] > 0);
    }
    /* The first is sent, as far as libmicrohttpd knows; the second is broken off. */
    connections_sent(list[0]);
    for (int i = 0; i < 2; i++)
        leave(&connections, list[i]);
    assert_int_equal(connections.count, 0);
    while ((got = recv(far[0], answer, sizeof(answer), 0)) > 0)
        sent[0] -= got;
    assert_int_equal(got, 0);
    assert_int_equal(sent[0], 0);
    while (recv(far[1], answer, sizeof(answer), 0) > 0)
        ;
    assert_int_equal(errno, ECONNRESET);
    close(far[0]);
    close(far[1]);
}

/* Sends an answer that its peer has no room for, and closes the connection. Return: its
 * other end. */
static int
leave_untaken(struct connections *connections)
{
    static const char answer[256 * 1024];
    struct connection *connection;
    int far, small = 4096;

    add_connections(connections, &connection, &far, 1, 1000);
    setsockopt(far, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    connections_answer(connections, connection, 1000);
    assert_true(send(connection->fd, answer, sizeof(answer), MSG_DONTWAIT) > 0);
    connections_sent(connection);
    leave(connections, connection);
    return far;
}

static void
who_takes_an_answer_a_little_at_a_time_has_no_longer(void **state)
{
    struct connections connections;
    char some[1000];
    int far;

    (void)state;
    connections_init(&connections, 16);
    far = leave_untaken(&connections);
    assert_int_equal(recv(far, some, sizeof(some), 0), sizeof(some));
    assert_int_equal(connections_drop_kept(&connections, 11000), 1000);
    assert_false(is_reset(far));
    assert_int_equal(connections_drop_kept(&connections, 12000), -1);
    while (recv(far, some, sizeof(some), 0) > 0)
        ;
    assert_int_equal(errno, ECONNRESET);
    close(far);
}

static void
the_kernel_keeps_only_so_many_answers(void **state)
{
    struct connections connections;
    int far[LIMIT_IMDS_KEPT + 1];
    struct rlimit limit;

    (void)state;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    if (limit.rlim_max < 3 * ARRAY_SIZE(far) || setrlimit(RLIMIT_NOFILE, &limit) < 0)
        skip();
    connections_init(&connections, 16);
    for (size_t i = 0; i < ARRAY_SIZE(far); i++)
        far[i] = leave_untaken(&connections);
    /* The oldest makes room. */
    assert_int_equal(connections.kept_count, LIMIT_IMDS_KEPT);
    for (size_t i = 0; i < ARRAY_SIZE(far); i++) {
        int error = 0;
        socklen_t size = sizeof(error);

        getsockopt(far[i], SOL_SOCKET, SO_ERROR, &error, &size);
        assert_int_equal(error, i == 0 ? ECONNRESET : 0);
        close(far[i]);
    }
    connections_drop_kept(&connections, 12000);
    assert_int_equal(connections.kept_count, 0);
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
        cmocka_unit_test(what_is_sent_arrives_and_what_is_broken_off_is_reset),
        cmocka_unit_test(to_ask_there_is_less_time_than_for_the_answer),
        cmocka_unit_test(who_takes_an_answer_a_little_at_a_time_has_no_longer),
        cmocka_unit_test(the_kernel_keeps_only_so_many_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
