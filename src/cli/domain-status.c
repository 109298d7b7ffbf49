/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/memory.h"
#include "cli/domain-status.h"
#include "cli/domain-view.h"
#include "seed/json.h"
#include "store/delivery.h"
#include "store/record.h"
#include "store/report-reader.h"
#include "wire/wire.h"

/* Why the status does not have all; the first reason is enough. */
static void
take_unread(struct domain_status *status, struct failure **failure)
{
    if (!status->unread)
        status->unread = steal(*failure);
}

/* --- the domain ------------------------------------------------------------------- */

static const char *
find_state(virDomainPtr domain)
{
    static const char *const words[] = {
        [VIR_DOMAIN_RUNNING] = "running",    [VIR_DOMAIN_BLOCKED] = "running",
        [VIR_DOMAIN_PAUSED] = "paused",      [VIR_DOMAIN_SHUTDOWN] = "running",
        [VIR_DOMAIN_SHUTOFF] = "off",        [VIR_DOMAIN_CRASHED] = "crashed",
        [VIR_DOMAIN_PMSUSPENDED] = "paused",
    };
    const int count = (int)(sizeof(words) / sizeof(words[0]));
    int state;

    if (virDomainGetState(domain, &state, NULL, 0) < 0 || state < 0 || state >= count ||
        !words[state])
        return "unknown";
    return words[state];
}

/* What is missing is added to our copy of the XML. */
static enum answer
find_wiring(struct domain_view *view, const char *imds_address)
{
    const struct wire_options options = {.imds_address = imds_address};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_failure struct failure *failure = NULL;

    if (view->refused)
        return ANSWER_NO;
    if (wire_domain(&view->domain, &view->request, &options, &wiring, &failure) < 0)
        return ANSWER_NO;
    return wiring.change_count == 0 ? ANSWER_YES : ANSWER_NO;
}

/* Return: owned by the caller (free). */
static char *
place_of_seed(const struct domain_view *view, const char *uuid)
{
    const struct delivery *delivery =
        view->has_request ? delivery_for(&view->request, &view->domain) : &delivery_drive;

    return delivery->name(uuid);
}

static enum answer
fail_look(struct domain_status *status, int error, const char *name)
{
    cleanup_failure struct failure *failure = NULL;

    failure_set_errno(&failure, FAILURE_RUNDIR, error, "could not look at %s/%s",
                      VIRT_SEED_RUNDIR, name);
    failure_hint(&failure, "run it as root");
    take_unread(status, &failure);
    return ANSWER_UNKNOWN;
}

