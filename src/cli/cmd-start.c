/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libvirt has no call that starts a domain and returns at once, so a few
 * threads wire and start the domains, one after another each. The main thread waits for
 * the guests meanwhile (cli/waiting.h). A thread adds a timer to its event loop for each
 * domain that it is done with; the job holds the result, and only its thread touches it
 * until then.
 */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>

#include <libvirt/virterror.h>

#include "base/scope.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/libvirt.h"
#include "cli/waiting.h"

/* libvirt's daemon serves up to five calls of one client at a time (libvirtd.conf,
 * max_client_requests); one of them is kept free for the waiting. */
#define THREADS 4

struct options {
    struct waiting_options waiting;
    bool all;
};

/* A domain to start. */
struct job {
    const struct starting *starting;
    struct guest *guest;
    virDomainPtr domain; /* of the connection that may change it */
    bool wired;          /* now */
    bool was_active;     /* somebody else has started it */
    struct failure *failure;
};

struct starting {
    const struct context *context;
    const struct options *options;
    virConnectPtr connection; /* to change and to start */
    struct waiting waiting;
    struct job *jobs;
    size_t count;
    atomic_size_t next;    /* job that no thread has begun */
    atomic_bool is_ending; /* no further job is begun */
    pthread_t threads[THREADS];
    size_t thread_count;
};

/* --- starting ---------------------------------------------------------------------- */

static void
start(const struct starting *starting, struct job *job)
{
    /* The next call to libvirt clears its last error. */
    const char *name = virDomainGetName(job->domain);
    cleanup_maker_result struct maker_result wired = {0};
    int result = definition_wire_in_libvirt(starting->context, starting->connection,
                                            job->domain, &wired, &job->failure);

    job->wired = result > 0;
    if (result < 0 || virDomainCreate(job->domain) == 0)
        return;
    libvirt_fail_start(name, &job->failure);
    job->was_active = virDomainIsActive(job->domain) == 1;
    if (job->was_active)
        failure_free(steal(job->failure));
}

static const char *
running_word(const struct context *context)
{
    return context->json ? "running" : "is already running";
}

/* The main thread's part, once it is done. */
static void
take_job(int timer, void *data)
{
    struct job *job = data;
    const struct starting *starting = job->starting;
    struct guest *guest = job->guest;

    virEventRemoveTimeout(timer);
    if (guest->is_finished)
        return;
    if (job->failure) {
        waiting_finish(guest, "error", STATUS_FAILURE, NULL, job->failure);
    } else if (starting->options->waiting.no_wait) {
        waiting_finish(guest,
                       job->was_active ? running_word(starting->context) : "started",
                       STATUS_OK, NULL, NULL);
    } else if (job->was_active) {
        progress_note(&guest->progress, running_word(starting->context));
        guest->next = false;
        guest->starts = false;
        /* Since it was added. */
        guest->has_run = true;
        waiting_begin(guest);
    } else if (job->wired && !guest->begun) {
        progress_note(&guest->progress, "wired");
    }
}

static void *
run_thread(void *data)
{
    struct starting *starting = data;

    while (!starting->is_ending) {
        size_t index = starting->next++;

        if (index >= starting->count)
            break;
        start(starting, &starting->jobs[index]);
        virEventAddTimeout(0, take_job, &starting->jobs[index], NULL);
    }
    return NULL;
}

/* Signals are left to the main thread. */
static int
start_threads(struct starting *starting, struct failure **failure)
{
    sigset_t all, before;
    int error = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (error == 0 && starting->thread_count < THREADS &&
           starting->thread_count < starting->count) {
        error = pthread_create(&starting->threads[starting->thread_count], NULL,
                               run_thread, starting);
        if (error == 0)
            starting->thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0 || starting->thread_count > 0)
        return 0;
    return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not make a thread");
}

/* --- which domains ------------------------------------------------------------------ */

static int
add_domain(struct starting *starting, const char *name, struct failure **failure)
{
    struct waiting *waiting = &starting->waiting;
    size_t before = waiting->count;
    cleanup_libvirt_domain virDomainPtr domain =
        libvirt_find_domain(starting->connection, name, failure);
    struct guest *guest = domain ? waiting_add(waiting, name, failure) : NULL;

    if (!guest)
        return -1;
    if (waiting->count == before || guest->has_run)
        return 0;
    *array_add(starting->jobs, starting->count) =
        (struct job){.starting = starting, .guest = guest, .domain = steal(domain)};
    return 0;
}

