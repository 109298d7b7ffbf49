/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of libvirt's domains: the wiring and the seed, what the guest was booted with, and how
 * far cloud-init is. It is read from the domain's XML, the run-time directory, the record of its
 * last boot and the guest's report, each as far as the caller may read it: what may not be read is
 * unknown, and not a failure.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <libsmartcols.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "base/failure.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/scope.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "host/configuration.h"
#include "store/consumption.h"
#include "store/delivery.h"
#include "store/guest-report.h"
#include "store/record.h"
#include "wire/wire.h"

enum answer {
    ANSWER_NO,
    ANSWER_YES,
    ANSWER_UNKNOWN,
};

struct domain_status {
    char *name;
    char uuid[VIR_UUID_STRING_BUFLEN];
    const char *state; /* "running", "off", … */
    bool wants_seed;
    enum answer wired;
    enum answer seed; /* whether there is one */
    char *datasource; /* that the guest was last booted with, or else would be; or NULL */
    char *instance_id;       /* the same */
    enum guest_state result; /* of cloud-init */
    enum guest_stage stage;  /* the last one that has begun, or GUEST_STAGE_NONE */
    char *since;    /* since when, by the host's clock; NULL if that is not known */
    json_t *errors; /* a list of strings */
    enum consumption consumption; /* of the seed, as the guest claims */
    const char *reason;           /* for that, or NULL */
    struct guest_claim claim;
    struct failure *unread; /* why something is unknown; NULL if nothing is. Owned */
    bool is_unreadable;     /* for a reason that is its own */
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

/* By the file's name, because the caller need not be allowed to list the directory. `request`
 * is NULL if the domain asks for no seed. */
static enum answer
find_seed(struct domain_status *status, int root, const struct domain *domain,
          const struct request *request)
{
    cleanup_close int rundir = fs_open_directory_in_root(root, scope()->rundir);
    const struct delivery *delivery = delivery_of_running(domain);
    cleanup_free char *name = NULL;
    cleanup_failure struct failure *failure = NULL;
    struct stat found;
    int error = rundir;

    if (request)
        delivery = delivery_for(request, domain_uses_shim(domain));
    name = delivery->storage->name(status->uuid);
    if (rundir >= 0)
        error = fstatat(rundir, name, &found, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
    if (error == -ENOENT || (error == 0 && S_ISLNK(found.st_mode)))
        return ANSWER_NO;
    if (error == 0)
        return ANSWER_YES;
    failure_set_errno(&failure, FAILURE_RUNDIR, error, "could not look at %s/%s\n%s",
                      scope()->rundir, name, scope()->denied_hint);
    take_unread(status, &failure);
    return ANSWER_UNKNOWN;
}

/* --- the seed --------------------------------------------------------------------- */

/* What the guest has, or would get if it has never had a seed; `request` may be NULL. */
static void
describe_seed(struct domain_status *status, const struct request *request,
              const struct record *record)
{
    if (record->boot.time) {
        status->datasource =
            record->boot.datasource ? xstrdup(record->boot.datasource) : NULL;
        status->instance_id =
            record->boot.instance_id ? xstrdup(record->boot.instance_id) : NULL;
        return;
    }
    if (!request)
        return;
    status->datasource = xstrdup(request->datasource->name);
    /* A ConfigDrive derives another from the domain's UUID. */
    if (request->instance_id_policy == INSTANCE_ID_FIXED)
        status->instance_id = xstrdup(request->instance_id);
    else if (request->instance_id_policy == INSTANCE_ID_DOMAIN && !request->payload &&
             !request->datasource->derives_instance_id)
        status->instance_id = xstrdup(status->uuid);
}

/* --- cloud-init ------------------------------------------------------------------- */

/* The record has the report of a guest that was saved, or is in a snapshot; `taken` is that
 * of libvirt_snapshot_time(). */
static void
describe_result(struct domain_status *status, int root, bool active, time_t taken,
                struct record *record, struct failure **unreadable)
{
    struct record_result *earlier = taken ? record_result_at(record, taken) : NULL;
    struct record_result *result = earlier ? earlier : &record->result;
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    cleanup_failure struct failure *failure = NULL;
    cleanup_failure struct failure *unknown = NULL;
    time_t written = 0;
    bool unread =
        active && report_read(root, status->uuid, &report, &written, &failure) < 0;

    if (!unread && report.state != GUEST_STATE_NOTHING) {
        status->result = report.state;
        status->stage = guest_report_last_stage(&report);
        status->since = record_time(written);
        for (size_t i = 0; i < report.errors.count; i++)
            json_add(status->errors, json_string(report.errors.list[i].text));
        status->claim = report.claim;
        report.claim = (struct guest_claim){0};
    } else if (unread || *unreadable) {
        status->result = GUEST_STATE_UNKNOWN;
        take_unread(status, unread ? &failure : unreadable);
    } else if (record->boot.time && (!active || guest_state_is_end(result->state))) {
        status->result =
            guest_state_is_end(result->state) ? result->state : GUEST_STATE_UNFINISHED;
        status->since = xstrdup(result->time ? result->time : record->boot.time);
        for (size_t i = 0; i < result->error_count; i++)
            json_add(status->errors, json_string(result->errors[i]));
        status->claim = result->claim;
        result->claim = (struct guest_claim){0};
    } else if (written != 0) {
        status->result = GUEST_STATE_NOTHING;
    }
    if (taken != 0 && status->result != GUEST_STATE_UNKNOWN &&
        !guest_state_is_end(status->result)) {
        failure_set(
            &unknown, FAILURE_DOMAIN,
            "domain '%s' was reverted to a snapshot, and no result is recorded of "
            "the boot that this was taken of\n"
            "a guest that was done then does not report again before its next boot",
            status->name);
        take_unread(status, &unknown);
        status->is_unreadable = true;
    }
    status->consumption =
        consumption_find(record, &status->claim, status->since, &status->reason);
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

    *status = (struct domain_status){
        .result = GUEST_STATE_UNTOLD,
        .stage = GUEST_STAGE_NONE,
    };
    if (definition_load_running(&running, domain, failure) == 0) {
        if (request_read(&request, &running.domain, &refused) == 0)
            asked = &request;
        status->wants_seed = asked || refused->code != FAILURE_REQUEST_MISSING;
        /* What is missing is added to our copy of the XML. */
        if (asked && wire_domain(&running.domain, asked, &wire, &wiring, &ignored) == 0 &&
            wiring.change_count == 0)
            status->wired = ANSWER_YES;
    } else if (virGetLastErrorCode() == VIR_ERR_NO_DOMAIN ||
               virConnectIsAlive(virDomainGetConnect(domain)) != 1) {
        return -1;
    } else {
        status->is_unreadable = true;
        if ((*failure)->code != FAILURE_LIBVIRT)
            failure_prefix(failure, "domain '%s'", virDomainGetName(domain));
        take_unread(status, failure);
        status->wants_seed = true;
        status->wired = ANSWER_UNKNOWN;
    }
    status->name = xstrdup(virDomainGetName(domain));
    virDomainGetUUIDString(domain, status->uuid);
    status->state = find_state(domain);
    status->seed = find_seed(status, root, &running.domain, asked);
    status->errors = json_array();
    record_read(root, status->uuid, &record, &unreadable);
    describe_seed(status, asked, &record);
    describe_result(status, root, active, active ? libvirt_snapshot_time(domain) : 0,
                    &record, &unreadable);
    return 0;
}

/* --- rows ------------------------------------------------------------------------- */

struct rows {
    int root;                    /* borrowed */
    const struct config *config; /* borrowed */
    struct domain_status *list;
    size_t count;
};

static void
rows_clear(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct domain_status *row = &rows->list[i];

        free(row->name);
        free(row->datasource);
        free(row->instance_id);
        free(row->since);
        json_decref(row->errors);
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

static int
compare_names(const void *one, const void *other)
{
    return strcmp(((const struct domain_status *)one)->name,
                  ((const struct domain_status *)other)->name);
}

/* Adds the named domains in their order. */
static int
collect_named(struct rows *rows, const struct operands *operands,
              virConnectPtr connection, struct failure **failure)
{
    for (size_t i = 0; i < operands->count; i++) {
        cleanup_libvirt_domain virDomainPtr domain =
            libvirt_find_domain(connection, operands->list[i], failure);

        if (!domain || add_row(rows, domain, failure) < 0)
            return -1;
    }
    return 0;
}

/* Adds all domains, sorted by name. */
static int
collect_all(struct rows *rows, virConnectPtr connection, struct failure **failure)
{
    virDomainPtr *domains = NULL;
    int count = virConnectListAllDomains(connection, &domains, 0);
    int result = 0;

    if (count < 0)
        return libvirt_fail(failure, "could not list the domains");
    for (int i = 0; i < count; i++) {
        if (result == 0)
            result = add_row(rows, domains[i], failure);
        virDomainFree(domains[i]);
    }
    free(domains);
    if (rows->count > 0)
        qsort(rows->list, rows->count, sizeof(rows->list[0]), compare_names);
    return result;
}

/* --- output ----------------------------------------------------------------------- */

static json_t *
pack_answer(enum answer answer)
{
    return answer == ANSWER_UNKNOWN ? json_null() : json_boolean(answer == ANSWER_YES);
}

static void
print_json(const struct rows *rows)
{
    json_t *list = json_array();

    for (size_t i = 0; i < rows->count; i++) {
        const struct domain_status *row = &rows->list[i];

        json_add(list,
                 json_pack("{s:s, s:s, s:s, s:o, s:o, s:s?, s:s?, s:s?, s:s?, s:s?, s:O, "
                           "s:o, s:s?}",
                           "domain", row->name, "uuid", row->uuid, "state", row->state,
                           "wired", pack_answer(row->wired), "seed",
                           pack_answer(row->seed), "datasource", row->datasource,
                           "instance-id", row->instance_id, "result",
                           guest_state_word(row->result), "stage",
                           guest_stage_name(row->stage), "since", row->since, "errors",
                           row->errors, "guest-says",
                           consumption_pack(row->consumption, row->reason, &row->claim),
                           "message", row->unread ? row->unread->message : NULL));
    }
    json_print(list);
}

static const char *
word_of(const struct domain_status *row, enum answer answer)
{
    if (answer == ANSWER_UNKNOWN)
        return "?";
    if (answer == ANSWER_NO && !row->wants_seed)
        return "-";
    return answer == ANSWER_YES ? "yes" : "no";
}

/* Adds a line to the table: of each text a copy that can be shown, "-" for NULL and "". */
static void
add_line(struct libscols_table *table, const char *const *texts)
{
    struct libscols_line *line = xchecked(scols_table_new_line(table, NULL));

    for (size_t i = 0; i < scols_table_get_ncols(table); i++) {
        char *copy = xstrdup(texts[i] && *texts[i] ? texts[i] : "-");

        utf8_replace_controls(copy);
        if (scols_line_refer_data(line, i, copy) < 0)
            abort();
    }
}

static void
add_domain(struct libscols_table *table, const struct domain_status *row)
{
    const char *stage = guest_stage_name(row->stage);
    const char *result = guest_state_word(row->result);
    bool is_silent =
        row->consumption == CONSUMPTION_UNKNOWN &&
        (row->result == GUEST_STATE_NOTHING || row->result == GUEST_STATE_UNFINISHED);
    cleanup_free char *says = consumption_describe(row->consumption, row->reason);
    cleanup_free char *running = NULL;

    if (row->result == GUEST_STATE_UNKNOWN)
        result = "?";
    else if (row->result == GUEST_STATE_RUNNING && stage)
        result = running = xasprintf("%s, %s", result, stage);
    add_line(table, (const char *const[]){row->name, row->state, word_of(row, row->wired),
                                          word_of(row, row->seed), row->datasource,
                                          row->instance_id, result, row->since,
                                          is_silent ? "nothing" : says});
}

/* main sets no locale, so that nothing else depends on one. But libc and libsmartcols only
 * know the width of a character in a UTF-8 locale; they get one that every glibc has. */
static void
print_table(const struct rows *rows)
{
    static const char *const titles[] = {"DOMAIN",     "STATE",      "WIRED",
                                         "SEED",       "DATASOURCE", "INSTANCE-ID",
                                         "CLOUD-INIT", "SINCE",      "GUEST SAYS"};
    struct libscols_table *table = xchecked(scols_new_table());
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = uselocale(utf8);

    /* The titles are an ordinary line, which is printed even if it is the only one. */
    scols_table_enable_noheadings(table, 1);
    scols_table_enable_noencoding(table, 1);
    scols_table_set_column_separator(table, "  ");
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
        xchecked(scols_table_new_column(table, "", 0, 0));
    add_line(table, titles);
    for (size_t i = 0; i < rows->count; i++)
        add_domain(table, &rows->list[i]);
    scols_print_table(table);
    scols_unref_table(table);
    uselocale(before);
    if (utf8)
        freelocale(utf8);
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
    cleanup_config struct config config = {0};
    cleanup_failure struct failure *mistake = NULL;
    cleanup_operands struct operands operands = {0};
    int result;
    __attribute__((cleanup(rows_clear))) struct rows rows = {.root = context->root,
                                                             .config = &config};
    cleanup_connection virConnectPtr connection =
        libvirt_connect_here(context, true, failure);

    /* A mistake in it does not matter here; `check` reports it. */
    config_read(&config, context->root, &mistake);
    if (!connection || operands_expand(&operands, context, connection, failure) < 0)
        return -1;
    if (context->operand_count > 0)
        result = collect_named(&rows, &operands, connection, failure);
    else
        result = collect_all(&rows, connection, failure);
    if (result < 0)
        return -1;
    if (context->json)
        print_json(&rows);
    else
        print_table(&rows);
    if (!context->quiet) {
        print_reasons(&rows);
        if (scope()->home && !context->json && context->operand_count == 0)
            fputs("virt-seed: note: these are the domains in your session "
                  "(qemu:///session); add -c qemu:///system for the host's\n",
                  stderr);
    }
    return operands.is_incomplete ? STATUS_FAILURE : STATUS_OK;
}

const struct command cmd_status = {
    .name = "status",
    .operands = "[DOMAIN…]",
    .summary = "show which domains have a seed, and their progress",
    .help =
        "Prints a table of the domains that you name, or of all domains: whether they\n"
        "run, are wired and have a seed, the guest's instance-id, and cloud-init's\n"
        "progress or result. '-' means none. '?' means that it could not be read, usually\n"
        "because you lack permission; a warning says why.\n",
    .takes = TAKES_JSON,
    .run = run,
};
