/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt-seed: the command that people type. Each command is a file of its own,
 * cmd-NAME.c. */
#include "config.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/fs.h"
#include "base/memory.h"
#include "base/process.h"
#include "cli/cli.h"

const struct command *const commands[] = {
    &cmd_set,         &cmd_edit,     &cmd_start,  &cmd_wire,    &cmd_unset,  &cmd_dump,
    &cmd_build,       &cmd_check,    &cmd_doctor, &cmd_pending, &cmd_update, &cmd_wait,
    &cmd_status,      &cmd_inspect,  &cmd_import, &cmd_done,    &cmd_gc,     &cmd_watch,
    &cmd_known_hosts, &cmd_complete, NULL,
};

const struct command *
command_find(const char *name, struct failure **failure)
{
    const char *names[ARRAY_SIZE(commands)];
    const char *near;
    size_t count = 0;

    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        if (commands[i]->summary)
            names[count++] = commands[i]->name;
    }
    near = help_suggest(name, names, count);
    failure_set(failure, FAILURE_USAGE, "unknown command '%s'", name);
    if (near)
        failure_hint(failure, "did you mean '%s'? virt-seed --help lists the commands",
                     near);
    else
        failure_hint(failure, "virt-seed --help lists the commands");
    return NULL;
}

static int
run(int argc, char **argv, struct failure **failure)
{
    struct context context = {.root_path = "/", .root = -1};
    int result = arguments_read(&context, NULL, NULL, argc, argv, failure);
    const struct command *command;
    cleanup_free void *options = NULL;
    cleanup_close int root = -1;
    bool asks_help;

    if (result != 0)
        return result < 0 ? -1 : STATUS_OK;
    if (context.operand_count == 0) {
        help_print(stderr, NULL);
        return STATUS_USAGE;
    }
    argc = (int)context.operand_count;
    argv = context.operands;
    asks_help = strcmp(argv[0], "help") == 0;
    if (asks_help && argc == 1) {
        help_print(stdout, NULL);
        return STATUS_OK;
    }
    command = command_find(argv[asks_help ? 1 : 0], failure);
    if (!command)
        return -1;
    if (asks_help) {
        help_print(stdout, command);
        return STATUS_OK;
    }
    options = xcalloc(1, command->options_size + 1);
    result = arguments_read(&context, command, options, argc, argv, failure);
    if (result != 0)
        return result < 0 ? -1 : STATUS_OK;
    if (remote_run(&context, command, options, failure) < 0)
        return -1;
    root = fs_open_root(context.root_path);
    if (root < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, root, "could not open '%s'",
                                 context.root_path);
    context.root = root;
    return command->run(&context, options, failure);
}

int
main(int argc, char **argv)
{
    cleanup_failure struct failure *failure = NULL;
    int status;

    if (process_open_standard() < 0)
        return STATUS_FAILURE;
    process_harden();
    status = run(argc, argv, &failure);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};

        /* Whoever read our output has seen enough: we end as if SIGPIPE were not ignored,
         * which leaves no file half written. */
        if (poll(&output, 1, 0) == 1 && (output.revents & POLLERR)) {
            signal(SIGPIPE, SIG_DFL);
            raise(SIGPIPE);
        }
        if (!failure)
            failure_set(&failure, FAILURE_SYSTEM, "could not write to standard output");
    }
    if (failure) {
        print_failure(failure);
        if (failure->code == FAILURE_USAGE)
            return STATUS_USAGE;
        return status > STATUS_OK ? status : STATUS_FAILURE;
    }
    return status;
}
