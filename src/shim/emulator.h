/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which emulator the shim stands for. */
#pragma once

#include "base/failure.h"

/*
 * Finds the emulator by the name that the shim was called by, without its prefix, in the
 * directories where distributions put it; never by PATH.
 * Return: its path, owned by the caller (free), or NULL.
 */
char *emulator_find(int root, const char *called, struct failure **failure);
