/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault: runs a program and makes one of its system calls go wrong.
 *
 *     fault CALLS WHEN WHAT PROGRAM [ARGUMENT...]
 *
 * CALLS is a name or several, "write,pread", or "all"; WHEN says which of them, "3", or
 * "3+" for that one and all that follow; WHAT is an error's name, "ENOSPC", or "short"
 * (half of the bytes that were asked for), or "kill" or "term" (the signal instead of
 * the call), or "stop": nothing goes wrong, but fault stops itself (SIGSTOP), and the
 * call waits until somebody who has seen that lets fault continue (SIGCONT). With "stop",
 * the calls of child processes count, too.
 *
 * How it works: ptrace(2). The calls of all threads are counted, from the moment a
 * program looks at its standard input (fcntl(0, F_GETFD), the first that ours do), so
 * that the dynamic linker is left alone; the count goes on when it becomes another
 * program.
 *
 * Exit status: the program's; 128 and the signal's number where one ended it; 99 when
 * nothing went wrong, because there were not so many calls; 77 where this cannot be
 * done.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

#define NOT_REACHED 99
#define IMPOSSIBLE 77
#define MISUSED 2
#define THREADS 64

/* --- the processor's part --------------------------------------------------------- */

#if defined(__x86_64__)

typedef struct user_regs_struct registers;
#define CALL(r) ((r).orig_rax)
#define RESULT(r) ((r).rax)
#define FIRST(r) ((r).rdi)
#define SECOND(r) ((r).rsi)
#define THIRD(r) ((r).rdx)

static bool
skip_call(pid_t thread, registers *r)
{
    CALL(*r) = (unsigned long long)-1;
    return ptrace(PTRACE_SETREGS, thread, NULL, r) == 0;
}

#elif defined(__aarch64__)

typedef struct user_regs_struct registers;
#define CALL(r) ((r).regs[8])
#define RESULT(r) ((r).regs[0])
#define FIRST(r) ((r).regs[0])
#define SECOND(r) ((r).regs[1])
#define THIRD(r) ((r).regs[2])

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif

static bool
skip_call(pid_t thread, registers *r)
{
    int none = -1;
    struct iovec data = {&none, sizeof(none)};

    (void)r;
    return ptrace(PTRACE_SETREGSET, thread, (void *)NT_ARM_SYSTEM_CALL, &data) == 0;
}

#else

int
main(void)
{
    fputs("fault: error: this processor's registers are not known here\n", stderr);
    return IMPOSSIBLE;
}
#define NO_MAIN

#endif

#ifndef NO_MAIN

static bool
get_registers(pid_t thread, registers *r)
{
    struct iovec data = {r, sizeof(*r)};

    return ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &data) == 0;
}

static bool
set_registers(pid_t thread, registers *r)
{
    struct iovec data = {r, sizeof(*r)};

    return ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &data) == 0;
}

/* --- names ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    long number;
} calls[] = {
    {"clone", SYS_clone},
    {"clone3", SYS_clone3},
    {"close", SYS_close},
    {"dup3", SYS_dup3},
#ifdef SYS_dup2
    {"dup2", SYS_dup2},
#endif
    {"execve", SYS_execve},
    {"fchmod", SYS_fchmod},
    {"fchown", SYS_fchown},
    {"fcntl", SYS_fcntl},
    {"fstat", SYS_fstat},
    {"fstat", SYS_newfstatat}, /* what glibc's fstat() calls before 2.39 */
    {"fsync", SYS_fsync},
    {"getdents64", SYS_getdents64},
    {"flock", SYS_flock},
    {"linkat", SYS_linkat},
    {"lseek", SYS_lseek},
    {"memfd_create", SYS_memfd_create},
    {"mkdirat", SYS_mkdirat},
    {"mmap", SYS_mmap},
    {"openat", SYS_openat},
    {"openat2", SYS_openat2},
    {"pread", SYS_pread64},
    {"prlimit64", SYS_prlimit64}, /* getrlimit() and setrlimit() */
    {"pwrite", SYS_pwrite64},
    {"read", SYS_read},
    {"renameat", SYS_renameat},
    {"renameat2", SYS_renameat2},
    {"unlinkat", SYS_unlinkat},
    {"write", SYS_write},
};

static const struct {
    const char *name;
    int number;
} errors[] = {
    {"EAGAIN", EAGAIN}, {"EACCES", EACCES}, {"EDQUOT", EDQUOT}, {"EINTR", EINTR},
    {"EIO", EIO},       {"EMFILE", EMFILE}, {"ENFILE", ENFILE}, {"ENOENT", ENOENT},
    {"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}, {"EPERM", EPERM},   {"EROFS", EROFS},
};

/* --- the fault -------------------------------------------------------------------- */

static struct {
    const char *calls;
    long first;
    bool and_all_that_follow;
    int error;
    bool is_short;
    bool is_stop;
    int signal;
} fault;

static long count;
static bool counting, reached;

static bool
is_listed(const char *name)
{
    size_t length = strlen(name);

    for (const char *at = fault.calls; (at = strstr(at, name)); at += length) {
        if ((at == fault.calls || at[-1] == ',') && (!at[length] || at[length] == ','))
            return true;
    }
    return false;
}

/* Return: whether each of the names is in the table. */
static bool
are_known(const char *names)
{
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ",");
        size_t i = 0;

        while (i < ARRAY_SIZE(calls) && (strlen(calls[i].name) != length ||
                                         strncmp(calls[i].name, at, length) != 0))
            i++;
        if (i == ARRAY_SIZE(calls))
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

static bool
concerns_us(long number)
{
    if (strcmp(fault.calls, "all") == 0)
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        if (calls[i].number == number && is_listed(calls[i].name))
            return true;
    }
    return false;
}

