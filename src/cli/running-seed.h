/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces the seed of a running domain where the domain has it (store/delivery.h), through
 * libvirt. */
#pragma once

#include "cli/cli.h"
#include "cli/definition.h"
#include "domain/request.h"
#include "host/documents.h"

/* Fails without the right to replace a seed. */
int running_seed_check_caller(const struct context *context, struct failure **failure);

/* Locks the seeds of running domains while the descriptor is open: what is read before may
 * be replaced meanwhile. Return: a descriptor, owned by the caller, or -1. */
int running_seed_lock(const struct context *context, struct failure **failure);

/*
 * Replaces the seed of the domain, whose XML as it runs is `running`, and writes the request that
 * it was made of into that XML: when the guest is saved and comes back, its seed is made again
 * of what is there. The definition stays as it is. `lock` is running_seed_lock()'s.
 *
 * On failure the domain has its old seed, or the message says what it has.
 */
int running_seed_replace(const struct context *context, int lock,
                         const struct definition *source,
                         const struct definition *running, const struct request *request,
                         struct seed *seed, struct failure **failure);

/* What is, or would be, done about the seed of a domain. */
enum update_outcome {
    UPDATE_NOT_RUNNING,
    UPDATE_UP_TO_DATE,
    UPDATE_SAME_INSTANCE,
    UPDATE_NEW_INSTANCE,
    UPDATE_KEPT,
};

/*
 * Gives the running domain the seed that its definition makes (cmd-update.c), or looks with
 * --dry-run whether that is possible. `where` gets the place of the seed, in words. Return:
 * an update_outcome, or -1.
 */
int running_seed_update(const struct context *context, const struct definition *source,
                        const char **where, struct failure **failure);

/*
 * Replaces the seed of the running domain by one with its instance-id and host name, and nothing
 * else, for a guest that has been set up. So the guest stays the same instance when it is
 * rebooted; without any seed it would become a new one. An alarm(2) is put off until the end.
 */
int running_seed_scrub(const struct context *context, const char *uuid,
                       struct failure **failure);
