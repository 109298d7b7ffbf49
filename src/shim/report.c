/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/fs.h"
#include "base/names.h"
#include "shim/shim.h"

/* --- the file --------------------------------------------------------------------- */

/* Sets `room` to how much may still be written. Return: a descriptor, or -errno. */
static int
open_file(int root, const char *name, size_t *room)
{
    const int flags =
        O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    /* The path without its slash is below root. */
    cleanup_close int directory = openat(root, &scope()->reportdir[1],
                                         O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    cleanup_close int fd = directory < 0 ? -1 : openat(directory, name, flags);
    struct stat parent, file;

    if (fd < 0 || fstat(directory, &parent) < 0 || fstat(fd, &file) < 0)
        return -errno;
    /* It must be the file that the hook created. */
    if (!S_ISREG(file.st_mode) || parent.st_mode & 022)
        return -EPERM;
    if (file.st_uid != geteuid() && file.st_uid != parent.st_uid)
        return -EPERM;
    *room = 0;
    if (file.st_size < (off_t)LIMIT_SHIM_REPORT)
        *room = LIMIT_SHIM_REPORT - (size_t)file.st_size;
    return steal_fd(fd);
}

/* --- the process ------------------------------------------------------------------ */

/* Makes `input` descriptor 0 and `output` descriptor 1 (neither is 0, 1 or 2 before), sends
 * descriptor 2 to /dev/null, and closes all others. Return: 0 or -errno. */
static int
keep_descriptors(int input, int output)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int kept[] = {input, output, null};

    if (null < 0)
        return -errno;
    for (int fd = 0; fd <= 2; fd++) {
        if (dup2(kept[fd], fd) < 0)
            return -errno;
    }
    return close_range(3, ~0U, 0) < 0 ? -errno : 0;
}

/* Runs in a child, which starts the copier and exits, since QEMU does not expect a child. */
static void
become_copier(int pipe, int file, size_t room, char **given)
{
    /* A signal to all of a guest's processes must not lose QEMU's last output. */
    static const int ignored[] = {SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    char buffer[4096];
    ssize_t count;
    pid_t child;

    if (setsid() < 0)
        _exit(EXIT_FAILURE);
    child = fork();
    if (child < 0)
        _exit(EXIT_FAILURE);
    if (child > 0)
        _exit(EXIT_SUCCESS);
    if (keep_descriptors(pipe, file) < 0 || chdir("/") < 0)
        _exit(EXIT_FAILURE);
    for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
        signal(ignored[i], SIG_IGN);
    for (size_t i = 0; given[i]; i++)
        memset(given[i], 0, strlen(given[i]));
    prctl(PR_SET_NAME, "virt-seed-repor");
    /* From here on it only reads, writes and exits. The kernel refuses this to a process
     * that already has a filter, from a container, for example; that one remains. */
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    /* Until QEMU exits. What cannot be written is dropped, so that the guest does not
     * block. */
    while ((count = read(0, buffer, sizeof(buffer))) > 0) {
        const size_t size = (size_t)count < room ? (size_t)count : room;

        fs_write_all(1, buffer, size);
        room -= size;
    }
    /* _exit() would call exit_group(2), which the strict mode does not allow. */
    for (;;)
        syscall(SYS_exit, EXIT_SUCCESS);
}

/* Return: 0 or -errno. */
static int
start_copier(int pipe, int file, size_t room, char **given)
{
    pid_t child = fork();
    int status;

    if (child < 0)
        return -errno;
    if (child == 0)
        become_copier(pipe, file, room, given);
    if (waitpid(child, &status, 0) < 0)
        return -errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS ? 0 : -EAGAIN;
}

int
report_begin(int root, const char *uuid, char **given, struct failure **failure)
{
    cleanup_free char *name = second_name(uuid);
    size_t room = 0;
    cleanup_close int file = open_file(root, name, &room);
    cleanup_close int reading = -1;
    cleanup_close int writing = -1;
    int ends[2];
    int error = file < 0 ? file : 0;

    if (error == 0 && pipe2(ends, O_CLOEXEC) < 0)
        error = -errno;
    if (error == 0) {
        reading = ends[0];
        writing = ends[1];
        error = start_copier(reading, file, room, given);
    }
    if (error == 0 && fcntl(writing, F_SETFD, 0) < 0)
        error = -errno;
    if (error == 0)
        return steal_fd(writing);
    return failure_set_errno(failure, FAILURE_RUNDIR, error,
                             "cannot keep the guest's report in %s/%s\n"
                             "give QEMU's user access to it, see virt-seed-qemu(8)",
                             scope()->reportdir, name);
}
