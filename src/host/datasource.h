/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The datasources that a request can choose: a row for each, with everything in which they
 * differ. What depends on the datasource reads its row. seed/ makes the documents, by
 * the layout of the row's label (seed/seed.h).
 */
#pragma once

#include "base/base.h"

/* ds=nocloud alone would mean dsmode=local: user-data is processed before the network is
 * up. */
#define SERIAL_NOCLOUD "ds=nocloud;dsmode=net"

struct datasource {
    const char *name;  /* in the attribute datasource= */
    const char *label; /* of its volume, in lower case: SEED_LABEL_NOCLOUD, … */
    /* The word in the SMBIOS serial by which cloud-init knows it; over HTTP, the URL
     * follows (wire/url.h). NULL if cloud-init must find it by the label alone. */
    const char *serial;
    bool over_http;        /* from the metadata server; else the seed is a disk */
    bool has_network_data; /* OpenStack's network_data.json instead of network-config */
    bool has_files;        /* each file is a document; else user-data contains them */
    bool has_admin_password;
    bool derives_instance_id; /* cloud-init's instance-id is made from the request's */
};

/* All of them; the first is the default, and one without a name ends the list. */
#define DATASOURCE_COUNT 3
extern const struct datasource datasources[DATASOURCE_COUNT + 1];

/* A seed made by oVirt's engine, with its own label. No request can choose it. */
extern const struct datasource datasource_payload;

/* Return: the row with that name, or NULL. */
const struct datasource *datasource_find(const char *name);
