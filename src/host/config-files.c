/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How it works: the first mistake found here is the failure, and what follows it is still
 * read. */
#include "config.h"

#include "base/fs.h"
#include "base/scope.h"
#include "host/config-files.h"

#define DROP_INS "conf.d"

/* --- directories of files ------------------------------------------------------------ */

/*
 * file= would give what virt-seed keeps, such as secrets and other domains' seeds, to every
 * domain if the directory contained it or was within it. ".." is refused because the text
 * does not tell where it leads.
 */
static int
take_directory(struct config_files *files, const char *value)
{
    const char *const kept[] = {scope()->secrets, scope()->statedir, scope()->reportdir,
                                scope()->rundir, scope()->trydir};
    cleanup_free char *plain = fs_plain_path(value);

    if (!plain)
        return -EINVAL;
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
        if (strcmp(plain, kept[i]) == 0 || fs_is_below(plain, kept[i]) ||
            fs_is_below(kept[i], plain))
            return -EINVAL;
    }
    texts_add(&files->directories, &files->directory_count, xstrdup(value));
    return 0;
}

/* --- lines --------------------------------------------------------------------------- */

int
config_split_line(char *line, char **key, char **value)
{
    char *equals;

    line[strcspn(line, "#")] = '\0';
    line = text_trim(line);
    if (!*line)
        return 0;
    equals = strchr(line, '=');
    if (!equals)
        return -EINVAL;
    *equals = '\0';
    *key = text_trim(line);
    *value = text_trim(equals + 1);
    return 1;
}

int
config_fail_value(const char *path, int line, const char *key, const char *value,
                  const char *expected, struct failure **failure)
{
    return failure_set(failure, FAILURE_CONFIG,
                       "%s: line %d: %s is '%.128s', expected %s\n"
                       "see virt-seed.conf(5)",
                       path, line, key, value, expected);
}

/* --- files --------------------------------------------------------------------------- */

static void
read_line(struct config_files *files, const char *path, int number, char *line,
          struct failure **failure)
{
    char *key, *value;

    if (config_split_line(line, &key, &value) <= 0 ||
        strcmp(key, CONFIG_FILE_DIRECTORY) != 0)
        return;
    if (take_directory(files, value) < 0 && !*failure)
        config_fail_value(path, number, key, value,
                          "an absolute path without '..', neither in nor above a "
                          "directory of virt-seed's",
                          failure);
}

static void
fail_to_read(const char *path, int error, struct failure **failure)
{
    if (!*failure)
        failure_set_errno(failure, FAILURE_CONFIG, error,
                          "could not read %s\ncheck it: ls -ld %s", path, path);
}

/* `name` is below `directory`, which is at `path`. */
static void
read_file(struct config_files *files, int directory, const char *path, const char *name,
          struct failure **failure)
{
    cleanup_close int fd = fs_open_regular_beneath(directory, name, NULL);
    cleanup_free char *file = xasprintf("%s/%s", path, name);
    cleanup_free char *copy = NULL;
    cleanup_buffer struct buffer text = {0};
    const int error = fd < 0 ? fd : fs_read_all(fd, LIMIT_CONFIG, &text);
    int number = 0;
    char *rest;

    if (fd == -ENOENT)
        return;
    if (error < 0) {
        fail_to_read(file, error, failure);
        return;
    }
    copy = xstrdup(buffer_text(&text));
    rest = copy;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
        read_line(files, file, ++number, line, failure);
    *array_add(files->list, files->count) =
        (struct config_file){.path = steal(file), .text = steal_buffer(&text)};
}

static int
is_drop_in(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && entry->d_name[0] != '.' && strcmp(dot, ".conf") == 0;
}

static void
read_drop_ins(struct config_files *files, int directory, const char *path,
              struct failure **failure)
{
    cleanup_close int fd = fs_open_beneath(directory, DROP_INS, O_DIRECTORY);
    cleanup_free char *drop_ins = xasprintf("%s/" DROP_INS, path);
    struct dirent **entries = NULL;
    int count;

    if (fd == -ENOENT)
        return;
    /* No program of ours sets a locale: this is the order of their bytes. */
    count = fd < 0 ? fd : scandirat(fd, ".", &entries, is_drop_in, alphasort);
    if (count < 0)
        fail_to_read(drop_ins, fd < 0 ? fd : errno, failure);
    if (count > LIMIT_CONFIG_DROP_INS && !*failure)
        failure_set(failure, FAILURE_CONFIG,
                    "%s has more than %d files\n"
                    "join some of them",
                    drop_ins, LIMIT_CONFIG_DROP_INS);
    for (int i = 0; i < count; i++) {
        cleanup_free struct dirent *entry = entries[i];
        cleanup_free char *name = xasprintf(DROP_INS "/%s", entry->d_name);

        if (i < LIMIT_CONFIG_DROP_INS)
            read_file(files, directory, path, name, failure);
    }
    free(entries);
}

static void
read_all(struct config_files *files, int root, const char *path, struct failure **failure)
{
    cleanup_close int directory = fs_open_directory_in_root(root, path);

    if (directory == -ENOENT)
        return;
    if (directory < 0) {
        fail_to_read(path, directory, failure);
        return;
    }
    read_file(files, directory, path, "virt-seed.conf", failure);
    read_drop_ins(files, directory, path, failure);
}

int
config_files_read(struct config_files *files, int root, struct failure **failure)
{
    take_directory(files, scope()->files);
    if (scope()->host_confdir) {
        cleanup_free char *host_files = xasprintf("%s/files", scope()->host_confdir);

        take_directory(files, host_files);
        read_all(files, root, scope()->host_confdir, failure);
    }
    read_all(files, root, scope()->confdir, failure);
    files->is_complete = !*failure;
    return *failure ? -1 : 0;
}

void
config_files_clear(struct config_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->list[i].path);
        buffer_clear(&files->list[i].text);
    }
    free(files->list);
    texts_free(files->directories, files->directory_count);
    *files = (struct config_files){0};
}
