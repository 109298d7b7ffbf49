/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XML of a rehearsal: what `virt-seed try` starts in place of a domain. The guest sees
 * the same machine: the UUID, the serial, the MACs, and the disks with what is on them. On
 * the host it is another domain, which writes to files of its own directory alone:
 *
 *   VIRT_SEED_TRYDIR/UUID/    UUID is the rehearsal's
 *     seed.iso                the seed
 *     N.qcow2                 an overlay over the domain's N-th disk, counted from 0
 *     nvram.fd                a copy of the firmware's variables
 *     console.log             what the guest prints on its serial port
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"
#include "base/text.h"
#include "domain/domain.h"

#define REHEARSAL_SEED "seed.iso"
#define REHEARSAL_NVRAM "nvram.fd"
#define REHEARSAL_CONSOLE "console.log"

/* A disk of the domain that gets an overlay. */
struct rehearsal_disk {
    char *target; /* "vda" */
    char *path;
    char *format; /* libvirt's word for it, which is also qemu-img's */
    char *name;   /* of the overlay in the directory */
};

struct rehearsal {
    char uuid[UUID_LENGTH + 1];
    char *name;      /* libvirt's, as long as it runs */
    char *directory; /* its path */
    /* The port on 127.0.0.1 to which the guest's interfaces are connected; 0 leaves them
     * in the domain's networks. */
    int port;

    /* rehearsal_rewrite() adds: */
    struct rehearsal_disk *disks;
    size_t disk_count;
    char *nvram;     /* the file with the firmware's variables, or NULL */
    char **left_out; /* devices that the guest does not get, by their element's name */
    size_t left_out_count;
};

/*
 * Turns the XML of a wired domain into that of its rehearsal. Fails if the domain has a
 * disk that cannot have an overlay. `domain` is read from its document, and its disks
 * are not valid afterwards.
 */
int rehearsal_rewrite(struct rehearsal *rehearsal, struct domain *domain,
                      struct failure **failure);

void rehearsal_clear(struct rehearsal *rehearsal);

#define cleanup_rehearsal __attribute__((cleanup(rehearsal_clear)))
