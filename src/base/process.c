/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
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

    if (null < 0 || dup2(input < 0 ? null : input, 0) < 0 ||
        dup2(output < 0 ? null : output, 1) < 0 || dup2(null, 2) < 0 ||
        close_range(3, ~0U, 0) < 0)
        return -errno;
    return 0;
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
    (void)signal_number;
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

/* setpriv keeps capabilities until it starts a program, so env looks for the child's. Both
 * exit with 126 or 127 if they cannot start one. */
static int
run_as_other(const struct child *child, struct buffer *output)
{
    const char *search = getenv("PATH");
    cleanup_free char *path = xasprintf("PATH=%s", search ? search : "/usr/bin:/bin");
    cleanup_free char *user = xasprintf("--reuid=%u", child->uid ? child->uid : NOBODY);
    cleanup_free char *group = xasprintf("--regid=%u", child->gid ? child->gid : NOBODY);
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
    int status;

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
    status = child_run(&other, output);
    return status == 126 || status == 127 ? CHILD_MISSING : status;
}

/* Starts it in a session of its own, without a terminal: it must not be able to type into
 * that of root (TIOCSTI). Return: 0 or an errno. */
static int
spawn(const struct child *child, int output, pid_t *pid)
{
    char *const *environment = child->environment ? child->environment : environ;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int error;

    if (posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawnattr_init(&attributes) != 0)
        abort();
    /* The caller may read some signals from a descriptor. */
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (child->silent)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
                                         0);
    else
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    /* What this program has inherited is not for the child. Each document is duplicated on
     * itself, so that it stays open over exec. */
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    for (const int *document = child->documents; *document >= 0; document++)
        posix_spawn_file_actions_adddup2(&actions, *document, *document);
    error = posix_spawnp(pid, child->words[0], &actions, &attributes, child->words,
                         environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Return: whether the output ended within time and bounds. */
static bool
read_output(const struct child *child, int fd, int64_t end, struct buffer *buffer)
{
    size_t room = child->output;

    for (;;) {
        struct pollfd ready[] = {
            {.fd = fd, .events = POLLIN},
            {.fd = child->interrupt > 0 ? child->interrupt : -1, .events = POLLIN},
        };
        char block[4096];
        ssize_t size;

        if (poll(ready, ARRAY_SIZE(ready), milliseconds_until(end)) <= 0 ||
            ready[1].revents != 0)
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
    const struct rlimit memory = {child->memory, child->memory};
    const int64_t end = clock_milliseconds() + child->seconds * 1000L;
    struct pollfd ended = {.events = POLLIN};
    cleanup_close int process = -1;
    cleanup_close int reading = -1;
    int ends[2], error, status;
    bool within;
    pid_t pid;

    if (child->unprivileged && geteuid() == 0)
        return run_as_other(child, output);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return CHILD_MISSING;
    reading = ends[0];
    error = spawn(child, ends[1], &pid);
    close(ends[1]);
    if (error != 0)
        return CHILD_MISSING;
    prlimit(pid, RLIMIT_AS, &memory, NULL);
    process = (int)syscall(SYS_pidfd_open, pid, 0);
    ended.fd = process;
    within = read_output(child, reading, end, output) &&
             poll(&ended, 1, milliseconds_until(end)) > 0;
    if (!within)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return CHILD_KILLED;
    }
    /* One that printed too much may have ended by itself before. */
    return within && WIFEXITED(status) ? WEXITSTATUS(status) : CHILD_KILLED;
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
