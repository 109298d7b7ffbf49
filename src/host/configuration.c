/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/inet.h"
#include "base/scope.h"
#include "host/configuration.h"
#include "host/datasource.h"

#define CONFIG_DROP_INS "conf.d"

/*
 * file= would give what virt-seed keeps, such as secrets and other domains' seeds, to every
 * domain if the directory contained it or was within it. ".." is refused because the text
 * does not tell where it leads.
 */
static int
take_file_directory(struct config *config, const char *value)
{
    const char *const kept[] = {scope()->secrets, scope()->statedir, scope()->reportdir,
                                scope()->rundir, scope()->trydir};
    cleanup_free char *plain = fs_plain_path(value);

    for (size_t i = 0; plain && i < ARRAY_SIZE(kept); i++) {
        if (strcmp(plain, kept[i]) == 0 || fs_is_below(plain, kept[i]) ||
            fs_is_below(kept[i], plain))
            return -EINVAL;
    }
    if (!plain || !*plain)
        return -EINVAL;
    texts_add(&config->file_directories, &config->file_directory_count, xstrdup(value));
    return 0;
}

static void
clear_default(struct host_default *host_default)
{
    free(host_default->value);
    free(host_default->file);
    *host_default = (struct host_default){0};
}

static bool
is_datasource(const char *value)
{
    return datasource_find(value);
}

static int
take_imds_address(struct config *config, const char *value)
{
    free(config->imds_address);
    config->imds_address = inet_read_server_address(value);
    return config->imds_address ? 0 : -EINVAL;
}

struct setting {
    const char *key;
    const char *expected;
    size_t member; /* where it is in struct config */
    /* The words for a bool; without them and take(), it is a host_default. */
    const char *if_true, *if_false;
    bool (*is_valid)(const char *value); /* NULL: any text is */
    int (*take)(struct config *config, const char *value);
};

static const struct setting settings[] = {
    {"autowire", "yes or no", .member = offsetof(struct config, autowire),
     .if_true = "yes", .if_false = "no"},
    {"unwired", "refuse or warn", .member = offsetof(struct config, warn_unwired),
     .if_true = "warn", .if_false = "refuse"},
    {"file-directory",
     "an absolute path without '..', neither above nor below the secrets directory",
     .take = take_file_directory},
    {"vendor-data", "a file", .member = offsetof(struct config, vendor_data)},
    {"default-user", USER_NAME_RULE, .member = offsetof(struct config, default_user),
     .is_valid = text_is_user_name},
    {"default-datasource", "a datasource of virt-seed-xml(5)",
     .member = offsetof(struct config, default_datasource), .is_valid = is_datasource},
    {"default-ssh-keys", "a file", .member = offsetof(struct config, default_keys)},
    {"imds-address",
     "ADDRESS or ADDRESS:PORT that guests can reach, with [ADDRESS] for IPv6; not a "
     "host name",
     .take = take_imds_address},
};

/* A mistake also takes back what an earlier line says: false, or no value, is safer. */
static int
take_value(struct config *config, const struct setting *setting, const char *value)
{
    void *member = (char *)config + setting->member;
    struct host_default *host_default = member;
    bool *choice = member;
    bool well;

    if (setting->take)
        return setting->take(config, value);
    if (setting->if_true) {
        *choice = strcmp(value, setting->if_true) == 0;
        return *choice || strcmp(value, setting->if_false) == 0 ? 0 : -EINVAL;
    }
    clear_default(host_default);
    well = !*value || !setting->is_valid || setting->is_valid(value);
    if (well && *value) {
        host_default->value = xstrdup(value);
        host_default->file = xstrdup(config->files[config->file_count - 1]);
    }
    return well ? 0 : -EINVAL;
}

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

static int
read_line(struct config *config, char *line, int number, struct failure **failure)
{
    const char *file = config->files[config->file_count - 1];
    char *key, *value;
    const int found = config_split_line(line, &key, &value);

    if (found == 0)
        return 0;
    if (found < 0)
        return failure_set(failure, FAILURE_CONFIG,
                           "%s: line %d: expected 'key = value'\nsee virt-seed.conf(5)",
                           file, number);
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        if (strcmp(settings[i].key, key) != 0)
            continue;
        if (take_value(config, &settings[i], value) == 0)
            return 0;
        return failure_set(failure, FAILURE_CONFIG,
                           "%s: line %d: %s is '%.128s', expected %s\n"
                           "see virt-seed.conf(5)",
                           file, number, key, value, settings[i].expected);
    }
    return failure_set(failure, FAILURE_CONFIG,
                       "%s: line %d: unknown setting '%.128s'\n"
                       "see virt-seed.conf(5) for its name",
                       file, number, key);
}

