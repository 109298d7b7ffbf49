/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the subcommands of `virt-seed` share. */
#pragma once

#include <stdbool.h>

#include "base/failure.h"

/* What the options in front of the subcommand say. */
struct context {
    const char *uri;       /* of libvirt's daemon; NULL is libvirt's own default */
    const char *root_path; /* below which the host's files are looked for */
    int root;              /* its descriptor */
    bool quiet;
};

/* A subcommand: each cmd-NAME.c exports one, and main.c lists them. */
struct command {
    const char *name;
    const char *arguments; /* for the usage line */
    const char *summary;   /* one line for `virt-seed --help` */
    const char *help;      /* what `virt-seed NAME --help` prints below the usage line */
    /* argv[0] is the subcommand's name. Return: the exit status; a failure that is set is
     * printed by main, and the status is then 1, or 2 where it is FAILURE_USAGE. */
    int (*run)(const struct context *context, const struct command *command, int argc,
               char **argv, struct failure **failure);
};

extern const struct command cmd_build;
extern const struct command cmd_check;
extern const struct command cmd_dump;
extern const struct command cmd_inspect;
extern const struct command cmd_unset;
extern const struct command cmd_wire;

/* Exit status: done, failed, called wrongly. */
#define STATUS_OK 0
#define STATUS_FAILURE 1
#define STATUS_USAGE 2

/* getopt's answers for long options that have no letter. */
enum {
    OPTION_HELP = 256,
    OPTION_AFTER_REFUSAL,
    OPTION_DOMAIN,
    OPTION_EXTRACT,
    OPTION_JSON,
    OPTION_REPLACE,
    OPTION_SHOW_SECRETS,
    OPTION_WIRING_ONLY,
};

/* Prints the subcommand's usage and help. Return: STATUS_OK. */
int command_help(const struct command *command);

/* Sets a failure that names the subcommand's usage. Return: STATUS_USAGE. */
int command_unknown_option(const struct command *command, char **argv,
                           struct failure **failure);
int command_misused(const struct command *command, struct failure **failure,
                    const char *format, ...) __attribute__((format(printf, 3, 4)));
