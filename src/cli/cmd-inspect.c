/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "image/image.h"
#include "seed/layout.h"

struct options {
    const char *extract;
};

/* What cloud-init makes of a file, or of a document that is missing. */
struct judgement {
    char *path;
    size_t size;
    char *taken;   /* NULL if cloud-init does not read it, or fails to */
    char *problem; /* NULL if there is none */
};

struct inspection {
    const struct seed *seed;
    const struct layout *layout; /* NULL if the label is not a seed's */
    struct judgement *judgements;
    size_t count;
    bool valid; /* cloud-init takes it, every document of it */
};

static struct judgement *
add_judgement(struct inspection *inspection, const char *path, size_t size)
{
    struct judgement *judgement = array_add(inspection->judgements, inspection->count);

    *judgement = (struct judgement){.path = xstrdup(path), .size = size};
    return judgement;
}

static void
judge(struct inspection *inspection, const struct seed *seed)
{
    const struct layout *layout = layout_find(seed->label);
    cleanup_json json_t *references = layout_references(seed);
    const char *path;
    json_t *taken;

    inspection->seed = seed;
    inspection->layout = layout;
    inspection->valid = layout != NULL;
    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *file = &seed->documents[i];
        struct judgement *judgement = add_judgement(
            inspection, file->path, file->unread ? file->size : file->data.size);
        const struct layout_document *document =
            layout ? layout_find_document(layout, file->path) : NULL;
        cleanup_failure struct failure *failure = NULL;

        taken = json_object_get(references, file->path);
        if (!document && !taken)
            continue;
        if (file->unread) {
            judgement->problem =
                xstrdup("is not a regular file, or is too large for a seed");
        } else if (taken) {
            judgement->taken = xstrdup(json_string_value(taken));
        } else {
            judgement->taken =
                layout_describe(document, file->data.data, file->data.size, &failure);
            judgement->problem = failure ? xstrdup(failure->message) : NULL;
        }
        inspection->valid = inspection->valid && !judgement->problem;
        json_object_del(references, file->path);
    }
    json_object_foreach(references, path, taken)
    {
        inspection->valid = false;
        add_judgement(inspection, path, 0)->problem = xasprintf(
            "is missing, but the meta-data names it as %s: cloud-init does not take the "
            "seed",
            json_string_value(taken));
    }
    for (const struct layout_document *document = layout ? layout->documents : NULL;
         document && document->path; document++) {
        if (!document->required || seed_find_document(seed, document->path))
            continue;
        add_judgement(inspection, document->path, 0)->problem =
            xstrdup("is missing: cloud-init does not take the seed");
        inspection->valid = false;
    }
}

static void
inspection_clear(struct inspection *inspection)
{
    for (size_t i = 0; i < inspection->count; i++) {
        free(inspection->judgements[i].path);
        free(inspection->judgements[i].taken);
        free(inspection->judgements[i].problem);
    }
    free(inspection->judgements);
}

/* --- printing --------------------------------------------------------------------- */

static void
print_json(const struct inspection *inspection)
{
    json_t *documents = json_array();

    for (size_t i = 0; i < inspection->count; i++) {
        const struct judgement *judgement = &inspection->judgements[i];
        const char *taken = judgement->taken;
        const char *problem = judgement->problem;

        json_add(documents,
                 json_pack("{s:o, s:I, s:o*, s:o*}", "path",
                           json_outside_string(judgement->path), "size",
                           (json_int_t)judgement->size, "taken",
                           taken ? json_outside_string(taken) : NULL, "problem",
                           problem ? json_outside_string(problem) : NULL));
    }
    json_print(json_pack("{s:o, s:s?, s:b, s:o}", "label",
                         json_outside_string(inspection->seed->label), "datasource",
                         inspection->layout ? inspection->layout->datasource : NULL,
                         "valid", inspection->valid, "documents", documents));
}

static void
print_text(const struct inspection *inspection)
{
    fputs("label: ", stdout);
    print_outside_string(stdout, inspection->seed->label);
    printf("\ndatasource: %s\n",
           inspection->layout ? inspection->layout->datasource : "none, by this label");
    for (size_t i = 0; i < inspection->count; i++) {
        const struct judgement *judgement = &inspection->judgements[i];
        const char *text = "not read by cloud-init";

        if (judgement->problem)
            text = judgement->problem;
        else if (judgement->taken)
            text = judgement->taken;
        print_outside_line(stdout, "%s: %zu bytes: %s", judgement->path, judgement->size,
                           text);
    }
}

/* --- extracting ------------------------------------------------------------------- */

/* Return: 0 or -errno. */
static int
extract_file(int root, const struct document *file)
{
    const char *name = fs_base_name(file->path);
    cleanup_free char *path = xasprintf("./%.*s", (int)(name - file->path), file->path);
    cleanup_close int parent = fs_make_directories(root, path, 0700);
    cleanup_close int fd = -1;

    if (parent < 0)
        return parent;
    fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fs_write_all(fd, file->data.data, file->data.size);
}

/* Writes the image's regular files below the directory `path`, which is made if it is
 * missing. Nothing is overwritten, and no symbolic link is followed on the way. Files get
 * mode 0600: they may hold secrets. */
static int
extract(const struct seed *seed, const char *path, struct failure **failure)
{
    cleanup_close int root = -1;

    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno, "could not make '%s'",
                                 path);
    root = fs_open_root(path);
    if (root < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, root, "could not open '%s'",
                                 path);
    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *file = &seed->documents[i];
        int error = file->unread ? 0 : extract_file(root, file);

        if (error < 0)
            return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                     "could not write '%s/%s'\n"
                                     "name an empty directory: nothing is overwritten",
                                     path, file->path);
    }
    return 0;
}

/* --- the command ------------------------------------------------------------------ */

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    const char *path = context->operands[0];
    cleanup_seed struct seed seed = {0};
    __attribute__((cleanup(inspection_clear))) struct inspection inspection = {0};
    cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not open '%s'\n"
                                 "give the file of an image; 'virt-seed build' makes one",
                                 path);
    if (iso_read(fd, &seed, failure) < 0)
        return failure_prefix(failure, "%s", path);
    judge(&inspection, &seed);
    if (context->json)
        print_json(&inspection);
    else
        print_text(&inspection);
    if (options->extract && extract(&seed, options->extract, failure) < 0)
        return -1;
    return inspection.valid ? STATUS_OK : STATUS_FAILURE;
}

static const struct option_row rows[] = {
    OPTION(0, "extract", "DIR", extract,
           "write the files below DIR; nothing is overwritten"),
    OPTION_END,
};

const struct command cmd_inspect = {
    .name = "inspect",
    .operands = "IMAGE",
    .summary = "show what is in any seed's image",
    .help =
        "Reads an ISO 9660 image that virt-seed or another tool has made, and\n"
        "prints its label, the datasource that cloud-init takes it for, and what\n"
        "cloud-init takes from each document. Exit status 1 if cloud-init would ignore\n"
        "the image, or fail on a document.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON,
    .run = run,
};
