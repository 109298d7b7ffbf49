/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Enters the sandbox, and then does what somebody who has taken over the maker would do.
 *
 * Usage: sandbox-plant PLANT: prints "survived", if it has
 *        sandbox-plant status: prints the open descriptors, and waits for the end of
 *                              standard input
 *        sandbox-plant memory|thread|descriptors|abort: does what must work, or fail
 *        sandbox-plant calls: tries all system calls by number, and prints those that are
 *                             allowed and should not be
 *        sandbox-plant cost: prints how many microseconds it took to enter
 *        sandbox-plant --list: prints the names of the plants
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/memory.h"
#include "maker/sandbox.h"

static void
say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(97);
}

static void
enter(void)
{
    int error = sandbox_enter();

    if (error < 0) {
        fprintf(stderr, "sandbox_enter: %s\n", strerror(-error));
        exit(98);
    }
}

/* --- plants: each dies -------------------------------------------------------------- */

#define ADDRESS(object) ((long)(uintptr_t)(object))

static const char path[] = "sandbox-canary";
static const char program[] = "/bin/true";
static char *const words[] = {(char *)program, NULL};
static const struct rlimit limit = {64UL * 1024 * MIB, 64UL * 1024 * MIB};
static const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "canary"};
static struct stat status;
static int number;
/* More than there can be: whoever breaks the filter must not end somebody else. */
#define NO_PROCESS 0x7fffffff
#ifdef __s390x__
#define CLONE(flags)                                                                     \
    {                                                                                    \
        0, flags                                                                         \
    }
#else
#define CLONE(flags)                                                                     \
    {                                                                                    \
        flags, 0                                                                         \
    }
#endif
#define THREAD                                                                           \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |  \
     CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

static const struct plant {
    const char *name;
    long call;
    long arguments[6];
} plants[] = {
#ifdef SYS_open
    {"open", SYS_open, {ADDRESS(path), O_RDONLY}},
    {"open-for-writing", SYS_open, {ADDRESS(path), O_CREAT | O_RDWR, 0600}},
#endif
    {"openat", SYS_openat, {AT_FDCWD, ADDRESS(path), O_RDONLY}},
    {"openat-of-a-descriptor", SYS_openat, {3, ADDRESS(""), O_RDONLY}},
    {"openat2", SYS_openat2, {AT_FDCWD, ADDRESS(path)}},
    {"memfd_create", SYS_memfd_create, {ADDRESS(path)}},
    {"socket", SYS_socket, {AF_INET, SOCK_STREAM}},
    {"socketpair", SYS_socketpair, {AF_UNIX, SOCK_STREAM}},
    {"connect", SYS_connect, {4, ADDRESS(&address), sizeof(address)}},
    {"sendto", SYS_sendto, {4, ADDRESS(path), 1, 0, ADDRESS(&address), sizeof(address)}},
    {"sendmsg", SYS_sendmsg, {4, 0}},
    {"recvmsg", SYS_recvmsg, {4, 0}},
    {"execve", SYS_execve, {ADDRESS(program), ADDRESS(words), 0}},
    {"execveat", SYS_execveat, {AT_FDCWD, ADDRESS(program), ADDRESS(words), 0}},
#ifdef SYS_fork
    {"fork", SYS_fork, {0}},
    {"vfork", SYS_vfork, {0}},
#endif
    {"clone-of-a-process", SYS_clone, CLONE(SIGCHLD)},
    {"clone-into-a-user-namespace", SYS_clone, CLONE(CLONE_NEWUSER | SIGCHLD)},
    {"clone-into-a-mount-namespace", SYS_clone, CLONE(THREAD | CLONE_NEWNS)},
    {"clone-untraced", SYS_clone, CLONE(THREAD | CLONE_UNTRACED)},
    {"unshare", SYS_unshare, {CLONE_NEWUSER}},
    {"kill", SYS_kill, {1, 0}},
    {"kill-of-itself", SYS_kill, {0, 0}},
    {"tkill", SYS_tkill, {NO_PROCESS, SIGABRT}},
    {"tgkill-of-another", SYS_tgkill, {NO_PROCESS, NO_PROCESS, SIGABRT}},
    {"pidfd_open", SYS_pidfd_open, {1}},
#ifndef __s390x__ /* where its arguments are in memory, so that no filter sees them */
    {"mmap-of-code",
#ifdef SYS_mmap2
     SYS_mmap2,
#else
     SYS_mmap,
#endif
     {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1}},
    {"mmap-of-a-file",
#ifdef SYS_mmap2
     SYS_mmap2,
#else
     SYS_mmap,
#endif
     {0, 4096, PROT_READ, MAP_PRIVATE, 3}},
#endif
    {"mprotect-of-code", SYS_mprotect, {0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC}},
    {"ptrace", SYS_ptrace, {PTRACE_TRACEME}},
    {"process_vm_readv", SYS_process_vm_readv, {1}},
    {"prlimit", SYS_prlimit64, {0, RLIMIT_AS, ADDRESS(&limit)}},
    {"prlimit-of-another", SYS_prlimit64, {1, RLIMIT_AS, ADDRESS(&limit)}},
    {"setrlimit", SYS_setrlimit, {RLIMIT_AS, ADDRESS(&limit)}},
#ifdef SYS_unlink
    {"unlink", SYS_unlink, {ADDRESS(path)}},
    {"mkdir", SYS_mkdir, {ADDRESS(path), 0700}},
    {"chmod", SYS_chmod, {ADDRESS(path), 0777}},
    {"readlink", SYS_readlink, {ADDRESS(path), ADDRESS(&status), sizeof(status)}},
#endif
    {"unlinkat", SYS_unlinkat, {AT_FDCWD, ADDRESS(path), 0}},
#ifdef SYS_rename
    {"rename", SYS_rename, {ADDRESS(path), ADDRESS("elsewhere")}},
#endif
    {"renameat2",
     SYS_renameat2,
     {AT_FDCWD, ADDRESS(path), AT_FDCWD, ADDRESS("elsewhere")}},
    {"fchmod", SYS_fchmod, {5, 0777}},
    {"fcntl", SYS_fcntl, {0, F_GETFD}},
    {"ftruncate", SYS_ftruncate, {5, 0}},
    {"dup", SYS_dup, {0}},
    {"ioctl", SYS_ioctl, {0, FIONREAD, ADDRESS(&number)}},
    {"prctl", SYS_prctl, {PR_SET_DUMPABLE, 1}},
    {"seccomp", SYS_seccomp, {0}},
    {"setuid", SYS_setuid, {0}},
    {"chdir", SYS_chdir, {ADDRESS("/")}},
    {"mount", SYS_mount, {0}},
    {"bpf", SYS_bpf, {0}},
    {"io_uring_setup", SYS_io_uring_setup, {1, 0}},
    {"perf_event_open", SYS_perf_event_open, {0}},
    {"userfaultfd", SYS_userfaultfd, {0}},
    {"keyctl", SYS_keyctl, {0}},
    {"unknown-call", 5000, {0}},
#if defined __x86_64__ && !defined __ILP32__
    {"x32-read", 0x40000000L + SYS_read, {0, ADDRESS(&number), 0}},
    {"x32-open", 0x40000000L + SYS_open, {ADDRESS(path), O_RDONLY}},
    {"x32-getpid", 0x40000000L + SYS_getpid, {0}},
#endif
};

