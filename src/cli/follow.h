/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between waiting.c and follow.c, which follows the domains: their guests' reports as they
 * grow, and whether they run. Nothing is polled: all events, those of inotify(7) too, come
 * through libvirt's event loop.
 */
#pragma once

#include "base/failure.h"
#include "cli/waiting.h"

/* Prepares to follow, and connects to libvirt on this host. The descriptors and handles of
 * `waiting` are -1. */
int follow_open(struct waiting *waiting, struct failure **failure);

/* Begins to follow a domain, and reads what its guest has said so far. Fails if its report
 * may not be read. */
int follow_add(struct guest *guest, struct failure **failure);

/* Passes on what happens until waiting->is_finished is set, or until SIGINT, SIGTERM or SIGHUP
 * arrives, whose number is then in waiting->signal. Return: 0, or -1 if libvirt's daemon is
 * gone. */
int follow_run(struct waiting *waiting, struct failure **failure);

void follow_close(struct waiting *waiting);

/* --- what happens ----------------------------------------------------------------- */

/* For each line of the report that counts. */
void waiting_on_report(struct guest *guest);

/* `detail` is libvirt's virDomainEventStartedDetailType. */
void waiting_on_start(struct guest *guest, int detail);

/* After waiting_on_start(), when the domain runs and its report was looked for. */
void waiting_on_run(struct guest *guest);

/* `detail` is libvirt's virDomainEventStoppedDetailType. */
void waiting_on_stop(struct guest *guest, int detail);

/* Its report can no longer be read. */
void waiting_on_failure(struct guest *guest, struct failure **reason);
