/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libvirt's names for disk targets ("sda") and the drive addresses that it derives from
 * them.
 */
#pragma once

#include <libxml/tree.h>

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
