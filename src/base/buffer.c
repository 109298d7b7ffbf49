/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/base.h"

char *
buffer_reserve(struct buffer *buffer, size_t more)
{
    size_t needed, capacity;
    char *data;

    if (__builtin_add_overflow(buffer->size, more, &needed) || needed > SIZE_MAX / 4)
        abort();
    if (needed + 1 <= buffer->capacity)
        return buffer->data + buffer->size;
    /* Not realloc(3), which would leave an unwiped copy. */
    capacity = needed + 1 + buffer->capacity;
    data = xmalloc(capacity);
    if (buffer->data) {
        memcpy(data, buffer->data, buffer->size);
        explicit_bzero(buffer->data, buffer->capacity);
        free(buffer->data);
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return data + buffer->size;
}

void
buffer_append(struct buffer *buffer, const void *data, size_t size)
{
    char *end = buffer_reserve(buffer, size);

    if (size > 0)
        memcpy(end, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
}

void
buffer_append_string(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

/* Formats straight into the buffer: the text may be secret, so there must be no other
 * copy. */
void
buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments, again;
    int length;

    va_start(arguments, format);
    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        abort();
    vsnprintf(buffer_reserve(buffer, (size_t)length), (size_t)length + 1, format,
              arguments);
    buffer->size += (size_t)length;
    va_end(arguments);
}

void
buffer_clear(struct buffer *buffer)
{
    if (buffer->data) {
        explicit_bzero(buffer->data, buffer->capacity);
        free(buffer->data);
    }
    *buffer = (struct buffer){0};
}
