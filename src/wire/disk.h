/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The buses of a domain, and where on one there is room for one more disk. */
#pragma once

#include <stdbool.h>

#include "domain/domain.h"

/* Return: whether the domain's machine has an IDE bus. */
bool wire_disk_has_ide(const struct domain *domain);

struct drive_place {
    bool addressed; /* the bus has drive addresses; else libvirt finds the place */
    bool new_controller;
    struct drive_address address;
};

/*
 * Finds a free position, away from those that libvirt derives from the names of
 * targets, so that disks added later do not collide with it. On scsi it is on a
 * virtio-scsi controller, an existing one or a new one.
 */
int drives_find_place(const struct domain *domain, enum domain_bus bus,
                      struct drive_place *place, struct failure **failure);

/*
 * Return: a target's name that no disk has, after all others so that libvirt keeps the
 * order of the cdroms; owned by the caller (free).
 */
char *drives_free_target(const struct domain *domain, enum domain_bus bus,
                         const struct drive_address *address);

/* Return: whether a disk or a host device is on that controller. */
bool drives_controller_is_used(const struct domain *domain, enum domain_bus bus,
                               long controller);
