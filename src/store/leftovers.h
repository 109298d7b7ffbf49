/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What virt-seed keeps on the host for domains, whether or not they are there any more.
 * The name of each such file or directory begins with the domain's UUID, and goes on in a
 * way that virt-seed knows; what others have put there is left alone:
 *
 *   /var/lib/virt-seed/            records, public keys
 *   /var/lib/virt-seed/secrets/    what virt-seed has generated
 *   /var/log/libvirt/virt-seed/    reports
 *   /run/libvirt/virt-seed/        seeds, and what belongs to them
 *   /run/libvirt/virt-seed/imds/   what the metadata server serves
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/failure.h"
#include "base/text.h"

struct leftover {
    char uuid[UUID_LENGTH + 1];
    const char *directory; /* that it is in */
    char *name;
    bool lasting;   /* it is for the domain's next start, not for a running domain */
    time_t changed; /* when it last was */
};

struct leftovers {
    struct leftover *list;
    size_t count;
};

/* Return: whether the name begins with a UUID as virt-seed writes it; `uuid` gets that. */
bool leftover_names_domain(const char *name, char uuid[UUID_LENGTH + 1]);

/* Finds all of them, those of a domain side by side. Only root may look. */
int leftovers_find(int root, struct leftovers *leftovers, struct failure **failure);

/* Removes one, a directory with all that is in it; of what is served, all of the same
 * domain at once. One that is gone is no failure. */
int leftover_remove(int root, const struct leftover *leftover, struct failure **failure);

void leftovers_clear(struct leftovers *leftovers);

#define cleanup_leftovers __attribute__((cleanup(leftovers_clear)))
