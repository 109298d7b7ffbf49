/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/io.h"
#include "domain/part.h"

struct options {
    bool show_secrets;
    bool full;
};

static void
print_json(const struct seed *seed, const char *path)
{
    json_t *documents = json_array();

    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *document = &seed->documents[i];
        const struct buffer *data = &document->data;
        cleanup_buffer struct buffer encoded = {0};
        json_t *text;

        if (path && strcmp(path, document->path) != 0)
            continue;
        text = json_stringn(buffer_text(data), data->size);
        /* What is not text is printed as base64. */
        if (!text)
            base64_encode(&encoded, data->data, data->size, 0);
        json_add(documents, json_pack("{s:s, s:I, s:o}", "path", document->path, "size",
                                      (json_int_t)data->size, text ? "text" : "base64",
                                      text ? text : json_string(buffer_text(&encoded))));
    }
    json_print(json_pack("{s:s?, s:o}", "volume-id", seed->over_http ? NULL : seed->label,
                         "documents", documents));
}

/* Return: a copy of the document in which our reporter is one line, owned by the caller
 * (buffer_clear). In JSON it is part of a string. */
static struct buffer
fold_reporter(const struct buffer *data)
{
    static const char script[] =
#include "seed/reporter-script.inc"
        ;
    const char *body = strchr(script, '\n') + 1;
    size_t length = strlen(body) - 1;
    cleanup_json json_t *string = json_stringn(body, length);
    cleanup_free char *quoted = xchecked(json_dumps(string, JSON_ENCODE_ANY));
    struct buffer folded = {0};
    const char *found = memmem(buffer_text(data), data->size, body, length);
    size_t offset;

    if (!found) {
        /* Without its quotes. */
        length = strlen(quoted) - 2;
        found = memmem(buffer_text(data), data->size, quoted + 1, length);
    }
    offset = found ? (size_t)(found - data->data) : data->size;
    buffer_append(&folded, data->data, offset);
    if (found) {
        buffer_append_string(&folded,
                             "# ... virt-seed's progress reporter; --full shows it");
        buffer_append(&folded, found + length, data->size - offset - length);
    }
    return folded;
}

static void
print_text(const struct seed *seed, const char *path, bool full)
{
    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *document = &seed->documents[i];
        cleanup_buffer struct buffer folded = {0};
        const struct buffer *data = &document->data;

        if (path && strcmp(path, document->path) != 0)
            continue;
        if (!path && !full) {
            folded = fold_reporter(data);
            data = &folded;
        }
        if (!path) {
            fputs(i > 0 ? "\n" : "", stdout);
            print_outside_line(stdout, "==> %s <==", document->path);
        }
        if (data->size == 0)
            continue;
        /* Byte for byte, except to a terminal. */
        if (isatty(STDOUT_FILENO))
            print_outside_text(stdout, data->data, data->size, "\n\t");
        else
            fwrite(data->data, 1, data->size, stdout);
        if (!path && data->data[data->size - 1] != '\n')
            putchar('\n');
    }
}

/* Says what comes from the host's configuration, and not from the domain. */
static void
print_origins(const struct request *request)
{
    for (size_t i = 0; i < request->parts.count; i++) {
        const struct part *part = request->parts.list[i];

        if (part->of_host)
            print_outside_line(stderr, "from %s: %s = %s", part->of_host, part->element,
                               part->name);
    }
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    const char *path = context->operand_count > 1 ? context->operands[1] : NULL;
    cleanup_definition struct definition definition = {0};
    cleanup_request struct request request = {0};
    cleanup_seed struct seed seed = {0};
    cleanup_failure struct failure *denied = NULL;

    if (definition_load_seed(&seed, &request, &definition, context, options->show_secrets,
                             &denied, failure) < 0)
        return -1;
    if (path && !seed_find_document(&seed, path)) {
        cleanup_buffer struct buffer list = {0};

        for (size_t i = 0; i < seed.document_count; i++)
            buffer_printf(&list, "%s%s", i > 0 ? ", " : "", seed.documents[i].path);
        return failure_set(failure, FAILURE_USAGE,
                           "the seed has no document '%s'\nit has: %s", path, list.data);
    }
    if (!context->quiet)
        print_origins(&request);
    if (context->json)
        print_json(&seed, path);
    else
        print_text(&seed, path, options->full);
    if (!denied)
        return STATUS_OK;
    *failure = steal(denied);
    return -1;
}

static const struct option_row rows[] = {
    OPTION(0, "show-secrets", NULL, show_secrets, "print the content of secrets, too"),
    OPTION(0, "full", NULL, full, "do not shorten virt-seed's own reporter script"),
    OPTION_END,
};

const struct command cmd_dump = {
    .name = "dump",
    .operands = "DOMAIN|FILE|- [DOCUMENT]",
    .summary = "print what the guest would read",
    .help =
        "Prints each document of the seed that the domain would get at its next start,\n"
        "with virt-seed's own reporter script folded to one line; or one DOCUMENT, byte\n"
        "for byte. The content of secrets is shown as <secret NAME/KEY>.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON,
    .run = run,
};
