/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "image/image.h"
#include "seed/layout.h"

struct options {
    const char *extract;
};

struct inspection {
    const struct seed *seed;
    const struct layout *layout; /* NULL if the label is not a seed's */
    json_t *documents; /* what cloud-init makes of each file, or of one that is missing */
    bool valid;        /* cloud-init takes it, every document of it */
};

/* `taken` is NULL if cloud-init does not read it, or fails to; `problem` if there is none. */
static void
add_document(struct inspection *inspection, const char *path, size_t size,
             const char *taken, const char *problem)
{
    json_add(inspection->documents,
             json_pack("{s:o, s:I, s:o*, s:o*}", "path", json_outside_string(path),
                       "size", (json_int_t)size, "taken",
                       taken ? json_outside_string(taken) : NULL, "problem",
                       problem ? json_outside_string(problem) : NULL));
    inspection->valid = inspection->valid && !problem;
}

static void
judge(struct inspection *inspection)
{
    const struct seed *seed = inspection->seed;
    const struct layout *layout = inspection->layout;
    cleanup_json json_t *references = layout_references(seed);
    const char *path;
    json_t *reference;

    inspection->valid = layout != NULL;
    for (size_t i = 0; i < seed->document_count; i++) {
        const struct document *file = &seed->documents[i];
        const struct layout_document *document =
            layout ? layout_find_document(layout, file->path) : NULL;
        const char *taken = json_string_value(json_object_get(references, file->path));
        const char *problem = NULL;
        cleanup_free char *description = NULL;
        cleanup_failure struct failure *failure = NULL;

        if (file->unread && (document || taken)) {
            taken = NULL;
            problem = "is not a regular file, or is too large for a seed";
        } else if (document && !taken) {
            taken = description =
                layout_describe(document, file->data.data, file->data.size, &failure);
            problem = failure ? failure->message : NULL;
        }
        add_document(inspection, file->path, file->unread ? file->size : file->data.size,
                     taken, problem);
        json_object_del(references, file->path);
    }
    json_object_foreach(references, path, reference) {
        cleanup_free char *problem = xasprintf(
            "is missing, but the meta-data names it as %s: cloud-init does not take the "
            "seed",
            json_string_value(reference));

        add_document(inspection, path, 0, NULL, problem);
    }
    for (const struct layout_document *document = layout ? layout->documents : NULL;
         document && document->path; document++) {
        if (document->required && !seed_find_document(seed, document->path))
            add_document(inspection, document->path, 0, NULL,
                         "is missing: cloud-init does not take the seed");
    }
}

static void
print_text(const struct inspection *inspection)
{
    const json_t *document;
    size_t i;

    fputs("label: ", stdout);
    print_outside_string(stdout, inspection->seed->label);
    printf("\ndatasource: %s\n",
           inspection->layout ? inspection->layout->datasource : "none, by this label");
    json_array_foreach(inspection->documents, i, document) {
        const char *text = json_string_value(json_object_get(document, "problem"));

        if (!text)
            text = json_string_value(json_object_get(document, "taken"));
        print_outside_line(stdout, "%s: %lld bytes: %s",
                           json_string_value(json_object_get(document, "path")),
                           json_integer_value(json_object_get(document, "size")),
                           text ? text : "not read by cloud-init");
    }
}

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

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    const char *path = context->operands[0];
    cleanup_seed struct seed seed = {0};
    cleanup_json json_t *documents = json_array();
    struct inspection inspection = {.seed = &seed, .documents = documents};
    cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not open '%s'\n"
                                 "give the file of an image; 'virt-seed build' makes one",
                                 path);
    if (iso_read(fd, &seed, failure) < 0)
        return failure_prefix(failure, "%s", path);
    inspection.layout = layout_find(seed.label);
    judge(&inspection);
    if (context->json)
        json_print(json_pack("{s:o, s:s?, s:b, s:O}", "label",
                             json_outside_string(seed.label), "datasource",
                             inspection.layout ? inspection.layout->datasource : NULL,
                             "valid", inspection.valid, "documents", documents));
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
