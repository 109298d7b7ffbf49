/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cli/cli.h"
#include "cli/images.h"
#include "cli/io.h"
#include "cli/libvirt.h"

struct options {
    const char *pool;
};

/* Return: when the image was fetched, and how large it is, or "-"; owned by the caller
 * (free). */
static char *
describe_cached(const struct pool *pool, const struct image *image)
{
    cleanup_free char *name = image_find_cached(pool, image);
    cleanup_free char *date = NULL;
    struct stat status;

    /* Not everybody may look there. */
    if (pool->libvirt && pool->directory < 0)
        return xstrdup("?");
    if (!name || fstatat(pool->directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return xstrdup("-");
    date = local_time(status.st_mtime);
    return xasprintf("%.10s, %ju MiB", date, (uintmax_t)status.st_size / MIB);
}

static int
print_image(const struct context *context, const struct pool *pool, const char *name,
            int width, struct failure **failure)
{
    cleanup_image struct image image = {0};
    cleanup_free char *cached = NULL;

    if (catalogue_find(&image, context->root, name, failure) < 0)
        return -1;
    cached = describe_cached(pool, &image);
    print_outside_line(stdout, "%-*s  %-20s  %-10s  %s", width, name, cached,
                       image.user ? image.user : "-",
                       image.url ? image.url : "- (not for this architecture)");
    return 0;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    const char *name = options->pool ? options->pool : POOL_DEFAULT;
    cleanup_connection virConnectPtr connection =
        libvirt_connect_here(context, true, failure);
    cleanup_pool struct pool pool = POOL_NONE;
    char **names = NULL;
    size_t count = 0;
    int width = (int)strlen("IMAGE");
    int result = STATUS_OK;

    if (!connection || pool_open(&pool, connection, name, true, failure) < 0 ||
        catalogue_list(context->root, &names, &count, failure) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        width = (int)strlen(names[i]) > width ? (int)strlen(names[i]) : width;
    printf("%-*s  %-20s  %-10s  %s\n", width, "IMAGE", "FETCHED", "USER", "URL");
    for (size_t i = 0; i < count; i++) {
        cleanup_failure struct failure *mistake = NULL;

        if (print_image(context, &pool, names[i], width, &mistake) == 0)
            continue;
        print_failure(mistake);
        result = STATUS_FAILURE;
    }
    texts_free(names, count);
    return result;
}

static const struct option_row rows[] = {
    OPTION(0, "pool", "POOL", pool, "where images are kept (default: default)"),
    OPTION_END,
};

const struct command cmd_images = {
    .name = "images",
    .summary = "list the images that 'new' knows by name",
    .help =
        "Lists the images of the catalogue, and when each was fetched last: '-' means\n"
        "that it was not, and '?' that you may not look into the pool's directory. See\n"
        "virt-seed-images(5) for how to add one.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
