/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A running guest's seed without its content, for a guest that has been set up. */
#pragma once

#include "cli/cli.h"

/*
 * Replaces the seed of the running domain, in its drive or served, by one with its instance-id
 * and host name, and nothing else. So the guest stays the same instance when it is rebooted;
 * without any seed it would become a new one.
 */
int scrub(const struct context *context, const char *uuid, struct failure **failure);
