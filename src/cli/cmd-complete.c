/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What scripts/completion/virt-seed asks: which words may be the last of a command line.
 *
 * How it works: the words are read as the command would read them, but nothing is
 * refused: what cannot be understood has nothing to be completed with. If nothing is
 * printed, the shell offers the names of files.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <libvirt/libvirt.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/libvirt.h"

/* The command line in front of the word that is completed. */
struct line {
    const char *uri;
    const struct command *command;    /* NULL if it has none yet */
    const struct option_row *pending; /* the option whose value is completed, or NULL */
    size_t operand_count;             /* of the command */
    bool only_operands;               /* "--" was there */
    bool asks_help;
};

/* Return: the option that the word is, or NULL; `value` gets its value, if the word has
 * one. */
static const struct option_row *
find_option(const struct line *line, const char *word, const char **value)
{
    const struct option_row *const tables[] = {
        line->command ? line->command->options : NULL, global_options};
    bool is_long = strncmp(word, "--", 2) == 0;
    size_t length = strcspn(word, "=");

    *value = NULL;
    if (word[0] != '-' || !word[1] || strcmp(word, "--") == 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        for (const struct option_row *row = tables[i]; row && row->name; row++) {
            if (is_long ? strlen(row->name) != length - 2 ||
                              strncmp(row->name, word + 2, length - 2) != 0
                        : row->letter != word[1])
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

    if (!row && !line->only_operands)
        row = find_option(line, word, &value);
    line->pending = row && row->argument && !value ? row : NULL;
    if (row && value && strcmp(row->name, "connect") == 0)
        line->uri = value;
    if (row && row->kind == OPTION_DOMAIN && value)
        line->operand_count++;
    if (row || (*word == '-' && word[1] && !line->only_operands)) {
        line->only_operands = line->only_operands || strcmp(word, "--") == 0;
        return;
    }
    if (line->command) {
        line->operand_count++;
    } else if (strcmp(word, "help") == 0) {
        line->asks_help = true;
    } else {
        cleanup_failure struct failure *ignored = NULL;

        line->command = command_find(word, &ignored);
    }
}

/* --- candidates --------------------------------------------------------------------- */

static void
offer(const char *prefix, const char *before, const char *candidate, const char *after)
{
    if (strncmp(candidate, prefix, strlen(prefix)) != 0)
        return;
    print_outside_line(stdout, "%s%s%s", before, candidate, after);
}

static void
offer_options(const struct option_row *rows, const char *word)
{
    for (; rows && rows->name; rows++) {
        if (rows->kind != OPTION_HEADING)
            offer(word + 2, "--", rows->name, rows->argument ? "=" : "");
    }
}

static void
offer_domains(const char *uri, const char *prefix, const char *before)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_connection virConnectPtr connection = libvirt_connect(uri, true, &ignored);
    virDomainPtr *domains = NULL;
    int count = connection ? virConnectListAllDomains(connection, &domains, 0) : 0;

    for (int i = 0; i < count; i++) {
        offer(prefix, before, virDomainGetName(domains[i]), "");
        virDomainFree(domains[i]);
    }
    free(domains);
}

/* Offers what the placeholder stands for: "DOMAIN", or words in lower case. */
static void
offer_values(const char *placeholder, const char *uri, const char *prefix,
             const char *before)
{
    cleanup_free char *words = xstrndup(placeholder, strcspn(placeholder, "…]"));
    char *rest = NULL;

    for (const char *word = strtok_r(words, "[|", &rest); word;
         word = strtok_r(NULL, "[|", &rest)) {
        if (strcmp(word, "DOMAIN") == 0)
            offer_domains(uri, prefix, before);
        else if (*word >= 'a' && *word <= 'z')
            offer(prefix, before, word, "");
    }
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    struct line line = {.uri = context->uri};
    const char *word, *value;
    const struct option_row *row;

    (void)data;
    (void)failure;
    for (size_t i = 0; i + 1 < context->operand_count; i++)
        read_word(&line, context->operands[i]);
    word = context->operands[context->operand_count - 1];
    row = line.only_operands || line.pending ? NULL : find_option(&line, word, &value);
    if (line.pending) {
        offer_values(line.pending->kind == OPTION_DOMAIN ? "DOMAIN"
                                                         : line.pending->argument,
                     line.uri, word, "");
    } else if (row && value && word[1] == '-') {
        cleanup_free char *before = xasprintf("--%s=", row->name);

        offer_values(row->kind == OPTION_DOMAIN ? "DOMAIN" : row->argument, line.uri,
                     value, before);
    } else if (*word == '-' && !line.only_operands && (!word[1] || word[1] == '-')) {
        offer_options(line.command ? line.command->options : NULL, word[1] ? word : "--");
        offer_options(global_options, word[1] ? word : "--");
    } else if (line.command) {
        cleanup_free char *operands =
            xstrdup(line.command->operands ? line.command->operands : "");
        char *rest = NULL;
        const char *operand = strtok_r(operands, " ", &rest);

        for (size_t i = 0; operand && i < line.operand_count && !strstr(operand, "…");
             i++)
            operand = strtok_r(NULL, " ", &rest);
        if (operand)
            offer_values(operand, line.uri, word, "");
    } else {
        for (const struct command_row *command = commands; command->command; command++) {
            if (command->command->summary)
                offer(word, "", command->command->name, "");
        }
        if (!line.asks_help)
            offer(word, "", "help", "");
    }
    return STATUS_OK;
}

const struct command cmd_complete = {
    .name = "complete",
    .operands = "WORD…",
    .help =
        "Prints the words that may be the last of a command line, for the completion\n"
        "of shells: virt-seed complete -- WORD…\n",
    .run = run,
};
