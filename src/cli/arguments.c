/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/options.h"
#include "cli/cli.h"
#include "cli/definition.h"

/* A command's own options and the global ones. */
#define ROWS_MAX 40
/* What getopt returns for a long option: this plus the index of its row. */
#define FIRST_ROW 256

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

/* The rows to look among: the command's first, then the global ones. */
struct table {
    const struct option_row *rows[ROWS_MAX];
    size_t count;
    size_t own;                               /* how many are the command's */
    struct option long_options[ROWS_MAX + 1]; /* getopt's */
    char letters[2 * ROWS_MAX + 3];           /* the same */
};

static void
add_rows(struct table *table, const struct option_row *rows)
{
    for (; rows && rows->name; rows = option_next(rows)) {
        assert(table->count < ROWS_MAX);
        table->long_options[table->count] = (struct option){
            .name = rows->name,
            .has_arg = rows->argument ? required_argument : no_argument,
            .val = FIRST_ROW + (int)table->count,
        };
        if (rows->letter) {
            char *end = strchr(table->letters, '\0');

            *end++ = rows->letter;
            if (rows->argument)
                *end = ':';
        }
        table->rows[table->count++] = rows;
    }
}

/* Return: the index of the row that getopt means, or the number of rows if there is
 * none. */
static size_t
find_row(const struct table *table, int option)
{
    size_t i = 0;

    if (option >= FIRST_ROW)
        return (size_t)option - FIRST_ROW;
    while (i < table->count && (option == 0 || table->rows[i]->letter != option))
        i++;
    return i;
}

/* Return: the first option that the command takes and that was probably meant, or NULL. */
static const char *
find_like(const struct table *table, const struct command *command, const char *word)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = table->rows[i];

        if ((!command || !(row->needs & ~command->takes)) && is_like(row->name, word))
            return row->name;
    }
    return NULL;
}

/* Says what is wrong with the option that getopt has just refused. Its value may be a
 * secret. */
static int
fail_option(const struct table *table, const struct command *command, bool lacks_value,
            const char *word, struct failure **failure)
{
    size_t index = find_row(table, optopt);
    const struct option_row *row = index < table->count ? table->rows[index] : NULL;
    cleanup_free char *name =
        optopt != 0 ? xasprintf("-%c", optopt) : xstrndup(word, strcspn(word, "="));
    cleanup_free char *list = NULL;
    const char *like;

    if (row && lacks_value)
        return failure_set(failure, FAILURE_USAGE,
                           "option '--%s' needs a value\nwrite --%s=%s", row->name,
                           row->name, row->argument);
    if (row)
        return failure_set(failure, FAILURE_USAGE,
                           "option '--%s' takes no value\nwrite --%s alone", row->name,
                           row->name);
    failure_set(failure, FAILURE_USAGE, "unknown option '%s'", name);
    list = xasprintf("virt-seed%s%s --help lists the options", command ? " " : "",
                     command ? command->name : "");
    like = find_like(table, command, name + strspn(name, "-"));
    if (like && optopt == 0)
        return failure_hint(failure, "did you mean '--%s'? %s", like, list);
    return failure_hint(failure, "%s", list);
}

/* Return: as arguments_read(). */
static int
take_option(const struct option_row *row, const struct command *command,
            struct context *context, void *target, struct failure **failure)
{
    char *member = (char *)target + row->offset;
    struct option_values *values;

    /* A command that has options of its own must give the size of its struct options. */
    assert(row->kind > OPTION_LIST || target == context ||
           row->offset < command->options_size);
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)(void *)member = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)(void *)member = optarg;
        return 0;
    case OPTION_LIST:
        values = (struct option_values *)(void *)member;
        if (values->count == LIMIT_SETTINGS)
            return failure_set(failure, FAILURE_USAGE, "too many options, at most %d",
                               LIMIT_SETTINGS);
        values->list[values->count++] =
            (struct option_value){row, row->argument ? optarg : row->name};
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
    const size_t count = command->takes & TAKES_WORDS ? 1 : context->operand_count;

    for (size_t i = 0; wants_domains && i < count; i++) {
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
    /* "+" makes getopt stop at the first operand, such as the command's name; ":" makes it tell a
     * missing value from an unknown option. */
    struct table table = {.count = 0};
    int option, result;

    const bool stops = !command || (command->takes & TAKES_WORDS);

    snprintf(table.letters, sizeof(table.letters), "%s", stops ? "+:" : ":");
    add_rows(&table, command ? command->options : NULL);
    table.own = table.count;
    add_rows(&table, global_options);
    /* getopt prints no errors of its own, and starts from the beginning. */
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, table.letters, table.long_options, NULL)) !=
           -1) {
        size_t index = find_row(&table, option);
        const char *word;

        if (index == table.count)
            return fail_option(&table, command, option == ':', argv[optind - 1], failure);
        word = *option_word(argv);
        if (option >= FIRST_ROW && option_is_abbreviated(argv, table.rows[index]->name)) {
            optopt = 0;
            return fail_option(&table, command, false, word, failure);
        }
        result = take_option(table.rows[index], command, context,
                             index < table.own ? options : context, failure);
        if (result != 0)
            return result;
    }
    context->operands = argv + optind;
    context->operand_count = (size_t)(argc - optind);
    if (!command)
        return 0;
    if (check_global_options(context, command, failure) < 0 ||
        check_operands(context, command, failure) < 0)
        return -1;
    return check_domains(context, command, failure);
}
