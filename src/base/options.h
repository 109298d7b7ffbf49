/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What getopt_long(3) does not tell about the option that it has just returned. */
#pragma once

#include <getopt.h>

#include "base/base.h"

/* Return: the word of the command line with the option; its value may be the next one. */
static inline char **
option_word(char **argv)
{
    bool has_word_of_value = optarg && optarg == argv[optind - 1];

    return &argv[has_word_of_value ? optind - 2 : optind - 1];
}

/* Return: whether the long option was abbreviated; `name` is its name. A script with an
 * abbreviation would break as soon as another option begins like it. */
static inline bool
option_is_abbreviated(char **argv, const char *name)
{
    return strcspn(*option_word(argv) + 2, "=") != strlen(name);
}
