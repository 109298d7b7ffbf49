/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory, descriptors and streams, and their owners.
 *
 * Allocation cannot fail: running out of memory aborts. Sizes that come from outside are
 * bounded before (base/limits.h).
 *
 * Ownership is by scope: a variable marked with a cleanup_TYPE is released when its scope
 * ends. steal() hands the value on, which makes a transfer of ownership visible.
 */
#pragma once

#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Return: memory, owned by the caller (free); xcalloc's is zeroed. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *memory, size_t count, size_t size);
/* Return: what a library has allocated; aborts if that is NULL. */
void *xchecked(void *pointer);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);
/* Return: the text as one shell word, quoted if necessary; owned by the caller (free). */
char *xshellquote(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list arguments)
    __attribute__((format(printf, 1, 0)));

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/*
 * A growing array is a pointer and a count, NULL and 0 at first; the caller owns it
 * (free). array_add() adds a zeroed element. Return: a pointer to it, valid until the
 * next is added. Arrays are short, and input from outside is bounded before: each element
 * costs a realloc(3), without spare capacity.
 */
#define array_add(array, count)                                                          \
    ({                                                                                   \
        (array) = array_grow((array), (count), sizeof(*(array)));                        \
        &(array)[(count)++];                                                             \
    })
/* Return: the array with one more element, which is zeroed. */
void *array_grow(void *array, size_t count, size_t size);

#define steal(pointer)                                                                   \
    ({                                                                                   \
        __typeof__(pointer) stolen_ = (pointer);                                         \
        (pointer) = (__typeof__(pointer))0;                                              \
        stolen_;                                                                         \
    })

/* The same for a descriptor; -1 means none. */
#define steal_fd(fd)                                                                     \
    ({                                                                                   \
        int stolen_ = (fd);                                                              \
        (fd) = -1;                                                                       \
        stolen_;                                                                         \
    })

/* For a pointer of any type: copied, because a T * must not be read as a void *. */
static inline void
free_pointer(void *pointer)
{
    void *memory;

    memcpy(&memory, pointer, sizeof(memory));
    free(memory);
}

static inline void
close_pointer(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void
closedir_pointer(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

static inline void
fclose_pointer(FILE **file)
{
    if (*file)
        fclose(*file);
}

#define cleanup_free __attribute__((cleanup(free_pointer)))
/* For descriptors; a negative number, such as -errno, means none. */
#define cleanup_close __attribute__((cleanup(close_pointer)))
#define cleanup_closedir __attribute__((cleanup(closedir_pointer)))
#define cleanup_fclose __attribute__((cleanup(fclose_pointer)))
