/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <linux/close_range.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/fs.h"
#include "base/process.h"
#include "base/user.h"

static int
milliseconds_until(int64_t end)
{
    int64_t left = end - clock_milliseconds();

    return left > 0 ? (int)left : 0;
}

/* The exit status of a shell, env or setpriv, and of become_child(), that could not start a
 * program. */
#define CHILD_NOT_STARTED 127

/* setpriv keeps capabilities until it starts a program, so env looks for the child's. */
static int
run_as_nobody(const struct child *child, struct buffer *output)
{
    const char *search = getenv("PATH");
    cleanup_free char *path = xasprintf("PATH=%s", search ? search : "/usr/bin:/bin");
    cleanup_free char *user = xasprintf("--reuid=%u", NOBODY);
    cleanup_free char *group = xasprintf("--regid=%u", NOBODY);
    const char *const prefix[] = {
        "setpriv", user, group, "--clear-groups", "--inh-caps=-all", "--no-new-privs",
        "env",     "-i", path};
    cleanup_free const char **words = NULL;
    struct child other = *child;
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(prefix); i++)
        *array_add(words, count) = prefix[i];
    for (const char *const *variable = child->environment; variable && *variable;
         variable++)
        *array_add(words, count) = *variable;
    for (const char *const *word = child->words; *word; word++)
        *array_add(words, count) = *word;
    *array_add(words, count) = NULL;
    other.words = words;
    other.environment = NULL;
    other.unprivileged = false;
    return child_run(&other, output);
}

/* Becomes the program, in a session of its own, without a terminal: it must not be able to
 * type into that of root (TIOCSTI). */
static void __attribute__((noreturn)) become_child(const struct child *child, int output)
{
    const struct rlimit memory = {child->memory, child->memory};
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int *document = child->documents;
    sigset_t none;

    /* The caller may read some signals from a descriptor. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (null < 0 || setsid() < 0 || setrlimit(RLIMIT_AS, &memory) < 0)
        _exit(CHILD_NOT_STARTED);
    if (dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        (!child->shows_errors && dup2(output, STDERR_FILENO) < 0))
        _exit(CHILD_NOT_STARTED);
    /* What this program has inherited is not for the child. */
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        _exit(CHILD_NOT_STARTED);
    for (; document && *document >= 0; document++)
        fcntl(*document, F_SETFD, 0);
    execvpe(child->words[0], (char *const *)child->words,
            child->environment ? (char *const *)child->environment : environ);
    _exit(CHILD_NOT_STARTED);
}

/* Return: whether the output ended within time and bounds; `error` is 0, or what writing it
 * has failed with. */
static bool
read_output(const struct child *child, int fd, int64_t end, struct buffer *buffer,
            int *error)
{
    size_t room = child->output;

    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        char block[16384];
        ssize_t size;
        size_t taken;

        if (poll(&ready, 1, milliseconds_until(end)) <= 0)
            return false;
        size = read(fd, block, sizeof(block));
        if (size <= 0)
            return size == 0;
        taken = (size_t)size < room ? (size_t)size : room;
        if (child->file == 0)
            buffer_append(buffer, block, taken);
        else
            *error = -fs_write_all(child->file, block, taken);
        if ((size_t)size > room || *error != 0)
            return false;
        room -= taken;
    }
}

int
child_run(const struct child *child, struct buffer *output)
{
    const int64_t end = clock_milliseconds() + child->seconds * 1000L;
    struct pollfd ended = {.events = POLLIN};
    cleanup_close int process = -1;
    cleanup_close int reading = -1;
    int ends[2], status, error = 0;
    bool within;
    pid_t pid;

    if (child->unprivileged && geteuid() == 0)
        return run_as_nobody(child, output);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return CHILD_MISSING;
    reading = ends[0];
    pid = fork();
    if (pid == 0)
        become_child(child, ends[1]);
    close(ends[1]);
    if (pid < 0)
        return CHILD_MISSING;
    process = (int)syscall(SYS_pidfd_open, pid, 0);
    ended.fd = process;
    /* poll(2) ignores a descriptor below 0, and would wait all the time. */
    within = process >= 0 && read_output(child, reading, end, output, &error) &&
             poll(&ended, 1, milliseconds_until(end)) > 0;
    /* Without a session of its own yet, it has no other process either. */
    if (!within && kill(-pid, SIGKILL) < 0)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return CHILD_KILLED;
    }
    /* One that printed too much may have ended by itself before. */
    errno = error;
    if (!within || !WIFEXITED(status))
        return CHILD_KILLED;
    status = WEXITSTATUS(status);
    /* 126: setpriv or env found it, but could not execute it. */
    return status == CHILD_NOT_STARTED || status == 126 ? CHILD_MISSING : status;
}
