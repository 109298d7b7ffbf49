/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wiring's disk: a cdrom, or a read-only virtio disk, with the seed's path. */
#pragma once

#include "wire/wiring.h"

/* Adds the disk, and its controller where a new one is needed; or mends a disk that names
 * another domain's seed, as a clone's does. */
int wire_disk(struct domain *domain, const struct request *request,
              const struct wire_options *options, struct wiring *wiring,
              struct failure **failure);

/* For a seed without a disk: takes away what an earlier datasource has left. Another tool's
 * seed is as foreign as beside a disk of ours. */
int wire_no_disk(struct domain *domain, const struct wire_options *options,
                 struct wiring *wiring, struct failure **failure);

/* Return: whether the domain's machine has an IDE bus. */
bool wire_disk_has_ide(const struct domain *domain);

/* Removes the seeds of other tools where `options` says so; else one is an error. */
int wire_remove_foreign(struct domain *domain, const struct wire_options *options,
                        struct wiring *wiring, struct failure **failure);

void wire_remove_disk(struct domain *domain, struct wiring *wiring);
