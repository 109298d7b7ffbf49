/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "host/datasource.h"
#include "host/documents.h"

const struct datasource datasources[DATASOURCE_COUNT + 1] = {
    {
        .name = "nocloud",
        .label = SEED_LABEL_NOCLOUD,
        .serial = SERIAL_NOCLOUD,
    },
    {
        .name = "configdrive",
        .label = SEED_LABEL_CONFIGDRIVE,
        .has_network_data = true,
        .has_files = true,
        .has_admin_password = true,
        .derives_instance_id = true,
    },
    {
        /* NoCloud's documents without a disk. */
        .name = "nocloud-net",
        .label = SEED_LABEL_NOCLOUD,
        .serial = SERIAL_NOCLOUD,
        .over_http = true,
    },
    {.name = NULL},
};

const struct datasource datasource_payload = {.name = "payload"};

const struct datasource *
datasource_find(const char *name)
{
    for (const struct datasource *row = datasources; row->name; row++) {
        if (strcmp(row->name, name) == 0)
            return row;
    }
    return NULL;
}
