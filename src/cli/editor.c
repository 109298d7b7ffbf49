/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/editor.h"

static char file_path[PATH_MAX];

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
    if (error < 0) {
        if (fd >= 0)
            unlink(file_path);
        file_path[0] = '\0';
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not make a temporary file\n"
                                 "set TMPDIR to a directory that you may write into");
    }
    return 0;
}

/* Runs the command until it ends; signals have their default effect in it. `status` gets
 * that of wait(2). Return: 0 or an errno. */
static int
run_command(const char *command, int *status)
{
    cleanup_free char *script = xasprintf("%s \"$@\"", command);
    char *words[] = {(char *)"sh", (char *)"-c", script, (char *)"sh", file_path, NULL};
    posix_spawnattr_t attributes;
    sigset_t ignored;
    pid_t pid;
    int error;

    sigemptyset(&ignored);
    sigaddset(&ignored, SIGINT);
    sigaddset(&ignored, SIGQUIT);
    sigaddset(&ignored, SIGPIPE);
    sigaddset(&ignored, SIGXFSZ);
    if (posix_spawnattr_init(&attributes) != 0)
        abort();
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigdefault(&attributes, &ignored);
    error = posix_spawn(&pid, "/bin/sh", NULL, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    if (error == 0 && waitpid(pid, status, 0) < 0)
        error = errno;
    return error;
}

int
editor_run(struct buffer *text, struct failure **failure)
{
    const char *visual = getenv("VISUAL");
    const char *command = visual && *visual ? visual : getenv("EDITOR");
    cleanup_close int fd = -1;
    int error, status = 0;

    if (!command || !*command)
        command = "vi";
    /* Those from the terminal are for the editor. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    error = run_command(command, &status);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
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
        print_outside_line(stderr, "virt-seed: the text that you edited is in %s",
                           file_path);
    else
        unlink(file_path);
    file_path[0] = '\0';
}
