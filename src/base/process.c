/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "base/process.h"

int
process_begin(void)
{
    signal(SIGCHLD, SIG_DFL);
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* The lowest free descriptor is this one. */
        if (open("/dev/null", O_RDWR) < 0)
            return -errno;
    }
    return 0;
}

int
process_keep_descriptors(int input, int output)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int kept[] = {input < 0 ? null : input, output < 0 ? null : output, null};

    if (null < 0)
        return -errno;
    for (int fd = 0; fd <= 2; fd++) {
        if (dup2(kept[fd], fd) < 0)
            return -errno;
    }
    return close_range(3, ~0U, 0) < 0 ? -errno : 0;
}

void
process_harden(void)
{
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
#ifndef __SANITIZE_ADDRESS__
    /* LeakSanitizer needs to trace the process. */
    prctl(PR_SET_DUMPABLE, 0);
#endif
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    umask(022);
}

int
process_catch_signals(const int *signals)
{
    sigset_t set;
    int fd;

    sigemptyset(&set);
    for (; *signals; signals++) {
        struct sigaction action;

        if (sigaction(*signals, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, *signals);
    }
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return -errno;
    sigprocmask(SIG_BLOCK, &set, NULL);
    return fd;
}

static const char *late_message;
static const volatile sig_atomic_t *late_status;

static void
on_alarm(int signal_number)
{
    if (write(STDERR_FILENO, late_message, strlen(late_message)) < 0)
        _exit(*late_status);
    _exit(*late_status);
}

void
process_limit_time(unsigned int seconds, const char *message,
                   const volatile sig_atomic_t *status)
{
    sigset_t alarms;

    late_message = message;
    late_status = status;
    /* Signals that VDSM's threads block are blocked here, too. */
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    signal(SIGALRM, on_alarm);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(seconds);
}

int64_t
clock_milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

char *
process_path_beside(const char *name)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length < 0)
        return NULL;
    path[length] = '\0';
    return xasprintf("%.*s%s", (int)(fs_base_name(path) - path), path, name);
}

/* --- other programs --------------------------------------------------------------- */

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
    char *const prefix[] = {(char *)"setpriv",
                            user,
                            group,
                            (char *)"--clear-groups",
                            (char *)"--inh-caps=-all",
                            (char *)"--no-new-privs",
                            (char *)"env",
                            (char *)"-i",
                            path};
    cleanup_free char **words = NULL;
    struct child other = *child;
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(prefix); i++)
        *array_add(words, count) = prefix[i];
    for (char *const *variable = child->environment; variable && *variable; variable++)
        *array_add(words, count) = *variable;
    for (char *const *word = child->words; *word; word++)
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
    sigset_t none;

    /* The caller may read some signals from a descriptor. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (null < 0 || setsid() < 0 || setrlimit(RLIMIT_AS, &memory) < 0)
        _exit(CHILD_NOT_STARTED);
    if (dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(child->silent ? null : output, STDERR_FILENO) < 0)
        _exit(CHILD_NOT_STARTED);
    /* What this program has inherited is not for the child. */
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    for (const int *document = child->documents; *document >= 0; document++)
        fcntl(*document, F_SETFD, 0);
    execvpe(child->words[0], child->words,
            child->environment ? child->environment : environ);
    _exit(CHILD_NOT_STARTED);
}

/* Return: whether the output ended within time and bounds. */
static bool
read_output(const struct child *child, int fd, int64_t end, struct buffer *buffer)
{
    size_t room = child->output;

    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        char block[4096];
        ssize_t size;

        if (poll(&ready, 1, milliseconds_until(end)) <= 0)
            return false;
        size = read(fd, block, sizeof(block));
        if (size <= 0)
            return size == 0;
        buffer_append(buffer, block, (size_t)size < room ? (size_t)size : room);
        if ((size_t)size > room)
            return false;
        room -= (size_t)size;
    }
}

int
child_run(const struct child *child, struct buffer *output)
{
    const int64_t end = clock_milliseconds() + child->seconds * 1000L;
    struct pollfd ended = {.events = POLLIN};
    cleanup_close int process = -1;
    cleanup_close int reading = -1;
    int ends[2], status;
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
    within = read_output(child, reading, end, output) &&
             poll(&ended, 1, milliseconds_until(end)) > 0;
    /* Without a session of its own yet, it has no other process either. */
    if (!within && kill(-pid, SIGKILL) < 0)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return CHILD_KILLED;
    }
    /* One that printed too much may have ended by itself before. */
    if (!within || !WIFEXITED(status))
        return CHILD_KILLED;
    status = WEXITSTATUS(status);
    /* 126: setpriv or env found it, but could not execute it. */
    return status == CHILD_NOT_STARTED || status == 126 ? CHILD_MISSING : status;
}

int
child_document(const char *name, const struct buffer *content)
{
    cleanup_close int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int error = fd < 0 ? -errno : fs_write_all(fd, content->data, content->size);

    if (error < 0)
        return error;
    if (fchmod(fd, 0444) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) <
            0)
        return -errno;
    return steal_fd(fd);
}
