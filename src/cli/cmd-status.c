/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of libvirt's domains: the wiring and the seed, what the guest was booted with, and how
 * far cloud-init is. It is read from the domain's XML, the run-time directory, the record of its
 * last boot and the guest's report, each as far as the caller may read it: what may not be read is
 * unknown, and not a failure.
 */
#include "config.h"

#include <libvirt/virterror.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/scope.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "cli/login.h"
#include "cli/status.h"
#include "store/configuration.h"
#include "store/consumption.h"
#include "store/delivery.h"
#include "store/guest-report.h"
#include "store/record.h"
#include "wire/wire.h"

struct options {
    const char *columns;
};

/* Keeps the reason why the status is incomplete; the first one is enough. */
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
    const int count = (int)(ARRAY_SIZE(words));
    int state;

    if (virDomainGetState(domain, &state, NULL, 0) < 0)
        return "unknown";
    return state >= 0 && state < count && words[state] ? words[state] : "unknown";
}

/* Return: whether there is a seed, or null if that is unknown; by the file's name, because the
 * caller need not be allowed to list the directory. `request` is NULL if the domain asks for
 * no seed. */
static json_t *
find_seed(struct domain_status *status, int root, const char *uuid,
          const struct domain *domain, const struct request *request)
{
    cleanup_close int rundir = fs_open_directory_in_root(root, scope()->rundir);
    const struct delivery *delivery = delivery_of_running(domain);
    cleanup_free char *name = NULL;
    cleanup_failure struct failure *failure = NULL;
    struct stat found;
    int error = rundir;

    if (request)
        delivery = delivery_for(request, domain_uses_shim(domain));
    name = delivery->storage->name(uuid);
    if (rundir >= 0)
        error = fstatat(rundir, name, &found, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
    if (error == -ENOENT || error == 0)
        return json_boolean(error == 0 && !S_ISLNK(found.st_mode));
    failure_set_errno(&failure, FAILURE_RUNDIR, error, "could not look at %s/%s\n%s",
                      scope()->rundir, name, scope_denied_hint());
    take_unread(status, &failure);
    return json_null();
}

/* --- the seed --------------------------------------------------------------------- */

/* What the guest has, or would get if it has never had a seed; `request` may be NULL. */
static void
describe_seed(json_t *json, const char *uuid, const struct request *request,
              const struct record *record)
{
    const char *datasource = record->boot.datasource;
    const char *instance_id = record->boot.instance_id;

    if (!record->boot.time && request) {
        datasource = request->datasource->name;
        /* A ConfigDrive derives another from the domain's UUID. */
        if (request->instance_id_policy == INSTANCE_ID_FIXED)
            instance_id = request->instance_id;
        else if (request->instance_id_policy == INSTANCE_ID_DOMAIN && !request->payload &&
                 !request->datasource->derives_instance_id)
            instance_id = uuid;
    }
    json_set(json, "datasource", json_pack("s?", datasource));
    json_set(json, "instance-id", json_pack("s?", instance_id));
}

/* Return: the documents' names after each other, owned by the caller (free), or NULL. */
static char *
list_documents(const struct record_boot *boot)
{
    cleanup_buffer struct buffer names = {0};

    for (size_t i = 0; i < boot->document_count; i++)
        buffer_printf(&names, "%s%s", i > 0 ? ", " : "", boot->documents[i].path);
    return names.size > 0 ? xstrdup(names.data) : NULL;
}

/* --- cloud-init ------------------------------------------------------------------- */

/* The record has the report of a guest that was saved, or is in a snapshot. */
static void
describe_result(struct domain_status *status, int root, virDomainPtr domain,
                const char *uuid, bool active, struct record *record,
                struct failure **unreadable)
{
    const time_t taken = active ? libvirt_snapshot_time(domain) : 0;
    struct record_result *earlier = taken ? record_result_at(record, taken) : NULL;
    struct record_result *result = earlier ? earlier : &record->result;
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    cleanup_failure struct failure *failure = NULL;
    cleanup_failure struct failure *unknown = NULL;
    enum guest_state state = GUEST_STATE_UNTOLD;
    enum guest_stage stage = GUEST_STAGE_NONE;
    cleanup_free char *since = NULL;
    json_t *errors = json_array(), *warnings = json_array();
    cleanup_json json_t *members = NULL;
    time_t written = 0;
    bool unread = active && report_read(root, uuid, &report, &written, &failure) < 0;

    if (!unread && report.state != GUEST_STATE_NOTHING) {
        state = report.state;
        stage = guest_report_last_stage(&report);
        since = record_time(written);
        for (size_t i = 0; i < report.errors.count; i++)
            json_add(errors, json_string(report.errors.list[i].text));
        for (size_t i = 0; i < report.warnings.count; i++)
            json_add(warnings, json_string(report.warnings.list[i].text));
        status->claim = report.claim;
        report.claim = (struct guest_claim){0};
    } else if (unread || *unreadable) {
        state = GUEST_STATE_UNKNOWN;
        take_unread(status, unread ? &failure : unreadable);
    } else if (record->boot.time && (!active || guest_state_is_end(result->state))) {
        state =
            guest_state_is_end(result->state) ? result->state : GUEST_STATE_UNFINISHED;
        since = xstrdup(result->time ? result->time : record->boot.time);
        for (size_t i = 0; i < result->error_count; i++)
            json_add(errors, json_string(result->errors[i]));
        for (size_t i = 0; i < result->warning_count; i++)
            json_add(warnings, json_string(result->warnings[i]));
        status->claim = result->claim;
        result->claim = (struct guest_claim){0};
    } else if (written != 0) {
        state = GUEST_STATE_NOTHING;
    }
    if (taken != 0 && state != GUEST_STATE_UNKNOWN && !guest_state_is_end(state)) {
        failure_set(
            &unknown, FAILURE_DOMAIN,
            "domain '%s' was reverted to a snapshot, and no result is recorded of "
            "the boot that this was taken of\n"
            "a guest that was done then does not report again before its next boot",
            virDomainGetName(domain));
        take_unread(status, &unknown);
        status->is_unreadable = true;
    }
    status->consumption =
        consumption_find(record, &status->claim, since, &status->reason);
    members =
        json_pack("{s:s?, s:s?, s:s?, s:o, s:o, s:o}", "result", guest_state_word(state),
                  "stage", guest_stage_name(stage), "since", since, "errors", errors,
                  "warnings", warnings, "guest-says",
                  consumption_pack(status->consumption, status->reason, &status->claim));
    json_must(json_object_update(status->json, members));
}

/* --- the address ------------------------------------------------------------------ */

/* Return: it, with a port as in a URL, owned by the caller (free); NULL if none is known. */
static char *
find_address(virDomainPtr running, const struct domain *domain,
             const struct guest_login *said)
{
    struct login_place place;

    login_find_place(&place, running, domain, said);
    if (!*place.address)
        return NULL;
    if (place.port == 0)
        return xstrdup(place.address);
    if (strchr(place.address, ':'))
        return xasprintf("[%s]:%ld", place.address, place.port);
    return xasprintf("%s:%ld", place.address, place.port);
}

/* --- the whole status --------------------------------------------------------------- */

/*
 * Reads the domain's status, as far as its XML can be read: libvirt cannot send one that is
 * too large. `imds_address` is the configured one, or NULL if it is unknown. Return: 0, or
 * -1 if the domain or the connection is gone; libvirt's last error is then
 * VIR_ERR_NO_DOMAIN in the first case.
 */
static int
read_status(struct domain_status *status, int root, const char *imds_address,
            virDomainPtr domain, struct failure **failure)
{
    cleanup_definition struct definition running = {0};
    cleanup_request struct request request = {0};
    cleanup_failure struct failure *refused = NULL;
    const struct request *asked = NULL;
    const bool active = virDomainIsActive(domain) > 0;
    const struct wire_options wire = {.imds_address = imds_address};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_record struct record record = {0};
    cleanup_failure struct failure *unreadable = NULL;
    cleanup_failure struct failure *ignored = NULL;
    cleanup_free char *address = NULL;
    char uuid[VIR_UUID_STRING_BUFLEN];
    json_t *wired = json_false();

    *status = (struct domain_status){.json = NULL};
    if (definition_load_running(&running, domain, failure) == 0) {
        if (request_read(&request, &running.domain, &refused) == 0)
            asked = &request;
        status->wants_seed = asked || refused->code != FAILURE_REQUEST_MISSING;
        /* What is missing is added to our copy of the XML. */
        if (asked && wire_domain(&running.domain, asked, &wire, &wiring, &ignored) == 0 &&
            wiring.change_count == 0)
            wired = json_true();
    } else if (virGetLastErrorCode() == VIR_ERR_NO_DOMAIN ||
               virConnectIsAlive(virDomainGetConnect(domain)) != 1) {
        return -1;
    } else {
        status->is_unreadable = true;
        if ((*failure)->code != FAILURE_LIBVIRT)
            failure_prefix(failure, "domain '%s'", virDomainGetName(domain));
        take_unread(status, failure);
        status->wants_seed = true;
        wired = json_null();
    }
    virDomainGetUUIDString(domain, uuid);
    status->json =
        json_pack("{s:s, s:s, s:s, s:o, s:o}", "domain", virDomainGetName(domain), "uuid",
                  uuid, "state", find_state(domain), "wired", wired, "seed",
                  find_seed(status, root, uuid, &running.domain, asked));
    record_read(root, uuid, &record, &unreadable);
    describe_seed(status->json, uuid, asked, &record);
    status->documents = list_documents(&record.boot);
    describe_result(status, root, domain, uuid, active, &record, &unreadable);
    if (running.domain.root)
        address = find_address(domain, &running.domain, &status->claim.login);
    json_set(status->json, "address", json_pack("s?", address));
    json_set(status->json, "message",
             json_pack("s?", status->unread ? status->unread->message : NULL));
    return 0;
}

/* --- rows ------------------------------------------------------------------------- */

static void
rows_clear(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct domain_status *row = &rows->list[i];

        json_decref(row->json);
        free(row->documents);
        guest_claim_clear(&row->claim);
        failure_free(row->unread);
    }
    free(rows->list);
}

