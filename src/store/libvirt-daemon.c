/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/scope.h"
#include "store/libvirt-daemon.h"

#define NANOSECONDS 1000000000LL

/* Return: the file's content, owned by the caller (free); NULL if it cannot be read or is
 * empty. */
static char *
read_text(int root, const char *path)
{
    cleanup_buffer struct buffer text = {0};

    if (fs_read_in_root(root, path, LIMIT_PROC, &text) < 0 || text.size == 0)
        return NULL;
    return steal(text.data);
}

/* Return: whether the process is the daemon; the PID file may be older than this boot. */
static bool
take_process(struct libvirt_daemon *daemon, int root, const char *name, long pid)
{
    cleanup_free char *path = xasprintf("/proc/%ld/stat", pid);
    cleanup_free char *text = read_text(root, path);
    cleanup_free char *start = xasprintf("%ld (%s) ", pid, name);
    struct timespec now, since_boot;
    unsigned long long ticks;
    long long time;

    if (!text || strncmp(text, start, strlen(start)) != 0)
        return false;
    *daemon = (struct libvirt_daemon){.name = name, .pid = (pid_t)pid};
    /* The 22nd field; the name was the second. */
    if (sscanf(text + strlen(start),
               "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
               "%*s %llu",
               &ticks) != 1)
        return true;
    /* proc_pid_stat(5) counts from the boot, like this clock. */
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &since_boot);
    time = (now.tv_sec - since_boot.tv_sec) * NANOSECONDS + now.tv_nsec -
           since_boot.tv_nsec + (long long)ticks * (NANOSECONDS / sysconf(_SC_CLK_TCK));
    daemon->started =
        (struct timespec){.tv_sec = time / NANOSECONDS, .tv_nsec = time % NANOSECONDS};
    return true;
}

struct libvirt_daemon
libvirt_daemon_find(int root)
{
    static const char *const names[] = {"virtqemud", "libvirtd"};
    static const struct {
        const char *path, *name;
    } signs[] = {
        {VIRT_SEED_SOCKETDIR "/virtqemud-sock", "virtqemud"},
        {VIRT_SEED_SOCKETDIR "/libvirt-sock", "libvirtd"},
        {"/usr/sbin/virtqemud", "virtqemud"},
    };
    struct libvirt_daemon daemon;
    struct stat status;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const char *name = names[i];
        cleanup_free char *path = xasprintf("%s/%s.pid", scope()->pid_directory, name);
        cleanup_free char *text = read_text(root, path);
        long pid = text ? strtol(text, NULL, 10) : 0;

        if (pid > 0 && take_process(&daemon, root, name, pid))
            return daemon;
    }
    for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
        if (fs_stat_in_root(root, signs[i].path, &status) == 0)
            return (struct libvirt_daemon){.name = signs[i].name};
    }
    return (struct libvirt_daemon){.name = "libvirtd"};
}

#define BLANKS " \t"

/* Return: the text of `key = "text"` or `key = [ "text", ... ]`, borrowed from the line;
 * NULL for other lines. */
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
    if (error == -ENOENT)
        return 0;
    if (error < 0)
        return error;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        const char *found = value_of_line(line, key);

        if (found) {
            free(*value);
            *value = xstrdup(found);
        }
    }
    return 0;
}

/*
 * How it works: starting with libvirt's abstraction, includes are followed as
 * apparmor_parser(8) does, until a rule names the shim. Debian 12's abstraction includes
 * a local file, later releases a directory; the rules may be in either, or be included
 * from there.
 */
#define POLICY "/etc/apparmor.d"
#define LIBVIRT_QEMU "abstractions/libvirt-qemu"
#define SHIM_RULES LIBVIRT_QEMU ".d/virt-seed-qemu"
#define SHIM_PROGRAM VIRT_SEED_BINDIR "/virt-seed-qemu"

static bool is_in_file(int root, const char *name, int depth);

bool
apparmor_is_enabled(int root)
{
    cleanup_buffer struct buffer text = {0};

    fs_read_in_root(root, "/sys/module/apparmor/parameters/enabled", KIB, &text);
    return *buffer_text(&text) == 'Y';
}

static bool
is_in_directory(int root, const char *name, int depth)
{
    cleanup_free char *path = xasprintf(POLICY "/%s", name);
    cleanup_close int directory = fs_open_directory_in_root(root, path);
    cleanup_closedir DIR *entries = directory < 0 ? NULL : fs_list(directory);
    const struct dirent *entry;

    while ((entry = fs_next(entries))) {
        const char *base = entry->d_name;
        cleanup_free char *file = xasprintf("%s/%s", name, base);

        /* Files that the parser skips. */
        if (*base == '.' || base[strlen(base) - 1] == '~')
            continue;
        if (strstr(base, ".dpkg-") || strstr(base, ".rpm"))
            continue;
        if (is_in_file(root, file, depth))
            return true;
    }
    return false;
}

/* Return: whether the file or directory, or something it includes, has a rule for the
 * shim. */
static bool
is_in_file(int root, const char *name, int depth)
{
    cleanup_free char *path = xasprintf(POLICY "/%s", name);
    cleanup_buffer struct buffer text = {0};
    char *rest;
    int error;

    if (depth == 0)
        return false;
    error = fs_read_in_root(root, path, LIMIT_APPARMOR_FILE, &text);
    if (error == -EISDIR)
        return is_in_directory(root, name, depth - 1);
    rest = error == 0 ? text.data : NULL;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        char *included = NULL, *end = NULL;

        /* "include <NAME>" or "include if exists <NAME>", with or without a leading
         * '#'. */
        line += strspn(line, BLANKS);
        if (strncmp(line + (*line == '#'), "include", strlen("include")) == 0)
            included = strchr(line, '<');
        if (included)
            end = strchr(included, '>');
        if (end)
            *end = '\0';
        if (end && is_in_file(root, included + 1, depth - 1))
            return true;
        if (!end && strncmp(line, SHIM_PROGRAM, strlen(SHIM_PROGRAM)) == 0)
            return true;
    }
    return false;
}

int
apparmor_check_shim(int root, struct failure **failure)
{
    struct stat status;

    /* Without libvirt's abstraction, libvirt does not make profiles. */
    if (!apparmor_is_enabled(root) ||
        fs_stat_in_root(root, POLICY "/" LIBVIRT_QEMU, &status) < 0 ||
        is_in_file(root, LIBVIRT_QEMU, LIMIT_APPARMOR_DEPTH))
        return 0;
    failure_set(failure, FAILURE_APPARMOR,
                "AppArmor does not let libvirt run " SHIM_PROGRAM
                " as an emulator: a start fails with 'cannot execute binary'");
    if (fs_stat_in_root(root, POLICY "/" SHIM_RULES, &status) < 0)
        return failure_hint(failure,
                            "reinstall virt-seed: " POLICY "/" SHIM_RULES " is missing");
    /* On Debian 12, libvirt's abstraction does not include the directory of the rules. */
    return failure_hint(failure,
                        "mkdir -p " POLICY
                        "/local/abstractions && echo 'include if exists <" SHIM_RULES
                        ">' >>" POLICY "/local/" LIBVIRT_QEMU);
}
