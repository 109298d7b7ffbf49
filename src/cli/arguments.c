/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/cli.h"
#include "cli/definition.h"

const struct option_row global_options[] = {
    OPTION_OF(struct context, 'c', "connect", "URI", uri,
              "libvirt's daemon (root's default: qemu:///system)", ),
    OPTION_OF(struct context, 0, "root", "DIR", root_path,
              "look for this host's secrets and files below DIR", ),
    OPTION_OF(struct context, 'q', "quiet", NULL, quiet,
              "print only what was asked for, and errors", ),
    OPTION_OF(struct context, 0, "json", NULL, json, "print JSON", .needs = TAKES_JSON),
    OPTION_OF(struct context, 0, "dry-run", NULL, dry_run,
              "say what would be done, and change nothing", .needs = TAKES_DRY_RUN),
    OPTION_OF(struct context, 'v', "verbose", NULL, verbose, "say more",
              .needs = TAKES_VERBOSE),
    {.letter = 'h',
     .name = "help",
     .kind = OPTION_HELP,
     .help = "print this, or COMMAND's help, and exit"},
    {.letter = 'V',
     .name = "version",
     .kind = OPTION_VERSION,
     .help = "print the version and exit"},
    OPTION_END,
};

static bool
is_option(const struct option_row *row, const char *word)
{
    const size_t length = strcspn(word, "=");

    if (word[1] != '-')
        return row->letter == word[1];
    return strlen(row->name) == length - 2 &&
           strncmp(row->name, word + 2, length - 2) == 0;
}

/* A script with an abbreviation would break as soon as another option begins like it. */
const struct option_row *
option_find(const struct command *command, const char *word, const char **value)
{
    const struct option_row *const tables[] = {command ? command->options : NULL,
                                               global_options};
    const bool is_long = strncmp(word, "--", 2) == 0;
    const char *equals = strchr(word, '=');

    *value = NULL;
    if (word[0] != '-' || !word[1] || strcmp(word, "--") == 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        for (const struct option_row *row = tables[i]; row && row->name; row++) {
            if (!is_option(row, word))
                continue;
            if (is_long && equals)
                *value = equals + 1;
            else if (!is_long && row->argument && word[2])
                *value = word + 2;
            return row;
        }
    }
    return NULL;
}

/* The value of the word may be a secret. */
static int
fail_unknown(const struct command *command, const char *word, struct failure **failure)
{
    const int length = word[1] == '-' ? (int)strcspn(word, "=") : 2;

    failure_set(failure, FAILURE_USAGE, "unknown option '%.*s'", length, word);
    return failure_hint(failure, "virt-seed%s%s --help lists the options",
                        command ? " " : "", command ? command->name : "");
}

static int
fail_value(const struct option_row *row, struct failure **failure)
{
    if (row->argument)
        return failure_set(failure, FAILURE_USAGE,
                           "option '--%s' needs a value\nwrite --%s=%s", row->name,
                           row->name, row->argument);
    return failure_set(failure, FAILURE_USAGE,
                       "option '--%s' takes no value\nwrite --%s alone", row->name,
                       row->name);
}

/* Return: as arguments_read(). */
static int
take_option(const struct option_row *row, const char *value,
            const struct command *command, struct context *context, void *options,
            struct failure **failure)
{
    const bool is_global =
        row >= global_options && row < global_options + ARRAY_SIZE(global_options);
    char *member = (char *)(is_global ? context : options) + row->offset;
    struct option_values *values;

    /* A command that has options of its own must give the size of its struct options. */
    assert(is_global || row->offset < command->options_size);
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)(void *)member = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)(void *)member = value;
        return 0;
    case OPTION_LIST:
        values = (struct option_values *)(void *)member;
        if (values->count == LIMIT_SETTINGS)
            return failure_set(failure, FAILURE_USAGE, "too many options, at most %d",
                               LIMIT_SETTINGS);
        values->list[values->count++] = (struct option_value){row, value};
        return 0;
    case OPTION_HELP:
        help_print(stdout, command);
        return 1;
    case OPTION_VERSION:
        puts(PACKAGE_STRING);
        if (*BUG_REPORT_ADDRESS)
            puts("Report bugs and vulnerabilities to " BUG_REPORT_ADDRESS);
        return 1;
    }
    return 0;
}

