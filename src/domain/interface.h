/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The domain's own <interface> devices, and what all devices have in common: an alias, an
 * address on a bus. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"
#include "domain/domain.h"

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

#define cleanup_interfaces __attribute__((cleanup(interfaces_clear)))
