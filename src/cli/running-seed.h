/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces the seed of a running domain where the domain has it (store/delivery.h), through
 * libvirt. */
#pragma once

#include "cli/definition.h"

/* Fails without the right to replace a seed. */
int running_seed_check_caller(const struct context *context, struct failure **failure);

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
