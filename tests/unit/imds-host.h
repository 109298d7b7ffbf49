/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host with a tree of the metadata server's, in the test's directory. */
#pragma once

#include "base/buffer.h"
#include "host/imds-tree.h"
#include "store/imds-read.h"

#define IMDS_HOST_TOKEN "0123456789abcdef0123456789abcdef"

struct imds_host {
    int tree; /* as the hook has it; owned */
    struct imds_tree reading;
};

/* Makes the tree; the caller closes it (cleanup_imds_host). */
struct imds_host imds_host_open(void **state);
void imds_host_close(struct imds_host *host);

/* Publishes a domain with one document. Return: 0 or -1. */
int imds_host_publish(const struct imds_host *host, const char *uuid, const char *token,
                      const struct imds_mac *macs, size_t mac_count, const char *path,
                      const char *content);

/* Writes the file that says who may read the domain's documents. */
void imds_host_write_access(const struct imds_host *host, const char *uuid,
                            const struct buffer *text);

#define cleanup_imds_host __attribute__((cleanup(imds_host_close)))
