/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing array of bytes. `data` always ends with a NUL that `size` does not count (so
 * text can be used as a string), and is NULL until something is added. The content may be
 * secret, so the memory is wiped before it is freed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buffer {
    char *data;
    size_t size;
    size_t capacity;
};

/* Makes room for `more` bytes and a NUL after the content. Return: a pointer to that room;
 * whoever fills it adds to `size`, and writes the NUL. */
char *buffer_reserve(struct buffer *buffer, size_t more);
void buffer_append(struct buffer *buffer, const void *data, size_t size);
void buffer_append_string(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Wipes and frees the content; the buffer can then be used again. */
void buffer_clear(struct buffer *buffer);

/* Return: the content as a string, "" if it is empty; borrowed. */
static inline const char *
buffer_text(const struct buffer *buffer)
{
    return buffer->size > 0 ? buffer->data : "";
}

/* Return: whether both have the same content. */
static inline bool
buffer_is_same(const struct buffer *one, const struct buffer *other)
{
    return one->size == other->size &&
           (one->size == 0 || memcmp(one->data, other->data, one->size) == 0);
}

/* Return: the content; leaves the buffer empty. */
static inline struct buffer
steal_buffer(struct buffer *buffer)
{
    struct buffer stolen = *buffer;

    *buffer = (struct buffer){0};
    return stolen;
}

#define cleanup_buffer __attribute__((cleanup(buffer_clear)))
