/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a domain asks for: the <cloud-init> element in its <metadata>. The vocabulary is
 * xml/cloud-init.rng; what it means is virt-seed-xml(5).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "domain/documents.h"
#include "domain/domain.h"
#include "domain/initialization.h"
#include "domain/network.h"
#include "domain/part.h"
#include "domain/vocabulary.h"

enum datasource {
    DATASOURCE_NOCLOUD,
    DATASOURCE_CONFIGDRIVE,
    DATASOURCE_NOCLOUD_NET, /* NoCloud's documents, from the metadata server: no disk */
    DATASOURCE_PAYLOAD,     /* a seed that oVirt's engine has made; the last one */
};

/* Return: the word for it in the attribute datasource=, or "payload". */
const char *request_datasource_name(enum datasource datasource);

enum instance_id_policy {
    INSTANCE_ID_DOMAIN,  /* the domain's UUID: the same at each start, new for a clone */
    INSTANCE_ID_FIXED,   /* the element's text */
    INSTANCE_ID_CONTENT, /* new when the seed's content changes, and for a clone */
};

/* What may be covered by INSTANCE_ID_CONTENT. */
enum request_cover {
    COVER_USER_DATA = 1 << 0,
    COVER_NETWORK_CONFIG = 1 << 1,
    COVER_VENDOR_DATA = 1 << 2,
    COVER_META_DATA = 1 << 3,
};

struct meta_data_entry {
    char *key;
    char *value;
};

struct request {
    const struct domain *domain; /* borrowed */
    int line;                    /* of the element */
    enum datasource datasource;
    enum domain_bus bus; /* DOMAIN_BUS_OTHER is "auto" */
    bool serial;         /* whether the SMBIOS serial is ours to set */
    bool report;         /* whether the guest is asked to say how far it is */
    bool cache;          /* whether the guest keeps what it has read, and asks no more */
    bool until_done;     /* once the guest is set up, its identity is all it gets */
    char *hostname;      /* NULL where the domain's name serves */
    char *instance_type; /* NULL where there is none */
    enum instance_id_policy instance_id_policy;
    char *instance_id;   /* with INSTANCE_ID_FIXED, else NULL */
    unsigned int covers; /* of enum request_cover: with INSTANCE_ID_CONTENT, else 0 */
    char **ssh_keys;     /* those in the XML; others are parts */
    size_t ssh_key_count;
    struct meta_data_entry *meta_data; /* those in the XML; others are parts */
    size_t meta_data_count;
    struct network *network; /* to be generated; NULL where nothing is asked for */
    struct initialization *initialization; /* NULL where there is none */
    struct parts parts;
    struct seed *payload; /* with DATASOURCE_PAYLOAD, else NULL */
};

/*
 * Reads the request of the domain: <cloud-init>, where an element or attribute that is not
 * known is an error; without it, oVirt's payload; without that, what the emulator
 * virt-seed-qemu asks for by being there: the domain's identity.
 * Return: 0, or -1; the code is FAILURE_REQUEST_MISSING when there is no request.
 */
int request_read(struct request *request, const struct domain *domain,
                 struct failure **failure);

/* Return: whether the guest is to have the reporter (seed/reporter.sh), and the domain its
 * channel: not Windows, which has no shell for it, nor oVirt's payload, a seed as it stands. */
bool request_wants_report(const struct request *request);

/* Return: whether the guest reads NoCloud's documents, from a disk or from the metadata
 * server. */
bool request_is_nocloud(const struct request *request);

/* Return: whether the seed is a disk. */
bool request_has_disk(const struct request *request);

/* Takes away all but the identity, the instance-id and the host name. */
void request_keep_identity(struct request *request);

/* Return: the <cloud-init> element, or NULL. */
xmlNode *request_find(const struct domain *domain);

/* Return: the guest's host name, one label or several, owned by the caller (free). */
char *request_hostname(const struct request *request);

/* Return: whether the seed's label alone tells the guest which datasource it is, so that
 * an SMBIOS serial would name the wrong one. */
bool request_is_by_label(const struct request *request);

void request_clear(struct request *request);

#define cleanup_request __attribute__((cleanup(request_clear)))

/* --- the element as a whole ---------------------------------------------------------- */

/* Return: a document whose root is an empty <ci:cloud-init>, owned by the caller
 * (cleanup_xml). */
xmlDoc *request_new(void);

/* Writes a copy of the element into the domain's <metadata>, which has none.
 * Return: the copy, owned by the domain's document. */
xmlNode *request_insert(const struct domain *domain, const xmlNode *element);

/* Return: the element as text, without its namespace, as virDomainSetMetadata() wants it;
 * owned by the caller (free). */
char *request_format(const xmlNode *element);

/* Return: whether both ask for the same, whatever the prefix, the white space between
 * elements, and what the wiring notes in the element. NULL is no element. */
bool request_is_same(const xmlNode *one, const xmlNode *other);

/* --- oVirt's payload ----------------------------------------------------------------- */

/*
 * A seed that oVirt's engine has made, in the domain's metadata (namespace
 * "http://ovirt.org/vm/1.0"): <volId>, and <file path="…"> elements of base64, in
 * <device><payload>, or in <specParams><vmPayload> before oVirt 4.2 (VDSM,
 * lib/vdsm/virt/vmdevices/storagexml.py). It becomes an image as it stands.
 */

/* Return: the payload's element in the metadata, or NULL. */
xmlNode *payload_find(const struct domain *domain);

/*
 * Reads the payload at that element; the seed is the caller's also after a failure
 * (seed_clear). A path that would lead out of the image, or that is there twice, is an error.
 */
int payload_read(struct seed *payload, const xmlNode *node, struct failure **failure);
