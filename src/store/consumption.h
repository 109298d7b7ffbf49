/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether cloud-init in the guest has applied the seed that the host delivered: the record
 * of the delivery is compared with what the guest claims to have taken.
 *
 * The guest is not trusted. What it claims is shown as its claim, and nothing that
 * protects the host or other guests depends on it.
 */
#pragma once

#include "store/guest-report.h"
#include "store/record.h"

enum consumption {
    CONSUMPTION_NONE,    /* no boot with a seed is recorded */
    CONSUMPTION_UNKNOWN, /* the guest does not say, or has not yet */
    CONSUMPTION_READ,    /* it read that seed, in an instance older than its claims */
    CONSUMPTION_APPLIED,
    CONSUMPTION_OLDER,     /* it applied another one before */
    CONSUMPTION_DIFFERENT, /* it read something that was not delivered */
    CONSUMPTION_DROPPED,   /* it read that seed, but did not use a part of it */
};

/*
 * Compares what was delivered last with the claim. cloud-init applies all of a seed in the
 * first boot of an instance only. So the user-data and the network-config of that boot
 * count; vendor-data does not: virt-seed's reporter is in it, which changes from one
 * version to the next. The meta-data is not kept by cloud-init, but a claim from before an
 * update is about another seed; `claimed` is when it arrived (record_time()), or NULL.
 *
 * `reason` gets a phrase for OLDER and DIFFERENT, a text of the claim's for DROPPED, else
 * NULL.
 */
enum consumption consumption_find(const struct record *record,
                                  const struct guest_claim *claim, const char *claimed,
                                  const char **reason);

/* Return: the delivery whose seed the guest has read, in the record: the last update if it
 * says so, else the boot. */
const struct record_boot *consumption_find_read(const struct record *record,
                                                const struct guest_claim *claim,
                                                const char *claimed);

/* Return: "read", "applied", "older seed applied" or "not applied", and the reason, if there
 * is one: owned by the caller (free); NULL for the others. */
char *consumption_describe(enum consumption consumption, const char *reason);

/* Return: all of that for --json, owned by the caller; null if the guest says nothing. */
struct json_t *consumption_pack(enum consumption consumption, const char *reason,
                                const struct guest_claim *claim);
