/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: first comes what takes rights away and cannot break anything: no new
 * privileges, no tracing, no other descriptors, limits. Then the libraries open what they
 * would otherwise open in the middle of their work. Last comes the filter for system
 * calls, a program for the kernel's BPF machine, which the kernel runs at each call. It
 * lists what is allowed; so what a future kernel adds is not.
 *
 * What is not on the list kills the process, all threads of it, rather than fails: nobody
 * needs it, so who calls it has been taken over, or is a library that has changed. The
 * tests run everything that a maker does under the filter, on each release. A few calls
 * fail instead, because libc then tries another.
 *
 * No allowed call takes a path. A filter sees the arguments of a call, but not the memory
 * that they point to: it could not tell paths apart.
 *
 * There is no limit on processes, since RLIMIT_NPROC counts those of all makers; the
 * filter allows none.
 */
#include "config.h"

#include <iconv.h>
#include <linux/close_range.h>
#include <malloc.h>
#include <sys/random.h>

#include <jansson.h>
#include <libxml/parser.h>

#include "host/maker.h"
#include "maker/sandbox.h"

#if ENABLE_SANDBOX

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* --- limits ----------------------------------------------------------------------- */

static int
set_limits(void)
{
    static const struct {
        int resource;
        rlim_t value;
    } limits[] = {
        {RLIMIT_AS, LIMIT_MAKER_MEMORY},
        {RLIMIT_CPU, LIMIT_MAKER_SECONDS},
        {RLIMIT_FSIZE, LIMIT_IMAGE},
        {RLIMIT_NOFILE, LIMIT_MAKER_DESCRIPTORS},
        {RLIMIT_CORE, 0},
    };

    for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
        struct rlimit limit;

        if (getrlimit((__rlimit_resource_t)limits[i].resource, &limit) < 0)
            return -errno;
        /* Whoever started us may have set less. */
        if (limit.rlim_max > limits[i].value)
            limit.rlim_max = limits[i].value;
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit((__rlimit_resource_t)limits[i].resource, &limit) < 0)
            return -errno;
    }
    /* A write beyond the limit then fails, as on a full disk. */
    signal(SIGXFSZ, SIG_IGN);
    return 0;
}

/* --- the filter: the machine ------------------------------------------------------ */

/* Numbers of system calls mean something only together with the architecture. A kernel for
 * x86-64 also takes the calls of i386, and with another bit in the number those of x32;
 * the first are of another architecture, the second are on no list. */
#if defined __x86_64__ && !defined __ILP32__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __i386__
#define ARCHITECTURE AUDIT_ARCH_I386
#elif defined __aarch64__ && !defined __ILP32__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __ARM_EABI__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCHITECTURE AUDIT_ARCH_ARM
#elif defined __powerpc64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCHITECTURE AUDIT_ARCH_PPC64LE
#elif defined __riscv && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#elif defined __s390x__
#define ARCHITECTURE AUDIT_ARCH_S390X
#else
#error "no filter for this architecture yet: add it here, or configure --disable-sandbox"
#endif

/* Loads a member of struct seccomp_data, which the statements after it look at. */
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)

/* Arguments have 64 bits, the machine has 32. The kernel's int and unsigned int arguments
 * are in the lower half, and so are all flags. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOWER_HALF sizeof(uint32_t)
#else
#define LOWER_HALF 0
#endif
#define ARGUMENT(index)                                                                  \
    (offsetof(struct seccomp_data, args) + (index) * sizeof(uint64_t) + LOWER_HALF)

#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)

/* The next `count` statements are for this call, and end with an answer. */
#define FOR(call, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, count)

/* Kills unless these bits of the argument have that value. */
#define REQUIRE(index, bits, value)                                                      \
    LOAD(ARGUMENT(index)), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits),                    \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0),                                \
        ANSWER(SECCOMP_RET_KILL_PROCESS)
#define REQUIRE_COUNT 4

#define ALLOW(call) FOR(call, 1), ANSWER(SECCOMP_RET_ALLOW)
#define FAIL(call, error) FOR(call, 1), ANSWER(SECCOMP_RET_ERRNO | (error))
#define ALLOW_IF(call, requirement)                                                      \
    FOR(call, REQUIRE_COUNT + 1), requirement, ANSWER(SECCOMP_RET_ALLOW)
#define ALLOW_IF_BOTH(call, requirement, other)                                          \
    FOR(call, 2 * REQUIRE_COUNT + 1), requirement, other, ANSWER(SECCOMP_RET_ALLOW)

/* --- the filter: the list ----------------------------------------------------------- */

#define ALL_BITS 0xffffffffU

/* What pthread_create(3) says of a new thread: it shares everything. musl's also has
 * CLONE_DETACHED, which the kernel ignores. The bits that no thread has are those of
 * processes and of namespaces. */
#define THREAD_FLAGS                                                                     \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |  \
     CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)
#define THREAD_BITS (ALL_BITS & ~(unsigned int)CLONE_DETACHED)
#ifdef __s390x__
#define CLONE_FLAGS 1
#else
#define CLONE_FLAGS 0
#endif

/* Of mmap(2); the first of mprotect(2), too. */
#define WITHOUT_CODE REQUIRE(2, PROT_EXEC, 0)
#define WITHOUT_FILE REQUIRE(3, MAP_ANONYMOUS, MAP_ANONYMOUS)

