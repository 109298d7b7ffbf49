/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shim-command [--run] ROOT: prints the command that virt-seed-qemu becomes, an argument
 * a line, for the arguments on standard input, the program's name first, with ROOT as the
 * host's "/"; or becomes it.
 */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/text.h"
#include "shim/shim.h"

#define MAXIMUM 1000

int
main(int argc, char **argv)
{
    static char *given[MAXIMUM + 1];
    cleanup_buffer struct buffer text = {0};
    cleanup_command struct command command = {0};
    cleanup_failure struct failure *failure = NULL;
    bool run = argc == 3 && strcmp(argv[1], "--run") == 0;
    cleanup_close int root = run || argc == 2 ? fs_open_root(argv[argc - 1]) : -1;
    char *rest = NULL;
    size_t count = 0;

    if (process_begin() < 0 || root < 0 || fs_read_all(0, MIB, &text) < 0 ||
        text.size == 0)
        return 2;
    for (char *line = strtok_r(text.data, "\n", &rest); line && count < MAXIMUM;
         line = strtok_r(NULL, "\n", &rest))
        given[count++] = line;
    if (command_make(&command, root, given, &failure) < 0) {
        print_failure(failure);
        return EXIT_FAILURE;
    }
    if (command.warning)
        print_warning(command.warning);
    if (run) {
        cleanup_free char *path = xasprintf("%s%s", argv[2], command.arguments[0]);

        execv(path, command.arguments);
        return 2;
    }
    for (size_t i = 0; i < command.count; i++)
        puts(command.arguments[i]);
    return EXIT_SUCCESS;
}
