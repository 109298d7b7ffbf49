/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdbool.h>

#include "image/libisofs.h"

int
libisofs_start(struct failure **failure)
{
    static bool started;
    int code;

    if (started)
        return 0;
    /* Flag bit 0: the locale stays alone; names are UTF-8 here. */
    code = iso_init_with_flag(1);
    if (code < 0)
        return libisofs_fail(failure, code, "start of libisofs");
    iso_set_local_charset((char *)"UTF-8", 0);
    iso_set_msgs_severities((char *)"NEVER", (char *)"NEVER", (char *)"");
    started = true;
    return 0;
}

int
libisofs_fail(struct failure **failure, int code, const char *step)
{
    failure_set(failure, FAILURE_IMAGE, "%s: %s", step, iso_error_to_msg(code));
    return failure_hint(failure, "this is a defect or a full memory: report it with the "
                                 "domain's XML");
}
