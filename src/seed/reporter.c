/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "seed/reporter.h"

static const char script[] = "#cloud-boothook\n"
#include "seed/reporter-script.h"
    ;

void
reporter_write(struct buffer *buffer)
{
    buffer_append(buffer, script, sizeof(script) - 1);
}