static bool
is_due(void)
{
    count++;
    return fault.and_all_that_follow ? count >= fault.first : count == fault.first;
}

/* Return: whether to replace its result. */
static bool
enter_call(pid_t process, pid_t thread)
{
    registers r;

    if (!get_registers(thread, &r))
        return false;
    if (!counting && CALL(r) == SYS_fcntl && FIRST(r) == 0 && SECOND(r) == F_GETFD)
        counting = true;
    if (!counting || !concerns_us((long)CALL(r)) || !is_due())
        return false;
    reached = true;
    if (fault.is_stop) {
        raise(SIGSTOP);
        return false;
    }
    if (fault.signal) {
        skip_call(thread, &r);
        kill(process, fault.signal);
        return false;
    }
    if (fault.is_short) {
        THIRD(r) = THIRD(r) > 1 ? THIRD(r) / 2 : THIRD(r);
        set_registers(thread, &r);
        return false;
    }
    return skip_call(thread, &r);
}

static void
leave_call(pid_t thread)
{
    registers r;

    if (!get_registers(thread, &r))
        return;
    RESULT(r) = (unsigned long long)-fault.error;
    set_registers(thread, &r);
}

/* --- watching --------------------------------------------------------------------- */

static struct thread {
    pid_t id;
    bool inside, replace;
} threads[THREADS];

static struct thread *
find_thread(pid_t id)
{
    for (size_t i = 0; i < THREADS; i++) {
        if (threads[i].id == id)
            return &threads[i];
    }
    return NULL;
}

static struct thread *
find_or_add_thread(pid_t id)
{
    struct thread *thread = find_thread(id);

    if (!thread && (thread = find_thread(0)))
        *thread = (struct thread){.id = id};
    if (!thread)
        exit(IMPOSSIBLE);
    return thread;
}

static void
at_call(pid_t process, struct thread *thread)
{
    thread->inside = !thread->inside;
    if (thread->inside)
        thread->replace = enter_call(process, thread->id);
    else if (thread->replace)
        leave_call(thread->id);
}

/* Return: the signal that the thread goes on with. */
static int
at_stop(pid_t process, struct thread *thread, int status)
{
    int signal_number = WSTOPSIG(status);

    if (signal_number == (SIGTRAP | 0x80)) {
        at_call(process, thread);
        return 0;
    }
    if (status >> 16 == PTRACE_EVENT_EXEC)
        counting = false;
    /* Every event, and the stop that a new thread begins with. */
    if (status >> 16 != 0 || signal_number == SIGSTOP || signal_number == SIGTRAP)
        return 0;
    return signal_number;
}

/* Return: the exit status. */
static int
watch(pid_t process)
{
    int status;
    pid_t id;

    while ((id = waitpid(-1, &status, __WALL)) > 0) {
        struct thread *thread = find_or_add_thread(id);

        if (WIFSTOPPED(status)) {
            int signal_number = at_stop(process, thread, status);

            ptrace(PTRACE_SYSCALL, id, NULL, (void *)(long)signal_number);
            continue;
        }
        thread->id = 0;
        if (id == process)
            break;
    }
    if (!reached)
        return NOT_REACHED;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int
run(char **arguments)
{
    const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                         PTRACE_O_TRACESYSGOOD | (fault.is_stop ? PTRACE_O_TRACEFORK : 0);
    pid_t child = fork();
    int status;

    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(IMPOSSIBLE);
        raise(SIGSTOP);
        execvp(arguments[0], arguments);
        perror(arguments[0]);
        _exit(MISUSED);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return MISUSED;
    if (!WIFSTOPPED(status))
        return IMPOSSIBLE;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options) < 0 ||
        ptrace(PTRACE_SYSCALL, child, NULL, NULL) < 0)
        return IMPOSSIBLE;
    return watch(child);
}

/* --- the command ------------------------------------------------------------------ */

static bool
read_when(const char *text)
{
    char *end;

    fault.first = strtol(text, &end, 10);
    fault.and_all_that_follow = *end == '+';
    return fault.first > 0 && (!*end || strcmp(end, "+") == 0);
}

static bool
read_what(const char *text)
{
    fault.is_short = strcmp(text, "short") == 0;
    fault.is_stop = strcmp(text, "stop") == 0;
    fault.signal = strcmp(text, "kill") == 0   ? SIGKILL
                   : strcmp(text, "term") == 0 ? SIGTERM
                                               : 0;
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
        if (strcmp(errors[i].name, text) == 0)
            fault.error = errors[i].number;
    }
    return fault.is_short || fault.is_stop || fault.signal || fault.error;
}

int
main(int argc, char **argv)
{
    if (argc < 5 || (strcmp(argv[1], "all") != 0 && !are_known(argv[1])) ||
        !read_when(argv[2]) || !read_what(argv[3])) {
        fputs(
            "Usage: fault CALLS WHEN ERROR|short|kill|term|stop PROGRAM [ARGUMENT...]\n",
            stderr);
        return MISUSED;
    }
    fault.calls = argv[1];
    return run(argv + 4);
}

#endif
