/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt-seed-qemu: the emulator for domains that are not wired.
 *
 * How it works: libvirt runs it instead of QEMU, as QEMU's user, after it has labelled
 * the files it knows about. At prepare, the hook has made the seed and the shim order,
 * which says what to add. The shim completes the command line, then becomes QEMU, and
 * keeps all that libvirt has set up: descriptors, groups, labels. libvirt shows its
 * standard error as QEMU's.
 *
 * It does not isolate guests from each other: anyone who may set a domain's <emulator>
 * may set QEMU itself.
 */
#include "config.h"

#include "base/fs.h"
#include "base/process.h"
#include "base/scope.h"
#include "shim/shim.h"

/* Return: whether the daemon of a user's session has started it. libvirt gives each QEMU a
 * home of its own, which for the system's is below the directory of QEMU's user. */
static bool
is_session(void)
{
    const char *home = getenv("HOME");
    const size_t length = strlen(VIRT_SEED_QEMU_HOME);

    return geteuid() != 0 && home && strncmp(home, VIRT_SEED_QEMU_HOME, length) != 0;
}

static int
become(char **given, struct failure **failure)
{
    cleanup_command struct command command = {0};
    cleanup_close int root = fs_open_root("/");

    if (root < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, root, "could not open '/'");
    if (is_session() && scope_use_session(root, geteuid(), failure) < 0)
        return -1;
    if (command_make(&command, root, given, failure) < 0)
        return failure_prefix(failure, "virt-seed-qemu");
    if (command.warning)
        print_warning(command.warning);
    execv(command.arguments[0], command.arguments);
    return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                             "could not run '%s'\n"
                             "if the host uses AppArmor, see virt-seed-qemu(8)",
                             command.arguments[0]);
}

int
main(int argc, char **argv)
{
    cleanup_failure struct failure *failure = NULL;

    if (argc < 1 || process_begin() < 0)
        return EXIT_FAILURE;
    if (argc == 2 && strcmp(fs_base_name(argv[0]), "virt-seed-qemu") == 0) {
        if (strcmp(argv[1], "--help") == 0)
            return puts("Usage: virt-seed-EMULATOR [ARGUMENT...]\n"
                        "\n"
                        "Runs EMULATOR, such as qemu-system-x86_64, with the domain's "
                        "cloud-init seed.\n"
                        "libvirt runs this as the <emulator> of a domain that is not "
                        "wired.") < 0;
        if (strcmp(argv[1], "--version") == 0)
            return puts(PACKAGE_STRING) < 0;
    }
    become(argv, &failure);
    print_failure(failure);
    return EXIT_FAILURE;
}
