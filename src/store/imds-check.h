/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What it means for a guest if the metadata server does not answer (host/imds-health.h). */
#pragma once

#include "host/imds-health.h"

/* Return: the server's health; sets a failure for all but IMDS_HEALTHY. */
enum imds_health imds_health_ask(const char *url_address, struct failure **failure);

/* Return: whether that is why the server does not answer, although something listens. */
bool imds_health_is_silent(enum imds_health health);
/* Return: whether another program listens in its place. */
bool imds_health_is_foreign(enum imds_health health);

/*
 * Refuses the start of a guest that would not get its seed and come up as a new machine,
 * or with FAILURE_IMDS_USER, that would take another user's seed.
 * Accepts IMDS_UNKNOWN: the address may be added later, and SELinux may keep the hook
 * from asking.
 */
int imds_check(const char *url_address, const struct imds_finding *finding,
               struct failure **failure);

/* Asks first. */
int imds_health_check(const char *url_address, struct failure **failure);

/* Refuses a tree that was not made for the server, which could not read one made here; a
 * missing one, too, as with a `rundir` below 0. */
int imds_tree_check(int rundir, struct failure **failure);
