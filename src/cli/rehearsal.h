/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rehearsal: what `virt-seed try` starts in place of a domain. The guest sees
 * the same machine: the UUID, the serial, the MACs, and the disks with what is on them. On
 * the host it is another domain, which writes to files of its own directory alone:
 *
 *   scope()->trydir/UUID/     UUID is the rehearsal's
 *     seed.iso                the seed
 *     N.qcow2                 an overlay over the domain's N-th disk, counted from 0
 *     nvram.fd                a copy of the firmware's variables
 *     console.log             what the guest prints on its serial port
 *     starting                REHEARSAL_LOCK
 */
#pragma once

#include "domain/domain.h"
#include "host/documents.h"
#include "host/libvirt-host.h"

#define REHEARSAL_SEED "seed.iso"
#define REHEARSAL_NVRAM "nvram.fd"
#define REHEARSAL_CONSOLE "console.log"

/* A disk of the domain that gets an overlay. */
struct rehearsal_disk {
    char *target; /* "vda" */
    char *path;
    char *format; /* libvirt's word for it, which is also qemu-img's */
    char *name;   /* of the overlay in the directory */
    /* cmd-try.c adds its size in bytes, and its owner, whom libvirt changes when a guest reads
     * it: */
    uint64_t size;
    int base; /* the disk, O_PATH; -1 before */
    uid_t uid;
    gid_t gid;
};

struct rehearsal {
    char uuid[UUID_LENGTH + 1];
    char *name; /* libvirt's, as long as it runs */
    /* The port on 127.0.0.1 to which the guest's interfaces are connected; 0 leaves them
     * in the domain's networks. */
    int port;

    /* rehearsal_rewrite() adds: */
    struct rehearsal_disk *disks;
    size_t disk_count;
    char *nvram;     /* the file with the firmware's variables, or NULL */
    char **left_out; /* devices that the guest does not get, by their element's name */
    size_t left_out_count;

    /* cmd-try.c adds: */
    int parent;    /* scope()->trydir */
    int directory; /* the rehearsal's, locked as long as the command runs */
    int lock;      /* REHEARSAL_LOCK */
    /* The directory's name now: until the start not the rehearsal's UUID, which others
     * could otherwise learn from a command line, and be first. */
    char directory_name[UUID_LENGTH + 1];
    struct user qemu;
};

/* The initial value. */
#define REHEARSAL_NONE ((struct rehearsal){.parent = -1, .directory = -1, .lock = -1})

/*
 * Turns the XML of a wired domain into that of its rehearsal. Fails if the domain has a
 * disk that cannot have an overlay. `domain` is read from its document, and its disks
 * are not valid afterwards.
 */
int rehearsal_rewrite(struct rehearsal *rehearsal, struct domain *domain,
                      struct failure **failure);

/* Frees it, and closes its descriptors. */
void rehearsal_clear(struct rehearsal *rehearsal);
