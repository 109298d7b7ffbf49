/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hook-in-root --root=DIR NAME OPERATION SUBOPERATION EXTRA: virt-seed-hook with another
 * directory as the host's "/", for any user.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "lifecycle/lifecycle.h"

int
main(int argc, char **argv)
{
    static const char option[] = "--root=";

    if (argc < 4 || strncmp(argv[1], option, strlen(option)) != 0) {
        fprintf(stderr, "Usage: hook-in-root --root=DIR NAME OPERATION ...\n");
        return 2;
    }
    return lifecycle_run(argv[1] + strlen(option), argv + 2);
}
