/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's configuration, virt-seed.conf(5): lines of `key = value`, # comments. After
 * virt-seed.conf come the files conf.d/NAME.conf in the order of their names; a later line
 * overrides an earlier one. In a session, the user's come after the host's.
 */
#pragma once

#include "base/base.h"

/* What a domain gets from the host, and which of the files says so. */
struct host_default {
    char *value; /* NULL if there is none */
    char *file;  /* "/etc/virt-seed/conf.d/site.conf" */
};

struct config {
    char **files; /* those that were read, in their order, as host_default.file */
    size_t file_count;
    bool autowire;     /* wire a refused domain once its start has ended */
    bool warn_unwired; /* unwired = warn: start without a seed */
    char **file_directories;
    size_t file_directory_count;
    struct host_default vendor_data;  /* a file in those directories, for every domain */
    struct host_default default_keys; /* such a file, for domains without ssh keys */
    struct host_default default_user; /* a name, for domains that name no default user */
    /* The name of a row in host/datasource.h, written when a domain that chooses
     * none is wired. */
    struct host_default default_datasource;
    char *imds_address; /* where guests find the metadata server; NULL if mistakes in the
                           file leave it unknown */
};

/*
 * Reads the configuration below `root`; without any file, everything has its default. On
 * failure `config` has the valid settings, for starts that can do without the rest, but
 * autowire is off, so that no definition is changed.
 */
int config_read(struct config *config, int root, struct failure **failure);

void config_clear(struct config *config);

/* Divides a line `key = value` of such a file, in place. Return: 1, 0 if it is empty or a
 * comment, or -EINVAL. */
int config_split_line(char *line, char **key, char **value);

#define cleanup_config __attribute__((cleanup(config_clear)))
