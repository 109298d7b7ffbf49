/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/io.h"
#include "host/storage.h"
#include "store/seed-file.h"

struct options {
    const char *output;
    bool force;
};

/* For what cannot be renamed into its place. */
static int
stream(int image, const char *path, struct failure **failure)
{
    cleanup_buffer struct buffer bytes = {0};
    int error =
        lseek(image, 0, SEEK_SET) < 0 ? -errno : fs_read_all(image, LIMIT_IMAGE, &bytes);

    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not read the image");
    return output_write(path, bytes.data, bytes.size, failure);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    const char *path = options->output ? options->output : "seed.iso";
    bool to_stdout = output_is_standard(path);
    cleanup_output struct output output = {.directory = -1};
    cleanup_definition struct definition source = {0};
    cleanup_request struct request request = {0};
    cleanup_seed struct seed seed = {0};
    cleanup_close int image = -1;
    bool is_regular;
    int result;

    if (definition_load_seed(&seed, &request, &source, context, false, NULL, failure) < 0)
        return -1;
    if (seed.over_http)
        return failure_set(
            failure, FAILURE_IMAGE,
            "domain '%s': datasource=\"nocloud-net\" has no image: the guest "
            "fetches its documents\n"
            "'virt-seed dump' prints them; an image has datasource=\"nocloud\"",
            source.domain.name);
    if (!to_stdout && output_open(&output, path, failure) < 0)
        return -1;
    is_regular = !to_stdout && !output.stream;
    if (is_regular && !options->force &&
        faccessat(output.directory, output.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return failure_set(failure, FAILURE_SYSTEM,
                           "'%s' exists already\n"
                           "give another name with --output, or --force to replace it",
                           path);
    image = image_open(failure);
    if (image < 0 || image_make(image, &seed, failure) < 0)
        return -1;
    if (is_regular)
        result = image_publish(output.directory, output.name, NULL, NULL, image, failure);
    else
        result = stream(image, path, failure);
    if (result < 0)
        return -1;
    if (!context->quiet && !to_stdout)
        printf("%s: label %s, %zu documents\n", path, seed.label, seed.document_count);
    return STATUS_OK;
}

static const struct option_row rows[] = {
    OPTION('o', "output", "OUTPUT", output,
           "the file to write (seed.iso); - is standard output"),
    OPTION('f', "force", NULL, force, "replace an existing file"),
    OPTION_END,
};

const struct command cmd_build = {
    .name = "build",
    .operands = "DOMAIN|FILE|-",
    .summary = "write the seed's image to a file",
    .help =
        "Makes the image that the domain would get at its next start. The same request\n"
        "always gives the same bytes. The file has mode 0600, since it may contain\n"
        "secrets. An existing file is not replaced without --force.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
