/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists in QEMU's arguments. */
#pragma once

#include "base/base.h"

/*
 * Finds the last value of a key in "key=value,…", where ",," is a comma (QEMU's
 * util/keyval.c). `implied` is the key of a first word without "=", or NULL. Return: the
 * value, owned by the caller (free); NULL if there is none.
 */
char *qemu_list_value(const char *list, const char *key, const char *implied);
