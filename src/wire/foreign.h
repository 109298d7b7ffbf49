/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Foreign seeds: disks that another tool gave the domain for cloud-init. Two seeds in one
 * guest would be a race between them.
 */
#pragma once

#include <stdbool.h>

#include "wire/wire.h"

/*
 * Return: whether the disk carries another tool's seed: by its volume's label, where
 * that was read (image/label.h); else, for cdroms, by the names that VDSM,
 * virt-install, KubeVirt and people with cloud-localds give them.
 */
bool foreign_is_seed(const struct disk *disk);

/* Sets the failure that names the disk and what to do. Return: -1. */
int foreign_fail(const struct disk *disk, struct failure **failure);

/* Removes them, if `options` says so; else one is an error. */
int wire_remove_foreign(struct domain *domain, const struct wire_options *options,
                        struct wiring *wiring, struct failure **failure);
