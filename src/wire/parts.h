/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of wire_domain(), a file each: the disk, the serial, the channels of the report
 * and of the log. Only wire/ and its tests use them.
 */
#pragma once

#include "wire/wire.h"

/* Adds an empty element to <devices>, after the last one of that name, or else after the
 * last `other`. Return: it. */
xmlNode *wire_add_device(struct domain *domain, const char *name, const char *other);

/* Return: the controller with the alias that virt-seed gave it, or NULL. */
xmlNode *wire_find_controller(const struct domain *domain, const char *alias);

/*
 * Gives a new controller of a q35 machine an address on the root bus, if one is free there.
 * Without an address, libvirt gives it a PCIe root port of its own: one more device to start
 * in QEMU and to find in the guest, which only a controller that is unplugged would need
 * ("PCI topology and hotplug" in libvirt's documentation).
 */
void wire_place_controller(const struct domain *domain, xmlNode *controller);

/* Removes other tools' seeds if `options` says so; else one is an error. */
int wire_remove_foreign(struct domain *domain, const struct wire_options *options,
                        struct wiring *wiring, struct failure **failure);

/*
 * Adds the disk, and a controller if it needs a new one, or repairs a disk that names
 * another domain's seed, as in a clone. If the request needs no disk, removes that of an
 * earlier datasource.
 */
int wire_disk(struct domain *domain, const struct request *request, struct wiring *wiring,
              struct failure **failure);

void wire_remove_disk(struct domain *domain, struct wiring *wiring);

/* Appends our word to the user's serial; does nothing with serial="no", or if the
 * architecture has no SMBIOS. */
int wire_serial(struct domain *domain, const struct wire_facts *facts,
                const struct request *request, const struct wire_options *options,
                struct wiring *wiring, struct failure **failure);

/* Removes our words; with `replace`, also those that name another datasource. */
void wire_remove_serial(struct domain *domain, bool replace, struct wiring *wiring);

/* Sets the facts that are about reports and logs. */
void wire_report_read(struct wire_facts *facts, const struct domain *domain);

/* Adds the channels, and a controller if the domain has none, or repairs those that name
 * another domain's report or log. Removes other channels into our directory, and those of
 * ours that the request does not want. Keeps the user's own channel with a port's name. */
void wire_report(struct domain *domain, const struct request *request,
                 const struct wire_options *options, struct wiring *wiring);

void wire_remove_report(struct domain *domain, struct wiring *wiring);
