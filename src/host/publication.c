/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "host/datasource.h"
#include "host/publication.h"
#include "host/rundir.h"
#include "host/storage.h"

static int
publish_documents(const struct publication *publication, int rundir, const char *uuid,
                  struct failure **failure)
{
    cleanup_close int tree = -1;

    /* Without a URL the domain starts unwired, as configured, and nothing is served. */
    if (!publication->served.token)
        return storage_imds.withdraw(rundir, uuid, failure);
    if (imds_tree_find(rundir).health != IMDS_HEALTHY)
        return failure_set(failure, FAILURE_IMDS,
                           "%s is missing, or not as the metadata server needs it\n"
                           "make it: systemd-tmpfiles --create virt-seed-imds.conf",
                           IMDS_TREE);
    tree = imds_tree_open(rundir, failure);
    return tree < 0 ? -1 : imds_tree_publish(tree, uuid, &publication->served, failure);
}

int
publication_publish(const struct publication *publication, int root, int rundir,
                    const char *uuid, struct failure **failure)
{
    const bool reports = publication->report == REPORT_BY_SHIM;
    const bool is_nocloud = publication->shim == SHIM_ORDER_NOCLOUD;

    if (!publication->has_image)
        return publish_documents(publication, rundir, uuid, failure);
    if (storage_publish_image(root, rundir, uuid, true, publication->output, failure) < 0)
        return -1;
    if (publication->shim == SHIM_ORDER_NONE)
        return 0;
    return rundir_write_shim_order(rundir, uuid, is_nocloud ? SERIAL_NOCLOUD : "",
                                   reports, failure);
}

void
publication_clear(struct publication *publication)
{
    free(publication->served.token);
    free(publication->served.macs);
    *publication = PUBLICATION_NONE;
}
