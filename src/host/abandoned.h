/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that were being written when a process was killed (struct tmpfile). */
#pragma once

#include <stdbool.h>

/* Return: whether the name is that of such a file. */
bool is_temporary_name(const char *name);

/* Removes the domain's; those in the run-time directory go with the seed. */
void abandoned_remove(int root, const char *uuid);
