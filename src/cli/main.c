/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt-seed: the command that people type. Each subcommand is a file of its own,
 * cmd-NAME.c. */
#include "config.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/process.h"
#include "cli/cli.h"

static const struct command *const commands[] = {
    &cmd_set,    &cmd_wire,    &cmd_unset,  &cmd_dump,        &cmd_build,  &cmd_check,
    &cmd_doctor, &cmd_pending, &cmd_update, &cmd_wait,        &cmd_status, &cmd_inspect,
    &cmd_import, &cmd_done,    &cmd_gc,     &cmd_known_hosts,
};

/* --- messages --------------------------------------------------------------------- */

static void
print_usage(FILE *stream)
{
    fputs("Usage: virt-seed [OPTION]… COMMAND [ARGUMENT]…\n"
          "\n"
          "Cloud-init seeds for libvirt domains, from what their own XML asks for.\n"
          "\n"
          "Commands:\n",
          stream);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        fprintf(stream, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
    fputs(
        "\n"
        "Options:\n"
        "  -c, --connect=URI  libvirt's daemon (default: qemu:///system for root, else\n"
        "                     libvirt's own default)\n"
        "      --root=DIR     look for this host's secrets and files below DIR\n"
        "  -q, --quiet        print only what was asked for, and errors\n"
        "      --help         print this, or COMMAND's help, and exit\n"
        "      --version      print the version and exit\n"
        "\n"
        "DOMAIN is a name or a UUID, FILE a domain's XML, - standard input.\n"
        "Exit status: 0 done, 1 failed, 2 called wrongly. See virt-seed(1).\n",
        stream);
}

/* --- running ---------------------------------------------------------------------- */

static const struct command *
find_command(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static int
run_command(struct context *context, int argc, char **argv, struct failure **failure)
{
    const struct command *command = find_command(argv[0]);
    struct arguments arguments;
    int result;

    if (!command) {
        failure_set(failure, FAILURE_USAGE, "there is no command '%s'", argv[0]);
        failure_hint(failure, "virt-seed --help lists them");
        return STATUS_USAGE;
    }
    result = arguments_read(&arguments, command, argc, argv, failure);
    if (result != 0)
        return result < 0 ? STATUS_USAGE : STATUS_OK;
    context->root = fs_open_root(context->root_path);
    if (context->root < 0) {
        failure_set_errno(failure, FAILURE_SYSTEM, context->root, "could not open '%s'",
                          context->root_path);
        return STATUS_FAILURE;
    }
    return command->run(context, &arguments, failure);
}

static int
finish(int status, const struct failure *failure)
{
    if (failure) {
        print_failure(failure);
        return failure->code == FAILURE_USAGE ? STATUS_USAGE : STATUS_FAILURE;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("virt-seed: error: could not write to standard output\n", stderr);
        return STATUS_FAILURE;
    }
    return status;
}

int
main(int argc, char **argv)
{
    static const struct option options[] = {
        {"connect", required_argument, NULL, 'c'}, {"root", required_argument, NULL, 'r'},
        {"quiet", no_argument, NULL, 'q'},         {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},       {NULL, 0, NULL, 0},
    };
    cleanup_failure struct failure *failure = NULL;
    struct context context = {.root_path = "/", .root = -1};
    int option, status;

    if (process_open_standard() < 0)
        return STATUS_FAILURE;
    process_harden();
    /* What getopt would say, we say in our own form. */
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+c:q", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            context.uri = optarg;
            break;
        case 'r':
            context.root_path = optarg;
            break;
        case 'q':
            context.quiet = true;
            break;
        case 'h':
            print_usage(stdout);
            return finish(STATUS_OK, NULL);
        case 'V':
            puts(PACKAGE_STRING);
            return finish(STATUS_OK, NULL);
        default:
            failure_set(&failure, FAILURE_USAGE, "'%s' is no option, or lacks its value",
                        arguments_refused(argv, options));
            failure_hint(&failure, "virt-seed --help lists them");
            return finish(STATUS_USAGE, failure);
        }
    }
    if (optind == argc) {
        print_usage(stderr);
        return STATUS_USAGE;
    }
    status = run_command(&context, argc - optind, argv + optind, &failure);
    if (context.root >= 0)
        close(context.root);
    return finish(status, failure);
}
