/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A running guest's seed without its content, for a guest that has been set up. */
#pragma once

#include "cli/cli.h"

/*
 * Replaces the medium of the running domain by a seed with the instance-id and the host name
 * that the one in its drive has, and nothing else. So the guest stays the same instance when
 * it is rebooted; with an empty drive it would become a new one.
 */
int scrub(const struct context *context, const char *uuid, struct failure **failure);
