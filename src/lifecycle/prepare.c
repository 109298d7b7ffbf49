/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the verdict on a start (maker/maker.h) comes before anything of it is
 * published, and the seed is published last: a start that is refused leaves no seed. If one
 * fails after the verdict, its new host key stays, for the next start to use.
 */
#include "config.h"

#include <linux/close_range.h>
#include <spawn.h>

#include "base/fs.h"
#include "base/process.h"
#include "base/scope.h"
#include "host/answer.h"
#include "host/config-files.h"
#include "host/forbidden-paths.h"
#include "host/maker.h"
#include "host/record-file.h"
#include "host/report-file.h"
#include "host/rundir.h"
#include "host/storage.h"
#include "lifecycle/lifecycle.h"

/* A start of the domain. */
struct start {
    const struct lifecycle *lifecycle;
    const char *uuid;
    int rundir;
    bool resumes; /* a guest, instead of booting one */
    struct timespec record_changed;
    struct failure *forbidden; /* by its paths */
};

/* The policy: the reason, if there is one, refuses a cold boot. For a resumed guest it is
 * logged after `what`. */
static int
refuse_or_log(const struct start *start, const char *what, struct failure **reason,
              struct failure **failure)
{
    if (!*reason)
        return 0;
    if (start->resumes) {
        lifecycle_log_failure(start->lifecycle, what, *reason);
        return 0;
    }
    *failure = steal(*reason);
    return -1;
}

/* Removes seeds left by a failed release or an earlier datasource. The one that this
 * start writes, if any, is replaced atomically later. */
static int
withdraw_others(const struct start *start, const struct storage *own,
                struct failure **failure)
{
    for (size_t i = 0; storages[i]; i++) {
        cleanup_failure struct failure *reason = NULL;

        if (storages[i] != own && storage_inode(storages[i], start->rundir, start->uuid))
            storages[i]->withdraw(start->rundir, start->uuid, &reason);
        if (refuse_or_log(start, "an old seed could not be removed", &reason, failure) <
            0)
            return -1;
    }
    return 0;
}

/* A guest does not need its record. */
static void
write_next_record(const struct start *start, const struct verdict *verdict)
{
    cleanup_failure struct failure *reason = NULL;

    if (verdict->next_record.size > 0 &&
        record_write_next(start->lifecycle->root, start->uuid, &verdict->next_record,
                          &start->record_changed, &reason) < 0)
        lifecycle_log_failure(start->lifecycle, "its start will not be recorded", reason);
}

static int
publish_seed(const struct start *start, const struct verdict *verdict,
             struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;

    publication_publish(&verdict->publication, start->lifecycle->root, start->rundir,
                        start->uuid, &reason);
    /* A resumed guest has read its documents long ago, but needs its disk. */
    if (!verdict->publication.has_image)
        return refuse_or_log(start, "resuming without its documents", &reason, failure);
    *failure = steal(reason);
    return *failure ? -1 : 0;
}

/* That of the boot before: no start depends on it. */
static void
forget_log(const struct start *start, enum report_writer writer)
{
    cleanup_failure struct failure *failure = NULL;

    if (!start->resumes &&
        log_file_forget(start->lifecycle->root, start->uuid, writer, &failure) < 0)
        lifecycle_log_failure(start->lifecycle, "an old log could not be removed",
                              failure);
}

static int
publish(const struct start *start, const struct verdict *verdict,
        struct failure **failure)
{
    const struct lifecycle *lifecycle = start->lifecycle;
    const struct publication *publication = &verdict->publication;
    const struct storage *storage =
        publication->has_image ? &storage_image : &storage_imds;

    if (host_key_publish(lifecycle->root, start->uuid, &verdict->key, failure) < 0)
        return -1;
    forget_log(start, publication->report);
    if (publication->report != REPORT_BY_NOBODY &&
        report_file_make(lifecycle->root, start->uuid, publication->report,
                         start->resumes, failure) < 0)
        return -1;
    if (withdraw_others(start, storage, failure) < 0)
        return -1;
    write_next_record(start, verdict);
    if (publish_seed(start, verdict, failure) < 0) {
        record_forget_next(lifecycle->root, start->uuid);
        return -1;
    }
    lifecycle_log_event(lifecycle, LIFECYCLE_SEED_MADE,
                        &(struct journal_field){"VIRT_SEED_DIGEST", verdict->digest},
                        "seed made");
    return 0;
}

/*
 * If the host crashed, there was no release. So the guest's earlier report is read now,
 * because this boot may depend on whether the guest is set up, and because it must not be
 * taken for the report of this boot later.
 */
static void
record_earlier_result(const struct start *start)
{
    const struct lifecycle *lifecycle = start->lifecycle;
    cleanup_failure struct failure *failure = NULL;

    record_forget_next(lifecycle->root, start->uuid);
    if (start->resumes || !report_file_has_content(lifecycle->root, start->uuid))
        return;
    lifecycle_record_result(lifecycle);
    if (report_file_remove(lifecycle->root, start->uuid, &failure) < 0)
        lifecycle_log_failure(lifecycle, "could not remove the previous boot's report",
                              failure);
}

/*
 * Starts a detached `virt-seed wire`: the definition cannot be changed while libvirt holds
 * the domain's lock, until the hook and the failed start have ended. It must not keep our
 * standard output or error open, because libvirt reads them to the end. Runs the one next to
 * this program, as in a build directory, or else the installed one; it leaves our session
 * and directory itself. Return: whether it was started.
 */
