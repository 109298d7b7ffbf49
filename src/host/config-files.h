/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of the host's configuration, virt-seed.conf(5): lines of `key = value`, # comments.
 * After virt-seed.conf come the files conf.d/NAME.conf in the order of their names; a later line
 * overrides an earlier one. In a session, the user's come after the host's.
 *
 * Only the directories of files are read from them here; store/configuration.h has the rest.
 */
#pragma once

#include "base/base.h"

struct config_file {
    char *path; /* "/etc/virt-seed/conf.d/site.conf" */
    struct buffer text;
};

struct config_files {
    struct config_file *list; /* in their order */
    size_t count;
    bool is_complete; /* all of them could be read, without a mistake in a directory */
    char **directories;
    size_t directory_count;
};

/* Reads them below `root`; there may be none. A mistake in one does not keep the others from
 * being read. */
int config_files_read(struct config_files *files, int root, struct failure **failure);

void config_files_clear(struct config_files *files);

#define cleanup_config_files __attribute__((cleanup(config_files_clear)))

/* The setting that is read here. */
#define CONFIG_FILE_DIRECTORY "file-directory"

/* Divides a line `key = value` of such a file, in place. Return: 1, 0 if it is empty or a
 * comment, or -EINVAL. */
int config_split_line(char *line, char **key, char **value);

/* Sets the failure of a value that is not `expected`. Return: -1. */
int config_fail_value(const char *path, int line, const char *key, const char *value,
                      const char *expected, struct failure **failure);