static void
do_plant(const struct plant *plant)
{
    const long *a = plant->arguments;

    enter();
    syscall(plant->call, a[0], a[1], a[2], a[3], a[4], a[5]);
    say("survived\n");
}

#if defined __x86_64__ && !defined __ILP32__
/* getpid(2) of i386, which is another call on x86-64. */
static void
do_call_of_i386(void)
{
    long result = 20;

    enter();
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
    say("survived\n");
}
#endif

/* In a thread, which must end the whole process. */
static void *
open_a_file(void *nothing)
{
    syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
    return nothing;
}

static void
do_open_in_a_thread(void)
{
    pthread_t thread;

    enter();
    if (pthread_create(&thread, NULL, open_a_file, NULL) == 0)
        pthread_join(thread, NULL);
    say("survived\n");
}

static const struct {
    const char *name;
    void (*run)(void);
} other_plants[] = {
    {"open-in-a-thread", do_open_in_a_thread},
#if defined __x86_64__ && !defined __ILP32__
    {"getpid-of-i386", do_call_of_i386},
#endif
};

/* --- what must work ----------------------------------------------------------------- */

/* lseek(2) is allowed, and tells whether a descriptor is open. */
static void
do_status(void)
{
    char line[32];

    enter();
    for (int fd = 0; fd < 1024; fd++) {
        if (lseek(fd, 0, SEEK_CUR) < 0 && errno == EBADF)
            continue;
        snprintf(line, sizeof(line), "%d\n", fd);
        say(line);
    }
    say("end\n");
    while (read(STDIN_FILENO, line, sizeof(line)) > 0) {
    }
}

static void
do_memory(void)
{
    /* A compiler may leave out what is allocated and not used. */
    void *volatile small, *volatile large;

    enter();
    small = malloc(256 * MIB);
    large = malloc(LIMIT_MAKER_MEMORY);
    say(small ? "256 MiB\n" : "no 256 MiB\n");
    say(large ? "more\n" : "no more\n");
}

static void *
note(void *noted)
{
    char *memory = xmalloc(4096);

    *(bool *)noted = true;
    free(memory);
    return NULL;
}

static void
do_thread(void)
{
    pthread_t thread;
    bool noted = false;

    enter();
    if (pthread_create(&thread, NULL, note, &noted) == 0)
        pthread_join(thread, NULL);
    say(noted ? "it ran\n" : "it did not run\n");
}

