/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that grow. `data` always ends with a NUL that `size` does not count (so text
 * can be used as a string), and is NULL while nothing was ever added. Contents may be
 * secret: the memory is wiped before it is given back.
 */
#pragma once

#include <stddef.h>

struct buffer {
    char *data;
    size_t size;
    size_t capacity;
};

/* Makes room for `more` bytes after the content. Return: where they begin. */
char *buffer_reserve(struct buffer *buffer, size_t more);
void buffer_append(struct buffer *buffer, const void *data, size_t size);
void buffer_append_string(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Wipes and frees the content; the buffer is empty then and can be used again. */
void buffer_clear(struct buffer *buffer);

/* Return: the content; the buffer is empty then. */
static inline struct buffer
steal_buffer(struct buffer *buffer)
{
    struct buffer stolen = *buffer;

    *buffer = (struct buffer){0};
    return stolen;
}

#define cleanup_buffer __attribute__((cleanup(buffer_clear)))
