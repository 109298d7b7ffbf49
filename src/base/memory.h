/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory, and whatever else has an owner.
 *
 * Allocation cannot fail: out of memory aborts. What is allocated from outside's numbers
 * is bounded before (base/limits.h).
 *
 * Ownership is by scope: a variable marked with a cleanup_TYPE is released when its scope
 * ends. steal() hands the value on, so that a transfer of ownership can be seen where it
 * happens.
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
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);
/* Return: the text as one word of a shell, in quotes where it needs them. */
char *xshellquote(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list arguments)
    __attribute__((format(printf, 1, 0)));

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Arrays that grow are a pointer and a count, NULL and 0 at first; the caller owns them
 * (free). array_add() adds an element, zeroed. Return: where it is, until the next is
 * added. What may come from outside is bounded before, and there is little of it: each
 * element is a realloc(3), and no capacity is kept.
 */
#define array_add(array, count)                                                          \
    ({                                                                                   \
        (array) = array_grow((array), (count), sizeof(*(array)));                        \
        &(array)[(count)++];                                                             \
    })
/* Return: the array with room for one more element, which is zeroed. */
void *array_grow(void *array, size_t count, size_t size);

#define steal(pointer)                                                                   \
    ({                                                                                   \
        __typeof__(pointer) stolen_ = (pointer);                                         \
        (pointer) = (__typeof__(pointer))0;                                              \
        stolen_;                                                                         \
    })

/* The same for a descriptor, whose "none" is -1. */
#define steal_fd(fd)                                                                     \
    ({                                                                                   \
        int stolen_ = (fd);                                                              \
        (fd) = -1;                                                                       \
        stolen_;                                                                         \
    })

/* For pointers of any type: not read as a void *, which another type of pointer is
 * not. */
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
/* For descriptors; -1 is "none", so start with -1. */
#define cleanup_close __attribute__((cleanup(close_pointer)))
#define cleanup_closedir __attribute__((cleanup(closedir_pointer)))
#define cleanup_fclose __attribute__((cleanup(fclose_pointer)))
