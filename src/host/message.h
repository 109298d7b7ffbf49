/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the keeper and the maker: a header with the kind and the size of what
 * follows, then numbers and texts. Whatever comes from the maker may be an attack: a reader
 * takes nothing that is longer than its limit, and nothing after the first mistake.
 *
 * Numbers have 32 bits, in the host's byte order; a text is its length and its bytes.
 */
#pragma once

#include "base/base.h"

#define LIMIT_CONTENT (32 * MIB)
#define MESSAGE_NO_END INT64_MAX

enum message_kind {
    MESSAGE_HELLO = 1, /* keeper to maker, once */
    MESSAGE_NEEDS,     /* maker to keeper, at most once */
    MESSAGE_ANSWERS,   /* keeper to maker, once after the needs */
    MESSAGE_VERDICT,   /* maker to keeper, once; the maker then exits */
    MESSAGE_RESULT,    /* the same, of a record or a definition */
};

/* --- writing -------------------------------------------------------------------------- */

void message_put_number(struct buffer *message, uint32_t number);
void message_put_bytes(struct buffer *message, const void *data, size_t size);
/* NULL stays NULL. */
void message_put_text(struct buffer *message, const char *text);
void message_put_failure(struct buffer *message, const struct failure *failure);

/*
 * Sends it. The time of clock_milliseconds() at which a socket with O_NONBLOCK is given up is
 * `end`, however little or much goes through it; other sockets wait as long as it takes.
 * Return: 0 or -errno, -EAGAIN at the end.
 */
int message_send(int socket, int64_t end, enum message_kind kind,
                 const struct buffer *content);

/* --- reading -------------------------------------------------------------------------- */

struct message {
    const char *at; /* borrowed */
    size_t left;
    bool is_bad; /* there was a mistake; everything read since then is 0 or NULL */
};

/* Receives a message of at most LIMIT_CONTENT bytes; `end` as in message_send(). Return: its
 * kind; 0 if nothing more comes; or -errno, -EBADMSG if it is not a message. */
int message_receive(int socket, int64_t end, struct buffer *content);

/* Begins to read the content, which must stay as it is. */
struct message message_begin(const struct buffer *content);

/* Return: a number up to `limit`. */
uint32_t message_get_number(struct message *message, uint32_t limit);

/* Return: a text without a NUL, of at most `limit` bytes, owned by the caller (free), or
 * NULL, which is a mistake unless `is_optional`. */
char *message_get_text(struct message *message, size_t limit, bool is_optional);

/* Appends bytes. */
void message_get_bytes(struct message *message, size_t limit, struct buffer *bytes);

/* Return: a failure, owned by the caller (failure_free), without control characters; NULL
 * if there is none. */
struct failure *message_get_failure(struct message *message);

/* Return: whether all of it was read, without a mistake. */
bool message_is_over(const struct message *message);
