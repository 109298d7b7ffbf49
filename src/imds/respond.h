/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An answer in libmicrohttpd's terms. */
#pragma once

#include <microhttpd.h>

#include "imds/answer.h"

/* Takes the answer's file, if it is sent from there. Return: owned by the caller
 * (MHD_destroy_response), or NULL. */
struct MHD_Response *respond(struct answer *answer);
