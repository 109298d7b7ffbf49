/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: first all domains are looked at, and nothing is changed if one of them cannot
 * be done or the answer is no. Then, one after another, each gets an instance-id that its
 * guest has never had, unless the next start has one anyway; the running domain gets the seed
 * of that; and it is rebooted, or started. The guests are waited for side by side
 * (cli/waiting.h).
 *
 * A new instance-id is the old one, or the domain's UUID, with the time: cloud-init remembers
 * all that it has ever had, and does nothing for one of these.
 */
#include "config.h"

#include "cli/ask.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/comparison.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "cli/running-seed.h"
#include "cli/set.h"
#include "cli/waiting.h"
#include "domain/element.h"
#include "domain/request.h"
#include "domain/xml.h"

struct options {
    struct waiting_options waiting;
    bool yes;
};

/* A domain that is made what its definition says. */
struct job {
    char *uuid;
    char *name;
    bool is_active;
    char *instance_id; /* NULL if the next start is another instance anyway */
    struct guest *guest;
};

struct applying {
    const struct context *context;
    const struct options *options;
    struct waiting waiting;
    struct job *jobs;
    size_t count;
};

/* --- the instance-id -------------------------------------------------------------------- */

/* "-20261127T191500Z" */
#define TIME_FORMAT "-%Y%m%dT%H%M%SZ"
#define TIME_LENGTH 17

/* Return: owned by the caller (free). */
static char *
make_instance_id(const struct request *request)
{
    const char *before =
        request->instance_id ? request->instance_id : request->domain->uuid;
    const time_t now = time(NULL);
    size_t length = strlen(before);
    const char *end = NULL;
    char text[TIME_LENGTH + 1];
    struct tm parts = {0};

    /* The time that it got here before is replaced. */
    if (length > TIME_LENGTH)
        end = strptime(before + length - TIME_LENGTH, TIME_FORMAT, &parts);
    if (end && !*end)
        length -= TIME_LENGTH;
    if (length > LIMIT_INSTANCE_ID - TIME_LENGTH)
        length = LIMIT_INSTANCE_ID - TIME_LENGTH;
    strftime(text, sizeof(text), TIME_FORMAT, gmtime_r(&now, &parts));
    return xasprintf("%.*s%s", (int)length, before, text);
}

/* --- looking ---------------------------------------------------------------------------- */

/* Fails if neither a reboot nor a start would have the guest apply its definition. */
static int
check_guest(const struct comparison *comparison, struct failure **failure)
{
    if (!request_find(&comparison->source.domain))
        return failure_set(failure, FAILURE_REQUEST_MISSING,
                           "has no <cloud-init> element\n"
                           "give it one: virt-seed set");
    if (comparison->is_done)
        return failure_set(failure, FAILURE_DOMAIN,
                           "is recorded as done, and gets its identity alone\n"
                           "revert that first: virt-seed done --undo");
    if (comparison->is_saved)
        return failure_set(failure, FAILURE_DOMAIN,
                           "was saved, and its next start resumes the guest, which then "
                           "reads no seed\n"
                           "start it and shut it down first, or drop what was saved: "
                           "virsh managedsave-remove");
    if (comparison->boot == NEXT_BOOT_KEPT)
        return failure_set(
            failure, FAILURE_DOMAIN,
            "has a guest that keeps what it has read (cache=\"keep\")\n"
            "run 'cloud-init clean --reboot' in it after 'virt-seed update'");
    return 0;
}

/* `policy="content"` makes another id whenever what it covers changes; if it does not,
 * somebody must decide. */
static int
choose_instance_id(struct job *job, const struct comparison *comparison,
                   struct failure **failure)
{
    cleanup_request struct request request = {0};

    if (comparison->boot == NEXT_BOOT_NEW_INSTANCE ||
        comparison->boot == NEXT_BOOT_UNRECORDED)
        return 0;
    if (request_read(&request, &comparison->source.domain, failure) < 0)
        return -1;
    if (request.instance_id_policy == INSTANCE_ID_CONTENT)
        return failure_set(
            failure, FAILURE_INSTANCE_ID,
            "has policy=\"content\", whose instance-id what has changed does "
            "not change\n"
            "give it one of your own: virt-seed set --instance-id=ID");
    job->instance_id = make_instance_id(&request);
    return 0;
}

