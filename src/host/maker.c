/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <linux/close_range.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/fs.h"
#include "base/process.h"
#include "base/user.h"
#include "host/maker.h"
#include "host/storage.h"

#define PROGRAM "virt-seed-maker"

/* --- its start -------------------------------------------------------------------------- */

/* What becomes the maker; descriptors are -1 if the maker does not get them. */
struct program_start {
    int program;
    int xml;
    int socket;
    int output;
    struct user user;
};

/* Out of the way of the maker's own descriptors. Return: the copy, or -1. */
static int
move_up(int fd, int otherwise)
{
    return fcntl(fd < 0 ? otherwise : fd, F_DUPFD_CLOEXEC, MAKER_DESCRIPTORS);
}

static int
arrange_descriptors(struct program_start *start)
{
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int wanted[MAKER_DESCRIPTORS] = {
        [0] = move_up(null, null),
        [1] = move_up(null, null),
        [2] = move_up(null, null),
        [MAKER_XML] = move_up(start->xml, null),
        [MAKER_SOCKET] = move_up(start->socket, null),
        [MAKER_OUTPUT] = move_up(start->output, null),
    };

    start->program = move_up(start->program, null);
    for (int fd = 0; fd < MAKER_DESCRIPTORS; fd++) {
        if (dup2(wanted[fd], fd) < 0)
            return -errno;
    }
    return close_range(MAKER_DESCRIPTORS, ~0U, CLOSE_RANGE_CLOEXEC) < 0 ? -errno : 0;
}

/* 32-bit architectures also have calls for users of 16 bits. */
#ifdef SYS_setresuid32
#define SET_USER SYS_setresuid32
#define SET_GROUP SYS_setresgid32
#define SET_GROUPS SYS_setgroups32
#else
#define SET_USER SYS_setresuid
#define SET_GROUP SYS_setresgid
#define SET_GROUPS SYS_setgroups
#endif

/* Becomes a user without rights. A user namespace may have no other user than root, whose
 * rights the maker gives up itself. libc's functions would change all threads, which are
 * those of the parent. */
static int
become(const struct user *user)
{
    if (geteuid() != 0 || !ENABLE_SANDBOX)
        return 0;
    if (syscall(SET_GROUP, user->gid, user->gid, user->gid) < 0)
        return errno == EINVAL ? 0 : -errno;
    if (syscall(SET_GROUPS, 0, NULL) < 0 ||
        syscall(SET_USER, user->uid, user->uid, user->uid) < 0)
        return -errno;
    return 0;
}

static _Noreturn __attribute__((noinline)) void
become_maker(struct program_start *start)
{
    static char *const arguments[] = {(char *)PROGRAM, NULL};
    static char *const environment[] = {(char *)"LC_ALL=C", (char *)"TZ=UTC", NULL};
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (arrange_descriptors(start) == 0 && become(&start->user) == 0)
        fexecve(start->program, arguments, environment);
    _exit(EXIT_FAILURE);
}

/* Copying the page tables with fork(2) would cost a tenth of a start. In the child, which
 * shares the memory, there are only system calls. */
static __attribute__((noinline)) pid_t
spawn(struct program_start *start)
{
    /* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork) */
    const pid_t pid = vfork();

    if (pid == 0)
        become_maker(start);
    return pid;
}

/* The maker may not be able to reach the directory of the program. */
static int
open_program(struct failure **failure)
{
    static const char installed[] = VIRT_SEED_SBINDIR "/" PROGRAM;
    cleanup_free char *beside = process_path_beside(PROGRAM);
    int fd = beside ? open(beside, O_PATH | O_CLOEXEC) : -1;

    /* virt-seed is in another directory. */
    if (fd < 0)
        fd = open(installed, O_PATH | O_CLOEXEC);
    if (fd < 0)
        failure_set_errno(failure, FAILURE_SYSTEM, errno,
                          "could not find %s\nreinstall virt-seed", installed);
    return fd;
}

static int
fail_start(int error, struct failure **failure)
{
    return failure_set_errno(failure, FAILURE_SYSTEM, error,
                             "could not start " PROGRAM "\n"
                             "check the limits on memory, processes and open files");
}

int
maker_start(struct maker *maker, const struct buffer *xml, int output,
            struct failure **failure)
{
    cleanup_close int root = fs_open_root("/");
    struct program_start start = {.output = output, .user = user_find(root, MAKER_USER)};
    cleanup_close int program = open_program(failure);
    cleanup_close int document = -1;
    cleanup_close int theirs = -1;
    int sockets[2];

    if (program < 0)
        return -1;
    document = xml ? process_document("domain.xml", xml) : -1;
    if (xml && (document < 0 || lseek(document, 0, SEEK_SET) < 0))
        return fail_start(document < 0 ? document : errno, failure);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
        return fail_start(errno, failure);
    theirs = sockets[1];
    maker->socket = sockets[0];
    /* The hook has an alarm, but not the commands. */
    maker->end = clock_milliseconds() + LIMIT_MAKER_SECONDS * 1000L;
    fcntl(maker->socket, F_SETFL, O_NONBLOCK);
    start.program = program;
    start.xml = document;
    start.socket = theirs;
    maker->pid = spawn(&start);
    return maker->pid > 0 ? 0 : fail_start(errno, failure);
}

/* --- its end ------------------------------------------------------------------------------ */

int
maker_stop(struct maker *maker)
{
    int status = -1;

    close_pointer(&maker->socket);
    maker->socket = -1;
    if (maker->pid <= 0)
        return status;
    kill(maker->pid, SIGKILL);
    while (waitpid(maker->pid, &status, 0) < 0 && errno == EINTR)
        ;
    maker->pid = 0;
    return status;
}

