/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault: runs a program and makes one of its system calls go wrong.
 *
 *     fault CALLS WHEN WHAT PROGRAM [ARGUMENT...]
 *
 * CALLS is a name or several, "write,pread", or "all". After "own:", only calls of the
 * process that fault has started count; after "child:", those of all others; after
 * "confined:", those of others that have a filter for system calls. WHEN says which of them, "3", or "3+" for
 * that one and all that follow; WHAT is an error's name, "ENOSPC", or "short" (half of the
 * bytes that were asked for), or "kill" or "term" (the signal instead of the call, to the
 * process that makes it), or "stop": nothing goes wrong, but fault stops itself (SIGSTOP),
 * and the call waits until somebody who has seen that lets fault continue (SIGCONT).
 *
 * How it works: ptrace(2). The calls of all threads and processes are counted together. A
 * program's count from the moment it does what ours do first, looks at its standard input
 * (fcntl(0, F_GETFD)) or asks to end with its parent (prctl(PR_SET_PDEATHSIG)), so that the
 * dynamic linker is left alone; a child's from the beginning, until it becomes another
 * program. All processes have ended when fault does.
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
#include <sys/prctl.h>
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

/* Takes the place of a call. A filter for system calls comes after us, and the maker's kills
 * for none at all. */
#define HARMLESS SYS_getpid

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
    CALL(*r) = HARMLESS;
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
    int none = HARMLESS;
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
    {"clone", SYS_clone},         {"clone3", SYS_clone3},
    {"close", SYS_close},         {"close_range", SYS_close_range},
    {"dup3", SYS_dup3},
#ifdef SYS_dup2
    {"dup2", SYS_dup2},
#endif
    {"execve", SYS_execve},       {"execveat", SYS_execveat},
    {"fchmod", SYS_fchmod},       {"fchown", SYS_fchown},
    {"fcntl", SYS_fcntl},         {"fstat", SYS_fstat},
    {"fstat", SYS_newfstatat}, /* what glibc's fstat() calls before 2.39 */
    {"fsync", SYS_fsync},         {"getdents64", SYS_getdents64},
    {"flock", SYS_flock},         {"linkat", SYS_linkat},
    {"lseek", SYS_lseek},         {"memfd_create", SYS_memfd_create},
    {"mkdirat", SYS_mkdirat},     {"mmap", SYS_mmap},
    {"openat", SYS_openat},       {"openat2", SYS_openat2},
    {"prctl", SYS_prctl},         {"pread", SYS_pread64},
    {"prlimit64", SYS_prlimit64}, /* getrlimit() and setrlimit() */
    {"pwrite", SYS_pwrite64},     {"read", SYS_read},
    {"renameat", SYS_renameat},   {"renameat2", SYS_renameat2},
    {"setgroups", SYS_setgroups}, {"setresgid", SYS_setresgid},
    {"setresuid", SYS_setresuid}, {"socketpair", SYS_socketpair},
    {"unlinkat", SYS_unlinkat},   {"wait4", SYS_wait4},
    {"write", SYS_write},         {"pidfd_open", SYS_pidfd_open},
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
    enum whose {
        ANY,
        OWN,
        CHILD,
        CONFINED
    } whose;
    long first;
    bool and_all_that_follow;
    int error;
    bool is_short;
    bool is_stop;
    int signal;
} fault;

static long count;
static bool reached;

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
is_call_of_ours(long number)
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

/* --- watching --------------------------------------------------------------------- */

/* Where a thread is that fault has seen. */
enum place {
    OUTSIDE,
    INSIDE, /* a call */
    EARLY,  /* it waits until its parent, too, has said that it exists */
};

static struct thread {
    pid_t id, process;
    enum place place;
    bool is_counted, is_confined, replace;
} threads[THREADS];

static pid_t program;

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
add_thread(pid_t id, pid_t process)
{
    struct thread *thread = find_thread(0);

    if (!thread)
        exit(IMPOSSIBLE);
    *thread = (struct thread){.id = id, .process = process};
    return thread;
}

static void
let_go(pid_t id, int signal_number)
{
    ptrace(PTRACE_SYSCALL, id, NULL, (void *)(long)signal_number);
}

/* --- at a call ---------------------------------------------------------------------- */

/* Return: whether it is the first call of one of our programs. */
static bool
is_first_call(const registers *r)
{
    return (CALL(*r) == SYS_fcntl && FIRST(*r) == 0 && SECOND(*r) == F_GETFD) ||
           (CALL(*r) == SYS_prctl && FIRST(*r) == PR_SET_PDEATHSIG);
}

static bool
concerns_us(const struct thread *thread)
{
    switch (fault.whose) {
    case OWN:
        return thread->process == program;
    case CHILD:
        return thread->process != program;
    case CONFINED:
        return thread->process != program && thread->is_confined;
    case ANY:
        break;
    }
    return true;
}