/* A domain that has gone since the list was made gets no row. */
static int
add_row(struct rows *rows, virDomainPtr domain, struct failure **failure)
{
    struct domain_status row;

    if (read_status(&row, rows->root, rows->config->imds_address, domain, failure) < 0) {
        if (virGetLastErrorCode() != VIR_ERR_NO_DOMAIN)
            return -1;
        failure_free(steal(*failure));
        return 0;
    }
    *array_add(rows->list, rows->count) = row;
    return 0;
}

/* Adds the named domains in their order, or all of them. */
static int
collect(struct rows *rows, struct operands *operands, const struct context *context,
        virConnectPtr connection, struct failure **failure)
{
    const bool all = context->operand_count == 0;

    if (operands_expand(operands, context, connection, failure) < 0)
        return -1;
    if (all &&
        libvirt_expand(connection, NULL, &operands->list, &operands->count, failure) < 0)
        return -1;
    for (size_t i = 0; i < operands->count; i++) {
        cleanup_failure struct failure *reason = NULL;
        cleanup_libvirt_domain virDomainPtr domain =
            libvirt_find_domain(connection, operands->list[i], &reason);

        if (!domain && all && reason->code == FAILURE_DOMAIN_MISSING)
            continue;
        if (!domain || add_row(rows, domain, &reason) < 0) {
            *failure = steal(reason);
            return -1;
        }
    }
    return 0;
}

