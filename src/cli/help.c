/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints --help from the commands' tables. */
#include "config.h"

#include "cli/cli.h"

#define COLUMNS 79
/* A longer label gets a line of its own. */
#define LABEL_COLUMNS 32

/* Prints the text, wrapped, from this column on, which is where the cursor is. */
static void
print_wrapped(FILE *stream, int column, const char *text)
{
    cleanup_free char *words = xstrdup(text);
    char *rest = NULL;
    int at = column;

    for (const char *word = strtok_r(words, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        int length = (int)strlen(word);

        if (at > column && at + 1 + length > COLUMNS) {
            fprintf(stream, "\n%*s", column, "");
            at = column;
        }
        at += fprintf(stream, "%s%s", at > column ? " " : "", word);
    }
    putc('\n', stream);
}

/* Return: "  -o, --output=OUTPUT", owned by the caller (free). */
static char *
make_label(const struct option_row *row)
{
    const char letter[] = {'-', row->letter, ',', '\0'};

    return xasprintf("  %3s --%s%s%s", row->letter ? letter : "", row->name,
                     row->argument ? "=" : "", row->argument ? row->argument : "");
}

/* Return: how wide the longest label is, of those that share their line. */
static int
measure_rows(const struct option_row *rows)
{
    int width = 0;

    for (const struct option_row *row = rows; row && row->name; row = option_next(row)) {
        cleanup_free char *label = make_label(row);
        const int length = (int)strlen(label);

        if (length > width && length <= LABEL_COLUMNS)
            width = length;
    }
    return width;
}

static void
print_row(FILE *stream, const struct option_row *row, int width)
{
    cleanup_free char *label = make_label(row);

    if ((int)strlen(label) > width)
        fprintf(stream, "%s\n%*s", label, width + 2, "");
    else
        fprintf(stream, "%-*s  ", width, label);
    print_wrapped(stream, width + 2, row->help);
}

/* Omits all options if the line would be too long. */
char *
help_synopsis(const struct command *command)
{
    cleanup_buffer struct buffer line = {0};
    const char *operands = command->operands ? command->operands : "";
    const char *prefix = "Usage: virt-seed  ";

    for (const struct option_row *row = command->options; row && row->name;
         row = option_next(row)) {
        if (row->letter)
            buffer_printf(&line, "[-%c", row->letter);
        else
            buffer_printf(&line, "[--%s", row->name);
        if (row->argument)
            buffer_printf(&line, "%c%s", row->letter ? ' ' : '=', row->argument);
        buffer_append_string(&line, row->kind == OPTION_LIST ? "]… " : "] ");
    }
    for (const struct option_row *row = global_options; row->name; row++) {
        if (row->needs & command->takes)
            buffer_printf(&line, "[--%s] ", row->name);
    }
    if (line.size > 0 &&
        strlen(prefix) + strlen(command->name) + line.size + strlen(operands) > COLUMNS)
        return xasprintf("[OPTION]…%s%s", *operands ? " " : "", operands);
    buffer_append_string(&line, operands);
    if (!*operands && line.size > 0)
        line.data[line.size - 1] = '\0';
    return xstrdup(line.data ? line.data : "");
}

/* Names the global options that the command takes, and not every command. */
static void
print_taken(FILE *stream, const struct command *command)
{
    const char *before = "\nAlso takes ";

    if ((command->takes & ~(unsigned int)TAKES_WORDS) == 0)
        return;
    for (const struct option_row *row = global_options; row->name; row++) {
        if (row->needs & command->takes) {
            fprintf(stream, "%s--%s", before, row->name);
            before = ", ";
        }
    }
    fputs(" (see virt-seed --help).\n", stream);
}

static void
print_command(FILE *stream, const struct command *command)
{
    cleanup_free char *synopsis = help_synopsis(command);
    const char *help_label = "  -h, --help";
    int width = measure_rows(command->options);

    if (width < (int)strlen(help_label))
        width = (int)strlen(help_label);
    fprintf(stream, "Usage: virt-seed %s%s%s\n\n%s", command->name, *synopsis ? " " : "",
            synopsis, command->help);
    putc('\n', stream);
    for (const struct option_row *row = command->options; row && row->name;
         row = option_next(row))
        print_row(stream, row, width);
    fprintf(stream, "%-*s  print this and exit\n", width, help_label);
    print_taken(stream, command);
    for (const struct command_row *row = commands; row->command; row++) {
        if (row->command == command && row->example)
            fprintf(stream, "\nExample:\n  %s\n", row->example);
    }
    if (command->summary)
        fprintf(stream, "\nSee virt-seed-%s(1).\n", command->name);
}

static void
print_summary(FILE *stream, const struct command *command)
{
    fprintf(stream, "  %-11s %s\n", command->name, command->summary);
}

/* Each group of commands, and the example of its first one. */
static void
print_groups(FILE *stream)
{
    const char *example = NULL;

    for (const struct command_row *row = commands;; row++) {
        if (example && (!row->command || row->group))
            fprintf(stream, "\n    Example: %s\n", example);
        if (!row->command)
            return;
        if (row->group) {
            fprintf(stream, "\n%s:\n", row->group);
            example = row->example;
        }
        if (row->command->summary)
            print_summary(stream, row->command);
    }
}

void
help_print_all(FILE *stream)
{
    fputs("Usage: virt-seed [OPTION]… COMMAND [ARGUMENT]…\n"
          "       virt-seed help COMMAND\n",
          stream);
    print_groups(stream);
    fputs(
        "\n"
        "DOMAIN is a name or a UUID. FILE is a domain's XML; it has a slash or ends in\n"
        ".xml. - is standard input.\n"
        "Exit status: 0 success, 1 failure, 2 usage error. See virt-seed(1).\n",
        stream);
}

void
help_print(FILE *stream, const struct command *command)
{
    /* What most people need; in one screen. */
    static const struct command *const first[] = {
        &cmd_new, &cmd_ssh, &cmd_set, &cmd_start, &cmd_status, &cmd_check,
    };

    if (command) {
        print_command(stream, command);
        return;
    }
    fputs("Usage: virt-seed [OPTION]… COMMAND [ARGUMENT]…\n"
          "\n"
          "Makes cloud-init seeds for libvirt domains from what their own XML asks for.\n"
          "\n",
          stream);
    for (size_t i = 0; i < ARRAY_SIZE(first); i++)
        print_summary(stream, first[i]);
    fprintf(stream, "\n    Example: %s\n\nOptions, before or after the command:\n",
            commands[0].example);
    for (const struct option_row *row = global_options; row->name; row++)
        print_row(stream, row, measure_rows(global_options));
    fputs("\n'virt-seed help --all' lists all commands; see 'virt-seed help COMMAND'.\n",
          stream);
}