static bool
begin_autowire(const struct lifecycle *lifecycle)
{
    cleanup_free char *beside = process_path_beside("virt-seed");
    const bool is_beside = beside && access(beside, X_OK) == 0;
    char *command = is_beside ? beside : (char *)VIRT_SEED_BINDIR "/virt-seed";
    cleanup_free char *option = xasprintf("--after-refusal=%ld", (long)getppid());
    char *arguments[] = {command,
                         (char *)"--connect",
                         (char *)scope()->uri,
                         (char *)"wire",
                         option,
                         (char *)lifecycle->uuid,
                         NULL};
    posix_spawn_file_actions_t actions;
    int error;

    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
    error = posix_spawn(NULL, command, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0;
}

/* Refuses with the verdict's failure, which has a hint unless the maker was taken over; wires
 * the domain's definition if that helps. */
static int
refuse_start(const struct start *start, struct verdict *verdict, struct failure **failure)
{
    *failure = steal(verdict->refusal);
    if (verdict->hint_if_wired && begin_autowire(start->lifecycle)) {
        free((*failure)->hint);
        (*failure)->hint = steal(verdict->hint_if_wired);
    }
    return failure_hint(failure, "look at the domain's XML: virsh edit");
}

/* What has to be known before the maker is told anything. */
static void
fill_hello(const struct start *start, struct hello *hello)
{
    const struct lifecycle *lifecycle = start->lifecycle;
    cleanup_failure struct failure *failure = NULL;

    /* A mistake there fails a start only if the start needs that setting. */
    if (config_files_read(&hello->config, lifecycle->root, &failure) < 0)
        lifecycle_log_failure(
            lifecycle, "continuing without this part of the configuration", failure);
    record_read_text(lifecycle->root, start->uuid, &hello->record,
                     &hello->record_failure);
}

/* Has the maker decide on the start, and looks at the domain's paths meanwhile. */
static int
run_maker(struct start *start, struct hello *hello, struct verdict *verdict,
          struct failure **failure)
{
    const struct lifecycle *lifecycle = start->lifecycle;
    struct answerer answerer = {
        .root = lifecycle->root,
        .config = &hello->config,
        .domain = {.uuid = start->uuid, .name = lifecycle->name},
        .may_make_key = !start->resumes,
    };
    const struct host host = {.data = &answerer, .answer = answerer_answer};
    cleanup_maker struct maker maker = MAKER_NONE;

    /* It loads its libraries while the host's files are read. */
    if (maker_start(&maker, lifecycle->xml, verdict->publication.output, failure) < 0)
        return -1;
    record_earlier_result(start);
    start->record_changed = record_changed(lifecycle->root, start->uuid);
    fill_hello(start, hello);
    if (maker_say_hello(&maker, hello, failure) < 0)
        return -1;
    forbidden_paths_check(lifecycle->root, lifecycle->xml, start->uuid,
                          &start->forbidden);
    return maker_verdict(&maker, hello, &host, verdict, failure);
}

/* Without the run-time directory, `no_rundir` says why. */
static int
prepare(struct start *start, struct hello *hello, struct failure **no_rundir,
        struct failure **failure)
{
    const struct lifecycle *lifecycle = start->lifecycle;
    cleanup_verdict struct verdict verdict = VERDICT_NONE;
    cleanup_close int output = image_open(failure);

    if (output < 0)
        return -1;
    verdict.publication.output = output;
    if (run_maker(start, hello, &verdict, failure) < 0)
        return -1;
    for (size_t i = 0; i < verdict.note_count; i++)
        lifecycle_log(lifecycle, "%s", verdict.notes[i]);
    if (verdict.kind != VERDICT_NOTHING && *no_rundir) {
        *failure = steal(*no_rundir);
        return -1;
    }
    if (verdict.kind == VERDICT_REFUSE)
        return refuse_start(start, &verdict, failure);
    /* After the verdict, which may refuse the start with a better hint. */
    if (start->forbidden) {
        *failure = steal(start->forbidden);
        return -1;
    }
    if (verdict.kind == VERDICT_SEED)
        return publish(start, &verdict, failure);
    forget_log(start, REPORT_BY_NOBODY);
    return start->rundir < 0 ? 0 : withdraw_others(start, NULL, failure);
}

int
lifecycle_prepare(struct lifecycle *lifecycle, struct failure **failure)
{
    const char *uuid = lifecycle->uuid;
    cleanup_failure struct failure *no_rundir = NULL;
    cleanup_close int rundir = rundir_open(lifecycle->root, &no_rundir);
    struct start start = {
        .lifecycle = lifecycle,
        .uuid = uuid,
        .rundir = rundir,
        .resumes = rundir >= 0 && rundir_take_resume(rundir, lifecycle->argument, uuid),
    };
    cleanup_hello struct hello hello = {
        .role = MAKER_PREPARE,
        .uuid = xstrdup(uuid),
        .resumes = start.resumes,
    };
    const int result = prepare(&start, &hello, &no_rundir, failure);

    failure_free(start.forbidden);
    return result < 0 ? failure_prefix(failure, "domain '%s'", lifecycle->name) : 0;
}

int
lifecycle_start(struct lifecycle *lifecycle, struct failure **failure)
{
    const int result =
        forbidden_paths_check(lifecycle->root, lifecycle->xml, lifecycle->uuid, failure);

    return result < 0 ? failure_prefix(failure, "domain '%s'", lifecycle->name) : 0;
}

int
lifecycle_resume(struct lifecycle *lifecycle, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    cleanup_close int rundir = rundir_open(lifecycle->root, &reason);

    /* A failure here would keep the guest from resuming; without the mark, the next
     * prepare is only stricter. */
    if (rundir < 0 || rundir_mark_resume(rundir, lifecycle->argument, &reason) < 0)
        lifecycle_log_failure(lifecycle, "the next start will be treated as a cold boot",
                              reason);
    return 0;
}