static void
print_plan(const struct job *job, const struct comparison *comparison)
{
    pending_print_documents(comparison, false);
    for (size_t i = 0; i < comparison->wiring.change_count; i++)
        print_outside_line(stdout, "wiring: %s", comparison->wiring.changes[i]);
    print_outside_line(stdout, "instance-id: %s, %s",
                       job->instance_id ? job->instance_id
                                        : comparison->identity.instance_id,
                       job->instance_id ? "which is new" : "as the definition says");
}

/* The seed of a running domain must be one that can be replaced. */
static int
check_update(const struct context *context, const struct comparison *comparison,
             struct failure **failure)
{
    struct context dry = *context;
    const char *where;

    dry.dry_run = true;
    return running_seed_update(&dry, &comparison->source, &where, failure) < 0 ? -1 : 0;
}

/* Adds the domain, unless nothing is pending. */
static int
plan(struct applying *applying, char *uuid, struct failure **failure)
{
    struct context context = *applying->context;
    cleanup_comparison struct comparison comparison = {0};
    struct job job = {.uuid = uuid};
    const char *name;

    context.operands = &uuid;
    context.operand_count = 1;
    if (comparison_read(&comparison, &context, failure) < 0)
        return -1;
    name = comparison.source.domain.name;
    if (comparison.denied) {
        *failure = steal(comparison.denied);
        return failure_prefix(failure, "domain '%s': not all could be compared", name);
    }
    job.is_active = comparison.running.doc != NULL;
    if (check_guest(&comparison, failure) < 0)
        return failure_prefix(failure, "domain '%s'", name);
    if (!pending_has_changes(&comparison)) {
        if (!applying->context->quiet)
            print_outside_line(stdout, "%s: nothing is pending", name);
        return 0;
    }
    if (choose_instance_id(&job, &comparison, failure) < 0 ||
        (job.is_active && check_update(&context, &comparison, failure) < 0))
        return failure_prefix(failure, "domain '%s'", name);
    job.uuid = xstrdup(uuid);
    job.name = xstrdup(name);
    if (!applying->context->quiet) {
        print_outside_line(stdout, "==> %s <==", name);
        print_plan(&job, &comparison);
    }
    *array_add(applying->jobs, applying->count) = job;
    return 0;
}

static int
plan_all(struct applying *applying, struct failure **failure)
{
    const struct context *context = applying->context;
    cleanup_operands struct operands domains = {0};

    for (size_t i = 0; i < context->operand_count; i++) {
        if (libvirt_expand(applying->waiting.connection, context->operands[i],
                           &domains.list, &domains.count, failure) < 0)
            return -1;
    }
    for (size_t i = 0; i < domains.count; i++) {
        if (plan(applying, domains.list[i], failure) < 0)
            return -1;
    }
    return 0;
}

/* Return: 1 to go on, 0 to leave everything as it is, or -1. */
static int
confirm(const struct applying *applying, struct failure **failure)
{
    cleanup_buffer struct buffer question = {0};

    if (applying->options->yes)
        return 1;
    if (!isatty(STDIN_FILENO))
        return failure_set(failure, FAILURE_USAGE,
                           "standard input is not a terminal, and nobody can be asked\n"
                           "give --yes to set these guests up again without a question");
    for (size_t i = 0; i < applying->count; i++)
        buffer_printf(&question, "%s%s %s", i > 0 ? ", " : "",
                      applying->jobs[i].is_active ? "Reboot" : "Start",
                      applying->jobs[i].name);
    buffer_append_string(&question,
                         " now, where cloud-init sets everything up again, with new ssh "
                         "host keys unless the seed has some?");
    return ask_yes(question.data) ? 1 : 0;
}

/* --- doing ------------------------------------------------------------------------------ */

/* As 'virt-seed set --instance-id', or 'wire' if there is no new one. */
static int
change_definition(const struct context *context, const struct job *job,
                  struct failure **failure)
{
    const struct change_options change = {.summary = NULL};
    struct context quiet = *context;
    cleanup_definition struct definition definition = {0};
    cleanup_wiring struct wiring wiring = {0};
    xmlNode *element, *node;
    size_t written;

