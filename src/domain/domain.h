/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domain, read from its XML (https://libvirt.org/formatdomain.html), as far as seeding
 * and wiring need it.
 */
#pragma once

#include <netinet/in.h>

#include <libxml/tree.h>

#include "host/need.h"

/* The bus of a disk's <target>; DOMAIN_BUS_OTHER is any bus that we never choose. */
enum domain_bus {
    DOMAIN_BUS_OTHER,
    DOMAIN_BUS_VIRTIO,
    DOMAIN_BUS_SCSI,
    DOMAIN_BUS_SATA,
    DOMAIN_BUS_IDE,
    DOMAIN_BUS_USB,
};

/* <address type='drive'>; the meaning of the numbers depends on the bus. */
struct drive_address {
    long controller;
    long bus;
    long target;
    long unit;
};

struct disk {
    xmlNode *node; /* borrowed from the document */
    char *device;  /* "disk", "cdrom", … */
    /* The path of the file or device, or of a volume that libvirt has looked up; NULL if
     * there is none or it is remote. */
    char *source;
    /* What the XML calls its content: a path, a volume, a name on a server, or else the
     * disk's type; NULL for an empty drive. */
    char *name;
    char *format; /* the driver's type ("raw", "qcow2"); NULL if the XML has none */
    char *target; /* "sda"; never NULL, but may be empty */
    enum need_word label; /* of label_find(); NEED_WORD_NONE if not read */
    bool is_volume;       /* of a storage pool */
    bool is_root; /* the hard disk with the lowest boot order, or else the first */
    enum domain_bus bus;
    long boot_order;              /* 0 if there is none */
    struct drive_address address; /* the one libvirt would choose if the XML has none */
};

/* Of what libvirt hands to QEMU as it is: <qemu:commandline>. */
#define QEMU_NAMESPACE "http://libvirt.org/schemas/domain/qemu/1.0"

struct domain {
    xmlNode *root; /* <domain>, borrowed from the document */
    char *name;
    const char *file; /* that a person named to have it read, borrowed; else NULL */
    char uuid[UUID_LENGTH + 1]; /* in lower case with dashes; of <uuid>, or else of
                                   <sysinfo>, as for libvirt; empty if neither has one */
    char *arch;                 /* "x86_64"; NULL if the XML has none */
    char *machine;              /* "pc-q35-7.2"; NULL if the XML has none */
    struct disk *disks;
    size_t disk_count;
};

/*
 * Reads the document, which must outlive the domain.
 * Return: 0, or -1 if it is not the XML of a QEMU domain, has no name, a UUID that is none,
 * two that differ, or too many devices.
 */
int domain_read(struct domain *domain, xmlDoc *doc, struct failure **failure);

/* Fails if it has no UUID, which XML that was not defined yet may lack. */
int domain_require_uuid(const struct domain *domain, struct failure **failure);

/* Return: whether the text is in the id of the guest's system that libosinfo's element in
 * <metadata> has, which virt-install and virt-manager write: "freebsd.org/". */
bool domain_is_os(const struct domain *domain, const char *text);
bool domain_is_windows(const struct domain *domain);

/* The rules of host/forbidden-paths.h for a domain whose XML may not be libvirt's. */
int domain_check_paths(const struct domain *domain, int root, struct failure **failure);

/* Return: the <emulator>'s file name without its directory, owned by the caller (free);
 * "" if the XML has none. */
char *domain_emulator(const struct domain *domain);

/* Return: whether the emulator is one of the shim's names, virt-seed-qemu-NAME. */
bool domain_uses_shim(const struct domain *domain);

void domain_clear(struct domain *domain);

#define cleanup_domain __attribute__((cleanup(domain_clear)))

/* Return: <sysinfo type='smbios'>, or NULL. */
xmlNode *domain_find_sysinfo(const struct domain *domain);

/* Return: the system's <entry name='serial'> in it, or NULL. */
xmlNode *domain_find_serial(const struct domain *domain);

/* Removes the disk from the document and the domain; the disks after it move up. */
void domain_remove_disk(struct domain *domain, size_t index);

/* --- the seed's disk ------------------------------------------------------------------ */

/* The alias of the seed's disk. libvirt keeps an alias only if it begins with "ua-". */
#define SEED_DISK_ALIAS "ua-virt-seed"

/* Return: whether the path leads, by its spelling, into the directory; or is that of a file of
 * seeds or reports, UUID and the suffix, in any scope's directory of these. */
bool path_is_kept(const char *path, const char *directory, const char *suffix);

/* Return: whether the path leads, by its spelling, into the run-time directory, where there
 * are only seeds and what belongs to them, of this or any other domain, or is a seed of
 * another scope; false for NULL. */
bool seed_path_is(const char *path);
/* Return: whether it is a seed of another scope. */
bool seed_path_is_elsewhere(const char *path);

/* Return: whether the disk's volume may have a label that has not been read, and is not
 * virt-seed's. */
bool disk_may_have_label(const struct disk *disk);

/* Sets the label of each of the domain's disks that is a raw or qcow2 image in a regular
 * file. Skips a file that cannot be read: libvirt will report it. */
void domain_read_labels(struct domain *domain);

/* Return: the domain's first disk with such a path, or NULL. */
const struct disk *seed_path_find_disk(const struct domain *domain);

/* --- disks: targets and addresses ----------------------------------------------------- */

/* libvirt derives a drive's address from its target's name ("sda"). */

/* Return: libvirt's name for the bus ("scsi"). */
const char *domain_bus_name(enum domain_bus bus);
/* Return: the bus of that name; DOMAIN_BUS_OTHER for any other name. */
enum domain_bus domain_bus_parse(const char *name);

/* Return: the index that the letters spell ("sda" 0, "sdz" 25, "sdaa" 26), or -1 if it is
 * not a disk's name (virDiskNameToIndex). */
long target_index(const char *target);

/* Return: the prefix and the letters for the index, owned by the caller (free). */
char *target_name(const char *prefix, long index);

/* Return: the prefix of targets on the bus: "sd", "hd" or "vd". */
const char *target_prefix(enum domain_bus bus);

/* Return: the bus that libvirt derives from the name of a target without bus=
 * (virDomainDiskDefParseXML). */
enum domain_bus target_default_bus(const char *target);

/*
 * Return: the disk's <address type='drive'>; if `address` is NULL or of another type, the
 * one that libvirt derives from the target's name (virDomainDiskDefAssignAddress). All
 * numbers are -1 if the bus has no such addresses.
 */
struct drive_address target_address(enum domain_bus bus, const char *target,
                                    const xmlNode *address);

/* --- interfaces, and what all devices share ---------------------------------------- */

struct interface {
    const xmlNode *node; /* borrowed from the document */
    /* NULL for what the XML does not say. */
    char *mac; /* in lower case, two digits per byte */
    char *alias;
    char *type; /* "network" */
};

struct interfaces {
    struct interface *items;
    size_t count;
};

/* Reads the domain's interfaces in document order. */
int interfaces_read(struct interfaces *interfaces, const struct domain *domain,
                    struct failure **failure);
void interfaces_clear(struct interfaces *interfaces);

#define cleanup_interfaces __attribute__((cleanup(interfaces_clear)))

/* Return: the MAC in lower case, two digits per byte, owned by the caller (free); NULL if
 * libvirt would not accept it (virMacAddrParse). */
char *interface_normalize_mac(const char *text);

/*
 * Return: whether it is certain that no interface of the domain has that MAC. It is not
 * if an interface has no MAC yet (libvirt will choose one), or if a host device is passed
 * through, which may be a NIC.
 */
bool interface_mac_is_missing(const struct domain *domain, const char *mac);

/*
 * Finds the port of this host that passt forwards to the guest's TCP port (<portForward>), and
 * the `address` at which this host reaches it. Return: the port; 0, without an address, if
 * there is none.
 */
long domain_find_forwarding(const struct domain *domain, long guest_port,
                            char address[INET6_ADDRSTRLEN]);

/* The prefix of aliases set by users (VIR_DOMAIN_USER_ALIAS_PREFIX). */
#define DEVICE_USER_ALIAS "ua-"

/* Return: the device's alias, its MAC, or its PCI address ("0000:01:00.0"), owned by the
 * caller (free); NULL if there is none. */
char *device_alias(const xmlNode *node);
char *device_mac(const xmlNode *node);
char *device_pci_address(const xmlNode *node);