/* Reads the options of a word; `words` moves on if a value is the next one. Return: as
 * arguments_read(). */
static int
read_options(struct context *context, const struct command *command, void *options,
             char ***words, struct failure **failure)
{
    char *word = **words;
    const bool is_long = word[1] == '-';

    for (;;) {
        const char *value;
        const struct option_row *row = option_find(command, word, &value);
        int result;

        if (!row)
            return fail_unknown(command, word, failure);
        if (row->argument && !value && (*words)[1])
            value = *++*words;
        if (!row->argument != !value)
            return fail_value(row, failure);
        result = take_option(row, value, command, context, options, failure);
        if (result != 0 || is_long || row->argument || !word[2])
            return result;
        /* Letters of options without a value may be in one word. */
        *++word = '-';
    }
}

static int
check_operands(const struct context *context, const struct command *command,
               struct failure **failure)
{
    cleanup_free char *words = xstrdup(command->operands ? command->operands : "");
    cleanup_free char *synopsis = help_synopsis(command);
    size_t count = 0, required = 0;
    char *rest = NULL;

    for (const char *word = strtok_r(words, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest), count++) {
        required += *word != '[';
        if (required > context->operand_count && *word != '[')
            return failure_set(failure, FAILURE_USAGE,
                               "missing argument: %s\nvirt-seed %s %s", word,
                               command->name, synopsis);
        if (strstr(word, "…"))
            return 0;
    }
    if (context->operand_count <= count)
        return 0;
    return failure_set(failure, FAILURE_USAGE,
                       "unexpected argument '%s'\nvirt-seed %s %s",
                       context->operands[count], command->name, synopsis);
}

/* Fails if a file is named for a command whose synopsis has only domains. */
static int
check_domains(const struct context *context, const struct command *command,
              struct failure **failure)
{
    const char *synopsis = command->operands ? command->operands : "";
    const bool wants_domains = strstr(synopsis, "DOMAIN") && !strstr(synopsis, "FILE");

    for (size_t i = 0; wants_domains && i < context->operand_count; i++) {
        if (definition_is_file(context->operands[i]))
            return failure_set(failure, FAILURE_USAGE,
                               "'%s' is a file, and 'virt-seed %s' needs a domain\n"
                               "give the name or the UUID of a domain of libvirt's",
                               context->operands[i], command->name);
    }
    return 0;
}

/* Fails if one was given that the command does not take, before or after its name. */
static int
check_global_options(const struct context *context, const struct command *command,
                     struct failure **failure)
{
    for (const struct option_row *row = global_options; row->name; row++) {
        const bool *given = (const void *)((const char *)context + row->offset);

        if ((row->needs & ~command->takes) && *given)
            return failure_set(
                failure, FAILURE_USAGE,
                "'%s' takes no --%s\nvirt-seed %s --help lists its options",
                command->name, row->name, command->name);
    }
    return 0;
}

int
arguments_read(struct context *context, const struct command *command, void *options,
               int argc, char **argv, struct failure **failure)
{
    bool only_operands = false;
    char **end = argv + 1; /* of the operands, which move to the front */
    char **words = argv + 1;

    for (; *words; words++) {
        bool is_operand = only_operands || **words != '-' || !(*words)[1];
        int result;

        if (is_operand && !command)
            break;
        if (is_operand) {
            *end++ = *words;
        } else if (strcmp(*words, "--") == 0) {
            only_operands = true;
        } else {
            result = read_options(context, command, options, &words, failure);
            if (result != 0)
                return result;
        }
    }
    context->operands = command ? argv + 1 : words;
    context->operand_count = (size_t)((command ? end : argv + argc) - context->operands);
    if (!command)
        return 0;
    if (check_global_options(context, command, failure) < 0 ||
        check_operands(context, command, failure) < 0)
        return -1;
    return check_domains(context, command, failure);
}
