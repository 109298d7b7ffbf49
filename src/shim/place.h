/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the seed's controller goes. */
#pragma once

#include "base/failure.h"

/*
 * Return: the controller as a value of -device, without its id, owned by the caller (free);
 * NULL where the machine has no place for it, or a device of the command has that place.
 */
char *place_controller(char **arguments, struct failure **failure);