/* What the caller may not read of one domain, they may not read of any: then one reason is
 * enough. So it is if the same domain was named twice. */
static void
print_reasons(const struct rows *rows)
{
    const char *last = "";
    bool is_printed = false;

    for (size_t i = 0; i < rows->count; i++) {
        const struct domain_status *row = &rows->list[i];

        if (!row->unread || (is_printed && !row->is_unreadable))
            continue;
        if (strcmp(row->unread->message, last) == 0)
            continue;
        is_printed = is_printed || !row->is_unreadable;
        last = row->unread->message;
        print_warning(row->unread);
    }
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    struct status_table table = {.count = 0};
    cleanup_config struct config config = {0};
    cleanup_failure struct failure *mistake = NULL;
    cleanup_operands struct operands operands = {0};
    __attribute__((cleanup(rows_clear))) struct rows rows = {.root = context->root,
                                                             .config = &config};
    cleanup_connection virConnectPtr connection = NULL;

    if (status_read_table(&table, options->columns, failure) < 0)
        return -1;
    connection = libvirt_connect_here(context, true, failure);
    /* A mistake in it does not matter here; `check` reports it. */
    config_read(&config, context->root, &mistake);
    if (!connection || collect(&rows, &operands, context, connection, failure) < 0)
        return -1;
    if (context->json)
        status_print_json(&rows);
    else if (context->operand_count == 1 && rows.count == 1 && !options->columns)
        status_print_page(&rows.list[0]);
    else if (rows.count > 0 || context->operand_count == 0)
        status_print_table(&rows, &table);
    if (!context->quiet) {
        print_reasons(&rows);
        if (scope()->home && !context->json && context->operand_count == 0)
            fputs("virt-seed: note: these are the domains in your session "
                  "(qemu:///session); add -c qemu:///system for the host's\n",
                  stderr);
    }
    return operands.is_incomplete ? STATUS_FAILURE : STATUS_OK;
}

static const struct option_row rows[] = {
    OPTION('o', "output", "COLUMN,…", columns,
           "print these columns: domain, uuid, state, wired, seed, datasource, "
           "instance-id, cloud-init, since, address, guest-says"),
    OPTION_END,
};

const struct command cmd_status = {
    .name = "status",
    .operands = "[DOMAIN…]",
    .summary = "show which domains have a seed, and their progress",
    .help =
        "Prints a table of the domains that you name, or of all domains: whether they\n"
        "run, cloud-init's progress or result, and the guest's address; or, if you name\n"
        "one, all that is known of it. '-' means none. '?' means that it could not be\n"
        "read, usually because you lack permission; a warning says why.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON,
    .run = run,
};
