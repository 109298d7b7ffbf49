/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/domain.h"
#include "domain/xml.h"
#include "lifecycle/maker.h"
#include "maker/exchange.h"
#include "maker/prepare.h"
#include "maker/sandbox.h"
#include "store/user.h"

/* The maker's descriptors, besides /dev/null for the first three. */
enum {
    MAKER_SOCKET = 4,
    MAKER_OUTPUT = 5,
    MAKER_DESCRIPTORS,
};

/* What runs in the child, which must not return with anything unsaid: it ends with status 0
 * if the function returns 0. */
struct role {
    int (*run)(const void *job);
    const void *job;
    int output; /* -1 if the role has none */
};

/* --- in the child ----------------------------------------------------------------------- */

/* Makes the descriptors those of a maker; the sandbox closes the others. */
static int
arrange_descriptors(int socket, int output)
{
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    /* Out of the way of each other. */
    const int high_socket = fcntl(socket, F_DUPFD_CLOEXEC, MAKER_DESCRIPTORS);
    const int high_output =
        fcntl(output < 0 ? null : output, F_DUPFD_CLOEXEC, MAKER_DESCRIPTORS);

    for (int i = 0; i < MAKER_SOCKET; i++) {
        if (dup2(null, i) < 0)
            return -errno;
    }
    if (dup2(high_socket, MAKER_SOCKET) < 0 || dup2(high_output, MAKER_OUTPUT) < 0)
        return -errno;
    return 0;
}

/* Gives up what root may do. */
static int
drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

    return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

/* Becomes a user without rights. A user namespace may have no other user than root. */
static int
become(const struct user *user)
{
    if (geteuid() != 0 || !ENABLE_SANDBOX)
        return 0;
    if (setresgid(user->gid, user->gid, user->gid) < 0)
        return errno == EINVAL ? drop_capabilities() : -errno;
    if (setgroups(0, NULL) < 0 || setresuid(user->uid, user->uid, user->uid) < 0)
        return -errno;
    return 0;
}

