/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/utsname.h>

#include "base/scope.h"
#include "cli/images.h"
#include "host/config-files.h"

#define DIRECTORY "images.d"
#define SUFFIX ".conf"

/* The directories, the strongest first. Return: NULL after the last, or a path, owned by the
 * caller (free). */
static char *
directory_path(size_t index)
{
    const char *const above[] = {scope()->confdir, scope()->host_confdir,
                                 VIRT_SEED_DATADIR};

    while (index < ARRAY_SIZE(above) && !above[index])
        index++;
    return index < ARRAY_SIZE(above) ? xasprintf("%s/" DIRECTORY, above[index]) : NULL;
}

/* --- one file ------------------------------------------------------------------------- */

/* Takes the value of a key that may end with ".ARCHITECTURE"; one with it is stronger. */
static int
take(struct image *image, const char *machine, const char *key, const char *value)
{
    const struct {
        const char *key;
        char **member;
    } keys[] = {{"url", &image->url},
                {"checksums", &image->checksums},
                {"osinfo", &image->osinfo},
                {"user", &image->user}};
    const size_t length = strcspn(key, ".");

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        if (strlen(keys[i].key) != length || strncmp(keys[i].key, key, length) != 0)
            continue;
        if (key[length] && strcmp(key + length + 1, machine) != 0)
            return 0;
        if (!key[length] && *keys[i].member)
            return 0;
        free(*keys[i].member);
        *keys[i].member = xstrdup(value);
        return 0;
    }
    return -EINVAL;
}

/* A name without a scheme is that of a file next to the image. */
static void
complete_checksums(struct image *image)
{
    const char *slash = image->url ? strrchr(image->url, '/') : NULL;
    char *whole;

    if (!slash || !image->checksums || strstr(image->checksums, "://"))
        return;
    whole =
        xasprintf("%.*s%s", (int)(slash + 1 - image->url), image->url, image->checksums);
    free(image->checksums);
    image->checksums = whole;
}

static int
parse(struct image *image, const char *path, char *text, struct failure **failure)
{
    struct utsname system;
    char *rest = text;
    int number = 0;

    uname(&system);
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        char *key = NULL, *value = NULL;
        int found = config_split_line(line, &key, &value);

        number++;
        if (found > 0)
            found = take(image, system.machine, key, value);
        if (found < 0)
            return failure_set(
                failure, FAILURE_CONFIG,
                "%s: line %d: expected 'key = value', where the key is url, "
                "checksums, osinfo or user\n"
                "see virt-seed-images(5)",
                path, number);
    }
    complete_checksums(image);
    if (image->url && !strstr(image->url, "://"))
        return failure_set(failure, FAILURE_CONFIG,
                           "%s has the 'url' '%.128s', which is none\n"
                           "write it with its beginning, https://",
                           path, image->url);
    if (image->url && !image->checksums)
        return failure_set(failure, FAILURE_CONFIG,
                           "%s has a 'url' without 'checksums'\n"
                           "add the address of a file with its SHA-256 or SHA-512",
                           path);
    return 0;
}

int
catalogue_find(struct image *image, int root, const char *name, struct failure **failure)
{
    cleanup_buffer struct buffer text = {0};
    cleanup_free char *path = NULL;
    int error = -ENOENT;

    *image = (struct image){.name = xstrdup(name)};
    for (size_t i = 0; error == -ENOENT && *name != '.'; i++) {
        cleanup_free char *directory = directory_path(i);

        if (!directory)
            break;
        free(path);
        path = xasprintf("%s/%s" SUFFIX, directory, name);
        error = fs_read_in_root(root, path, LIMIT_CONFIG, &text);
    }
    if (error == -ENOENT)
        return failure_set(failure, FAILURE_CONFIG,
                           "there is no image '%s' in the catalogue\n"
                           "'virt-seed images' lists them; a file needs a slash: ./%s",
                           name, name);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_CONFIG, error,
                                 "could not read %s\ncheck the file: ls -l %s", path,
                                 path);
    buffer_append_string(&text, "");
    return parse(image, path, text.data, failure);
}

void
image_clear(struct image *image)
{
    free(image->name);
    free(image->url);
    free(image->checksums);
    free(image->osinfo);
    free(image->user);
    *image = (struct image){0};
}

/* --- all of them ---------------------------------------------------------------------- */

static int
list_directory(int root, const char *path, char ***names, size_t *count,
               struct failure **failure)
{
    cleanup_close int fd = fs_open_directory_in_root(root, path);
    cleanup_closedir DIR *entries = fd < 0 ? NULL : fs_list(fd);
    const struct dirent *entry;

    if (fd == -ENOENT)
        return 0;
    while ((entry = fs_next(entries))) {
        const char *dot = strrchr(entry->d_name, '.');
        cleanup_free char *name = NULL;

        if (entry->d_name[0] == '.' || !dot || strcmp(dot, SUFFIX) != 0)
            continue;
        name = xstrndup(entry->d_name, (size_t)(dot - entry->d_name));
        if (!texts_have(*names, *count, name))
            texts_add(names, count, steal(name));
    }
    if (fd < 0 || errno != 0)
        return failure_set_errno(failure, FAILURE_CONFIG, fd < 0 ? fd : errno,
                                 "could not read %s\ncheck the directory: ls -ld %s",
                                 path, path);
    return 0;
}

int
catalogue_list(int root, char ***names, size_t *count, struct failure **failure)
{
    *names = NULL;
    *count = 0;
    for (size_t i = 0;; i++) {
        cleanup_free char *path = directory_path(i);

        if (!path)
            break;
        if (list_directory(root, path, names, count, failure) < 0) {
            texts_free(steal(*names), *count);
            return -1;
        }
    }
    texts_sort(*names, *count);
    return 0;
}
