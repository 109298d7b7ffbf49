/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wiring's report channel: a virtio port by which the guest says how far cloud-init is,
 * and a file of the host's where QEMU writes it ("Consoles, serial, parallel & channel
 * devices" in libvirt's documentation).
 *
 * No guest needs it to boot with its seed.
 */
#pragma once

#include "wire/wiring.h"

/* Return: the path of the domain's report, owned by the caller (free). */
char *wire_report_path(const char *uuid);

/* Adds the channel, with a controller where the domain has none for it; or mends one that
 * names another domain's report. One that leads into our directory and is no file of the
 * guest's port gives way. Takes it away where the request wants none. A channel of the user's
 * own with the port's name is left alone. */
void wire_report(struct domain *domain, const struct request *request,
                 struct wiring *wiring);

/* Return: whether the domain has the channel as wire_report() makes it: a file that is appended
 * to, its own report, of the virtio port. */
bool wire_report_is_there(const struct domain *domain);

/* Return: whether the domain has a channel of the user's own with the port's name. */
bool wire_report_is_by_user(const struct domain *domain);

/*
 * Return: whether one of the domain's devices leads into the directory of the reports, other
 * than a channel into the domain's own: by an attribute `path` or `file`, whatever "//" and
 * "/./" are in it. (By ".." or a link from elsewhere is not seen.)
 */
bool wire_report_is_of_another(const struct domain *domain);

/* Fails where it does, and says which device. */
int wire_report_check(const struct domain *domain, struct failure **failure);

void wire_remove_report(struct domain *domain, struct wiring *wiring);
