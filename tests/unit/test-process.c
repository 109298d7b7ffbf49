/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that are run for what they print, and signals: base/process.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "unit.h"

/* Runs a line of shell. */
static int
run(const char *line, size_t limit, struct buffer *output)
{
    const char *const words[] = {"sh", "-c", line, NULL};
    const struct child child = {
        .words = words,
        .output = limit,
        .memory = 256 * MIB,
        .seconds = 1,
    };

    return child_run(&child, output);
}

static void
gives_back_what_is_printed_and_the_exit_status(void **state)
{
    cleanup_buffer struct buffer output = {0};

    (void)state;
    assert_int_equal(run("cat; echo out; echo err >&2; exit 7", 100, &output), 7);
    unit_assert_content(&output, "out\nerr\n");
}

static void
hands_documents_over_by_their_numbers(void **state)
{
    cleanup_buffer struct buffer content = {0};
    cleanup_buffer struct buffer output = {0};
    int documents[] = {-1, -1};
    cleanup_free char *line = NULL;
    const char *words[] = {"sh", "-c", NULL, NULL};
    struct child child = {.words = words,
                          .documents = documents,
                          .output = 100,
                          .memory = 256 * MIB,
                          .seconds = 1};

    (void)state;
    buffer_append_string(&content, "content");
    documents[0] = process_document("document", &content);
    assert_true(documents[0] >= 0);
    line = xasprintf("cat /proc/self/fd/%d; printenv", documents[0]);
    words[2] = line;
    child.environment = (const char *const[]){"ONLY=this", NULL};
    assert_int_equal(child_run(&child, &output), 0);
    assert_non_null(strstr(output.data, "content"));
    assert_non_null(strstr(output.data, "ONLY=this"));
    assert_null(strstr(output.data, "HOME="));
    close(documents[0]);
}

static void
ends_a_child_that_prints_too_much(void **state)
{
    cleanup_buffer struct buffer output = {0};

    (void)state;
    assert_int_equal(run("while :; do echo much; done", 1000, &output), CHILD_KILLED);
    assert_int_equal(output.size, 1000);
}

static void
takes_as_much_as_a_child_may_print(void **state)
{
    cleanup_buffer struct buffer output = {0};

    (void)state;
    assert_int_equal(run("printf 12345", 5, &output), 0);
    assert_int_equal(run("printf 123456", 5, &output), CHILD_KILLED);
}

/* Root's terminal would take what a child of less privilege types into it (TIOCSTI). */
static void
leaves_a_child_without_the_terminal(void **state)
{
    cleanup_buffer struct buffer output = {0};

    (void)state;
    assert_int_equal(
        run("read -r pid name state parent group session rest </proc/$$/stat;"
            "test $session = $$",
            100, &output),
        0);
}

/* As if a shell or a service manager had left one open. */
static void
keeps_other_descriptors_from_a_child(void **state)
{
    cleanup_buffer struct buffer output = {0};
    cleanup_close int inherited = fcntl(0, F_DUPFD, 50);
    cleanup_free char *line = xasprintf("test ! -e /proc/self/fd/%d", inherited);

    (void)state;
    assert_true(inherited >= 50);
    assert_int_equal(run(line, 100, &output), 0);
}

static void
ends_a_child_that_takes_too_long(void **state)
{
    cleanup_buffer struct buffer output = {0};

    (void)state;
    assert_int_equal(run("sleep 60", 100, &output), CHILD_KILLED);
    /* One that has closed its output, and the children of a child, too. */
    assert_int_equal(run("exec >&- 2>&-; sleep 60", 100, &output), CHILD_KILLED);
    assert_int_equal(run("sleep 60 & wait", 100, &output), CHILD_KILLED);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void
limits_memory_from_the_first_instruction(void **state)
{
    cleanup_buffer struct buffer output = {0};

    (void)state;
    for (int i = 0; i < 20; i++)
        assert_int_equal(run("ulimit -v", 1000, &output), 0);
    for (size_t i = 0; i < output.size; i += strlen("262144\n"))
        assert_memory_equal(output.data + i, "262144\n", strlen("262144\n"));
}

static void
says_that_there_is_no_such_program(void **state)
{
    const char *const words[] = {"no-such-program-of-virt-seed", NULL};
    const struct child child = {
        .words = words, .output = 100, .memory = 256 * MIB, .seconds = 1};
    cleanup_buffer struct buffer output = {0};

    (void)state;
    assert_int_equal(child_run(&child, &output), CHILD_MISSING);
}

static void
leaves_an_ignored_signal_ignored(void **state)
{
    static const int signals[] = {SIGHUP, SIGTERM, 0};
    struct signalfd_siginfo info;
    sigset_t before;
    int fd;

    (void)state;
    signal(SIGHUP, SIG_IGN);
    sigprocmask(SIG_SETMASK, NULL, &before);
    fd = process_catch_signals(signals);
    raise(SIGHUP);
    raise(SIGTERM);
    assert_int_equal(read(fd, &info, sizeof(info)), sizeof(info));
    assert_int_equal(info.ssi_signo, SIGTERM);
    assert_int_equal(read(fd, &info, sizeof(info)), -1);
    close(fd);
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGHUP, SIG_DFL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_back_what_is_printed_and_the_exit_status),
        cmocka_unit_test(hands_documents_over_by_their_numbers),
        cmocka_unit_test(ends_a_child_that_prints_too_much),
        cmocka_unit_test(takes_as_much_as_a_child_may_print),
        cmocka_unit_test(leaves_a_child_without_the_terminal),
        cmocka_unit_test(keeps_other_descriptors_from_a_child),
        cmocka_unit_test(ends_a_child_that_takes_too_long),
        cmocka_unit_test(limits_memory_from_the_first_instruction),
        cmocka_unit_test(says_that_there_is_no_such_program),
        cmocka_unit_test(leaves_an_ignored_signal_ignored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