/* By its name: who may not list the directory may know that. */
static enum answer
find_seed(struct domain_status *status, int root, const struct domain_view *view)
{
    cleanup_close int rundir = fs_open_directory_in_root(root, VIRT_SEED_RUNDIR);
    cleanup_free char *name = place_of_seed(view, status->uuid);
    struct stat found;
    int error = rundir;

    if (rundir >= 0)
        error = fstatat(rundir, name, &found, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
    if (error == 0)
        return S_ISLNK(found.st_mode) ? ANSWER_NO : ANSWER_YES;
    return error == -ENOENT ? ANSWER_NO : fail_look(status, error, name);
}

/* --- the seed --------------------------------------------------------------------- */

/* What the guest has, or, where it never had a seed, would get. */
static void
describe_seed(struct domain_status *status, const struct domain_view *view,
              const struct record *record)
{
    const struct request *request = &view->request;

    if (record->boot.time) {
        status->datasource =
            record->boot.datasource ? xstrdup(record->boot.datasource) : NULL;
        status->instance_id =
            record->boot.instance_id ? xstrdup(record->boot.instance_id) : NULL;
        return;
    }
    if (!view->has_request)
        return;
    status->datasource = xstrdup(request_datasource_name(request->datasource));
    /* That of a ConfigDrive is made of this one. */
    if (!request_is_nocloud(request))
        return;
    if (request->instance_id_policy == INSTANCE_ID_FIXED)
        status->instance_id = xstrdup(request->instance_id);
    else if (request->instance_id_policy == INSTANCE_ID_DOMAIN)
        status->instance_id = xstrdup(status->uuid);
}

/* --- cloud-init ------------------------------------------------------------------- */

static void
add_error(struct domain_status *status, const char *text)
{
    json_must(json_array_append_new(status->errors, json_outside_string(text)));
}

static void
describe_report(struct domain_status *status, const struct guest_report *report,
                time_t written)
{
    status->result = report->state;
    status->stage = guest_report_last_stage(report);
    status->since = record_time(written);
    for (size_t i = 0; i < report->errors.count; i++)
        add_error(status, report->errors.list[i].text);
}

static void
describe_record(struct domain_status *status, const struct record *record)
{
    const struct record_result *result = &record->result;
    const char *time = result->time ? result->time : record->boot.time;

    if (!record->boot.time)
        return;
    status->result =
        guest_state_is_end(result->state) ? result->state : GUEST_STATE_UNFINISHED;
    status->since = xstrdup(time);
    for (size_t i = 0; i < result->error_count; i++)
        add_error(status, result->errors[i]);
}

/* The report of a guest that was saved is in the record. */
static void
describe_result(struct domain_status *status, int root, bool active,
                const struct record *record, struct failure **unreadable)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    cleanup_failure struct failure *failure = NULL;
    time_t written = 0;
    bool unread =
        active && report_read(root, status->uuid, &report, &written, &failure) < 0;

    if (!unread && report.state != GUEST_STATE_NOTHING) {
        describe_report(status, &report, written);
    } else if (unread || *unreadable) {
        status->result = GUEST_STATE_UNKNOWN;
        take_unread(status, unread ? &failure : unreadable);
    } else if (!active || guest_state_is_end(record->result.state)) {
        describe_record(status, record);
    } else if (written != 0) {
        status->result = GUEST_STATE_NOTHING;
    }
}

/* --- all of it ------------------------------------------------------------------------- */

/* Reads what the domain's XML says. One that is gone meanwhile is a failure of libvirt's; one
 * whose XML is odd has little in its status. */
static int
load_view(struct domain_view *view, virDomainPtr domain, const char *imds_address,
          struct domain_status *status, struct failure **failure)
{
    if (domain_view_load(view, domain, failure) == 0) {
        status->asks = !view->refused || view->refused->code != FAILURE_REQUEST_MISSING;
        status->wired = find_wiring(view, imds_address);
        return 0;
    }
    if ((*failure)->code == FAILURE_LIBVIRT)
        return -1;
    take_unread(status, failure);
    status->asks = true;
    status->wired = ANSWER_UNKNOWN;
    return 0;
}

int
domain_status_read(struct domain_status *status, int root, const char *imds_address,
                   virDomainPtr domain, struct failure **failure)
{
    cleanup_domain_view struct domain_view view = {0};
    cleanup_record struct record record = {0};
    cleanup_failure struct failure *unreadable = NULL;

    *status = (struct domain_status){
        .result = GUEST_STATE_UNTOLD,
        .stage = GUEST_STAGE_NONE,
    };
    if (load_view(&view, domain, imds_address, status, failure) < 0)
        return -1;
    status->name = xstrdup(virDomainGetName(domain));
    virDomainGetUUIDString(domain, status->uuid);
    status->state = find_state(domain);
    status->seed = find_seed(status, root, &view);
    status->errors = json_array();
    record_read(root, status->uuid, &record, &unreadable);
    describe_seed(status, &view, &record);
    describe_result(status, root, view.active, &record, &unreadable);
    return 0;
}

void
domain_status_clear(struct domain_status *status)
{
    free(status->name);
    free(status->datasource);
    free(status->instance_id);
    free(status->since);
    json_decref(status->errors);
    failure_free(status->unread);
    *status = (struct domain_status){0};
}
