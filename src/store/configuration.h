/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's configuration, virt-seed.conf(5): lines of `key = value`, # comments. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"

struct config {
    bool autowire;     /* wire a refused domain at once */
    bool warn_unwired; /* unwired = warn: start without a seed */
    char **file_directories;
    size_t file_directory_count;
    char *vendor_data;  /* a file in those directories, for every domain; or NULL */
    char *imds_address; /* where guests find the metadata server; NULL if mistakes in the
                           file leave it unknown */
};

/*
 * Reads the configuration below `root`; without a file, everything has its default. On
 * failure `config` has the valid settings, for starts that can do without the rest, but
 * autowire is off, so that no definition is changed.
 */
int config_read(struct config *config, int root, struct failure **failure);

void config_clear(struct config *config);

#define cleanup_config __attribute__((cleanup(config_clear)))
