/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wiring: what a domain must carry so that cloud-init in the guest finds its seed.
 * A cdrom whose file the hook makes at each start, the SMBIOS serial that names the
 * datasource, and the channel by which the guest reports. With datasource="nocloud-net" there
 * is no cdrom, and the serial has the seed's URL.
 *
 * It does not depend on the seed's content: a domain is wired once and seeded at every
 * start.
 */
#pragma once

#include <stdbool.h>

#include "wire/wiring.h"

/*
 * Adds to the domain's document what is missing of the wiring; a document that is wired
 * stays as it is, and `wiring` is empty then. The rest of the document is not touched.
 * Where the emulator is virt-seed-qemu, which adds both itself, they are taken away.
 * Afterwards `domain` may not be used any more, only its document.
 */
int wire_domain(struct domain *domain, const struct request *request,
                const struct wire_options *options, struct wiring *wiring,
                struct failure **failure);

/*
 * Takes the wiring away: the inverse of wire_domain(), but for what --replace removed
 * and the UUID. The request stays.
 */
void wire_remove(struct domain *domain, struct wiring *wiring);

/* Removes the request, and <metadata> with it where nothing else is in it. */
void wire_remove_request(struct domain *domain, struct wiring *wiring);

/* Return: whether cloud-init takes a guest with that UUID for one of Amazon's: it begins with
 * "ec2", or in the other byte order with "..2.ec" (ds-identify, ec2_identify_platform; since
 * 24.2). */
bool wire_looks_like_amazon(const char *uuid);
