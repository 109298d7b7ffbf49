/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: where cloud-init is installed on the host, its own 'cloud-init schema'
 * reads each cloud-config from a file in memory, and what it says becomes a warning: the
 * guest's cloud-init may be another. It quotes values, so it gets no document that came
 * from a secret or seems to hold one. It is waited for, but not for long.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "check/rules.h"

#define SCHEMA_HINT                                                                      \
    "see cloud-init's reference of modules; 'virt-seed check --no-schema' leaves this out"

struct run {
    pid_t pid;
    int output;
    struct timespec begin;
};

/* --- the child ------------------------------------------------------------------------ */

static int
milliseconds_left(const struct run *run)
{
    const long limit = LIMIT_SCHEMA_SECONDS * 1000L;
    struct timespec now;
    long spent;

    clock_gettime(CLOCK_MONOTONIC, &now);
    spent = (now.tv_sec - run->begin.tv_sec) * 1000 +
            (now.tv_nsec - run->begin.tv_nsec) / 1000000;
    return spent < limit ? (int)(limit - spent) : 0;
}

/* Return: 0 or an errno. */
static int
spawn(struct run *run, int document, int output, const char *type)
{
    cleanup_free char *path = xasprintf("/proc/self/fd/%d", document);
    char *words[] = {(char *)"cloud-init",
                     (char *)"schema",
                     (char *)"--config-file",
                     path,
                     (char *)(type ? "--schema-type" : NULL),
                     (char *)type,
                     NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error;

    if (posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawnattr_init(&attributes) != 0)
        abort();
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    /* On itself: it stays open over exec. */
    posix_spawn_file_actions_adddup2(&actions, document, document);
    clock_gettime(CLOCK_MONOTONIC, &run->begin);
    error = posix_spawnp(&run->pid, words[0], &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Return: whether it came to its end, within time and bounds. */
static bool
read_output(const struct run *run, struct buffer *buffer)
{
    while (buffer->size < LIMIT_SCHEMA_OUTPUT) {
        struct pollfd ready = {.fd = run->output, .events = POLLIN};
        size_t room = LIMIT_SCHEMA_OUTPUT - buffer->size;
        char block[4096];
        ssize_t size;

        if (poll(&ready, 1, milliseconds_left(run)) <= 0)
            return false;
        size = read(run->output, block, room < sizeof(block) ? room : sizeof(block));
        if (size <= 0)
            return size == 0;
        buffer_append(buffer, block, (size_t)size);
    }
    return false;
}

/* Return: the exit status, or -1 where it had to be killed. */
static int
finish(const struct run *run, bool ended)
{
    cleanup_close int process = (int)syscall(SYS_pidfd_open, run->pid, 0);
    struct pollfd ready = {.fd = process, .events = POLLIN};
    int status;

    if (!ended || poll(&ready, 1, milliseconds_left(run)) <= 0)
        kill(-run->pid, SIGKILL);
    while (waitpid(run->pid, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Return: the exit status of cloud-init; -1 where it was killed, -2 where there is none. */
static int
run_schema(const struct buffer *document, const char *type, struct buffer *output)
{
    cleanup_close int file = memfd_create("cloud-config", MFD_CLOEXEC);
    struct run run = {0};
    int ends[2];
    int error;

    if (file < 0 || fs_write_all(file, document->data, document->size) < 0 ||
        pipe2(ends, O_CLOEXEC) < 0)
        return -2;
    error = spawn(&run, file, ends[1], type);
    close(ends[1]);
    if (error == 0) {
        const struct rlimit memory = {LIMIT_SCHEMA_MEMORY, LIMIT_SCHEMA_MEMORY};
        bool ended;

        prlimit(run.pid, RLIMIT_AS, &memory, NULL);
        run.output = ends[0];
        ended = read_output(&run, output);
        error = finish(&run, ended);
    } else {
        error = -2;
    }
    close(ends[0]);
    return error;
}

/* --- what it says ----------------------------------------------------------------------- */

/* Return: how many findings it gave. */
static int
take_lines(const struct check *check, const struct part *part, const char *description,
           struct buffer *output)
{
    static const char *const marks[] = {" schema errors: ", " schema deprecations: "};
    char *rest = output->size > 0 ? output->data : NULL;
    int count = 0;

    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
            const char *found = strstr(line, marks[i]);

            if (!found || !found[strlen(marks[i])])
                continue;
            findings_warn(check->findings, WARNING_SCHEMA, part->line, SCHEMA_HINT,
                          "%s: cloud-init's%s%s", description, marks[i],
                          found + strlen(marks[i]));
            count++;
        }
    }
    return count;
}

/* Return: whether cloud-init is there, and answers. */
static bool
check_part_schema(const struct check *check, const struct part *part, const char *type)
{
    cleanup_free char *description = part_describe(part);
    cleanup_buffer struct buffer output = {0};
    int status = run_schema(&part->data, type, &output);
    int count;

    if (status == -2)
        return false;
    count = take_lines(check, part, description, &output);
    /* Before 23.4 it has no --schema-type, and says so with 2. */
    if (status == 0 || count > 0 || (type && status == 2))
        return true;
    findings_warn(check->findings, WARNING_SCHEMA, part->line,
                  "try it: cloud-init schema --config-file FILE; or 'virt-seed check "
                  "--no-schema'",
                  "%s: the host's cloud-init could not check it (%s)", description,
                  status < 0 ? "it took too long, or said too much" : "it failed itself");
    return status >= 0;
}

/* It quotes values: what is, or seems to be, secret does not go there. */
static bool
is_open(const struct check *check, const struct part *part)
{
    return part->origin != PART_SECRET &&
           !findings_have(check->findings, WARNING_INLINE_SECRET, part->line);
}

void
check_schema(const struct check *check)
{
    bool network = check->request->datasource == DATASOURCE_NOCLOUD;

    for (size_t i = 0; i < check->request->parts.count; i++) {
        const struct part *part = check->request->parts.list[i];
        const char *type = NULL;

        if (part->data.size == 0 || part->masked || !is_open(check, part))
            continue;
        if (part->kind == PART_NETWORK_CONFIG && network)
            type = "network-config";
        else if (part->kind == PART_VALUE || !check_is_cloud_config(part))
            continue;
        if (!check_part_schema(check, part, type))
            return;
    }
}
