/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The datasources that a request can choose. Each row says what the others do not have in
 * common with it; whatever depends on the datasource reads the row. The documents are
 * made in seed/, by the layout of the row's label (seed/layout.h).
 */
#pragma once

#include <stdbool.h>

struct datasource {
    const char *name;  /* in the attribute datasource= */
    const char *label; /* of its volume, in lower case: SEED_LABEL_NOCLOUD, … */
    /* The word of the SMBIOS serial that names it to cloud-init; if the documents are
     * served, their URL follows (wire/url.h). NULL if the guest knows it by its label
     * alone: the serial would name the wrong one. */
    const char *serial;
    bool served;           /* by the metadata server, over HTTP; else it is a disk */
    bool has_network_data; /* OpenStack's network_data.json instead of network-config */
    bool has_files;        /* each file is a document, else they are in user-data */
    bool has_admin_password;
    bool derives_instance_id; /* what cloud-init takes for it is made from the request's */
};

/* All of them; the first is the default, and the last has no name. */
extern const struct datasource datasources[];

/* The seed that oVirt's engine has made, which has a label of its own. No request chooses
 * it. */
extern const struct datasource datasource_payload;

/* Return: the row of that name, or the first with that label, in any case; NULL if there
 * is none. */
const struct datasource *datasource_find(const char *name);
const struct datasource *datasource_find_label(const char *label);

/* Return: the names, '"nocloud", "configdrive" or "nocloud-net"', owned by the caller
 * (free). */
char *datasource_names(void);
