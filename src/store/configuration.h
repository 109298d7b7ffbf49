/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's configuration, virt-seed.conf(5), of which host/config-files.h reads the files. */
#pragma once

#include "host/config-files.h"

/* What a domain gets from the host, and which of the files says so. */
struct host_default {
    char *value; /* NULL if there is none */
    char *file;  /* "/etc/virt-seed/conf.d/site.conf" */
};

struct config {
    struct config_files files;
    bool autowire;                    /* wire a refused domain once its start has ended */
    bool warn_unwired;                /* unwired = warn: start without a seed */
    struct host_default vendor_data;  /* a file in those directories, for every domain */
    struct host_default default_keys; /* such a file, for domains without ssh keys */
    struct host_default default_user; /* a name, for domains that name no default user */
    /* The name of a row in host/datasource.h, written when a domain that chooses
     * none is wired. */
    struct host_default default_datasource;
    /*
     * Where guests find the metadata server: IPv4, or IPv6 in brackets, and a port but for 80.
     * They must be able to reach it, so it is not a loopback address, which would be the
     * guest's own, nor one that needs a scope, nor a name, which a booting guest might not be
     * able to resolve. NULL if mistakes in the files leave it unknown.
     */
    char *imds_address;
};

/*
 * Reads the configuration below `root`; without any file, everything has its default. On
 * failure `config` has the valid settings, for starts that can do without the rest, but
 * autowire is off, so that no definition is changed.
 */
int config_read(struct config *config, int root, struct failure **failure);

/* The same from files that have been read; all else in the configuration must be empty. If
 * they are not complete, that is as a failure. `*failure` may be set already; the first one
 * counts. */
int config_parse(struct config *config, struct failure **failure);

void config_clear(struct config *config);

#define cleanup_config __attribute__((cleanup(config_clear)))
