/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the completions of the shells (scripts/completion) ask: which words may be the
 * last of a command line.
 *
 * How it works: the words are read as the command would read them, but nothing is
 * refused: a line that makes no sense has no completions. If nothing is printed, the
 * shell offers the names of files.
 */
#include "config.h"

#include "cli/cli.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "seed/layout.h"

struct options {
    bool describe;
};

/* The command line before the word that is completed. */
struct line {
    const char *uri;
    const struct command *command;    /* NULL if it has none yet */
    const struct option_row *pending; /* the option whose value is completed, or NULL */
    size_t operand_count;             /* of the command */
    bool only_operands;               /* "--" was there */
    bool is_help;
    bool describe; /* also print what each word is */
};

/* Return: the option that the word is, or NULL; `value` gets its value, if the word has
 * one. */
static const struct option_row *
find_option(const struct line *line, const char *word, const char **value)
{
    const struct option_row *const tables[] = {
        line->command ? line->command->options : NULL, global_options};
    const bool is_long = strncmp(word, "--", 2) == 0;
    const size_t length = strcspn(word, "=");
    cleanup_free char *name = xstrndup(word, length);

    *value = NULL;
    if (word[0] != '-' || !word[1] || strcmp(word, "--") == 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        for (const struct option_row *row = tables[i]; row && row->name;
             row = option_next(row)) {
            if (is_long ? strcmp(row->name, name + 2) != 0 : row->letter != word[1])
                continue;
            if (is_long && word[length])
                *value = word + length + 1;
            else if (!is_long && row->argument && word[2])
                *value = word + 2;
            return row;
        }
    }
    return NULL;
}

static void
read_word(struct line *line, const char *word)
{
    const char *value = line->pending ? word : NULL;
    const struct option_row *row = line->pending;
    bool has_dash = *word == '-' && word[1] && !line->only_operands;

    if (!row && !line->only_operands)
        row = find_option(line, word, &value);
    line->pending = row && row->argument && !value ? row : NULL;
    if (row && value && strcmp(row->name, "connect") == 0)
        line->uri = value;
    if (row || has_dash) {
        line->only_operands = line->only_operands || strcmp(word, "--") == 0;
        return;
    }
    if (line->command) {
        line->operand_count++;
    } else if (strcmp(word, "help") == 0) {
        line->is_help = true;
    } else {
        cleanup_failure struct failure *ignored = NULL;

        line->command = command_find(word, &ignored);
    }
}

/* --- candidates --------------------------------------------------------------------- */

/* Prints the candidate if it begins with the prefix, followed by a tab and its
 * description if that was asked for. */
static void
offer(const struct line *line, const char *prefix, const char *before,
      const char *candidate, const char *after, const char *description)
{
    if (strncmp(candidate, prefix, strlen(prefix)) != 0)
        return;
    print_outside_string(stdout, before);
    print_outside_string(stdout, candidate);
    if (line->describe && description)
        printf("%s\t%s\n", after, description);
    else
        printf("%s\n", after);
}

static void
offer_options(const struct line *line, const struct option_row *rows, const char *word)
{
    for (; rows && rows->name; rows = option_next(rows)) {
        bool is_taken =
            !rows->needs || !line->command || (rows->needs & line->command->takes);

        if (is_taken)
            offer(line, word + 2, "--", rows->name, rows->argument ? "=" : "",
                  rows->help);
    }
}

static void
offer_domains(const struct line *line, const char *prefix, const char *before)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_connection virConnectPtr connection =
        libvirt_connect(line->uri, true, &ignored);
    virDomainPtr *domains = NULL;
    int count = connection ? virConnectListAllDomains(connection, &domains, 0) : 0;

    for (int i = 0; i < count; i++) {
        offer(line, prefix, before, virDomainGetName(domains[i]), "", "domain");
        virDomainFree(domains[i]);
    }
    free(domains);
}

/* Offers the documents of both layouts: which of them a seed has, only its request says. */
static void
offer_documents(const struct line *line, const char *prefix)
{
    const struct layout *const layouts[] = {&layout_nocloud, &layout_configdrive};

    for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
        for (const struct layout_document *document = layouts[i]->documents;
             document->path; document++)
            offer(line, prefix, "", document->path, "", "document");
    }
}

/* Offers what the placeholder stands for: "DOMAIN", "DOCUMENT", "PART", or words in lower
 * case. */
static void
offer_values(const struct line *line, const char *placeholder, const char *prefix,
             const char *before)
{
    cleanup_free char *words = xstrndup(placeholder, strcspn(placeholder, "…]"));
    char *rest = NULL;

    for (const char *word = strtok_r(words, "[|", &rest); word;
         word = strtok_r(NULL, "[|", &rest)) {
        if (strcmp(word, "DOMAIN") == 0)
            offer_domains(line, prefix, before);
        else if (strcmp(word, "DOCUMENT") == 0)
            offer_documents(line, prefix);
        else if (strcmp(word, "PART") == 0) {
            for (size_t i = 0; edit_part_name(i); i++)
                offer(line, prefix, before, edit_part_name(i), "", NULL);
        } else if (*word >= 'a' && *word <= 'z')
            offer(line, prefix, before, word, "", NULL);
    }
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    struct line line = {.uri = context->uri, .describe = options->describe};
    const char *word, *value;
    const struct option_row *row;
    bool is_dashes;

    for (size_t i = 0; i + 1 < context->operand_count; i++)
        read_word(&line, context->operands[i]);
    word = context->operands[context->operand_count - 1];
    row = line.only_operands || line.pending ? NULL : find_option(&line, word, &value);
    is_dashes = strcmp(word, "-") == 0 || strncmp(word, "--", 2) == 0;
    if (line.pending) {
        offer_values(&line, line.pending->argument, word, "");
    } else if (row && value && word[1] == '-') {
        cleanup_free char *before = xasprintf("--%s=", row->name);

        offer_values(&line, row->argument, value, before);
    } else if (is_dashes && !line.only_operands) {
        offer_options(&line, line.command ? line.command->options : NULL,
                      word[1] ? word : "--");
        offer_options(&line, global_options, word[1] ? word : "--");
    } else if (line.command) {
        cleanup_free char *operands =
            xstrdup(line.command->operands ? line.command->operands : "");
        char *rest = NULL;
        const char *operand = strtok_r(operands, " ", &rest);

        for (size_t i = 0; operand && i < line.operand_count && !strstr(operand, "…");
             i++)
            operand = strtok_r(NULL, " ", &rest);
        if (operand)
            offer_values(&line, operand, word, "");
    } else {
        for (const struct command_row *command = commands; command->command; command++) {
            if (command->command->summary)
                offer(&line, word, "", command->command->name, "",
                      command->command->summary);
        }
        if (!line.is_help)
            offer(&line, word, "", "help", "", "print the help of a command");
    }
    return STATUS_OK;
}

static const struct option_row rows[] = {
    OPTION(0, "describe", NULL, describe, "print what each word is, after a tab"),
    OPTION_END,
};

const struct command cmd_complete = {
    .name = "complete",
    .operands = "WORD…",
    .help =
        "Prints the words that may be the last of a command line, for the completion\n"
        "of shells: virt-seed complete -- WORD…\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
