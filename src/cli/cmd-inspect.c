/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/memory.h"
#include "base/print.h"
#include "cli/cli.h"
#include "cli/extract.h"
#include "cli/json.h"
#include "image/iso.h"
#include "image/label.h"
#include "seed/layout.h"

struct options {
    bool json;
    const char *extract;
};

/* What cloud-init makes of one file, or of a document that is not there. */
struct judgement {
    const char *path;
    size_t size;
    char *taken;   /* NULL where cloud-init does not read it, or fails to */
    char *problem; /* NULL where there is none */
};

struct report {
    const struct seed *volume;
    const struct layout *layout; /* NULL where the label is no seed's */
    struct judgement *judgements;
    size_t count;
    bool valid; /* cloud-init takes it, every document of it */
};

static struct judgement *
add_judgement(struct report *report, const char *path, size_t size)
{
    report->judgements =
        xreallocarray(report->judgements, report->count + 1, sizeof(*report->judgements));
    report->judgements[report->count] = (struct judgement){.path = path, .size = size};
    return &report->judgements[report->count++];
}

static void
judge_file(struct report *report, const struct document *file)
{
    struct judgement *judgement =
        add_judgement(report, file->path, file->unread ? file->size : file->data.size);
    const struct layout_document *document =
        report->layout ? layout_find_document(report->layout, file->path) : NULL;
    cleanup_failure struct failure *failure = NULL;

    if (!document)
        return;
    if (file->unread) {
        judgement->problem = xstrdup("is no regular file, or too large for a seed's");
    } else {
        judgement->taken =
            layout_describe(document, file->data.data, file->data.size, &failure);
        judgement->problem = failure ? xstrdup(failure->message) : NULL;
    }
    report->valid = report->valid && !judgement->problem;
}

static void
judge(struct report *report)
{
    report->layout = layout_find(report->volume->volume_id);
    report->valid = report->layout != NULL;
    for (size_t i = 0; i < report->volume->document_count; i++)
        judge_file(report, &report->volume->documents[i]);
    if (!report->layout)
        return;
    for (const struct layout_document *document = report->layout->documents;
         document->path; document++) {
        if (!document->required || seed_find_document(report->volume, document->path))
            continue;
        add_judgement(report, document->path, 0)->problem =
            xstrdup("is missing: cloud-init does not take the seed");
        report->valid = false;
    }
}

static void
report_clear(struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        free(report->judgements[i].taken);
        free(report->judgements[i].problem);
    }
    free(report->judgements);
}

/* --- printing ------------------------------------------------------------------------ */

/* Names may be in no encoding at all; jansson takes UTF-8 only. */
static json_t *
to_json_string(const char *text)
{
    json_t *string = json_string(text);

    return string ? string : json_string("(not UTF-8)");
}

static void
print_json(const struct report *report)
{
    json_t *documents = json_array();

    for (size_t i = 0; i < report->count; i++) {
        const struct judgement *judgement = &report->judgements[i];
        json_t *object = json_pack("{s:o, s:I}", "path", to_json_string(judgement->path),
                                   "size", (json_int_t)judgement->size);

        if (judgement->taken)
            json_object_set_new(object, "taken", to_json_string(judgement->taken));
        if (judgement->problem)
            json_object_set_new(object, "problem", to_json_string(judgement->problem));
        json_array_append_new(documents, object);
    }
    json_print(json_pack("{s:o, s:s?, s:b, s:o}", "label",
                         to_json_string(report->volume->volume_id), "datasource",
                         report->layout ? report->layout->datasource : NULL, "valid",
                         report->valid, "documents", documents));
}

static void
print_judgement(const struct judgement *judgement)
{
    print_outside_string(stdout, judgement->path);
    printf(": %zu bytes: ", judgement->size);
    print_outside_string(stdout, judgement->problem ? judgement->problem
                                 : judgement->taken ? judgement->taken
                                                    : "not read by cloud-init");
    putchar('\n');
}

static void
print_text(const struct report *report)
{
    fputs("label: ", stdout);
    print_outside_string(stdout, report->volume->volume_id);
    printf("\ndatasource: %s\n",
           report->layout ? report->layout->datasource : "none, by this label");
    for (size_t i = 0; i < report->count; i++)
        print_judgement(&report->judgements[i]);
}

/* --- the command ---------------------------------------------------------------------- */

static int
open_image(const char *path, struct failure **failure)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        failure_set_errno(failure, FAILURE_SYSTEM, errno,
                          "could not open '%s'\n"
                          "give the file of an image; 'virt-seed build' makes one",
                          path);
    return fd;
}

/* cloud-init reads vfat as well, this command does not. */
static int
explain_vfat(int fd, struct failure **failure)
{
    cleanup_free char *type = NULL;
    cleanup_free char *label = label_read(fd, &type);

    if (!type || strcmp(type, "vfat") != 0)
        return -1;
    failure_free(*failure);
    *failure = NULL;
    return failure_set(failure, FAILURE_IMAGE,
                       "a vfat image with the label '%s': cloud-init reads those, this "
                       "command reads ISO 9660 only\n"
                       "list it with: mdir -i FILE",
                       label ? label : "");
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    const char *path = context->operands[0];
    cleanup_seed struct seed volume = {0};
    __attribute__((cleanup(report_clear))) struct report report = {.volume = &volume};
    cleanup_close int fd = open_image(path, failure);

    if (fd < 0)
        return STATUS_FAILURE;
    if (iso_read(fd, &volume, failure) < 0) {
        explain_vfat(fd, failure);
        failure_prefix(failure, "%s", path);
        return STATUS_FAILURE;
    }
    judge(&report);
    if (options->json)
        print_json(&report);
    else
        print_text(&report);
    if (options->extract && extract_volume(&volume, options->extract, failure) < 0)
        return STATUS_FAILURE;
    return report.valid ? STATUS_OK : STATUS_FAILURE;
}

static const struct option_row rows[] = {
    OPTION(0, "json", NULL, json, "print the same as JSON"),
    OPTION(0, "extract", "DIR", extract,
           "write the files below DIR; nothing is overwritten"),
    OPTION_END,
};

const struct command cmd_inspect = {
    .name = "inspect",
    .operands = "IMAGE",
    .summary = "say what is in a seed's image, whoever made it",
    .help =
        "Reads an ISO 9660 image, of virt-seed's or another tool's: its label, the\n"
        "datasource that cloud-init takes it for, and what it takes from each\n"
        "document. Exit status 1 where cloud-init would not take it, or would stumble\n"
        "over a document.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
