/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on the socket between keeper and maker: host/message.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "base/process.h"
#include "host/message.h"
#include "unit.h"

/* Return: what message_receive() does with these bytes before the end of a stream. */
static int
receive(const void *data, size_t size, struct buffer *content)
{
    int sockets[2];
    int result;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    assert_int_equal(fs_write_all(sockets[0], data, size), 0);
    close(sockets[0]);
    result = message_receive(sockets[1], MESSAGE_NO_END, content);
    close(sockets[1]);
    return result;
}

static void
messages_arrive_one_after_the_other(void **state)
{
    cleanup_buffer struct buffer sent = {0};
    cleanup_buffer struct buffer received = {0};
    int sockets[2];

    (void)state;
    buffer_append(&sent, "sixteen\0bytes..", 16);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    assert_int_equal(message_send(sockets[0], MESSAGE_NO_END, MESSAGE_NEEDS, &sent), 0);
    assert_int_equal(
        message_send(sockets[0], MESSAGE_NO_END, MESSAGE_RESULT, &(struct buffer){0}), 0);
    close(sockets[0]);
    assert_int_equal(message_receive(sockets[1], MESSAGE_NO_END, &received),
                     MESSAGE_NEEDS);
    assert_true(buffer_is_same(&sent, &received));
    buffer_clear(&received);
    assert_int_equal(message_receive(sockets[1], MESSAGE_NO_END, &received),
                     MESSAGE_RESULT);
    assert_int_equal(received.size, 0);
    assert_int_equal(message_receive(sockets[1], MESSAGE_NO_END, &received), 0);
    close(sockets[1]);
}

/* The other end of a socket, which reads, or writes a message, a byte every 10 ms until it is
 * closed. */
static void
dribble(int socket, bool reads)
{
    const uint32_t header[2] = {MESSAGE_NEEDS, MIB};
    const char byte = '\0';
    char taken;

    if (!reads)
        fs_write_all(socket, header, sizeof(header));
    while ((reads ? read(socket, &taken, 1) : write(socket, &byte, 1)) == 1)
        usleep(10000);
    _exit(EXIT_SUCCESS);
}

/* Return: what message_receive() or message_send() does at such a socket, with 300 ms. */
static int
talk_to_dribbler(bool reads, const struct buffer *sent)
{
    const int64_t begin = clock_milliseconds();
    cleanup_buffer struct buffer received = {0};
    int sockets[2];
    pid_t child;
    int result;

    assert_int_equal(
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(sockets[0]);
        fcntl(sockets[1], F_SETFL, 0);
        dribble(sockets[1], reads);
    }
    close(sockets[1]);
    if (reads)
        result = message_send(sockets[0], begin + 300, MESSAGE_ANSWERS, sent);
    else
        result = message_receive(sockets[0], begin + 300, &received);
    assert_in_range(clock_milliseconds() - begin, 300, 10000);
    close(sockets[0]);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return result;
}

static void
gives_up_at_the_end_whatever_comes(void **state)
{
    cleanup_buffer struct buffer large = {0};

    (void)state;
    buffer_reserve(&large, 8 * MIB);
    large.size = 8 * MIB;
    memset(large.data, 0, large.size);
    assert_int_equal(talk_to_dribbler(false, NULL), -EAGAIN);
    assert_int_equal(talk_to_dribbler(true, &large), -EAGAIN);
}

static void
refuses_bytes_that_are_no_message(void **state)
{
    const struct {
        uint32_t header[2];
        size_t size;
        int result;
    } cases[] = {
        {{0}, 0, 0},
        {{MESSAGE_NEEDS, 0}, 8, MESSAGE_NEEDS},
        {{MESSAGE_NEEDS, 0}, 7, -EBADMSG},
        {{MESSAGE_NEEDS, 0}, 1, -EBADMSG},
        {{0, 0}, 8, -EBADMSG},
        {{MESSAGE_RESULT, 0}, 8, MESSAGE_RESULT},
        {{MESSAGE_RESULT + 1, 0}, 8, -EBADMSG},
        {{UINT32_MAX, 0}, 8, -EBADMSG},
        /* There is less than it says. */
        {{MESSAGE_NEEDS, 1}, 8, -EBADMSG},
        {{MESSAGE_NEEDS, LIMIT_CONTENT + 1}, 8, -EBADMSG},
        {{MESSAGE_NEEDS, UINT32_MAX}, 8, -EBADMSG},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_buffer struct buffer content = {0};
        const int result = receive(cases[i].header, cases[i].size, &content);

        if (result != cases[i].result)
            fail_msg("case %zu: %d", i, result);
        assert_int_equal(content.size, 0);
    }
}

/* Return: the failure that arrives. */
static struct failure *
pass_failure(const struct failure *failure)
{
    cleanup_buffer struct buffer content = {0};
    struct failure *arrived;
    struct message message;

    message_put_failure(&content, failure);
    message = message_begin(&content);
    arrived = message_get_failure(&message);
    assert_true(message_is_over(&message));
    return arrived;
}

static void
failures_arrive(void **state)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_failure struct failure *arrived = NULL;
    cleanup_failure struct failure *without_hint = NULL;

    (void)state;
    assert_null(pass_failure(NULL));
    failure_set_at(&failure, FAILURE_LIMIT, 12, "too many disks\nremove one");
    arrived = pass_failure(failure);
    assert_int_equal(arrived->code, FAILURE_LIMIT);
    assert_int_equal(arrived->line, 12);
    assert_string_equal(arrived->message, "too many disks");
    assert_string_equal(arrived->hint, "remove one");
    free(steal(failure->hint));
    without_hint = pass_failure(failure);
    assert_null(without_hint->hint);
}

/* Whoever reads it may print it before it looks whether the message was one. */
static void
a_failure_that_is_cut_has_a_message(void **state)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_buffer struct buffer content = {0};

    (void)state;
    failure_set(&failure, FAILURE_LIMIT, "too many disks\nremove one");
    message_put_failure(&content, failure);
    for (size_t size = sizeof(uint32_t); size < content.size; size++) {
        const struct buffer cut = {.data = content.data, .size = size};
        struct message message = message_begin(&cut);
        cleanup_failure struct failure *arrived = message_get_failure(&message);

        assert_false(message_is_over(&message));
        assert_non_null(arrived->message);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_arrive_one_after_the_other),
        cmocka_unit_test(gives_up_at_the_end_whatever_comes),
        cmocka_unit_test(refuses_bytes_that_are_no_message),
        cmocka_unit_test(failures_arrive),
        cmocka_unit_test(a_failure_that_is_cut_has_a_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
