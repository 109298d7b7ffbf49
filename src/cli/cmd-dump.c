/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <nettle/base64.h>

#include "base/memory.h"
#include "base/print.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/seeding.h"
#include "cli/source.h"

struct options {
    bool show_secrets;
    bool json;
};

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
document_to_json(const struct document *document)
{
    json_t *object = json_pack("{s:s, s:I}", "path", document->path, "size",
                               (json_int_t)document->data.size);

    set_content(object, &document->data);
    return object;
}

static void
print_json(const struct seed *seed, const char *path)
{
    json_t *documents = json_array();

    for (size_t i = 0; i < seed->document_count; i++) {
        if (!path || strcmp(path, seed->documents[i].path) == 0)
            json_array_append_new(documents, document_to_json(&seed->documents[i]));
    }
    json_print(json_pack("{s:s?, s:o}", "volume-id",
                         seed->served ? NULL : seed->volume_id, "documents", documents));
}

/* --- text ------------------------------------------------------------------------- */

/* Byte for byte, except to a terminal. */
static void
print_content(const struct document *document)
{
    const struct buffer *data = &document->data;

    if (data->size > 0 && isatty(STDOUT_FILENO))
        print_outside_text(stdout, data->data, data->size);
    else if (data->size > 0)
        fwrite(data->data, 1, data->size, stdout);
}

static void
print_text(const struct seed *seed, const char *path)
{
    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *document = &seed->documents[i];
        const struct buffer *data = &document->data;

        if (path && strcmp(path, document->path) != 0)
            continue;
        if (!path)
            printf("%s==> %s <==\n", i > 0 ? "\n" : "", document->path);
        print_content(document);
        if (!path && data->size > 0 && data->data[data->size - 1] != '\n')
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
    return failure_set(failure, FAILURE_USAGE,
                       "the seed has no document '%s'\nit has: %s", name, list);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    const char *path = context->operand_count > 1 ? context->operands[1] : NULL;
    cleanup_source struct source source = {0};
    cleanup_seed struct seed seed = {0};
    cleanup_failure struct failure *denied = NULL;

    if (seeding_make(&seed, &source, context, options->show_secrets, &denied, failure) <
        0)
        return STATUS_FAILURE;
    if (path && !seed_find_document(&seed, path))
        return fail_no_document(&seed, path, failure);
    if (options->json)
        print_json(&seed, path);
    else
        print_text(&seed, path);
    if (!denied)
        return STATUS_OK;
    *failure = steal(denied);
    return STATUS_FAILURE;
}

static const struct option_row rows[] = {
    OPTION(0, "show-secrets", NULL, show_secrets, "print the content of secrets, too"),
    OPTION(0, "json", NULL, json, "print the label and the documents as JSON"),
    OPTION_DOMAIN_ROW,
    OPTION_END,
};

const struct command cmd_dump = {
    .name = "dump",
    .operands = "DOMAIN|FILE|- [DOCUMENT]",
    .summary = "print what the guest would read",
    .help =
        "Prints each document of the seed that the domain would get at its next\n"
        "start, or one of them alone, byte for byte. In the place of what comes from a\n"
        "secret stands <secret NAME/KEY>.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
