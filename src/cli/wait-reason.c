/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <libvirt/libvirt.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "cli/wait-reason.h"

/* Where cloud-init writes what the commands of user-data print, and its own errors. */
#define GUEST_LOGS                                                                       \
    "in the guest, /var/log/cloud-init-output.log and /var/log/cloud-init.log say more"

void
wait_reason_errors(struct failure **failure, const char *name,
                   const struct guest_report *report)
{
    size_t count = report->errors.count + report->errors.left_out;

    failure_set(failure, FAILURE_DOMAIN,
                "domain '%s': cloud-init has finished with %zu %s", name, count,
                count == 1 ? "error" : "errors");
    failure_hint(failure, GUEST_LOGS);
}

/* Return: how far the guest was, owned by the caller (free). */
static char *
describe_stage(const struct guest_report *report)
{
    const char *stage = guest_stage_name(guest_report_last_stage(report));

    if (report->state == GUEST_STATE_NOTHING)
        return xstrdup("nothing was heard of its guest");
    if (!stage)
        return xstrdup("no stage of cloud-init had begun");
    return xasprintf("the last stage was %s", stage);
}

void
wait_reason_time(struct failure **failure, const char *name, const char *seconds,
                 const struct guest_report *report)
{
    cleanup_free char *stage = describe_stage(report);

    failure_set(failure, FAILURE_DOMAIN, "domain '%s': not done after %s s; %s", name,
                seconds, stage);
    if (report->state == GUEST_STATE_NOTHING)
        failure_hint(failure, "a guest without cloud-init, or whose image does without "
                              "vendor-data, never says anything");
    else
        failure_hint(failure, GUEST_LOGS);
}

/* --- a domain that has stopped ---------------------------------------------------- */

static const char *
describe_stop(int detail)
{
    static const char *const words[] = {
        [VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN] = "was shut down",
        [VIR_DOMAIN_EVENT_STOPPED_DESTROYED] = "was destroyed",
        [VIR_DOMAIN_EVENT_STOPPED_CRASHED] = "has crashed",
        [VIR_DOMAIN_EVENT_STOPPED_MIGRATED] = "was migrated to another host",
        [VIR_DOMAIN_EVENT_STOPPED_SAVED] = "was saved",
        [VIR_DOMAIN_EVENT_STOPPED_FAILED] = "has failed on the host",
        [VIR_DOMAIN_EVENT_STOPPED_FROM_SNAPSHOT] = "was reverted to a snapshot",
    };
    const int count = (int)(sizeof(words) / sizeof(words[0]));

    return detail >= 0 && detail < count && words[detail] ? words[detail] : "has stopped";
}

void
wait_reason_stopped(struct failure **failure, const char *name, int detail,
                    const struct guest_report *report)
{
    cleanup_free char *stage = describe_stage(report);

    failure_set(failure, FAILURE_DOMAIN,
                "domain '%s' %s before cloud-init came to its end; %s", name,
                describe_stop(detail), stage);
    if (detail == VIR_DOMAIN_EVENT_STOPPED_MIGRATED)
        failure_hint(failure, "wait on that host");
    else if (detail == VIR_DOMAIN_EVENT_STOPPED_SAVED)
        failure_hint(failure, "start it, and wait once more: the guest goes on then");
    else
        failure_hint(failure,
                     "see what the guest and QEMU said last: its console, and "
                     "/var/log/libvirt/qemu/%s.log",
                     name);
}

/* Return: what the record says of the last boot, owned by the caller (free). */
static char *
describe_record(const struct record *record)
{
    const struct record_result *result = &record->result;

    if (!record->boot.time)
        return xstrdup("");
    if (!guest_state_is_end(result->state))
        return xasprintf("; its last boot, of %s, did not come to its end",
                         record->boot.time);
    return xasprintf("; its last boot, of %s, %s%s%s", record->boot.time,
                     result->state == GUEST_STATE_DONE ? "was done"
                                                       : "finished with errors",
                     result->time ? " at " : "", result->time ? result->time : "");
}

void
wait_reason_unstarted(struct failure **failure, const char *name,
                      const struct record *record)
{
    cleanup_free char *last = describe_record(record);

    failure_set(failure, FAILURE_DOMAIN, "domain '%s' does not run%s", name, last);
    failure_hint(failure, "start it; 'virt-seed wait --next' also waits for a start");
}
