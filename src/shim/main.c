/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt-seed-qemu: the emulator of domains that nobody wires.
 *
 * How it works: libvirt runs it in QEMU's place, as QEMU's user, after it has labelled
 * what it knows of. The hook has made the seed at prepare, and the shim order, which says
 * what to add. So there is only the command line to complete; then this process becomes
 * QEMU, with all that libvirt has prepared for it: descriptors, groups, labels. What is said
 * on standard error libvirt shows as QEMU's own words.
 *
 * It decides nothing that keeps one guest from another: whoever may write a domain's
 * <emulator> may name QEMU itself.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/fs.h"
#include "base/memory.h"
#include "base/process.h"
#include "shim/shim.h"

static int
become(char **given, struct failure **failure)
{
    cleanup_command struct command command = {0};
    cleanup_close int root = fs_open_root("/");

    if (root < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, root, "could not open '/'");
    if (command_make(&command, root, given, failure) < 0)
        return failure_prefix(failure, "virt-seed-qemu");
    if (command.warning)
        print_warning(command.warning);
    execv(command.arguments[0], command.arguments);
    return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                             "could not run '%s'\n"
                             "on a host with AppArmor see virt-seed-qemu(8)",
                             command.arguments[0]);
}

static int
usage(void)
{
    fputs(
        "Usage: virt-seed-EMULATOR [ARGUMENT...]\n"
        "\n"
        "EMULATOR, such as qemu-system-x86_64, with a domain's cloud-init seed; for the\n"
        "<emulator> of a domain that is not wired. libvirt runs it.\n",
        stdout);
    return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    cleanup_failure struct failure *failure = NULL;

    if (argc < 1 || process_open_standard() < 0)
        return EXIT_FAILURE;
    if (argc == 2 && strcmp(fs_base_name(argv[0]), "virt-seed-qemu") == 0) {
        if (strcmp(argv[1], "--help") == 0)
            return usage();
        if (strcmp(argv[1], "--version") == 0)
            return puts(PACKAGE_STRING) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    become(argv, &failure);
    print_failure(failure);
    return EXIT_FAILURE;
}