/* Descriptor 5 is a file, and standard output may be one. */
static void
do_descriptors(void)
{
    char byte = 'x';

    enter();
    if (lseek(5, LIMIT_IMAGE, SEEK_SET) != LIMIT_IMAGE)
        say("cannot seek\n");
    if (write(5, &byte, 1) >= 0 || errno != EFBIG)
        say("wrote more than an image\n");
    if (lseek(5, LIMIT_IMAGE - 1, SEEK_SET) < 0 || write(5, &byte, 1) != 1)
        say("cannot write an image\n");
    say("end\n");
}

static void
do_abort(void)
{
    enter();
    abort();
}

static void
do_cost(void)
{
    struct timespec before, after;
    char line[32];

    clock_gettime(CLOCK_MONOTONIC, &before);
    enter();
    clock_gettime(CLOCK_MONOTONIC, &after);
    snprintf(line, sizeof(line), "%ld\n",
             (after.tv_sec - before.tv_sec) * 1000000L +
                 (after.tv_nsec - before.tv_nsec) / 1000);
    say(line);
}

/* --- all calls ---------------------------------------------------------------------- */

/* Those that survive without arguments. */
static bool
is_allowed(long call)
{
    static const long allowed[] = {
        SYS_read,
        SYS_pread64,
        SYS_write,
        SYS_futex,
        SYS_brk,
        SYS_munmap,
        SYS_mremap,
        SYS_madvise,
        SYS_mprotect,
        SYS_clone3,
        SYS_set_robust_list,
        SYS_rseq,
        SYS_rt_sigprocmask,
        SYS_exit,
        SYS_close,
        SYS_lseek,
        SYS_fstat,
        SYS_statx,
        SYS_getrandom,
        SYS_clock_gettime,
        SYS_gettimeofday,
        SYS_sysinfo,
        SYS_rt_sigaction,
        SYS_rt_sigreturn,
        SYS_restart_syscall,
        SYS_writev,
        SYS_getpid,
        SYS_gettid,
        SYS_exit_group,
#ifdef SYS_newfstatat
        SYS_newfstatat,
#endif
#ifdef SYS_fstatat64
        SYS_fstatat64,
#endif
#ifdef SYS_futex_time64
        SYS_futex_time64,
        SYS_clock_gettime64,
#endif
#ifdef SYS__llseek
        SYS__llseek,
#endif
#ifdef SYS_fstat64
        SYS_fstat64,
#endif
#ifdef SYS_sigreturn
        SYS_sigreturn,
#endif
#ifdef SYS_time
        SYS_time,
#endif
#ifdef __s390x__
        SYS_mmap,
#endif
#ifdef __x86_64__
        /* uretprobe(2) and uprobe(2), which the kernel calls itself and no filter sees. */
        335,
        336,
#endif
    };

    for (size_t i = 0; i < ARRAY_SIZE(allowed); i++) {
        if (allowed[i] == call)
            return true;
    }
    return false;
}

/* More than any architecture has; the calls of x32 and of ARM itself have others. */
#define CALL_COUNT 700

static bool
is_killed(long call)
{
    int ended;
    pid_t child = fork();

    if (child == 0) {
        enter();
        syscall(call, 0, 0, 0, 0, 0, 0);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &ended, 0) != child)
        exit(96);
    return WIFSIGNALED(ended) && WTERMSIG(ended) == SIGSYS;
}

static void
do_calls(void)
{
    /* Without a filter, the others would do what they do. */
    if (!is_killed(SYS_getppid)) {
        puts("there is no filter");
        return;
    }
    for (long call = 0; call < CALL_COUNT; call++) {
        bool killed = is_killed(call);

        if (killed == is_allowed(call))
            printf("%ld: %s\n", call, killed ? "killed" : "allowed");
    }
    puts("end");
}

static const struct {
    const char *name;
    void (*run)(void);
} others[] = {
    {"status", do_status}, {"memory", do_memory},
    {"thread", do_thread}, {"descriptors", do_descriptors},
    {"abort", do_abort},   {"cost", do_cost},
    {"calls", do_calls},
};

static void
list(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(plants); i++)
        puts(plants[i].name);
    for (size_t i = 0; i < ARRAY_SIZE(other_plants); i++)
        puts(other_plants[i].name);
}

int
main(int argc, char **argv)
{
    const char *name = argc == 2 ? argv[1] : "";

    if (strcmp(name, "--list") == 0) {
        list();
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < ARRAY_SIZE(plants); i++) {
        if (strcmp(plants[i].name, name) == 0) {
            do_plant(&plants[i]);
            return EXIT_SUCCESS;
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(other_plants); i++) {
        if (strcmp(other_plants[i].name, name) == 0) {
            other_plants[i].run();
            return EXIT_SUCCESS;
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        if (strcmp(others[i].name, name) == 0) {
            others[i].run();
            return EXIT_SUCCESS;
        }
    }
    fprintf(stderr, "sandbox-plant: no plant '%s'\n", name);
    return 2;
}
