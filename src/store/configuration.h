/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's configuration, virt-seed.conf(5): lines of `key = value`, # comments. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"

struct config {
    bool autowire;     /* whether a refused domain is wired at once */
    bool warn_unwired; /* unwired = warn: it starts without its seed */
    char **file_directories;
    size_t file_directory_count;
    char *vendor_data;  /* a file of those directories, for every domain; or NULL */
    char *imds_address; /* where guests find the metadata server; NULL where nobody
                           knows: there are mistakes, and no right line says it last */
};

/*
 * Reads the configuration below `root`; without a file everything has its default. On
 * failure `config` holds what is no mistake, for starts that do without the rest; but no
 * definition is to be changed then (autowire).
 */
int config_read(struct config *config, int root, struct failure **failure);

void config_clear(struct config *config);

#define cleanup_config __attribute__((cleanup(config_clear)))
