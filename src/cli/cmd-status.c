/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/print.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/domain-status.h"
#include "cli/json.h"
#include "cli/libvirt.h"
#include "seed/json.h"
#include "store/configuration.h"

struct rows {
    int root;                    /* borrowed */
    const struct config *config; /* borrowed */
    struct domain_status *list;
    size_t count;
};

static void
rows_clear(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        domain_status_clear(&rows->list[i]);
    free(rows->list);
}

#define cleanup_rows __attribute__((cleanup(rows_clear)))

/* --- rows ------------------------------------------------------------------------- */

/* A domain that is gone when it is its turn has none. */
static int
add_row(struct rows *rows, virDomainPtr domain, struct failure **failure)
{
    struct domain_status row;

    if (domain_status_read(&row, rows->root, rows->config->imds_address, domain,
                           failure) < 0) {
        if (virGetLastErrorCode() != VIR_ERR_NO_DOMAIN)
            return -1;
        failure_free(steal(*failure));
        return 0;
    }
    rows->list = xreallocarray(rows->list, rows->count + 1, sizeof(rows->list[0]));
    rows->list[rows->count++] = row;
    return 0;
}

static int
compare_names(const void *one, const void *other)
{
    return strcmp(((const struct domain_status *)one)->name,
                  ((const struct domain_status *)other)->name);
}

static int
add_all(struct rows *rows, virConnectPtr connection, struct failure **failure)
{
    virDomainPtr *domains = NULL;
    int count = virConnectListAllDomains(connection, &domains, 0);
    int result = 0;

    if (count < 0)
        return libvirt_fail(failure, "could not list the domains");
    for (int i = 0; i < count; i++) {
        if (result == 0)
            result = add_row(rows, domains[i], failure);
        virDomainFree(domains[i]);
    }
    free(domains);
    if (rows->count > 0)
        qsort(rows->list, rows->count, sizeof(rows->list[0]), compare_names);
    return result;
}

static int
add_named(struct rows *rows, virConnectPtr connection, const char *name,
          struct failure **failure)
{
    virDomainPtr domain = libvirt_find_domain(connection, name, failure);
    int result = domain ? add_row(rows, domain, failure) : -1;

    if (domain)
        virDomainFree(domain);
    return result;
}

static int
collect(struct rows *rows, const struct arguments *arguments, virConnectPtr connection,
        struct failure **failure)
{
    if (libvirt_require_local(connection, failure) < 0)
        return -1;
    if (arguments->operand_count == 0)
        return add_all(rows, connection, failure);
    for (size_t i = 0; i < arguments->operand_count; i++) {
        if (add_named(rows, connection, arguments->operands[i], failure) < 0)
            return -1;
    }
    return 0;
}

/* --- output ----------------------------------------------------------------------- */

static json_t *
pack_answer(enum answer answer)
{
    return answer == ANSWER_UNKNOWN ? json_null() : json_boolean(answer == ANSWER_YES);
}

/* Return: the string, or null. */
static json_t *
pack_text(const char *text)
{
    return text ? json_outside_string(text) : json_null();
}

static void
print_json(const struct rows *rows)
{
    json_t *list = json_array();

    for (size_t i = 0; i < rows->count; i++) {
        const struct domain_status *row = &rows->list[i];

        json_must(json_array_append_new(
            list,
            json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:O}", "domain",
                      pack_text(row->name), "uuid", row->uuid, "state", row->state,
                      "wired", pack_answer(row->wired), "seed", pack_answer(row->seed),
                      "datasource", pack_text(row->datasource), "instance-id",
                      pack_text(row->instance_id), "result",
                      pack_text(guest_state_word(row->result)), "stage",
                      pack_text(guest_stage_name(row->stage)), "since",
                      pack_text(row->since), "errors", row->errors)));
    }
    json_print(list);
}

static const char *
word_of(const struct domain_status *row, enum answer answer)
{
    if (answer == ANSWER_UNKNOWN)
        return "?";
    if (answer == ANSWER_NO && !row->asks)
        return "-";
    return answer == ANSWER_YES ? "yes" : "no";
}

static void
print_table(const struct rows *rows)
{
    static const char *const titles[] = {"DOMAIN",     "STATE",      "WIRED",
                                         "SEED",       "DATASOURCE", "INSTANCE-ID",
                                         "CLOUD-INIT", "SINCE"};
    cleanup_columns struct libscols_table *table =
        columns_table(sizeof(titles) / sizeof(titles[0]));

    columns_add(table, titles);
    for (size_t i = 0; i < rows->count; i++) {
        const struct domain_status *row = &rows->list[i];
        const char *stage = guest_stage_name(row->stage);
        const char *result = guest_state_word(row->result);
        cleanup_free char *running = row->result == GUEST_STATE_RUNNING && stage
                                         ? xasprintf("%s, %s", result, stage)
                                         : NULL;

        if (row->result == GUEST_STATE_UNKNOWN)
            result = "?";
        else if (running)
            result = running;
        columns_add(table,
                    (const char *const[]){row->name, row->state, word_of(row, row->wired),
                                          word_of(row, row->seed), row->datasource,
                                          row->instance_id, result, row->since});
    }
    columns_print(table);
}

/* One reason is enough: what the caller may not read of one domain, he may of none. */
static void
print_unread(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->list[i].unread) {
            print_warning(rows->list[i].unread);
            return;
        }
    }
}

static int
run(const struct context *context, const struct arguments *arguments,
    struct failure **failure)
{
    cleanup_config struct config config = {0};
    cleanup_failure struct failure *mistake = NULL;
    cleanup_rows struct rows rows = {.root = context->root, .config = &config};
    virConnectPtr connection = libvirt_connect(context->uri, true, failure);
    int result;

    /* Where there is a mistake it tells what it can: `check` finds those. */
    config_read(&config, context->root, &mistake);
    result = connection ? collect(&rows, arguments, connection, failure) : -1;

    if (connection)
        virConnectClose(connection);
    if (result < 0)
        return STATUS_FAILURE;
    if (arguments->json)
        print_json(&rows);
    else
        print_table(&rows);
    if (!context->quiet)
        print_unread(&rows);
    return STATUS_OK;
}

static const struct option options[] = {
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

const struct command cmd_status = {
    .name = "status",
    .usage = "[--json] [DOMAIN…]",
    .summary = "show which domains have a seed, and how far their guests are",
    .help =
        "Prints a table of the domains, all of libvirt's where none is named: whether\n"
        "they run, are wired and have a seed, what the guest knows itself by, and how\n"
        "far cloud-init is or how it ended. '-' is nothing, '?' what you may not read,\n"
        "which a warning explains.\n"
        "\n"
        "      --json  print the same as JSON\n"
        "      --help  print this and exit\n",
    .options = options,
    .operands = OPERANDS_ANY,
    .optional = true,
    .run = run,
};
