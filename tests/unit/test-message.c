/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on the socket between keeper and maker: host/message.h. */
#include "config.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "host/message.h"
#include "unit.h"

#define LIMIT 16

/* Return: what message_receive() does with these bytes before the end of a stream. */
static int
receive(const void *data, size_t size, struct buffer *content)
{
    int sockets[2];
    int result;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    assert_int_equal(fs_write_all(sockets[0], data, size), 0);
    close(sockets[0]);
    result = message_receive(sockets[1], LIMIT, content);
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
    buffer_append(&sent, "sixteen\0bytes..", LIMIT);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    assert_int_equal(message_send(sockets[0], MESSAGE_NEEDS, &sent), 0);
    assert_int_equal(message_send(sockets[0], MESSAGE_RESULT, &(struct buffer){0}), 0);
    close(sockets[0]);
    assert_int_equal(message_receive(sockets[1], LIMIT, &received), MESSAGE_NEEDS);
    assert_true(buffer_is_same(&sent, &received));
    buffer_clear(&received);
    assert_int_equal(message_receive(sockets[1], LIMIT, &received), MESSAGE_RESULT);
    assert_int_equal(received.size, 0);
    assert_int_equal(message_receive(sockets[1], LIMIT, &received), 0);
    close(sockets[1]);
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
        {{MESSAGE_WIRED, 0}, 8, MESSAGE_WIRED},
        {{MESSAGE_WIRED + 1, 0}, 8, -EBADMSG},
        {{UINT32_MAX, 0}, 8, -EBADMSG},
        /* There is less than it says. */
        {{MESSAGE_NEEDS, 1}, 8, -EBADMSG},
        {{MESSAGE_NEEDS, LIMIT + 1}, 8, -EBADMSG},
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

static void
refuses_a_message_that_is_larger_than_its_limit(void **state)
{
    const uint32_t header[] = {MESSAGE_NEEDS, LIMIT + 1};
    cleanup_buffer struct buffer message = {0};
    cleanup_buffer struct buffer content = {0};

    (void)state;
    buffer_append(&message, header, sizeof(header));
    for (size_t i = 0; i < LIMIT + 1; i++)
        buffer_append(&message, "x", 1);
    assert_int_equal(receive(message.data, message.size, &content), -EBADMSG);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_arrive_one_after_the_other),
        cmocka_unit_test(refuses_bytes_that_are_no_message),
        cmocka_unit_test(refuses_a_message_that_is_larger_than_its_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
