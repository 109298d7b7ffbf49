/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt-seed-hook: libvirt's qemu hook, NAME OPERATION SUBOPERATION EXTRA, the domain's XML on
 * standard input. */
#include "config.h"

#include "lifecycle/lifecycle.h"

int
main(int argc, char **argv)
{
    if (argc < 3)
        return EXIT_SUCCESS;
    /* The daemon of a user's session runs the same hooks, as that user. */
    return lifecycle_run("/", geteuid() != 0, argv + 1);
}
