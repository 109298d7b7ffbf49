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

/* The bus of a disk's <target>; DOMAIN_BUS_OTHER is any that we never choose. */
enum domain_bus {
    DOMAIN_BUS_OTHER,
    DOMAIN_BUS_VIRTIO,
    DOMAIN_BUS_SCSI,
    DOMAIN_BUS_SATA,
    DOMAIN_BUS_IDE,
    DOMAIN_BUS_USB,
};

/* <address type='drive'>; what the numbers mean depends on the bus. */
struct drive_address {
    long controller;
    long bus;
    long target;
    long unit;
};

struct disk {
    xmlNode *node; /* borrowed from the document */
    char *device;  /* "disk", "cdrom", … */
    char *source;  /* the file's or device's path; NULL for none and for the network's */
    char *format;  /* the driver's type ("raw", "qcow2"); NULL where it is not said */
    char *target;  /* "sda"; never NULL, but perhaps empty */
    char *label; /* the volume's, where somebody looked (label_read_disks()); else NULL */
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

/* --- disks: targets and addresses ----------------------------------------------------- */

/* libvirt derives a drive's address from the name of its target ("sda"). */

/* Return: libvirt's word for the bus ("scsi"). */
const char *domain_bus_name(enum domain_bus bus);
/* Return: the bus of that name; DOMAIN_BUS_OTHER for every other. */
enum domain_bus domain_bus_parse(const char *name);

/* Return: what the letters count to ("sda" 0, "sdz" 25, "sdaa" 26), or -1 when the name
 * is none (virDiskNameToIndex). */
long target_index(const char *target);

/* Return: "PREFIX" and the letters of that index, owned by the caller (free). */
char *target_name(const char *prefix, long index);

/* Return: the prefix that targets on the bus have: "sd", "hd" or "vd". */
const char *target_prefix(enum domain_bus bus);

/* Return: the bus that libvirt gives a target without bus=, by its name
 * (virDomainDiskDefParseXML). */
enum domain_bus target_default_bus(const char *target);

/*
 * Return: the disk's <address type='drive'>, or, where `address` is NULL or of another
 * type, what libvirt makes of the target's name (virDomainDiskDefAssignAddress). All
 * numbers are -1 where the bus has no such address.
 */
struct drive_address target_address(enum domain_bus bus, const char *target,
                                    const xmlNode *address);

/* --- interfaces, and what all devices have in common --------------------------------- */

struct interface {
    const xmlNode *node; /* borrowed from the document */
    char *mac;   /* in lower case with two digits each; NULL where none is written */
    char *alias; /* NULL where there is none */
    char *type;  /* "network"; NULL where the XML does not say */
    char *model; /* "virtio"; NULL where the XML does not say */
    char *pci;   /* "0000:01:00.0"; NULL where no PCI address is written */
};

struct interfaces {
    struct interface *items;
    size_t count;
};

/* Reads them in the domain's order. */
int interfaces_read(struct interfaces *interfaces, const struct domain *domain,
                    struct failure **failure);
void interfaces_clear(struct interfaces *interfaces);

#define cleanup_interfaces __attribute__((cleanup(interfaces_clear)))

/* Return: the MAC in lower case with two digits each, owned by the caller (free); NULL when
 * it is none that libvirt takes (virMacAddrParse). */
char *interface_normalize_mac(const char *text);

/*
 * Return: whether it is known that no interface of the domain has that MAC. It is not known
 * if an interface has none yet (libvirt gives it one), or if a device of the host is
 * passed through, which may be a NIC.
 */
bool interface_mac_is_missing(const struct domain *domain, const char *mac);

/* A user's own alias begins so (VIR_DOMAIN_USER_ALIAS_PREFIX); libvirt's do not. */
#define DEVICE_USER_ALIAS "ua-"

/* Return: the device's alias, its MAC, or its PCI address ("0000:01:00.0"), owned by the
 * caller (free); NULL where there is none. */
char *device_alias(const xmlNode *node);
char *device_mac(const xmlNode *node);
char *device_pci_address(const xmlNode *node);