/* Return: whether to replace its result. */
static bool
enter_call(struct thread *thread)
{
    registers r;

    if (!get_registers(thread->id, &r))
        return false;
    thread->is_counted = thread->is_counted || is_first_call(&r);
    if (!thread->is_counted || !concerns_us(thread) || !is_call_of_ours((long)CALL(r)) ||
        !is_due()) {
        thread->is_confined =
            thread->is_confined || (CALL(r) == SYS_prctl && FIRST(r) == PR_SET_SECCOMP);
        return false;
    }
    reached = true;
    if (fault.is_stop) {
        raise(SIGSTOP);
        return false;
    }
    if (fault.signal) {
        skip_call(thread->id, &r);
        kill(thread->process, fault.signal);
        return false;
    }
    if (fault.is_short) {
        THIRD(r) = THIRD(r) > 1 ? THIRD(r) / 2 : THIRD(r);
        set_registers(thread->id, &r);
        return false;
    }
    return skip_call(thread->id, &r);
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

static void
at_call(struct thread *thread)
{
    if (thread->place == OUTSIDE) {
        thread->place = INSIDE;
        thread->replace = enter_call(thread);
        return;
    }
    thread->place = OUTSIDE;
    if (thread->replace)
        leave_call(thread->id);
}

/* --- at another event ----------------------------------------------------------------- */

/* The parent of a new thread or process has stopped; it may have begun before. */
static void
at_birth(const struct thread *parent, bool is_process)
{
    unsigned long message = 0;
    struct thread *thread;
    pid_t id;

    if (ptrace(PTRACE_GETEVENTMSG, parent->id, NULL, &message) < 0)
        return;
    id = (pid_t)message;
    thread = find_thread(id);
    if (thread)
        let_go(id, 0);
    else
        thread = add_thread(id, id);
    thread->place = OUTSIDE;
    thread->process = is_process ? id : parent->process;
    thread->is_counted = parent->is_counted;
    thread->is_confined = parent->is_confined;
}

/* Return: the signal that the thread goes on with. */
static int
at_stop(struct thread *thread, int status)
{
    const int signal_number = WSTOPSIG(status);

    if (signal_number == (SIGTRAP | 0x80)) {
        at_call(thread);
        return 0;
    }
    switch (status >> 16) {
    case PTRACE_EVENT_EXEC:
        thread->is_counted = false;
        thread->is_confined = false;
        break;
    case PTRACE_EVENT_CLONE:
        at_birth(thread, false);
        break;
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
        at_birth(thread, true);
        break;
    }
    /* Every event, and the stop that a new thread begins with. */
    if (status >> 16 != 0 || signal_number == SIGSTOP || signal_number == SIGTRAP)
        return 0;
    return signal_number;
}

/* Return: the program's exit status. */
static int
watch(void)
{
    int status, last = 0;
    pid_t id;

    while ((id = waitpid(-1, &status, __WALL)) > 0) {
        struct thread *thread = find_thread(id);

        if (WIFSTOPPED(status)) {
            if (!thread)
                add_thread(id, id)->place = EARLY;
            else
                let_go(id, at_stop(thread, status));
            continue;
        }
        if (thread)
            thread->id = 0;
        if (id == program)
            last = status;
    }
    if (!reached)
        return NOT_REACHED;
    return WIFSIGNALED(last) ? 128 + WTERMSIG(last) : WEXITSTATUS(last);
}

static int
run(char **arguments)
{
    const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                         PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACESYSGOOD;
    int status;

    program = fork();
    if (program == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(IMPOSSIBLE);
        raise(SIGSTOP);
        execvp(arguments[0], arguments);
        perror(arguments[0]);
        _exit(MISUSED);
    }
    if (program < 0 || waitpid(program, &status, 0) < 0)
        return MISUSED;
    if (!WIFSTOPPED(status))
        return IMPOSSIBLE;
    add_thread(program, program);
    if (ptrace(PTRACE_SETOPTIONS, program, NULL, (void *)options) < 0 ||
        ptrace(PTRACE_SYSCALL, program, NULL, NULL) < 0)
        return IMPOSSIBLE;
    return watch();
}

/* --- the command ------------------------------------------------------------------ */

static bool
read_calls(const char *text)
{
    static const char *const prefixes[] = {
        [OWN] = "own:", [CHILD] = "child:", [CONFINED] = "confined:"};

    fault.calls = text;
    for (int i = OWN; i <= CONFINED; i++) {
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) != 0)
            continue;
        fault.whose = (enum whose)i;
        fault.calls = text + strlen(prefixes[i]);
    }
    return strcmp(fault.calls, "all") == 0 || are_known(fault.calls);
}

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
    if (argc < 5 || !read_calls(argv[1]) || !read_when(argv[2]) || !read_what(argv[3])) {
        fputs(
            "Usage: fault [own:|child:|confined:]CALLS WHEN ERROR|short|kill|term|stop PROGRAM "
            "[ARGUMENT...]\n",
            stderr);
        return MISUSED;
    }
    return run(argv + 4);
}

#endif
