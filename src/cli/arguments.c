/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: an option means the same in every subcommand, so one function reads them
 * all; which of them a subcommand has is said by its own table, cmd-NAME.c.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* "'WORD' IS WRONG", and the usage. */
static int
fail_misused(const struct command *command, const char *word, const char *is_wrong,
             struct failure **failure)
{
    failure_set(failure, FAILURE_USAGE, "'%s' %s", word, is_wrong);
    return failure_hint(failure, "virt-seed %s %s", command->name, command->usage);
}

static void
print_help(const struct command *command)
{
    printf("Usage: virt-seed %s %s\n\n%s", command->name, command->usage, command->help);
}

static bool
add_setting(struct arguments *arguments, int option)
{
    if (arguments->setting_count == LIMIT_SETTINGS)
        return false;
    arguments->settings[arguments->setting_count++] = (struct setting){option, optarg};
    return true;
}

/* Return: whether it is an option of ours. */
static bool
take_option(struct arguments *arguments, int option)
{
    switch (option) {
    case OPTION_DOMAIN:
        arguments->name = optarg;
        arguments->is_domain = true;
        return true;
    case OPTION_OUTPUT:
        arguments->output = optarg;
        return true;
    case OPTION_EXTRACT:
        arguments->directory = optarg;
        return true;
    case OPTION_NAME:
        arguments->machine = optarg;
        return true;
    case OPTION_SET:
        arguments->set = optarg;
        return true;
    case OPTION_IN_PLACE:
        arguments->in_place = true;
        return true;
    case OPTION_JSON:
        arguments->json = true;
        return true;
    case OPTION_NEXT:
        arguments->next = true;
        return true;
    case OPTION_TIMEOUT:
        arguments->timeout = optarg;
        return true;
    case OPTION_NO_SCHEMA:
        arguments->no_schema = true;
        return true;
    case OPTION_REPLACE:
        arguments->replace = true;
        return true;
    case OPTION_PRINT:
        arguments->print = true;
        return true;
    case OPTION_ALL:
        arguments->all = true;
        return true;
    case OPTION_DRY_RUN:
        arguments->dry_run = true;
        return true;
    case OPTION_UNDO:
        arguments->undo = true;
        return true;
    case OPTION_SCRUB:
        arguments->scrub = true;
        return true;
    case OPTION_SECRETS:
        arguments->secrets = true;
        return true;
    case OPTION_SHOW_SECRETS:
        arguments->show_secrets = true;
        return true;
    case OPTION_VERBOSE:
        arguments->verbose = true;
        return true;
    case OPTION_WIRING_ONLY:
        arguments->wiring_only = true;
        return true;
    case OPTION_AFTER_REFUSAL:
        arguments->after_refusal = true;
        return true;
    default:
        return (option == OPTION_HOST || option >= OPTION_SET_DATASOURCE) &&
               add_setting(arguments, option);
    }
}

/* Return: the letters that stand for long options of the table, as getopt wants them. */
static const char *
letters(const struct command *command)
{
    bool output = false, in_place = false;

    for (const struct option *option = command->options; option->name; option++) {
        output = output || option->val == OPTION_OUTPUT;
        in_place = in_place || option->val == OPTION_IN_PLACE;
    }
    if (in_place)
        return "o:i";
    return output ? "o:" : "";
}

/* --domain takes the place of the first operand. */
static int
take_operands(struct arguments *arguments, const struct command *command, int argc,
              char **argv, struct failure **failure)
{
    int room = command->operands - (arguments->name ? 1 : 0);

    if (argc - optind > room)
        return fail_misused(command, argv[optind + room], "is one word too many",
                            failure);
    arguments->operands = argv + optind;
    arguments->operand_count = (size_t)(argc - optind);
    if (!arguments->name && optind < argc)
        arguments->name = argv[optind++];
    if (!arguments->name && command->operands > 0 && !command->optional)
        return fail_misused(command, command->name, "lacks an argument", failure);
    arguments->document = optind < argc ? argv[optind] : NULL;
    return 0;
}

static bool
has_letter(const char *word, int letter)
{
    return word && word[0] == '-' && word[1] != '-' && strchr(word + 1, letter);
}

/* It is the one before optind, but for an unknown letter that has others behind it: getopt has
 * not left that word yet. */
const char *
arguments_refused(char **argv, const struct option *options)
{
    const char *before = argv[optind - 1];

    for (; options->name; options++) {
        if (options->val == optopt)
            return before;
    }
    return optopt > 0 && !has_letter(before, optopt) && has_letter(argv[optind], optopt)
               ? argv[optind]
               : before;
}

int
arguments_read(struct arguments *arguments, const struct command *command, int argc,
               char **argv, struct failure **failure)
{
    int option;

    *arguments = (struct arguments){0};
    /* getopt starts anew, behind the subcommand. */
    optind = 0;
    while ((option = getopt_long(argc, argv, letters(command), command->options, NULL)) !=
           -1) {
        if (option == OPTION_HELP) {
            print_help(command);
            return 1;
        }
        if (!take_option(arguments, option))
            return fail_misused(command, arguments_refused(argv, command->options),
                                "is no option, or lacks its value", failure);
    }
    return take_operands(arguments, command, argc, argv, failure);
}
