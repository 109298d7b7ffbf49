/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line of an authorized_keys file: sshd(8), section AUTHORIZED_KEYS FILE FORMAT. */
#pragma once

#include "base/failure.h"

/* Checks that the text is one such line: options if any, a key's type, the key. */
int ssh_key_check(const char *text, struct failure **failure);
