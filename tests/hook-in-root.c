/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hook-in-root --root=DIR [--session] NAME OPERATION SUBOPERATION EXTRA: virt-seed-hook with
 * another directory as the host's "/", for any user; it is the system's hook without
 * --session.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "lifecycle/lifecycle.h"

int
main(int argc, char **argv)
{
    static const char option[] = "--root=";
    const bool is_session = argc > 2 && strcmp(argv[2], "--session") == 0;

    if (argc < 4 + is_session || strncmp(argv[1], option, strlen(option)) != 0) {
        fprintf(stderr,
                "Usage: hook-in-root --root=DIR [--session] NAME OPERATION ...\n");
        return 2;
    }
    return lifecycle_run(argv[1] + strlen(option), is_session, argv + 2 + is_session);
}