/* Nothing is started if a name is wrong. */
static int
add_domains(struct starting *starting, struct failure **failure)
{
    const struct context *context = starting->context;
    cleanup_operands struct operands domains = {0};

    if (starting->options->all &&
        definition_list_asking(starting->connection, VIR_CONNECT_LIST_DOMAINS_PERSISTENT,
                               &domains.list, &domains.count, failure) < 0)
        return -1;
    for (size_t i = 0; i < context->operand_count; i++) {
        if (libvirt_expand(starting->connection, context->operands[i], &domains.list,
                           &domains.count, failure) < 0)
            return -1;
    }
    for (size_t i = 0; i < domains.count; i++) {
        cleanup_failure struct failure *reason = NULL;

        /* One that was undefined since the list was made does not stop the others. */
        if (add_domain(starting, domains.list[i], &reason) == 0 ||
            reason->code == FAILURE_DOMAIN_MISSING)
            continue;
        *failure = steal(reason);
        return -1;
    }
    return 0;
}

/* --- the command -------------------------------------------------------------------- */

static int
check_options(const struct starting *starting, struct failure **failure)
{
    const struct options *options = starting->options;
    size_t count = starting->context->operand_count;

    if (options->all == (count > 0))
        return failure_set(
            failure, FAILURE_USAGE,
            "%s\nname the domains, or give --all for all that ask for cloud-init",
            options->all ? "--all and names cannot be combined" : "no domain was named");
    return waiting_check_options(&options->waiting, failure);
}

static void
begin(struct starting *starting)
{
    for (size_t i = 0; i < starting->count; i++) {
        if (starting->context->dry_run)
            waiting_finish(starting->jobs[i].guest, "would be started", STATUS_OK, NULL,
                           NULL);
        else
            waiting_begin_start(starting->jobs[i].guest);
    }
    for (size_t i = 0; i < starting->waiting.count; i++) {
        struct guest *guest = starting->waiting.guests[i];

        if (guest->starts || guest->is_finished)
            continue;
        if (starting->options->waiting.no_wait || starting->context->dry_run) {
            waiting_finish(guest, running_word(starting->context), STATUS_OK, NULL, NULL);
            continue;
        }
        progress_note(&guest->progress, running_word(starting->context));
        waiting_begin(guest);
    }
}

static int
start_and_wait(struct starting *starting, struct failure **failure)
{
    const struct context *context = starting->context;

    /* A start that has begun is completed, and may take longer than the timeout. */
    alarm(0);
    starting->connection = libvirt_connect(context->uri, false, failure);
    if (!starting->connection)
        return -1;
    if (add_domains(starting, failure) < 0)
        return -1;
    if (starting->waiting.count == 0) {
        if (!context->quiet && !starting->context->json)
            printf("no domain%s asks for cloud-init\n", scope()->aside);
        return 0;
    }
    begin(starting);
    if (starting->count > 0 && !starting->context->dry_run &&
        start_threads(starting, failure) < 0)
        return -1;
    return waiting_run(&starting->waiting, failure);
}

/* A domain that is being started when the time is over is waited for: its start cannot be
 * taken back. */
static void
end_threads(struct starting *starting)
{
    starting->is_ending = true;
    for (size_t i = 0; i < starting->thread_count; i++)
        pthread_join(starting->threads[i], NULL);
    for (size_t i = 0; i < starting->count; i++) {
        virDomainFree(starting->jobs[i].domain);
        failure_free(starting->jobs[i].failure);
    }
    free(starting->jobs);
    if (starting->connection)
        virConnectClose(starting->connection);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    struct starting starting = {.context = context, .options = data};

    if (check_options(&starting, failure) < 0)
        return -1;
    if (waiting_open(&starting.waiting, context, &starting.options->waiting, failure) ==
        0)
        start_and_wait(&starting, failure);
    /* After a signal, do not wait for libvirt. */
    if (starting.waiting.signal == 0)
        end_threads(&starting);
    return waiting_close(&starting.waiting, *failure);
}

int
waiting_start(const struct context *context, const struct waiting_options *waiting,
              struct failure **failure)
{
    const struct options options = {.waiting = *waiting};

    return run(context, &options, failure);
}

static const struct option_row rows[] = {
    OPTION(0, "all", NULL, all, "all domains that ask for cloud-init"),
    OPTION(0, "no-wait", NULL, waiting.no_wait, "do not wait for the guests"),
    WAITING_ROWS,
    SCRUB_ROW,
    OPTION_END,
};

const struct command cmd_start = {
    .name = "start",
    .operands = "[DOMAIN…]",
    .summary = "start domains, wired if needed, and wait for them",
    .help =
        "Starts domains that ask for cloud-init. It wires those that are not wired yet,\n"
        "starts all of them side by side, and waits for their guests as 'virt-seed wait'\n"
        "does, with the same exit status. If a domain is already running, the command\n"
        "only waits for its guest. If a domain cannot be started, the others still are.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON | TAKES_DRY_RUN,
    .run = run,
};