/* The failure of a maker that has broken a rule, which it is ended for. */
static int
fail_maker(struct maker *maker, const char *what, struct failure **failure)
{
    maker_stop(maker);
    return failure_set(
        failure, FAILURE_SYSTEM,
        "the process that reads what the domain asks for %s\n"
        "its memory and time are limited, so try a smaller document; if that does not help, report "
        "this with the domain's XML",
        what);
}

/* The same for one that has ended with that status, or was ended since its time was over. */
static int
fail_ended(struct maker *maker, int status, struct failure **failure)
{
    cleanup_free char *how = NULL;

    if (clock_milliseconds() >= maker->end)
        return fail_maker(maker, "took too long", failure);
    if (status >= 0 && WIFSIGNALED(status))
        how = xasprintf("was ended by signal %d", WTERMSIG(status));
    else if (status >= 0 && WIFEXITED(status))
        how = xasprintf("ended with status %d", WEXITSTATUS(status));
    return fail_maker(maker, how ? how : "could not be waited for", failure);
}

/* Waits for the end of a maker that has said everything. The socket is closed when it has
 * begun to exit, and being killed does not change its status any more; one that has only
 * closed the socket has not ended well. */
static int
wait_for_end(struct maker *maker, struct failure **failure)
{
    cleanup_buffer struct buffer more = {0};
    const int found = message_receive(maker->socket, maker->end, &more);
    int status;

    if (found == -EAGAIN)
        return fail_maker(maker, "did not end", failure);
    if (found == -ECONNRESET)
        return fail_maker(maker, "ended before it had heard everything", failure);
    if (found != 0)
        return fail_maker(maker, "said too much", failure);
    status = maker_stop(maker);
    return status == 0 ? 0 : fail_ended(maker, status, failure);
}

/* --- the conversation ---------------------------------------------------------------------- */

int
maker_say_hello(struct maker *maker, const struct hello *hello, struct failure **failure)
{
    cleanup_buffer struct buffer message = {0};

    hello_put(hello, &message);
    if (message_send(maker->socket, maker->end, MESSAGE_HELLO, &message) < 0)
        return fail_ended(maker, maker_stop(maker), failure);
    return 0;
}

static int
answer_needs(struct maker *maker, enum maker_role role, const struct host *host,
             struct needs *needs, const struct buffer *question, struct failure **failure)
{
    cleanup_buffer struct buffer answers = {0};

    if (!needs_get(needs, role, question))
        return fail_maker(maker, "asked for what it may not have", failure);
    host->answer(host->data, needs);
    answers_put(needs, &answers);
    if (message_send(maker->socket, maker->end, MESSAGE_ANSWERS, &answers) < 0)
        return fail_ended(maker, maker_stop(maker), failure);
    return 0;
}

/* Return: what the answers to its needs let it say. */
static enum key_right
find_key_right(const struct needs *needs)
{
    enum key_right right = KEY_NONE;

    for (size_t i = 0; i < needs->count; i++) {
        const struct need *need = &needs->list[i];

        if (need->word == NEED_WORD_MAKE)
            return KEY_TO_MAKE;
        if (need->kind == NEED_HOST_KEY && !need->failure &&
            need->word != NEED_WORD_MISSING)
            right = KEY_GIVEN;
    }
    return right;
}

/* Receives what the maker has found, a message of that kind, after it has asked for its
 * needs, and waits for its end. */
static int
receive(struct maker *maker, const struct hello *hello, const struct host *host,
        struct needs *needs, enum message_kind kind, struct buffer *message,
        struct failure **failure)
{
    cleanup_buffer struct buffer question = {0};
    int found = message_receive(maker->socket, maker->end, message);

    if (found == MESSAGE_NEEDS && host) {
        question = steal_buffer(message);
        if (answer_needs(maker, hello->role, host, needs, &question, failure) < 0)
            return -1;
        found = message_receive(maker->socket, maker->end, message);
    }
    /* It may have ended before it has heard everything. */
    if (found == 0 || found == -ECONNRESET || found == -EAGAIN)
        return fail_ended(maker, maker_stop(maker), failure);
    if (found != (int)kind)
        return fail_maker(maker, "said what it may not say", failure);
    return wait_for_end(maker, failure);
}

int
maker_verdict(struct maker *maker, const struct hello *hello, const struct host *host,
              struct verdict *verdict, struct failure **failure)
{
    cleanup_needs struct needs needs = {0};
    cleanup_buffer struct buffer message = {0};

    if (receive(maker, hello, host, &needs, MESSAGE_VERDICT, &message, failure) < 0)
        return -1;
    /* It has ended, but what it may have started could still have its output. */
    if (process_seal(verdict->publication.output) < 0)
        return fail_maker(maker, "still holds what it has made", failure);
    if (!verdict_get(verdict, find_key_right(&needs), &message))
        return fail_maker(maker, "said what it may not say", failure);
    return 0;
}

int
maker_run(const struct hello *hello, const struct buffer *xml, const struct host *host,
          struct maker_result *result, struct failure **failure)
{
    cleanup_maker struct maker maker = MAKER_NONE;
    cleanup_needs struct needs needs = {0};
    cleanup_buffer struct buffer message = {0};

    if (maker_start(&maker, xml, -1, failure) < 0 ||
        maker_say_hello(&maker, hello, failure) < 0 ||
        receive(&maker, hello, host, &needs, MESSAGE_RESULT, &message, failure) < 0)
        return -1;
    if (!result_get(result, hello->role, failure, &message))
        return fail_maker(&maker, "said what it may not say", failure);
    return *failure ? -1 : 0;
}