static int
install_filter(void)
{
    /* The kernel goes through it from the top: most frequent first. clang-format 14 does
     * not know conditions in a list. */
    /* clang-format off */
    struct sock_filter filter[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
        LOAD(offsetof(struct seccomp_data, nr)),

        ALLOW(read),
        ALLOW(pread64), /* to verify the image */
        ALLOW(write),
        ALLOW(futex),
#ifdef __NR_futex_time64
        ALLOW(futex_time64),
#endif

        /* malloc(3), and the stacks of threads. */
        ALLOW(brk),
#if defined __NR_mmap2
        ALLOW_IF_BOTH(mmap2, WITHOUT_CODE, WITHOUT_FILE),
#elif defined __s390x__
        /* Its arguments are in memory. */
        ALLOW(mmap),
#else
        ALLOW_IF_BOTH(mmap, WITHOUT_CODE, WITHOUT_FILE),
#endif
        ALLOW(munmap),
        ALLOW(mremap),
        ALLOW(madvise),
        ALLOW_IF(mprotect, WITHOUT_CODE),

        /* The thread in which libisofs makes the bytes of an image. The flags of clone3(2)
         * are in memory; libc then uses clone(2). */
        ALLOW_IF(clone, REQUIRE(CLONE_FLAGS, THREAD_BITS, THREAD_FLAGS)),
        FAIL(clone3, ENOSYS),
        ALLOW(set_robust_list),
        ALLOW(rseq),
        ALLOW(rt_sigprocmask),
        ALLOW(exit),

        ALLOW(close),
#ifdef __NR__llseek
        ALLOW(_llseek),
#endif
#ifdef __NR_lseek
        ALLOW(lseek),
#endif
#ifdef __NR_fstat
        ALLOW(fstat),
#endif
#ifdef __NR_fstat64
        ALLOW(fstat64),
#endif
        /* fstat(3) of some libcs; but they are given a path. */
#ifdef __NR_newfstatat
        FAIL(newfstatat, ENOSYS),
#endif
#ifdef __NR_fstatat64
        FAIL(fstatat64, ENOSYS),
#endif
        FAIL(statx, ENOSYS),

        ALLOW(getrandom), /* tokens, keys */

        /* Most kernels answer these without a call. */
        ALLOW(clock_gettime),
#ifdef __NR_clock_gettime64
        ALLOW(clock_gettime64),
#endif
        ALLOW(gettimeofday),
#ifdef __NR_time
        ALLOW(time),
#endif

        ALLOW(sysinfo), /* qsort(3) until glibc 2.36 asks how much memory there is */

        /* Signals: what is ignored, a handler's end, a call that a stop interrupts. */
        ALLOW(rt_sigaction),
        ALLOW(rt_sigreturn),
#ifdef __NR_sigreturn
        ALLOW(sigreturn),
#endif
        ALLOW(restart_syscall),

        /* abort(3), and what libc prints before, such as "stack smashing detected". */
        ALLOW(writev),
        ALLOW(getpid),
        ALLOW(gettid),
        ALLOW_IF_BOTH(tgkill, REQUIRE(0, ALL_BITS, (uint32_t)getpid()),
                      REQUIRE(2, ALL_BITS, SIGABRT)),

        ALLOW(exit_group),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
    };
    /* clang-format on */
    const struct sock_fprog program = {ARRAY_SIZE(filter), filter};

    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

/* --- in the order of sandbox_enter() ------------------------------------------------ */

/* The user has no rights, unless it is the root of a user namespace without others. */
static int
give_up_rights(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    if (syscall(SYS_capset, &header, none) < 0)
        return -errno;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}

#endif

/* Makes the libraries open what they would open later. */
static int
prepare_libraries(void)
{
    /* Open until the process ends, so that its module stays loaded: for the names of
     * Joliet. libisofs uses others, which are a part of libc. */
    static iconv_t joliet;
    char byte;

    /* A thread would get an arena of its own: 128 MiB of address space. */
    mallopt(M_ARENA_MAX, 1);
    /* Large blocks go back to the kernel at once, and others not before the end. */
    mallopt(M_MMAP_THRESHOLD, 128 * KIB);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, MIB);
    joliet = iconv_open("UTF-16BE", "UTF-8");
    /* As its manual says. NOLINTNEXTLINE(performance-no-int-to-ptr) */
    if (joliet == (iconv_t)-1)
        return -errno;
    if (setenv("TZ", "UTC", 1) < 0)
        return -errno;
    tzset();
    /* glibc 2.41 counts the processors, to share out what the kernel maps for it. */
    if (getrandom(&byte, sizeof(byte), 0) < 0)
        return -errno;
    /* Reads /dev/urandom. */
    json_object_seed(0);
    xmlInitParser();
    return 0;
}

int
sandbox_enter(void)
{
    int error = 0;

#if ENABLE_SANDBOX
    error = give_up_rights();
#endif
    if (error == 0 && close_range(MAKER_DESCRIPTORS, ~0U, 0) < 0)
        error = -errno;
#if ENABLE_SANDBOX
    if (error == 0)
        error = set_limits();
#endif
    if (error == 0)
        error = prepare_libraries();
#if ENABLE_SANDBOX
    if (error == 0)
        error = install_filter();
#endif
    return error;
}
