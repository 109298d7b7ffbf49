/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ownership by scope: a variable marked with one of these is released when its scope
 * ends. steal() hands the value on, so that a transfer of ownership can be seen where
 * it happens.
 */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* For pointers of any type: not read as a void *, which another type of pointer is not. */
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
