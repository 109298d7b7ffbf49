/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json.h"
#include "base/scope.h"
#include "check/check.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/findings.h"
#include "cli/io.h"
#include "cli/libvirt.h"

struct options {
    bool all;
    bool migration;
    bool no_schema;
    bool strict;
};

static void
print_text(const char *origin, const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        const struct failure *failure = finding->failure;
        const char *kind = finding->error ? "error" : "warning";

        print_outside_string(stdout, origin);
        if (failure->line > 0)
            printf(":%d", failure->line);
        print_outside_line(stdout, ": %s: %s [%s]", kind, failure->message, finding->id);
        if (failure->hint)
            print_outside_line(stdout, "  hint: %s", failure->hint);
    }
}

static int
run_one(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    const struct check_options check = {
        .root = context->root,
        .schema = !options->no_schema,
        .migrates = options->migration,
    };
    cleanup_findings struct findings findings = {0};
    cleanup_definition struct definition definition = {0};

    if (definition_load(&definition, context, DEFINITION_READ, failure) < 0)
        return -1;
    check_domain(&findings, &definition.domain, &check);
    if (context->json) {
        json_t *object = json_pack("{s:s}", "domain", definition.domain.name);

        findings_set_json(&findings, object);
        json_print(object);
    } else {
        print_text(definition.name ? definition.name : definition.domain.name, &findings);
    }
    if (!context->json && !context->quiet && findings.count == 0)
        print_outside_line(stdout, "domain '%s': no problems found",
                           definition.domain.name);
    if (!context->json && !context->quiet) {
        for (size_t i = 0; i < findings.skipped_count; i++)
            print_outside_line(stdout, "note: %s", findings.skipped[i]);
    }
    if (findings.errors > 0 || (options->strict && findings.count > 0))
        return STATUS_FAILURE;
    return STATUS_OK;
}

/* The same for every domain that asks for a seed. */
static int
run_all(const struct context *context, const struct options *options,
        struct failure **failure)
{
    cleanup_connection virConnectPtr connection =
        libvirt_connect_here(context, true, failure);
    struct context every = *context;
    int status;

    every.operands = NULL;
    every.operand_count = 0;
    if (!connection || definition_list_asking(connection, 0, &every.operands,
                                              &every.operand_count, failure) < 0)
        return -1;
    status = definition_each(&every, options, run_one, failure);
    if (every.operand_count == 0 && !context->quiet && !context->json)
        printf("no domain%s asks for cloud-init\n", scope()->aside);
    texts_free(every.operands, every.operand_count);
    return status;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    const char *mistake = "no domain or file was named";

    if (options->all)
        mistake = "--all and names cannot be combined";
    if (options->all == (context->operand_count > 0))
        return failure_set(
            failure, FAILURE_USAGE,
            "%s\nname domains or files, or give --all for all domains that ask for cloud-init",
            mistake);
    if (options->all)
        return run_all(context, options, failure);
    return definition_each(context, options, run_one, failure);
}

static const struct option_row rows[] = {
    OPTION(0, "all", NULL, all, "all domains that ask for cloud-init"),
    OPTION(0, "migration", NULL, migration,
           "check whether this host could take over the running guest"),
    OPTION(0, "no-schema", NULL, no_schema,
           "do not check documents against cloud-init's schema"),
    OPTION(0, "strict", NULL, strict, "also exit with 1 if there are warnings"),
    OPTION_END,
};

const struct command cmd_check = {
    .name = "check",
    .operands = "[DOMAIN|FILE|-…]",
    .summary = "find problems before the next start",
    .help = "Looks for everything that would make the start fail (errors) or that is\n"
            "likely to surprise you (warnings). Exit status 1 if there are errors; with\n"
            "--strict, if there is any finding.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON,
    .run = run,
};
