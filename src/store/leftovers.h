/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What virt-seed keeps on the host for domains that may no longer exist. The name of each
 * such file or directory begins with the domain's UUID and has a suffix that virt-seed
 * knows; other files are left alone:
 *
 *   /var/lib/virt-seed/            records, logs, public keys; since when a domain is gone
 *   /var/lib/virt-seed/secrets/    what virt-seed has generated
 *   /var/log/libvirt/virt-seed/    reports, and logs of running domains
 *   /run/libvirt/virt-seed/        seeds, and what belongs to them
 *   /run/libvirt/virt-seed/imds/   what the metadata server serves
 *   /var/lib/libvirt/virt-seed/    the files of rehearsals that have ended
 */
#pragma once

#include "base/base.h"

struct leftover {
    char uuid[UUID_LENGTH + 1];
    const char *directory; /* its directory */
    char *name;
    bool lasting;   /* for the domain's next start, not for a running domain */
    time_t changed; /* last change */
};

struct leftovers {
    struct leftover *list;
    size_t count;
};

/* Finds all leftovers, grouped by domain. Needs root. */
int leftovers_find(int root, struct leftovers *leftovers, struct failure **failure);

/* Removes one, a directory with its content; of served documents, everything of the same
 * domain. A missing one is not a failure. */
int leftover_remove(int root, const struct leftover *leftover, struct failure **failure);

/* Notes that the domain is gone since now, or that it is not. Return: 0 or -errno. */
int leftovers_note_gone(int root, const char *uuid, bool is_gone);

void leftovers_clear(struct leftovers *leftovers);

#define cleanup_leftovers __attribute__((cleanup(leftovers_clear)))
