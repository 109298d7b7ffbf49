/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keeper's readers of what the maker says, for the tests of host/exchange.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "host/exchange.h"

/* A valid size of an image: one block. */
#define EXCHANGE_IMAGE_SIZE 2048

/* What a reader has besides the message. */
struct exchange_given {
    off_t image_size;
    enum key_right right;
};

/* Reads the message, and frees what it has read. Return: whether the message was taken. */
typedef bool exchange_taker(const struct exchange_given *given,
                            const struct buffer *message);

exchange_taker exchange_take_needs;
/* From a maker that wires a definition. */
exchange_taker exchange_take_wiring_needs;
exchange_taker exchange_take_verdict;
exchange_taker exchange_take_result;
exchange_taker exchange_take_wired;

/* Takes the first `size` bytes of the message. They are copied, so that a sanitizer sees
 * their end. */
bool exchange_take_part(exchange_taker *take, const struct exchange_given *given,
                        const struct buffer *message, size_t size);

/* Return: a file of that size, owned by the caller. */
int exchange_make_image(off_t size);
