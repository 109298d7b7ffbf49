/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a part may hold, by its kind, as the guest would read it. */
#pragma once

#include "domain/request.h"

/* Checks the content of a part that was resolved. No message holds any of it. */
int check_part(const struct request *request, const struct part *part,
               struct failure **failure);
