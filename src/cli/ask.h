/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to the person at the terminal. */
#pragma once

#include "base/base.h"

/* Asks on standard error for a yes or no, which is read from standard input. Return: whether
 * it is yes. */
bool ask_yes(const char *question);

/* Asks for a new password on the controlling terminal, twice and without an echo: `whose`
 * is "the default user". Fails without a terminal, if the two differ, or if it gets none. */
int ask_password(const char *whose, struct buffer *password, struct failure **failure);
