/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <getopt.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/print.h"
#include "check/check.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/source.h"

static void
print_json(const char *domain, const struct findings *findings)
{
    json_t *list = json_array();

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];

        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:i, s:s, s:s?}", "severity",
                                        finding->error ? "error" : "warning", "id",
                                        finding->id, "line", finding->line, "message",
                                        finding->message, "hint", finding->hint));
    }
    json_print(json_pack("{s:s, s:o}", "domain", domain, "findings", list));
}

static void
print_text(const char *origin, const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];

        print_outside_string(stdout, origin);
        if (finding->line > 0)
            printf(":%d", finding->line);
        printf(": %s: ", finding->error ? "error" : "warning");
        print_outside_string(stdout, finding->message);
        printf(" [%s]\n", finding->id);
        if (finding->hint) {
            fputs("  hint: ", stdout);
            print_outside_string(stdout, finding->hint);
            putchar('\n');
        }
    }
}

static int
run(const struct context *context, const struct arguments *arguments,
    struct failure **failure)
{
    const struct check_options options = {.root = context->root,
                                          .schema = !arguments->no_schema};
    cleanup_findings struct findings findings = {0};
    cleanup_source struct source source = {0};
    cleanup_free char *name = NULL;

    if (source_load(&source, context, arguments, SOURCE_READ, failure) < 0)
        return STATUS_FAILURE;
    name = xstrdup(source.domain.name);
    check_domain(&findings, &source.domain, &options);
    if (arguments->json)
        print_json(name, &findings);
    else
        print_text(source.name ? source.name : name, &findings);
    if (!arguments->json && !context->quiet && findings.count == 0) {
        fputs("domain '", stdout);
        print_outside_string(stdout, name);
        puts("': nothing to complain of");
    }
    return findings.errors > 0 ? STATUS_FAILURE : STATUS_OK;
}

static const struct option long_options[] = {
    {"domain", required_argument, NULL, OPTION_DOMAIN},
    {"json", no_argument, NULL, OPTION_JSON},
    {"no-schema", no_argument, NULL, OPTION_NO_SCHEMA},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

const struct command cmd_check = {
    .name = "check",
    .usage = "[--json] [--no-schema] DOMAIN|FILE|-",
    .summary = "say what would fail or surprise at the next start",
    .help = "Looks for everything that would make the start fail (errors) or that would\n"
            "turn out otherwise than one expects (warnings). Exit status 1 where there\n"
            "are errors.\n"
            "\n"
            "      --domain=NAME  NAME is a domain, even where a file is called so\n"
            "      --json         print the findings as JSON\n"
            "      --no-schema    do not ask an installed cloud-init for its schema\n"
            "      --help         print this and exit\n",
    .options = long_options,
    .operands = 1,
    .run = run,
};
