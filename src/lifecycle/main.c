/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt-seed-hook: libvirt's qemu hook, NAME OPERATION SUBOPERATION EXTRA, the domain's XML on
 * standard input. */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "lifecycle/lifecycle.h"

int
main(int argc, char **argv)
{
    /* Session daemons run the same hooks as an unprivileged user. */
    if (argc < 3 || geteuid() != 0)
        return EXIT_SUCCESS;
    return lifecycle_run("/", argv + 1);
}