/* Keeps the first mistake: what follows it is read all the same. */
static void
keep_first(struct failure **first, struct failure *mistake)
{
    if (*first)
        failure_free(mistake);
    else
        *first = mistake;
}

/* `name` is below `directory`, which is at `path`. */
static void
read_file(struct config *config, int directory, const char *path, const char *name,
          struct failure **first)
{
    cleanup_close int fd = fs_open_regular_beneath(directory, name, NULL);
    cleanup_buffer struct buffer text = {0};
    struct failure *mistake = NULL;
    int error = fd < 0 ? fd : fs_read_all(fd, LIMIT_CONFIG, &text);
    int number = 0;
    char *rest = text.data;

    if (fd == -ENOENT)
        return;
    if (error < 0) {
        failure_set_errno(&mistake, FAILURE_CONFIG, error,
                          "could not read %s/%s\n"
                          "check the file: ls -l %s/%s",
                          path, name, path, name);
        keep_first(first, mistake);
        return;
    }
    texts_add(&config->files, &config->file_count, xasprintf("%s/%s", path, name));
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        mistake = NULL;
        read_line(config, line, ++number, &mistake);
        keep_first(first, mistake);
    }
}

/* Lists the drop-ins: names that end with .conf and are not hidden, in their order. */
static int
list_drop_ins(int directory, const char *path, char ***names, size_t *count,
              struct failure **failure)
{
    cleanup_close int fd = fs_open_beneath(directory, CONFIG_DROP_INS, O_DIRECTORY);
    cleanup_closedir DIR *entries = fd < 0 ? NULL : fs_list(fd);
    const struct dirent *entry;

    if (fd == -ENOENT)
        return 0;
    while ((entry = fs_next(entries))) {
        const char *dot = strrchr(entry->d_name, '.');

        if (entry->d_name[0] == '.' || !dot || strcmp(dot, ".conf") != 0)
            continue;
        if (*count == LIMIT_CONFIG_DROP_INS)
            return failure_set(failure, FAILURE_CONFIG,
                               "%s/" CONFIG_DROP_INS " has more than %d files\n"
                               "join some of them",
                               path, LIMIT_CONFIG_DROP_INS);
        texts_add(names, count, xasprintf(CONFIG_DROP_INS "/%s", entry->d_name));
    }
    if (fd < 0 || errno != 0)
        return failure_set_errno(failure, FAILURE_CONFIG, fd < 0 ? fd : errno,
                                 "could not read %s/" CONFIG_DROP_INS "\n"
                                 "it must be a directory: ls -ld %s/" CONFIG_DROP_INS,
                                 path, path);
    texts_sort(*names, *count);
    return 0;
}

static void
read_files(struct config *config, int root, const char *path, struct failure **first)
{
    cleanup_close int directory = fs_open_directory_in_root(root, path);
    struct failure *mistake = NULL;
    char **names = NULL;
    size_t count = 0;

    if (directory == -ENOENT)
        return;
    if (directory < 0) {
        failure_set_errno(&mistake, FAILURE_CONFIG, directory,
                          "could not open %s\ncheck the directory: ls -ld %s", path,
                          path);
    } else {
        read_file(config, directory, path, "virt-seed.conf", first);
        list_drop_ins(directory, path, &names, &count, &mistake);
    }
    keep_first(first, mistake);
    for (size_t i = 0; i < count; i++)
        read_file(config, directory, path, names[i], first);
    texts_free(names, count);
}

int
config_read(struct config *config, int root, struct failure **failure)
{
    *config = (struct config){.autowire = true};
    take_file_directory(config, scope()->files);
    if (scope()->host_confdir) {
        cleanup_free char *files = xasprintf("%s/files", scope()->host_confdir);

        take_file_directory(config, files);
        read_files(config, root, scope()->host_confdir, failure);
    }
    read_files(config, root, scope()->confdir, failure);
    if (*failure) {
        config->autowire = false;
        return -1;
    }
    if (!config->imds_address)
        config->imds_address = xstrdup(VIRT_SEED_IMDS_ADDRESS);
    return 0;
}

void
config_clear(struct config *config)
{
    texts_free(config->file_directories, config->file_directory_count);
    texts_free(config->files, config->file_count);
    clear_default(&config->vendor_data);
    clear_default(&config->default_keys);
    clear_default(&config->default_user);
    clear_default(&config->default_datasource);
    free(config->imds_address);
    *config = (struct config){0};
}
