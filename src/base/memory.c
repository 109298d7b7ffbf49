/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/base.h"

void *
xchecked(void *pointer)
{
    if (!pointer)
        abort();
    return pointer;
}

void *
xmalloc(size_t size)
{
    return xchecked(malloc(size ? size : 1));
}

void *
xcalloc(size_t count, size_t size)
{
    return xchecked(calloc(count ? count : 1, size ? size : 1));
}

void *
xreallocarray(void *memory, size_t count, size_t size)
{
    return xchecked(reallocarray(memory, count ? count : 1, size ? size : 1));
}

void *
array_grow(void *array, size_t count, size_t size)
{
    if (count >= PTRDIFF_MAX / size)
        abort();
    array = xreallocarray(array, count + 1, size);
    memset((char *)array + count * size, 0, size);
    return array;
}

char *
xstrdup(const char *text)
{
    return xchecked(strdup(text));
}

char *
xstrndup(const char *text, size_t length)
{
    return xchecked(strndup(text, length));
}

char *
xvasprintf(const char *format, va_list arguments)
{
    char *text = NULL;

    if (vasprintf(&text, format, arguments) < 0)
        abort();
    return text;
}

char *
xasprintf(const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = xvasprintf(format, arguments);
    va_end(arguments);
    return text;
}
