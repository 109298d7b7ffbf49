/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: signals from the terminal are for the editor while it runs. Any other
 * signal that ends this process is passed on to the editor, which would otherwise share
 * the terminal with the shell; and a text that was saved is not thrown away. All of that
 * is done in the handler of the signal.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/editor.h"

#define KEPT "virt-seed: the text that you edited is in "
/* How long an editor may take to end after a signal: one that was meant for it, too, and
 * one that is passed on. */
#define OWN_MILLISECONDS 500
#define ENDING_MILLISECONDS 5000

static const int ending[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/* For the handler of these signals: the file's path, "" if there is none; how it was before
 * the editor could change it; the editor, 0 if none runs; and the terminal before it. */
static char file_path[PATH_MAX];
static struct stat file_made;
static volatile pid_t editor;
static struct termios terminal;
static bool has_terminal;

/* Without this process, the editor would share the terminal with the shell. It gets the
 * signal, and some time to save what it wants to. If the whole process group was meant,
 * it has it already, and a second one might stop it from saving. */
static void
end_editor(int number)
{
    for (int i = 0; waitpid(editor, NULL, WNOHANG) == 0; i++) {
        if (i == OWN_MILLISECONDS) {
            kill(editor, number);
            kill(editor, SIGCONT);
        }
        if (i == ENDING_MILLISECONDS)
            kill(editor, SIGKILL);
        poll(NULL, 0, 1);
    }
    signal(SIGTTOU, SIG_IGN);
    if (has_terminal)
        tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
}

/* Return: whether the file has been saved since it was made. */
static bool
was_saved(void)
{
    struct stat now;

    if (stat(file_path, &now) < 0)
        return false;
    if (now.st_ino != file_made.st_ino || now.st_size != file_made.st_size)
        return true;
    return now.st_mtim.tv_sec != file_made.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != file_made.st_mtim.tv_nsec;
}

/* A text that was edited is not thrown away because the terminal is gone. What is printed
 * may follow the question. */
static void
end_by_signal(int number)
{
    if (editor > 0)
        end_editor(number);
    if (was_saved()) {
        ssize_t ignored = write(STDERR_FILENO, "\n" KEPT, strlen("\n" KEPT));

        ignored = write(STDERR_FILENO, file_path, strlen(file_path));
        ignored = write(STDERR_FILENO, "\n", 1);
        (void)ignored;
    } else {
        unlink(file_path);
    }
    signal(number, SIG_DFL);
    raise(number);
}

int
editor_open(const char *name, const char *suffix, const struct buffer *text,
            struct failure **failure)
{
    const char *directory = getenv("TMPDIR");
    cleanup_close int fd = -1;
    int length, error;

    length = snprintf(file_path, sizeof(file_path), "%s/virt-seed-%s-XXXXXX%s",
                      directory && *directory ? directory : "/tmp", name, suffix);
    errno = ENAMETOOLONG;
    if (length < (int)sizeof(file_path))
        fd = mkostemps(file_path, (int)strlen(suffix), O_CLOEXEC);
    error = fd < 0 ? -errno : fs_write_all(fd, text->data, text->size);
    if (error == 0 && fstat(fd, &file_made) < 0)
        error = -errno;
    if (error < 0) {
        if (fd >= 0)
            unlink(file_path);
        file_path[0] = '\0';
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not make a temporary file\n"
                                 "set TMPDIR to a directory that you may write into");
    }
    for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
        signal(ending[i], end_by_signal);
    return 0;
}

/* Starts the editor, in which signals have their default effect. Return: 0 or an errno. */
static int
start_editor(const char *command)
{
    /* If it is a program with its arguments, signals must reach it and not a shell. */
    const char *exec = strpbrk(command, "=:;&|<>(){}`\n") ? "" : "exec ";
    cleanup_free char *script = xasprintf("%s%s \"$@\"", exec, command);
    char *words[] = {(char *)"sh", (char *)"-c", script, (char *)"sh", file_path, NULL};
    posix_spawnattr_t attributes;
    sigset_t signals, before;
    pid_t pid = 0;
    int error;

    sigemptyset(&signals);
    for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
        sigaddset(&signals, ending[i]);
    /* The handler must know each editor that was started. */
    sigprocmask(SIG_BLOCK, &signals, &before);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    if (posix_spawnattr_init(&attributes) != 0)
        abort();
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setsigmask(&attributes, &before);
    error = posix_spawn(&pid, "/bin/sh", NULL, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    editor = error == 0 ? pid : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

int
editor_run(struct buffer *text, struct failure **failure)
{
    const char *visual = getenv("VISUAL");
    const char *command = visual && *visual ? visual : getenv("EDITOR");
    cleanup_close int fd = -1;
    int error, status = 0;
    siginfo_t info;
    pid_t pid;

    if (!command || !*command)
        command = "vi";
    has_terminal = tcgetattr(STDIN_FILENO, &terminal) == 0;
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    error = start_editor(command);
    /* The handler must not know one that is reaped. */
    if (error == 0 && waitid(P_PID, (id_t)editor, &info, WEXITED | WNOWAIT) < 0)
        error = errno;
    pid = editor;
    editor = 0;
    if (error == 0 && waitpid(pid, &status, 0) < 0)
        error = errno;
    signal(SIGINT, end_by_signal);
    signal(SIGQUIT, end_by_signal);
    if (error != 0)
        failure_set_errno(failure, FAILURE_SYSTEM, error, "could not run a shell");
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        failure_set(failure, FAILURE_SYSTEM,
                    "the editor '%.256s' failed\n"
                    "set VISUAL or EDITOR to an editor that you have",
                    command);
    buffer_clear(text);
    fd = open(file_path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    error = fd < 0 ? -errno : fs_read_all(fd, LIMIT_DOMAIN_XML, text);
    if (error < 0 && !*failure)
        failure_set_errno(failure, FAILURE_SYSTEM, error,
                          "could not read the edited text, '%s'", file_path);
    return *failure ? -1 : 0;
}

void
editor_close(bool keep)
{
    if (keep)
        print_outside_line(stderr, KEPT "%s", file_path);
    else
        unlink(file_path);
    file_path[0] = '\0';
}