_Noreturn static void
run_child(const struct role *role, const struct user *user, int socket, pid_t parent)
{
    /* What the parent does at these signals is not the child's business. */
    signal(SIGALRM, SIG_DFL);
    if (arrange_descriptors(socket, role->output) < 0)
        _exit(EXIT_FAILURE);
    if (become(user) < 0)
        _exit(EXIT_FAILURE);
    /* A change of the user would forget it. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
        sandbox_enter() < 0)
        _exit(EXIT_FAILURE);
    _exit(role->run(role->job) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* The host as the child finds it. */
static void
ask_keeper(void *data, struct needs *needs)
{
    cleanup_buffer struct buffer question = {0};
    cleanup_buffer struct buffer answers = {0};

    needs_put(needs, &question);
    if (message_send(MAKER_SOCKET, MESSAGE_NEEDS, &question) < 0 ||
        message_receive(MAKER_SOCKET, LIMIT_ANSWERS_MESSAGE, &answers) !=
            MESSAGE_ANSWERS ||
        !answers_get(needs, &answers))
        _exit(EXIT_FAILURE);
}

struct prepare_role {
    const struct maker_prepare_job *job;
    struct host host;
    /* Of the domain, or why it cannot be read. */
    struct buffer record;
    struct failure *record_failure;
};

static int
give_record(void *data, struct buffer *text, struct failure **failure)
{
    const struct prepare_role *role = data;
    const struct failure *reason = role->record_failure;

    if (reason)
        return failure_set(failure, reason->code, "%s\n%s", reason->message,
                           reason->hint ? reason->hint : "");
    if (role->record.size > 0)
        buffer_append(text, role->record.data, role->record.size);
    return 0;
}

static void
prepare_role_clear(struct prepare_role *role)
{
    buffer_clear(&role->record);
    failure_free(role->record_failure);
}

#define cleanup_prepare_role __attribute__((cleanup(prepare_role_clear)))

/* Parses the XML. */
static int
prepare_verdict(const struct prepare_role *role, struct verdict *verdict,
                struct failure **failure)
{
    const struct maker_prepare_job *job = role->job;
    cleanup_xml xmlDoc *doc =
        xml_parse(job->xml->data, job->xml->size, "standard input", failure);
    cleanup_domain struct domain domain = {0};

    if (!doc || domain_read(&domain, doc, failure) < 0)
        return -1;
    if (strcmp(domain.uuid, job->uuid) != 0)
        return failure_set(failure, FAILURE_DOMAIN_UUID,
                           "its XML has more than one UUID\nlook at it: virsh edit");
    maker_prepare(&(struct maker_start){.host = &role->host,
                                        .config = job->config,
                                        .domain = &domain,
                                        .resumes = job->resumes},
                  verdict);
    return 0;
}

static int
run_prepare(const void *data)
{
    cleanup_verdict struct verdict verdict = VERDICT_NONE;
    cleanup_buffer struct buffer message = {0};

    verdict.publication.output = MAKER_OUTPUT;
    if (prepare_verdict(data, &verdict, &verdict.refusal) < 0)
        verdict.kind = VERDICT_REFUSE;
    verdict_put(&verdict, &message);
    return message_send(MAKER_SOCKET, MESSAGE_VERDICT, &message);
}

static int
send_result(int made, const struct maker_result *result, const struct failure *failure)
{
    cleanup_buffer struct buffer message = {0};

    result_put(made < 0 ? NULL : result, failure, &message);
    return message_send(MAKER_SOCKET, MESSAGE_RESULT, &message);
}

static int
run_report(const void *data)
{
    cleanup_maker_result struct maker_result result = {0};
    cleanup_failure struct failure *failure = NULL;
    const int made = maker_report(data, &result, &failure);

    return send_result(made, &result, failure);
}

struct merge_role {
    const struct buffer *record;
    const struct buffer *next;
};

static int
run_merge(const void *data)
{
    const struct merge_role *role = data;
    cleanup_maker_result struct maker_result result = {0};
    cleanup_failure struct failure *failure = NULL;
    const int made = maker_merge(role->record, role->next, &result, &failure);

    return send_result(made, &result, failure);
}

/* --- in the parent ---------------------------------------------------------------------- */

struct maker {
    pid_t pid;
    int socket;
};

static int
maker_start(struct maker *maker, const struct role *role, struct failure **failure)
{
    const struct user user = user_find(MAKER_USER);
    const pid_t parent = getpid();
    int sockets[2];

    *maker = (struct maker){.socket = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not make a socket\n"
                                 "check that not too many files are open");
    maker->pid = fork();
    if (maker->pid == 0) {
        close(sockets[0]);
        run_child(role, &user, sockets[1], parent);
    }
    close(sockets[1]);
    maker->socket = sockets[0];
    if (maker->pid > 0)
        return 0;
    return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                             "could not create a process\n"
                             "check the limits on processes and memory");
}

/* Ends it, if it has not ended yet. Return: its status, from waitpid(2). */
static int
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

static void
maker_clear(struct maker *maker)
{
    maker_stop(maker);
}

#define cleanup_maker __attribute__((cleanup(maker_clear)))

/* The failure of a maker that has broken a rule, which it is ended for. */
static int
fail_maker(struct maker *maker, const char *what, struct failure **failure)
{
    maker_stop(maker);
    return failure_set(
        failure, FAILURE_SYSTEM,
        "the process that reads what the domain asks for %s\n"
        "its memory is limited, so try a smaller document; if that does not help, report "
        "this with the domain's XML",
        what);
}

/* The same for one that has ended too early. */
static int
fail_ended(struct maker *maker, struct failure **failure)
{
    const int status = maker_stop(maker);
    cleanup_free char *how = NULL;

    if (status >= 0 && WIFSIGNALED(status))
        how = xasprintf("was ended by signal %d", WTERMSIG(status));
    else if (status >= 0 && WIFEXITED(status))
        how = xasprintf("ended with status %d", WEXITSTATUS(status));
    return fail_maker(maker, how ? how : "could not be waited for", failure);
}

