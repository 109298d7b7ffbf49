/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two deliveries with an image share: store/delivery.h says what each does. */
#pragma once

#include "store/delivery.h"

int drive_publish(const struct delivery_start *start, struct seed *seed,
                  struct failure **left_out, struct failure **failure);

int drive_open(int rundir, const char *uuid, struct stat *status);
