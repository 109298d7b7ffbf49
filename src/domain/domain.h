/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a domain is, read from its XML: libvirt's "Domain XML format"
 * (https://libvirt.org/formatdomain.html), as far as seeding and wiring need it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <libxml/tree.h>

#include "base/failure.h"
#include "base/text.h"
#include "domain/target.h"

struct disk {
    xmlNode *node; /* borrowed from the document */
    char *device;  /* "disk", "cdrom", … */
    char *source;  /* the file's or device's path; NULL for none and for the network's */
    char *format;  /* the driver's type ("raw", "qcow2"); NULL where it is not said */
    char *target;  /* "sda"; never NULL, but perhaps empty */
    char
        *label; /* the volume's label, where somebody looked (image/label.h); else NULL */
    enum domain_bus bus;
    long boot_order;              /* 0 where there is none */
    struct drive_address address; /* libvirt's own choice where none is written */
};

struct domain {
    xmlNode *root; /* <domain>, borrowed from the document */
    char *name;
    /* In lower case with dashes; empty where the XML has none. */
    char uuid[UUID_LENGTH + 1];
    char *arch;    /* "x86_64"; NULL where the XML does not say */
    char *machine; /* "pc-q35-7.2"; NULL where the XML does not say */
    struct disk *disks;
    size_t disk_count;
};

/*
 * Reads the document, which must live as long as the domain does.
 * Return: 0, or -1 when it is not the XML of one QEMU domain.
 */
int domain_read(struct domain *domain, xmlDoc *doc, struct failure **failure);

/* The hook's need: a domain that libvirt starts has a UUID. */
int domain_require_uuid(const struct domain *domain, struct failure **failure);

/* Return: whether Windows is in the guest, as libosinfo's element in <metadata> says, where
 * the tool that made the domain wrote it. */
bool domain_is_windows(const struct domain *domain);

/* Return: the name of the <emulator> without its directory, owned by the caller (free); "" if
 * the XML has none. */
char *domain_emulator(const struct domain *domain);

/* Return: whether the emulator is virt-seed-qemu, the shim, by its name. */
bool domain_uses_shim(const struct domain *domain);

void domain_clear(struct domain *domain);

#define cleanup_domain __attribute__((cleanup(domain_clear)))

/* Return: the <sysinfo> of SMBIOS, or NULL. */
xmlNode *domain_find_sysinfo(const struct domain *domain);

/* Return: the entry of <sysinfo> that is the system's serial, or NULL. */
xmlNode *domain_find_serial(const struct domain *domain);

/* Removes the disk from the document and from the domain; those behind it move up. */
void domain_remove_disk(struct domain *domain, size_t index);

/* --- the path of the seed ------------------------------------------------------------ */

/* The alias of the seed's disk; what a user tags begins with "ua-", too. */
#define SEED_DISK_ALIAS "ua-virt-seed"

/* Return: the path of the seed in the domain's XML, owned by the caller (free). */
char *seed_path(const char *uuid);

/* Return: whether the path is one of virt-seed's, whatever the domain. */
bool seed_path_is(const char *path);

/* Return: the domain's disk with such a path, or NULL. */
const struct disk *seed_path_find_disk(const struct domain *domain);
