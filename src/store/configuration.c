/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/configuration.h"
#include "wire/url.h"
#include "wire/wire.h"

#define CONFIG_PATH VIRT_SEED_CONFDIR "/virt-seed.conf"

/* A mistake also discards an earlier line: false is the safer value. */
static int
take_choice(bool *choice, const char *value, const char *if_true, const char *if_false)
{
    *choice = strcmp(value, if_true) == 0;
    return *choice || strcmp(value, if_false) == 0 ? 0 : -EINVAL;
}

static int
take_autowire(struct config *config, const char *value)
{
    return take_choice(&config->autowire, value, "yes", "no");
}

static int
take_unwired(struct config *config, const char *value)
{
    return take_choice(&config->warn_unwired, value, "warn", "refuse");
}

/* Cuts off and returns the next component, without a slash; NULL at the end. */
static char *
next_component(char **rest)
{
    char *component;

    do
        component = strsep(rest, "/");
    while (component && (!*component || strcmp(component, ".") == 0));
    return component;
}

/*
 * file= would give the secrets to every domain if the directory contained them or were
 * one of them. ".." is refused because the text does not tell where it leads.
 */
static int
take_file_directory(struct config *config, const char *value)
{
    cleanup_free char *copy = xstrdup(value);
    cleanup_free char *secrets = xstrdup(VIRT_SEED_CONFDIR "/secrets");
    char *rest = copy, *secrets_rest = secrets;
    char *component, *other;
    bool same = true;

    while ((component = next_component(&rest))) {
        if (strcmp(component, "..") == 0)
            return -EINVAL;
        other = next_component(&secrets_rest);
        same = same && (!other || strcmp(component, other) == 0);
    }
    if (*value != '/' || same)
        return -EINVAL;
    texts_add(&config->file_directories, &config->file_directory_count, xstrdup(value));
    return 0;
}

static int
take_vendor_data(struct config *config, const char *value)
{
    free(config->vendor_data);
    config->vendor_data = *value ? xstrdup(value) : NULL;
    return 0;
}

static int
take_imds_address(struct config *config, const char *value)
{
    free(config->imds_address);
    config->imds_address = seed_url_read_address(value);
    return config->imds_address ? 0 : -EINVAL;
}

static const struct {
    const char *key;
    int (*take)(struct config *config, const char *value);
    const char *expected;
} settings[] = {
    {"autowire", take_autowire, "yes or no"},
    {"unwired", take_unwired, "refuse or warn"},
    {"file-directory", take_file_directory,
     "an absolute path without '..', neither above nor below the secrets directory"},
    {"vendor-data", take_vendor_data, "a file"},
    {"imds-address", take_imds_address,
     "ADDRESS or ADDRESS:PORT that guests can reach, with [ADDRESS] for IPv6; not a "
     "host name"},
};

/* Removes blanks from both ends, in place. */
static char *
trim(char *text)
{
    size_t length;

    text += strspn(text, " \t\r");
    length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

static int
read_line(struct config *config, char *line, int number, struct failure **failure)
{
    char *equals, *value;
    const char *key;

    line[strcspn(line, "#")] = '\0';
    line = trim(line);
    if (!*line)
        return 0;
    equals = strchr(line, '=');
    if (!equals)
        return failure_set(failure, FAILURE_CONFIG,
                           "%s: line %d: expected 'key = value'\nsee virt-seed.conf(5)",
                           CONFIG_PATH, number);
    *equals = '\0';
    key = trim(line);
    value = trim(equals + 1);
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        if (strcmp(settings[i].key, key) != 0)
            continue;
        if (settings[i].take(config, value) == 0)
            return 0;
        return failure_set(failure, FAILURE_CONFIG,
                           "%s: line %d: %s is '%.128s', expected %s\n"
                           "see virt-seed.conf(5)",
                           CONFIG_PATH, number, key, value, settings[i].expected);
    }
    return failure_set(failure, FAILURE_CONFIG,
                       "%s: line %d: unknown setting '%.128s'\n"
                       "see virt-seed.conf(5) for its name",
                       CONFIG_PATH, number, key);
}

/* Continues after a mistake; the failure is the first one. */
static int
read_file(struct config *config, int root, struct failure **failure)
{
    cleanup_close int directory = fs_open_directory_in_root(root, VIRT_SEED_CONFDIR);
    cleanup_close int fd =
        directory < 0 ? directory
                      : fs_open_regular_beneath(directory, "virt-seed.conf", NULL);
    cleanup_buffer struct buffer text = {0};
    int error = fd < 0 ? fd : fs_read_all(fd, LIMIT_CONFIG, &text);
    int result = 0, number = 0;
    char *rest = text.data;

    if (fd == -ENOENT)
        return 0;
    if (error < 0)
        return failure_set_errno(failure, FAILURE_CONFIG, error,
                                 "could not read %s\ncheck the file: ls -l %s",
                                 CONFIG_PATH, CONFIG_PATH);
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        cleanup_failure struct failure *further = NULL;

        if (read_line(config, line, ++number, result < 0 ? &further : failure) < 0)
            result = -1;
    }
    return result;
}

int
config_read(struct config *config, int root, struct failure **failure)
{
    *config = (struct config){.autowire = true};
    take_file_directory(config, VIRT_SEED_CONFDIR "/files");
    if (read_file(config, root, failure) < 0) {
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
    free(config->vendor_data);
    free(config->imds_address);
    *config = (struct config){0};
}
