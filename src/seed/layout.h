/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of a seed: its documents, and what cloud-init takes from them, whoever made
 * it.
 */
#pragma once

#include <jansson.h>

#include "domain/request.h"
#include "host/documents.h"

/* What cloud-init expects in a document. */
enum layout_role {
    LAYOUT_META_DATA,      /* YAML */
    LAYOUT_META_DATA_JSON, /* strict JSON */
    LAYOUT_USER_DATA,
    LAYOUT_VENDOR_DATA, /* like user-data */
    LAYOUT_VENDOR_DATA_JSON,
    LAYOUT_NETWORK_CONFIG,
    LAYOUT_NETWORK_DATA_JSON,
};

struct layout_document {
    const char *path;
    enum layout_role role;
    bool required;
};

/* The documents that cloud-init reads in a volume with a datasource's label. */
struct layout {
    const char *datasource; /* its name */
    /* The meta-data comes first; the list ends with a NULL path. */
    const struct layout_document *documents;

    /* Makes the documents of a request, whose parts have been read; their content is
     * moved. */
    int (*make)(struct seed *seed, struct request *request, struct failure **failure);
};

/* Each at the end of its file; the table is in layout.c. */
extern const struct layout layout_nocloud;
extern const struct layout layout_configdrive;

/* Return: the layout of a volume with that label, as cloud-init chooses it, or NULL. */
const struct layout *layout_find(const char *label);

/* Return: the layout's document at that path, or NULL. */
const struct layout_document *layout_find_document(const struct layout *layout,
                                                   const char *path);

/* Return: the layout's first document with one of the two roles, or NULL. */
const struct layout_document *layout_find_role(const struct layout *layout,
                                               enum layout_role role,
                                               enum layout_role or);

/* --- what is in a seed -------------------------------------------------------------- */

/* Who the guest is, according to its seed; NULL for what the seed does not say, else owned
 * (identity_clear). */
struct identity {
    char *instance_id; /* the one that cloud-init uses: on a ConfigDrive, the uuid */
    char *hostname;
};

/* Reads it from a seed with that layout. */
int layout_read_identity(const struct layout *layout, const struct seed *seed,
                         struct identity *identity, struct failure **failure);

/* Return: whether both have the same instance-id; two without any are not the same. */
bool identity_is_same(const struct identity *one, const struct identity *other);

void identity_clear(struct identity *identity);

#define cleanup_identity __attribute__((cleanup(identity_clear)))

/*
 * Says in a few words what cloud-init takes from the document: "cloud-config",
 * "instance-id web1, local-hostname web1". Return: owned by the caller (free), or NULL
 * if cloud-init would fail to read it.
 */
char *layout_describe(const struct layout_document *document, const char *data,
                      size_t size, struct failure **failure);

/* Return: the path of the file that a "content_path" names, owned by the caller (free), or
 * NULL (ConfigDriveReader, _read_content_path). */
char *layout_content_path(const json_t *content_path);

/* Return: the files that a ConfigDrive's meta-data names, each path with what cloud-init
 * takes the file for; a mapping, owned by the caller (json_decref), which may be empty. */
json_t *layout_references(const struct seed *seed);

/*
 * cloud-init keeps the documents of an instance in /var/lib/cloud/instance: user-data and
 * NoCloud's vendor-data as they are, a ConfigDrive's vendor-data as the text in the JSON
 * (DataSource.get_vendordata_raw), a network-config as JSON
 * (stages.py, _write_network_config_json). Return: the digest of the latter two, owned by
 * the caller (free); NULL for other documents, and if it is not known what is kept.
 */
char *layout_kept_digest(const struct layout_document *document,
                         const struct document *content);
