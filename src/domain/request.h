/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a domain asks for: the <cloud-init> element in its <metadata>. xml/cloud-init.rng
 * is its schema, virt-seed-xml(5) its description.
 */
#pragma once

#include "domain/domain.h"
#include "domain/initialization.h"
#include "domain/network.h"
#include "domain/part.h"
#include "host/datasource.h"
#include "host/documents.h"

enum instance_id_policy {
    INSTANCE_ID_DOMAIN,  /* the domain's UUID: the same at every start, new for a clone */
    INSTANCE_ID_FIXED,   /* the element's text */
    INSTANCE_ID_CONTENT, /* new when the seed's content changes, and for a clone */
};

/* What INSTANCE_ID_CONTENT can cover. */
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
    const struct datasource *datasource;
    enum domain_bus bus; /* DOMAIN_BUS_OTHER is "auto" */
    bool serial;         /* whether we set the SMBIOS serial */
    bool report;         /* whether the guest should report its progress */
    bool log;            /* and, if it does, send its logs when cloud-init has failed */
    bool raw;            /* <user-data format="raw">: the guest does not run cloud-init */
    bool cache; /* whether the guest keeps what it read if its seed is missing later */
    bool new_machine_id; /* whether each new instance gets a machine-id of its own */
    bool until_done;     /* once the guest is set up, its seed has only its identity */
    char *hostname;      /* NULL: made from the domain's name */
    char *instance_type; /* NULL if there is none */
    enum instance_id_policy instance_id_policy;
    char *instance_id;   /* with INSTANCE_ID_FIXED, else NULL */
    unsigned int covers; /* of enum request_cover: with INSTANCE_ID_CONTENT, else 0 */
    char **ssh_keys;     /* those in the XML; others are parts */
    size_t ssh_key_count;
    struct meta_data_entry *meta_data; /* those in the XML; others are parts */
    size_t meta_data_count;
    struct network *network;               /* to generate a configuration from, or NULL */
    struct initialization *initialization; /* NULL if there is none */
    struct parts parts;
    struct seed *payload; /* with datasource_payload, else NULL */
};

/*
 * Reads the domain's request: <cloud-init>, in which unknown elements and attributes are
 * errors; without it, oVirt's payload; without that, if the emulator is virt-seed-qemu, a
 * request for the domain's identity alone. Return: 0, or -1; the code is
 * FAILURE_REQUEST_MISSING if there is no request.
 */
int request_read(struct request *request, const struct domain *domain,
                 struct failure **failure);

/* Return: whether the guest gets the reporter (seed/reporter.sh) and the domain its
 * channel: not for Windows, which has no shell to run it, nor for oVirt's payload, which
 * is used unchanged, nor for a guest without cloud-init (raw). */
bool request_wants_report(const struct request *request);

/* Keeps only the identity, which is the instance-id and the host name: removes all other
 * elements, all parts (also the host keys that an attribute asks for) and the payload. The
 * members that attributes set stay. */
void request_keep_identity(struct request *request);

/* Return: the <cloud-init> element, or NULL. */
xmlNode *request_find(const struct domain *domain);

/* Return: the guest's host name, one or more labels, owned by the caller (free). */
char *request_hostname(const struct request *request);

/* Return: the first datasource with that label, ignoring case; NULL if there is none. */
const struct datasource *datasource_find_label(const char *label);

/* Return: the `serial` of the datasource; for oVirt's payload, that of its label. */
const char *request_serial(const struct request *request);

void request_clear(struct request *request);

#define cleanup_request __attribute__((cleanup(request_clear)))

/* Attributes that are notes of ours, and ask for nothing: what unset has to restore
 * (wire/serial.c), and the path of the disk that `virt-seed new` has made. */
#define REQUEST_SMBIOS_WAS "smbios-was"
#define REQUEST_MADE_DISK "made-disk"
#define REQUEST_NOTES REQUEST_SMBIOS_WAS, REQUEST_MADE_DISK

/* --- the element as a whole ---------------------------------------------------------- */

/* Return: a document whose root is an empty <ci:cloud-init>, owned by the caller
 * (cleanup_xml). */
xmlDoc *request_new(void);

/* Copies the element into the domain's <metadata>, which must not have one.
 * Return: the copy, owned by the domain's document. */
xmlNode *request_insert(const struct domain *domain, const xmlNode *element);

/* Gives the element that takes the place of the old one, which may be NULL, the notes of that
 * one, which stay true, and no others: they would be another domain's. */
void request_keep_notes(xmlNode *element, const xmlNode *old);

/* Return: the element as text without its namespace, for virDomainSetMetadata(), owned by
 * the caller (free). */
char *request_format(const xmlNode *element);

/* Return: whether both ask for the same, ignoring the prefix, white space between
 * elements, and the wiring's notes in the element. NULL means that there is no element. */
bool request_is_same(const xmlNode *one, const xmlNode *other);

/* --- oVirt's payload ----------------------------------------------------------------- */

/*
 * A seed made by oVirt's engine, in the domain's metadata (namespace
 * "http://ovirt.org/vm/1.0"): <volId>, and <file path="…"> elements in base64, in
 * <device><payload>, or before oVirt 4.2 in <specParams><vmPayload> (VDSM,
 * lib/vdsm/virt/vmdevices/storagexml.py). It becomes an image unchanged.
 */

/* Return: the payload's element in the metadata, or NULL. */
xmlNode *payload_find(const struct domain *domain);

/*
 * Reads the payload at that element. A path that leads out of the image, or a duplicate,
 * is an error. The caller owns the seed (seed_clear), even after a failure.
 */
int payload_read(struct seed *payload, const xmlNode *node, struct failure **failure);
