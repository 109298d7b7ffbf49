/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "store/libvirt-daemon.h"

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
