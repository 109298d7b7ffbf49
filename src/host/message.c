/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <poll.h>
#include <sys/socket.h>

#include "base/process.h"
#include "host/message.h"

/* The length of a text that is NULL. */
#define NO_TEXT UINT32_MAX

struct header {
    uint32_t kind;
    uint32_t size;
};

/* --- waiting -------------------------------------------------------------------------- */

/* After a call has failed with errno: waits until it can be repeated. Return: 0 or -errno. */
static int
wait_for_socket(int socket, short events, int64_t end)
{
    struct pollfd ready = {.fd = socket, .events = events};
    const int64_t left = end - clock_milliseconds();

    if (errno == EINTR)
        return 0;
    if (errno != EAGAIN || left <= 0)
        return -errno;
    return poll(&ready, 1, left < INT_MAX ? (int)left : -1) == 0 ? -EAGAIN : 0;
}

/* Reads (POLLIN) or writes (POLLOUT) all of it. Return: how many bytes it was, fewer if the
 * other has closed its end; or -errno. */
static ssize_t
transfer(int socket, short event, int64_t end, void *data, size_t size)
{
    char *bytes = data;
    size_t done = 0;

    while (done < size) {
        ssize_t count;
        int error;

        if (event == POLLIN)
            count = read(socket, bytes + done, size - done);
        else
            count = write(socket, bytes + done, size - done);
        error = count < 0 ? wait_for_socket(socket, event, end) : 0;
        if (error < 0)
            return error;
        if (count == 0)
            break;
        if (count > 0)
            done += (size_t)count;
    }
    return (ssize_t)done;
}

/* --- writing -------------------------------------------------------------------------- */

void
message_put_number(struct buffer *message, uint32_t number)
{
    buffer_append(message, &number, sizeof(number));
}

void
message_put_bytes(struct buffer *message, const void *data, size_t size)
{
    message_put_number(message, (uint32_t)size);
    buffer_append(message, data, size);
}

void
message_put_text(struct buffer *message, const char *text)
{
    if (text)
        message_put_bytes(message, text, strlen(text));
    else
        message_put_number(message, NO_TEXT);
}

void
message_put_failure(struct buffer *message, const struct failure *failure)
{
    message_put_number(message, failure ? 1 : 0);
    if (!failure)
        return;
    message_put_number(message, (uint32_t)failure->code);
    message_put_number(message, (uint32_t)failure->line);
    message_put_text(message, failure->message);
    message_put_text(message, failure->hint);
}

int
message_send(int socket, int64_t end, enum message_kind kind,
             const struct buffer *content)
{
    struct header header = {(uint32_t)kind, (uint32_t)content->size};
    ssize_t count = transfer(socket, POLLOUT, end, &header, sizeof(header));

    if (count >= 0)
        count = transfer(socket, POLLOUT, end, content->data, content->size);
    return count < 0 ? (int)count : 0;
}

/* --- reading -------------------------------------------------------------------------- */

int
message_receive(int socket, int64_t end, struct buffer *content)
{
    struct header header;
    ssize_t count = transfer(socket, POLLIN, end, &header, sizeof(header));

    if (count <= 0)
        return (int)count;
    if (count != sizeof(header) || header.size > LIMIT_CONTENT)
        return -EBADMSG;
    if (header.kind == 0 || header.kind > MESSAGE_RESULT)
        return -EBADMSG;
    count =
        transfer(socket, POLLIN, end, buffer_reserve(content, header.size), header.size);
    if (count < 0)
        return (int)count;
    if (count != (ssize_t)header.size)
        return -EBADMSG;
    content->size += header.size;
    content->data[content->size] = '\0';
    return (int)header.kind;
}

struct message
message_begin(const struct buffer *content)
{
    return (struct message){.at = content->data, .left = content->size};
}

static void
fail(struct message *message)
{
    message->left = 0;
    message->is_bad = true;
}

/* Return: the next bytes, or NULL, which is a mistake, if there are not as many or more than
 * `limit`. */
static const char *
take(struct message *message, size_t size, size_t limit)
{
    const char *bytes = message->at;

    if (size > limit || size > message->left) {
        fail(message);
        return NULL;
    }
    message->at += size;
    message->left -= size;
    return bytes;
}

uint32_t
message_get_number(struct message *message, uint32_t limit)
{
    uint32_t number = 0;
    const char *bytes = take(message, sizeof(number), sizeof(number));

    if (bytes)
        memcpy(&number, bytes, sizeof(number));
    if (number <= limit)
        return number;
    fail(message);
    return 0;
}

char *
message_get_text(struct message *message, size_t limit, bool is_optional)
{
    const uint32_t length = message_get_number(message, UINT32_MAX);
    const char *bytes;

    if (message->is_bad || (length == NO_TEXT && is_optional))
        return NULL;
    bytes = take(message, length, limit);
    if (bytes && !memchr(bytes, '\0', length))
        return xstrndup(bytes, length);
    fail(message);
    return NULL;
}

void
message_get_bytes(struct message *message, size_t limit, struct buffer *bytes)
{
    const uint32_t length = message_get_number(message, UINT32_MAX);
    const char *data = take(message, length, limit);

    /* No bytes leave an empty buffer as it is. */
    if (data && length > 0)
        buffer_append(bytes, data, length);
}

struct failure *
message_get_failure(struct message *message)
{
    struct failure *failure;

    if (message_get_number(message, 1) == 0)
        return NULL;
    failure = xcalloc(1, sizeof(*failure));
    failure->code = (enum failure_code)message_get_number(message, FAILURE_CODE_LAST);
    failure->line = (int)message_get_number(message, INT32_MAX);
    failure->message = message_get_text(message, LIMIT_MAKER_TEXT, false);
    failure->hint = message_get_text(message, LIMIT_MAKER_TEXT, true);
    if (!failure->message)
        failure->message = xstrdup("");
    failure_tidy(failure->message);
    if (failure->hint && !*failure_tidy(failure->hint))
        free(steal(failure->hint));
    return failure;
}

bool
message_is_over(const struct message *message)
{
    return !message->is_bad && message->left == 0;
}
