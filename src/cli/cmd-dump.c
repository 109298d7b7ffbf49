/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <nettle/base64.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/report.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/seeding.h"
#include "cli/source.h"

struct dump_options {
    const char *document; /* NULL for all of them */
    bool json;
    bool show_secrets;
};

static bool
is_hidden(const struct document *document, const struct dump_options *options)
{
    return document->secret && !options->show_secrets;
}

/* --- JSON ------------------------------------------------------------------------- */

/* Text as a string, everything else as base64. */
static void
set_content(json_t *object, const struct buffer *data)
{
    cleanup_free char *encoded = NULL;
    json_t *text = json_stringn(data->data ? data->data : "", data->size);

    if (text) {
        json_object_set_new(object, "text", text);
        return;
    }
    encoded = xcalloc(1, BASE64_ENCODE_RAW_LENGTH(data->size) + 1);
    base64_encode_raw(encoded, data->size, (const uint8_t *)data->data);
    json_object_set_new(object, "base64", json_string(encoded));
}

static json_t *
document_to_json(const struct document *document, const struct dump_options *options)
{
    json_t *object = json_pack("{s:s, s:I}", "path", document->path, "size",
                               (json_int_t)document->data.size);

    if (is_hidden(document, options))
        json_object_set_new(object, "secret", json_string(document->secret));
    else
        set_content(object, &document->data);
    return object;
}

static void
print_json(const struct seed *seed, const struct dump_options *options)
{
    json_t *documents = json_array();

    for (size_t i = 0; i < seed->document_count; i++) {
        if (!options->document || strcmp(options->document, seed->documents[i].path) == 0)
            json_array_append_new(documents,
                                  document_to_json(&seed->documents[i], options));
    }
    json_print(
        json_pack("{s:s, s:o}", "volume-id", seed->volume_id, "documents", documents));
}

/* --- text ------------------------------------------------------------------------- */

/* Byte for byte, except to a terminal. */
static void
print_content(const struct document *document, const struct dump_options *options)
{
    const struct buffer *data = &document->data;

    if (is_hidden(document, options))
        printf("<secret %s>\n", document->secret);
    else if (data->size > 0 && isatty(STDOUT_FILENO))
        report_text(stdout, data->data, data->size);
    else if (data->size > 0)
        fwrite(data->data, 1, data->size, stdout);
}

static void
print_text(const struct seed *seed, const struct dump_options *options)
{
    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *document = &seed->documents[i];
        const struct buffer *data = &document->data;

        if (options->document && strcmp(options->document, document->path) != 0)
            continue;
        if (!options->document)
            printf("%s==> %s <==\n", i > 0 ? "\n" : "", document->path);
        print_content(document, options);
        if (!options->document && data->size > 0 && data->data[data->size - 1] != '\n' &&
            !is_hidden(document, options))
            putchar('\n');
    }
}

/* --- the command ------------------------------------------------------------------ */

static int
fail_no_document(const struct seed *seed, const char *name, struct failure **failure)
{
    cleanup_free char *list = xstrdup("");

    for (size_t i = 0; i < seed->document_count; i++) {
        char *longer =
            xasprintf("%s%s%s", list, i > 0 ? ", " : "", seed->documents[i].path);

        free(list);
        list = longer;
    }
    failure_set(failure, FAILURE_USAGE, "the seed has no document '%s'", name);
    return failure_hint(failure, "it has: %s", list);
}

static int
dump(const struct context *context, const char *argument, bool is_domain,
     const struct dump_options *options, struct failure **failure)
{
    cleanup_source struct source source = {0};
    cleanup_seed struct seed seed = {0};
    cleanup_failure struct failure *denied = NULL;

    if (seeding_make(&seed, &source, context, argument, is_domain, &denied, failure) < 0)
        return -1;
    if (options->document && !seed_find_document(&seed, options->document))
        return fail_no_document(&seed, options->document, failure);
    if (options->json)
        print_json(&seed, options);
    else
        print_text(&seed, options);
    if (!denied)
        return 0;
    *failure = steal(denied);
    return -1;
}

static int
run(const struct context *context, const struct command *command, int argc, char **argv,
    struct failure **failure)
{
    static const struct option options[] = {
        {"domain", required_argument, NULL, OPTION_DOMAIN},
        {"show-secrets", no_argument, NULL, OPTION_SHOW_SECRETS},
        {"json", no_argument, NULL, OPTION_JSON},
        {"help", no_argument, NULL, OPTION_HELP},
        {NULL, 0, NULL, 0},
    };
    struct dump_options dump_options = {0};
    const char *name = NULL;
    bool is_domain = false;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case OPTION_DOMAIN:
            name = optarg;
            is_domain = true;
            break;
        case OPTION_SHOW_SECRETS:
            dump_options.show_secrets = true;
            break;
        case OPTION_JSON:
            dump_options.json = true;
            break;
        case OPTION_HELP:
            return command_help(command);
        default:
            return command_unknown_option(command, argv, failure);
        }
    }
    if (optind < argc && !name)
        name = argv[optind++];
    if (optind < argc)
        dump_options.document = argv[optind++];
    if (!name || optind < argc)
        return command_misused(command, failure, "expected a DOMAIN or FILE");
    return dump(context, name, is_domain, &dump_options, failure) < 0 ? STATUS_FAILURE
                                                                      : STATUS_OK;
}

const struct command cmd_dump = {
    .name = "dump",
    .arguments = "[--show-secrets] [--json] DOMAIN|FILE|- [DOCUMENT]",
    .summary = "print what the guest would read",
    .help =

        "Prints each document of the seed that the domain would get at its next\n"
        "start, or one of them alone, byte for byte. What came from a secret is\n"
        "printed as <secret NAME/KEY>.\n"
        "\n"
        "      --show-secrets  print the content of secrets, too\n"
        "      --domain=NAME   NAME is a domain, even where a file is called so\n"
        "      --json          print the label and the documents as JSON\n"
        "      --help          print this and exit\n",
    .run = run,
};
