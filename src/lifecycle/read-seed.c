/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a seed's image belongs to QEMU's user, who may have changed it since
 * prepare. So a child reads it that has nothing of root's: it is nobody, without
 * capabilities, and has no descriptors but the image and a pipe; it can open no file and
 * no socket and start no process, and its memory and time have limits.
 *
 * Through the pipe, the child says what the record needs, as texts that each end with a
 * zero byte: label, datasource, instance-id, and path and both digests of each document;
 * or, with another exit status, why it could not read the image: message and hint. These
 * come from someone who may have taken over the child: they are bounded and only
 * recorded.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/text.h"
#include "lifecycle/lifecycle.h"

/* The image, its tree and its documents, each at most once, and the libraries. */
#define MEMORY (4 * LIMIT_IMAGE)

static int
drop_rights(void)
{
    const struct {
        __rlimit_resource_t resource;
        rlim_t limit;
    } limits[] = {
        {RLIMIT_NOFILE, 0},
        {RLIMIT_NPROC, 0},
        {RLIMIT_FSIZE, 0},
#ifndef __SANITIZE_ADDRESS__
        {RLIMIT_AS, MEMORY},
#endif
        {RLIMIT_CPU, LIMIT_HOOK_SECONDS},
    };

    for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
        const struct rlimit limit = {limits[i].limit, limits[i].limit};

        if (setrlimit(limits[i].resource, &limit) < 0)
            return -errno;
    }
    /* In a test, the caller may be an ordinary user. */
    if (geteuid() == 0 &&
        (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
         setresuid(NOBODY, NOBODY, NOBODY) < 0))
        return -errno;
    /* A change of user clears both of the latter two. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return -errno;
    return 0;
}

/* --- the child ---------------------------------------------------------------------- */

static void
add_text(struct buffer *said, const char *text)
{
    buffer_append(said, text ? text : "", text ? strlen(text) + 1 : 1);
}

static int
read_image(const struct storage *storage, struct buffer *said, struct failure **failure)
{
    cleanup_record_boot struct record_boot boot = {0};
    cleanup_seed struct seed seed = {0};
    int error = drop_rights();

    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not give up root's rights");
    if (storage->read(STDIN_FILENO, &seed, failure) < 0)
        return -1;
    record_boot_add_seed(&boot, storage, &seed);
    add_text(said, boot.label);
    add_text(said, boot.datasource);
    add_text(said, boot.instance_id);
    for (size_t i = 0; i < boot.document_count; i++) {
        add_text(said, boot.documents[i].path);
        add_text(said, boot.documents[i].digest);
        add_text(said, boot.documents[i].kept);
    }
    return 0;
}

static void __attribute__((noreturn))
be_the_child(const struct storage *storage, int seed, int output)
{
    struct buffer said = {0};
    struct failure *failure = NULL;

    if (process_keep_descriptors(seed, output) < 0)
        _exit(EXIT_FAILURE);
    if (read_image(storage, &said, &failure) < 0) {
        add_text(&said, failure->message);
        add_text(&said, failure->hint);
    }
    _exit(fs_write_all(STDOUT_FILENO, said.data, said.size) < 0 || failure
              ? EXIT_FAILURE
              : EXIT_SUCCESS);
}

/* --- the parent --------------------------------------------------------------------- */

/* Return: the next text, borrowed, or NULL after the last one. */
static const char *
next_text(const struct buffer *said, size_t *at)
{
    const char *text = said->data + *at;

    if (*at >= said->size)
        return NULL;
    *at += strlen(text) + 1;
    return text;
}

/* Return: the text as a record can have it; NULL if it is missing or cannot be. */
static char *
copy_text(const char *text)
{
    char *copy =
        text && *text && strlen(text) <= LIMIT_RECORD_TEXT ? xstrdup(text) : NULL;

    if (copy)
        utf8_replace_controls(copy);
    return copy;
}

static int
take_boot(const struct buffer *said, struct record_boot *boot, struct failure **failure)
{
    size_t at = 0;
    const char *name, *digest, *kept;
    char *path;

    boot->label = copy_text(next_text(said, &at));
    boot->datasource = copy_text(next_text(said, &at));
    boot->instance_id = copy_text(next_text(said, &at));
    while ((name = next_text(said, &at))) {
        digest = next_text(said, &at);
        kept = digest ? next_text(said, &at) : NULL;
        path = copy_text(name);
        if (!path || !kept || !text_is_hex(digest, DIGEST_LENGTH) ||
            (*kept && !text_is_hex(kept, DIGEST_LENGTH))) {
            free(path);
            return failure_set(failure, FAILURE_IMAGE,
                               "the process that read the image gave a malformed list");
        }
        *array_add(boot->documents, boot->document_count) =
            (struct record_document){path, xstrdup(digest), copy_text(kept)};
    }
    return 0;
}

static int
take_failure(const struct buffer *said, int status, struct failure **failure)
{
    size_t at = 0;
    const char *message = next_text(said, &at);
    const char *hint = next_text(said, &at);

    if (WIFSIGNALED(status) || !message)
        return failure_set(failure, FAILURE_IMAGE,
                           "the process that reads the image ended with %s %d",
                           WIFSIGNALED(status) ? "signal" : "status",
                           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    failure_set(failure, FAILURE_IMAGE, "%s", message);
    return hint && *hint ? failure_hint(failure, "%s", hint) : -1;
}

int
lifecycle_read_seed(const struct storage *storage, int seed, struct record_boot *boot,
                    struct failure **failure)
{
    cleanup_buffer struct buffer said = {0};
    cleanup_close int reading = -1;
    int ends[2], error, status = 0;
    pid_t child;

    /* Only root writes to the metadata server's tree. */
    if (!storage->has_image) {
        cleanup_seed struct seed made = {0};

        if (storage->read(seed, &made, failure) < 0)
            return -1;
        record_boot_add_seed(boot, storage, &made);
        return 0;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno, "could not make a pipe");
    reading = ends[0];
    child = fork();
    if (child == 0)
        be_the_child(storage, seed, ends[1]);
    error = child < 0 ? -errno : 0;
    close(ends[1]);
    if (error == 0) {
        error = fs_read_all(reading, LIMIT_RECORD, &said);
        if (error < 0)
            kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    }
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not read the image in another process");
    return status == 0 ? take_boot(&said, boot, failure)
                       : take_failure(&said, status, failure);
}
