/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is published for a domain, as whoever makes the seed describes it: an image or
 * documents for the metadata server, and who writes the guest's report. Paths, owners, modes
 * and the domain's UUID are the publisher's own.
 */
#pragma once

#include "host/documents.h"
#include "host/imds-tree.h"
#include "host/report-file.h"

/* What the emulator shim adds to QEMU's command line, besides the image. */
enum shim_order {
    SHIM_ORDER_NONE, /* the guest has another way to its seed */
    SHIM_ORDER_NOTHING,
    SHIM_ORDER_NOCLOUD, /* SERIAL_NOCLOUD, to the serial */
};

struct publication {
    enum report_writer report;
    int output;     /* an empty file for the image, borrowed */
    bool has_image; /* which has been written there */

    enum shim_order shim; /* only with an image */

    struct imds_domain served; /* for the metadata server */
};

#define PUBLICATION_NONE ((struct publication){.output = -1})

/*
 * Publishes the image or the documents in place of the domain's old ones, which stay if that
 * fails; if only the shim's order cannot be written, the new image stays until release. The
 * report is not made here. `root` is the host's "/", `rundir` from rundir_open().
 */
int publication_publish(const struct publication *publication, int root, int rundir,
                        const char *uuid, struct failure **failure);

void publication_clear(struct publication *publication);

#define cleanup_publication __attribute__((cleanup(publication_clear)))
