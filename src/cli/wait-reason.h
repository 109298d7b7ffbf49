/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences of `virt-seed wait`: why the guest of the domain `name` is not done. Each sets
 * the failure, with a hint. */
#pragma once

#include "base/failure.h"
#include "store/guest-report.h"
#include "store/record.h"

/* cloud-init has finished, with errors. */
void wait_reason_errors(struct failure **failure, const char *name,
                        const struct guest_report *report);

/* So many seconds were not enough. */
void wait_reason_time(struct failure **failure, const char *name, const char *seconds,
                      const struct guest_report *report);

/* The domain has stopped; `detail` is libvirt's virDomainEventStoppedDetailType. */
void wait_reason_stopped(struct failure **failure, const char *name, int detail,
                         const struct guest_report *report);

/* The domain does not run; the record says how its last boot ended. */
void wait_reason_unstarted(struct failure **failure, const char *name,
                           const struct record *record);