    quiet.quiet = true;
    if (definition_load_domain(&definition, context, job->uuid, DEFINITION_CHANGE,
                               failure) < 0)
        return -1;
    element = request_find(&definition.domain);
    if (element && job->instance_id) {
        set_remove_all(element, "instance-id");
        node = set_indent(element_add_text(element, "instance-id", job->instance_id));
        xml_set_attribute(node, "policy", "fixed");
        wiring_note(&wiring, "instance-id written");
    }
    written = wiring.change_count;
    /* This fails if somebody has removed the element meanwhile. */
    if (definition_wire(&definition, context, (struct wire_options){.add_log = true},
                        &wiring, failure) < 0)
        return -1;
    definition.request_alone = wiring.change_count == written;
    return definition_commit(&definition, &quiet, &change, "", &wiring, failure);
}

static int
boot(const struct context *context, struct job *job, struct failure **failure)
{
    cleanup_definition struct definition source = {0};
    const char *where;

    if (definition_load_domain(&source, context, job->uuid, DEFINITION_DEVICE, failure) <
        0)
        return -1;
    if (!job->is_active) {
        waiting_begin_start(job->guest);
        if (virDomainCreate(source.libvirt) < 0)
            return libvirt_fail_start(job->name, failure);
        return 0;
    }
    if (running_seed_update(context, &source, &where, failure) < 0)
        return failure_prefix(failure, "domain '%s'", job->name);
    waiting_begin_reboot(job->guest);
    if (virDomainReboot(source.libvirt, 0) < 0)
        return libvirt_fail(failure, "domain '%s' could not be rebooted", job->name);
    progress_note(&job->guest->progress, "reboots");
    return 0;
}

static int
apply_all(struct applying *applying, struct failure **failure)
{
    const struct context *context = applying->context;

    for (size_t i = 0; i < applying->count; i++) {
        struct job *job = &applying->jobs[i];

        job->guest = waiting_add(&applying->waiting, job->uuid, failure);
        if (!job->guest)
            return -1;
    }
    for (size_t i = 0; i < applying->count; i++) {
        struct job *job = &applying->jobs[i];
        cleanup_failure struct failure *failed = NULL;

        if (change_definition(context, job, &failed) == 0 &&
            boot(context, job, &failed) < 0)
            failure_prefix(&failed, "its definition is changed");
        if (failed)
            waiting_finish(job->guest, "error", STATUS_FAILURE, NULL, failed);
    }
    return waiting_run(&applying->waiting, failure);
}

/* --- the command ------------------------------------------------------------------------ */

/* Return: 1 if the answer was no, else 0 or -1. */
static int
run_all(struct applying *applying, struct failure **failure)
{
    int answer;

    /* A question has no time limit, and a start that has begun is completed. */
    alarm(0);
    if (plan_all(applying, failure) < 0)
        return -1;
    if (applying->count == 0 || applying->context->dry_run)
        return 0;
    answer = confirm(applying, failure);
    if (answer < 0)
        return -1;
    if (answer == 0) {
        fputs("virt-seed: nothing was changed\n", stderr);
        return 1;
    }
    return apply_all(applying, failure);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    struct applying applying = {.context = context, .options = data};
    int result = -1;
    int status;

    if (waiting_open(&applying.waiting, context, &applying.options->waiting, failure) ==
        0)
        result = run_all(&applying, failure);
    status = waiting_close(&applying.waiting, *failure);
    for (size_t i = 0; i < applying.count; i++) {
        free(applying.jobs[i].uuid);
        free(applying.jobs[i].name);
        free(applying.jobs[i].instance_id);
    }
    free(applying.jobs);
    return result == 1 ? STATUS_FAILURE : status;
}

static const struct option_row rows[] = {
    OPTION(0, "yes", NULL, yes, "do not ask"),
    WAITING_ROWS,
    OPTION_END,
};

const struct command cmd_apply = {
    .name = "apply",
    .operands = "DOMAIN…",
    .summary = "make a guest what its definition says, now",
    .help =
        "Shows what is pending and asks; then makes the guest another instance, puts the\n"
        "new seed in place of the one that the domain runs with, reboots the guest (or\n"
        "starts it, if the domain is off), and waits for that boot as 'virt-seed wait'\n"
        "does, with the same exit status. cloud-init then does everything again. If\n"
        "nothing is pending, it does nothing. If one of several domains cannot be done,\n"
        "none is.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_DRY_RUN,
    .run = run,
};
