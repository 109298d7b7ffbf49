/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: from libvirt's abstraction on, includes are followed as apparmor_parser(8)
 * does, until a rule is met that names the shim. Debian 12 includes a file of the
 * administrator's at its end, later releases a directory; the rules may be in either, or be
 * included from there.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "store/apparmor.h"

#define POLICY "/etc/apparmor.d"
#define LIBVIRT_QEMU "abstractions/libvirt-qemu"
#define SHIM_RULES LIBVIRT_QEMU ".d/virt-seed-qemu"
#define SHIM_PROGRAM VIRT_SEED_BINDIR "/virt-seed-qemu"

static bool is_in_file(int root, const char *name, int depth);

bool
apparmor_is_enabled(int root)
{
    cleanup_buffer struct buffer text = {0};

    return fs_read_in_root(root, "/sys/module/apparmor/parameters/enabled", KIB, &text) ==
               0 &&
           text.size > 0 && text.data[0] == 'Y';
}

static bool
is_in_directory(int root, const char *name, int depth)
{
    cleanup_free char *path = xasprintf(POLICY "/%s", name);
    cleanup_close int directory = fs_open_directory_in_root(root, path);
    cleanup_closedir DIR *entries = directory < 0 ? NULL : fs_list(directory);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        const char *base = entry->d_name;
        cleanup_free char *file = xasprintf("%s/%s", name, base);
        /* What the parser leaves out. */
        const bool skipped = *base == '.' || strstr(base, ".dpkg-") ||
                             strstr(base, ".rpm") || base[strlen(base) - 1] == '~';

        if (!skipped && is_in_file(root, file, depth))
            return true;
    }
    return false;
}

/* Takes "include <NAME>", "include if exists <NAME>", and both with a '#' in front.
 * Return: NAME, in the same text; or NULL. */
static char *
included_name(char *line)
{
    char *name, *end;

    line += *line == '#';
    if (strncmp(line, "include", strlen("include")) != 0)
        return NULL;
    name = strchr(line, '<');
    end = name ? strchr(name, '>') : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    return name + 1;
}

/* Return: whether the file or directory of that name, or what it includes, has a rule for the
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
        const char *included;

        line += strspn(line, " \t");
        included = included_name(line);
        if (included ? is_in_file(root, included, depth - 1)
                     : strncmp(line, SHIM_PROGRAM, strlen(SHIM_PROGRAM)) == 0)
            return true;
    }
    return false;
}

int
apparmor_check_shim(int root, struct failure **failure)
{
    struct stat status;

    /* Without libvirt's abstraction no profile is made of it. */
    if (!apparmor_is_enabled(root) ||
        fs_stat_in_root(root, POLICY "/" LIBVIRT_QEMU, &status) < 0 ||
        is_in_file(root, LIBVIRT_QEMU, LIMIT_APPARMOR_DEPTH))
        return 0;
    failure_set(failure, FAILURE_APPARMOR,
                "AppArmor does not let libvirt run " SHIM_PROGRAM
                " as an emulator: a start fails with 'cannot execute binary'");
    if (fs_stat_in_root(root, POLICY "/" SHIM_RULES, &status) < 0)
        return failure_hint(failure, "install virt-seed again: " POLICY "/" SHIM_RULES
                                     " is missing");
    /* On Debian 12 libvirt's abstraction does not include the directory that they are in. */
    return failure_hint(failure,
                        "mkdir -p " POLICY
                        "/local/abstractions && echo 'include if exists <" SHIM_RULES
                        ">' >>" POLICY "/local/" LIBVIRT_QEMU);
}