/* Waits for the end of a maker that has said everything. */
static int
maker_end(struct maker *maker, struct failure **failure)
{
    cleanup_buffer struct buffer more = {0};
    siginfo_t end = {0};

    if (message_receive(maker->socket, 0, &more) != 0)
        return fail_maker(maker, "said too much", failure);
    while (waitid(P_PID, (id_t)maker->pid, &end, WEXITED | WNOWAIT) < 0) {
        if (errno != EINTR)
            return fail_maker(maker, "could not be waited for", failure);
    }
    if (end.si_code != CLD_EXITED || end.si_status != 0)
        return fail_ended(maker, failure);
    maker_stop(maker);
    return 0;
}

static int
answer_needs(struct maker *maker, const struct host *host, struct needs *needs,
             const struct buffer *question, struct failure **failure)
{
    cleanup_buffer struct buffer answers = {0};

    if (!needs_get(needs, question))
        return fail_maker(maker, "asked for what it may not have", failure);
    host->answer(host->data, needs);
    answers_put(needs, &answers);
    if (message_send(maker->socket, MESSAGE_ANSWERS, &answers) < 0)
        return fail_maker(maker, "did not listen", failure);
    return 0;
}

/* Return: whether the maker was told to make a host key. */
static bool
was_told_to_make_key(const struct needs *needs)
{
    for (size_t i = 0; i < needs->count; i++) {
        if (needs->list[i].word == NEED_WORD_MAKE)
            return true;
    }
    return false;
}

int
maker_run_prepare(const struct maker_prepare_job *job, struct verdict *verdict,
                  struct failure **failure)
{
    cleanup_prepare_role struct prepare_role prepare = {
        .job = job,
        .host = {.data = &prepare, .read_record = give_record, .answer = ask_keeper},
    };
    const struct role role = {
        .run = run_prepare, .job = &prepare, .output = verdict->publication.output};
    cleanup_maker struct maker maker;
    cleanup_needs struct needs needs = {0};
    cleanup_buffer struct buffer question = {0};
    cleanup_buffer struct buffer said = {0};
    int kind;

    job->host->read_record(job->host->data, &prepare.record, &prepare.record_failure);
    if (maker_start(&maker, &role, failure) < 0)
        return -1;
    job->meanwhile(job->data);
    kind = message_receive(maker.socket, LIMIT_VERDICT_MESSAGE, &said);
    if (kind == MESSAGE_NEEDS) {
        question = steal_buffer(&said);
        if (answer_needs(&maker, job->host, &needs, &question, failure) < 0)
            return -1;
        kind = message_receive(maker.socket, LIMIT_VERDICT_MESSAGE, &said);
    }
    if (kind != MESSAGE_VERDICT)
        return fail_ended(&maker, failure);
    if (maker_end(&maker, failure) < 0)
        return -1;
    if (!verdict_get(verdict, was_told_to_make_key(&needs), &said))
        return fail_maker(&maker, "said what it may not say", failure);
    return 0;
}

static int
run_for_result(const struct role *role, struct maker_result *result,
               struct failure **failure)
{
    cleanup_maker struct maker maker;
    cleanup_buffer struct buffer said = {0};

    if (maker_start(&maker, role, failure) < 0)
        return -1;
    if (message_receive(maker.socket, LIMIT_RESULT_MESSAGE, &said) != MESSAGE_RESULT)
        return fail_ended(&maker, failure);
    if (maker_end(&maker, failure) < 0)
        return -1;
    if (!result_get(result, failure, &said))
        return fail_maker(&maker, "said what it may not say", failure);
    return *failure ? -1 : 0;
}

int
maker_run_report(const struct maker_end *end, struct maker_result *result,
                 struct failure **failure)
{
    const struct role role = {.run = run_report, .job = end, .output = -1};

    return run_for_result(&role, result, failure);
}

int
maker_run_merge(const struct buffer *record, const struct buffer *next,
                struct maker_result *result, struct failure **failure)
{
    const struct merge_role merge = {.record = record, .next = next};
    const struct role role = {.run = run_merge, .job = &merge, .output = -1};

    return run_for_result(&role, result, failure);
}
