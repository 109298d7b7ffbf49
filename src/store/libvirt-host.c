/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "store/libvirt-host.h"

const struct libvirt_daemon_kind libvirt_daemons[LIBVIRT_DAEMONS] = {
    {"virtqemud", "virtqemud-sock"},
    {"libvirtd", "libvirt-sock"},
};

#define NANOSECONDS 1000000000LL

/* Return: what the file says, owned by the caller (free); NULL if it cannot be read. */
static char *
read_text(int root, const char *path)
{
    cleanup_buffer struct buffer text = {0};

    return fs_read_in_root(root, path, LIMIT_PROC, &text) == 0 && text.size > 0
               ? xstrdup(text.data)
               : NULL;
}

static bool
is_there(int root, const char *path)
{
    struct stat status;

    return fs_stat_in_root(root, path, &status) == 0;
}

/* proc_pid_stat(5) counts from the boot, as this clock does. */
static struct timespec
time_of_ticks(unsigned long long ticks)
{
    struct timespec now, since_boot;
    long long time;

    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &since_boot);
    time = (now.tv_sec - since_boot.tv_sec) * NANOSECONDS + now.tv_nsec -
           since_boot.tv_nsec + (long long)ticks * (NANOSECONDS / sysconf(_SC_CLK_TCK));
    return (struct timespec){.tv_sec = time / NANOSECONDS, .tv_nsec = time % NANOSECONDS};
}

/* Takes the process if it is the daemon: a file that names it may be older than this boot. */
static void
take_process(struct libvirt_daemon *daemon, int root, const char *name, long pid)
{
    cleanup_free char *path = xasprintf("/proc/%ld/stat", pid);
    cleanup_free char *text = read_text(root, path);
    cleanup_free char *start = xasprintf("%ld (%s) ", pid, name);
    unsigned long long ticks;

    if (!text || strncmp(text, start, strlen(start)) != 0)
        return;
    *daemon = (struct libvirt_daemon){.name = name, .pid = (pid_t)pid};
    /* The 22nd field; the name was the second. */
    if (sscanf(text + strlen(start),
               "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
               "%*s %llu",
               &ticks) == 1)
        daemon->started = time_of_ticks(ticks);
}

static void
find_running(struct libvirt_daemon *daemon, int root, const char *name)
{
    cleanup_free char *path = xasprintf(VIRT_SEED_RUNSTATEDIR "/%s.pid", name);
    cleanup_free char *text = read_text(root, path);
    char *end = NULL;
    long pid = text ? strtol(text, &end, 10) : 0;

    if (pid > 0 && pid <= INT_MAX && (*end == '\n' || !*end))
        take_process(daemon, root, name, pid);
}

static const char *
find_name(int root)
{
    for (size_t i = 0; i < LIBVIRT_DAEMONS; i++) {
        cleanup_free char *socket =
            xasprintf(VIRT_SEED_SOCKETDIR "/%s", libvirt_daemons[i].socket);

        if (is_there(root, socket))
            return libvirt_daemons[i].name;
    }
    for (size_t i = 0; i < LIBVIRT_DAEMONS; i++) {
        cleanup_free char *program = xasprintf("/usr/sbin/%s", libvirt_daemons[i].name);

        if (is_there(root, program))
            return libvirt_daemons[i].name;
    }
    return "libvirtd";
}

struct libvirt_daemon
libvirt_daemon_find(int root)
{
    struct libvirt_daemon daemon = {0};

    for (size_t i = 0; i < LIBVIRT_DAEMONS && daemon.pid == 0; i++)
        find_running(&daemon, root, libvirt_daemons[i].name);
    if (daemon.pid == 0)
        daemon.name = find_name(root);
    return daemon;
}

/* --- who may use it ----------------------------------------------------------------- */

#define POLKIT_GROUP "libvirt"

static gid_t
nobody_else(void)
{
    return geteuid() == 0 ? 0 : getegid();
}

/* getgrnam(3) would load NSS's modules into each start of a domain. */
static gid_t
polkit_group(int root)
{
    cleanup_close int etc = fs_open_directory_in_root(root, "/etc");
    int fd = etc < 0 ? etc : fs_open_regular_beneath(etc, "group", NULL);
    cleanup_fclose FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    struct group *group;

    if (fd >= 0 && !file)
        close(fd);
    while (file && (group = fgetgrent(file))) {
        if (strcmp(group->gr_name, POLKIT_GROUP) == 0)
            return group->gr_gid;
    }
    return nobody_else();
}

gid_t
libvirt_group(int root)
{
    cleanup_close int directory = fs_open_directory_in_root(root, VIRT_SEED_SOCKETDIR);
    struct stat status;

    for (size_t i = 0; directory >= 0 && i < LIBVIRT_DAEMONS; i++) {
        if (fstatat(directory, libvirt_daemons[i].socket, &status, AT_SYMLINK_NOFOLLOW) <
                0 ||
            !S_ISSOCK(status.st_mode) || !(status.st_mode & S_IWGRP))
            continue;
        return status.st_mode & S_IWOTH ? polkit_group(root) : status.st_gid;
    }
    return nobody_else();
}

/* --- its QEMU driver ---------------------------------------------------------------- */

#define BLANKS " \t"

/* Return: the text of `key = "text"` or `key = [ "text", ... ]`, in the same line; NULL for another
 * line. */
static char *
value_of_line(char *line, const char *key)
{
    size_t length = strlen(key);
    char quote[2] = "", *value;

    line += strspn(line, BLANKS);
    if (strncmp(line, key, length) != 0)
        return NULL;
    line += length + strspn(line + length, BLANKS);
    if (*line != '=')
        return NULL;
    value = line + 1 + strspn(line + 1, BLANKS);
    if (*value == '[')
        value += 1 + strspn(value + 1, BLANKS);
    if (*value != '"' && *value != '\'')
        return NULL;
    quote[0] = *value++;
    value[strcspn(value, quote)] = '\0';
    return value;
}

int
qemu_conf_get(int root, const char *key, char **value)
{
    cleanup_buffer struct buffer text = {0};
    int error = fs_read_in_root(root, VIRT_SEED_LIBVIRT_CONFDIR "/qemu.conf",
                                LIMIT_QEMU_CONF, &text);
    char *rest = text.data;

    *value = NULL;
    if (error < 0)
        return error == -ENOENT ? 0 : error;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        const char *found = value_of_line(line, key);

        if (found) {
            free(*value);
            *value = xstrdup(found);
        }
    }
    return 0;
}

struct qemu_user
qemu_user_find(int root)
{
    cleanup_close int home = fs_open_directory_in_root(root, VIRT_SEED_QEMU_HOME);
    struct stat status;

    if (home < 0 || fstat(home, &status) < 0)
        return (struct qemu_user){.known = false};
    return (struct qemu_user){.known = true, .uid = status.st_uid, .gid = status.st_gid};
}
