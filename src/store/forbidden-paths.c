/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: there is no list of the elements that name files, since libvirt adds some
 * with each version. Each value with a slash is taken for a path: the kernel opens as much
 * of it as exists, and each directory above that is compared with ours by device and
 * inode. Values that are not paths lead nowhere.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "base/names.h"
#include "domain/xml.h"
#include "store/forbidden-paths.h"
#include "wire/wire.h"

/* All of them have the same name. */
static const char *const directories[] = {VIRT_SEED_RUNDIR, VIRT_SEED_REPORTDIR,
                                          VIRT_SEED_STATEDIR, VIRT_SEED_CONFDIR,
                                          VIRT_SEED_TRYDIR};
#define NAME "/virt-seed"
/* As the kernel (MAXSYMLINKS). */
#define MAX_LINKS 40

struct scan {
    int root;
    struct stat own[ARRAY_SIZE(directories)]; /* without an inode: it does not exist */
    char *seed, *report, *rehearsal;          /* the domain's own */
};

/* --- where a path leads ------------------------------------------------------------- */

/* Return: whether a beginning of the path may be opened although the path cannot. */
static bool
may_be_cut(int error)
{
    return error == -ENOENT || error == -ENOTDIR || error == -ENAMETOOLONG ||
           error == -EACCES;
}

/* Return: what follows in the path once ".." has left a directory that does not exist,
 * from what is after its name; NULL if the path does not leave it. */
static const char *
leave_missing(const char *rest)
{
    size_t depth = 1;

    while (depth > 0 && *(rest += strspn(rest, "/"))) {
        size_t length = strcspn(rest, "/");

        if (length == 2 && strncmp(rest, "..", length) == 0)
            depth--;
        else if (length != 1 || *rest != '.')
            depth++;
        rest += length;
    }
    return depth == 0 ? rest : NULL;
}

/* The path does not begin with a slash, which could make it too long. */
static int
open_below(int root, const char *path)
{
    return fs_open_in_root(root, *path ? path : "/");
}

/*
 * Opens the longest beginning of the path that exists. QEMU and virtlogd run in "/", so a
 * relative path begins there. A link that leads nowhere yet, or where we may not look, is
 * followed by its text, and a directory that does not exist is left by "..", as if it
 * did: it may by the time of use, or in the directory where QEMU looks next. There may be
 * so many of both. `all` is false if more of the path may exist. Return: a descriptor
 * (O_PATH), or -errno; -ELOOP if there are more, if a link makes the path longer than we
 * can open, or if there is a link of /proc on the way, such as /proc/PID/cwd, or may be
 * once there is such a process.
 */
static int
open_beginning(int root, const char *path, int links, bool *all)
{
    cleanup_free char *beginning = xstrdup(path += strspn(path, "/"));
    const int whole = open_below(root, beginning);
    cleanup_close int fd = whole;
    cleanup_free char *name = NULL;
    cleanup_free char *other = NULL;
    size_t length = strlen(beginning);
    char target[PATH_MAX];
    const char *rest;
    struct statfs status;
    ssize_t size;

    *all = whole != -EACCES;
    while (may_be_cut(fd) && length > 0) {
        while (length > 0 && beginning[length - 1] == '/')
            length--;
        while (length > 0 && beginning[length - 1] != '/')
            length--;
        beginning[length] = '\0';
        fd = open_below(root, beginning);
    }
    if (whole < 0 && fd >= 0 && fstatfs(fd, &status) == 0 &&
        status.f_type == PROC_SUPER_MAGIC)
        return -ELOOP;
    if (whole >= 0 || fd < 0)
        return steal_fd(fd);
    path += length;
    name = xstrndup(path, strcspn(path, "/"));
    rest = path + strlen(name);
    size = *name ? readlinkat(fd, name, target, sizeof(target) - 1) : -1;
    target[size > 0 ? size : 0] = '\0';
    if (size <= 0 && !(rest = leave_missing(rest)))
        return steal_fd(fd);
    other = xasprintf("%s%s%s", *target == '/' ? "" : beginning, target, rest);
    return links == 0 || strlen(other) >= PATH_MAX
               ? -ELOOP
               : open_beginning(root, other, links - 1, all);
}

/* Return: our directory that the opened file is or is in, NULL if there is none; `known`
 * is false if the kernel does not tell the file's path. */
static const char *
find_above(const struct scan *scan, int fd, bool *known)
{
    char link[sizeof("/proc/self/fd/") + 3 * sizeof(fd)], path[PATH_MAX];
    struct stat status;
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof(path) - 1);
    *known = length > 0 && path[0] == '/';
    if (!*known)
        return NULL;
    path[length] = '\0';
    /* The kernel's path has no links, so cutting it leads to each directory above. */
    for (char *end = path + length; end > path; end = strrchr(path, '/')) {
        *end = '\0';
        if (stat(path, &status) < 0)
            continue;
        for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
            if (scan->own[i].st_ino == status.st_ino &&
                scan->own[i].st_dev == status.st_dev)
                return directories[i];
        }
    }
    return NULL;
}

/* Return: whether a component of a path in the text has our directories' name. */
static bool
has_name(const char *text)
{
    for (const char *at = text; (at = strstr(at, NAME)); at++) {
        char next = at[strlen(NAME)];

        if (!((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
              (next >= '0' && next <= '9') || next == '-' || next == '_' || next == '.'))
            return true;
    }
    return false;
}

/* --- the values of the document ----------------------------------------------------- */

/* Return: whether `virt-seed try` is starting this rehearsal now: it locks a file for as
 * long. Later, anybody could define another domain with the UUID, which is public. */
static bool
is_rehearsal_starting(const struct scan *scan)
{
    cleanup_close int directory = fs_open_directory_in_root(scan->root, scan->rehearsal);
    cleanup_close int fd =
        directory < 0 ? -1 : fs_open_regular_beneath(directory, REHEARSAL_LOCK, NULL);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static bool
is_own(const struct scan *scan, const xmlNode *node, const char *value)
{
    const char *device = (const char *)node->parent->name;
    const size_t length = strlen(scan->rehearsal);

    /* A file of the directory that `virt-seed try` has made for this rehearsal. */
    if (strncmp(value, scan->rehearsal, length) == 0 && value[length] != '\0' &&
        value[length] != '.' && !strchr(value + length, '/'))
        return is_rehearsal_starting(scan);
    if (strcmp((const char *)node->name, "source") != 0)
        return false;
    return (strcmp(device, "disk") == 0 && strcmp(value, scan->seed) == 0) ||
           (strcmp(device, "channel") == 0 && strcmp(value, scan->report) == 0);
}

/* Return: the element as people know it: the device, or the child of <domain>. */
static const xmlNode *
device_of(const xmlNode *node)
{
    while (node->parent->parent->type == XML_ELEMENT_NODE &&
           strcmp((const char *)node->parent->name, "devices") != 0)
        node = node->parent;
    return node;
}

static int
check_value(const struct scan *scan, const xmlNode *node, const char *value,
            struct failure **failure)
{
    const xmlNode *device = device_of(node);
    const char *directory = NULL;
    bool all = false, known = false;
    int fd;

    if (!strchr(value, '/') || is_own(scan, node, value))
        return 0;
    /* Arguments for QEMU itself, which may contain several paths, or a secret. */
    if ((node->ns || strncmp(value, "json:", 5) == 0 ||
         strncmp(value, "file:", 5) == 0) &&
        has_name(value))
        return failure_set_at(failure, FAILURE_FORBIDDEN_PATH, xml_line(node),
                              "<%s%s> names a directory of virt-seed's\n"
                              "use another file, or remove the element: virsh edit",
                              node->ns ? "qemu:" : "", (const char *)node->name);
    /* Nobody can open a longer path. */
    if (strlen(value) >= PATH_MAX)
        return 0;
    fd = open_beginning(scan->root, value, MAX_LINKS, &all);
    if (fd == -ELOOP)
        return failure_set_at(
            failure, FAILURE_FORBIDDEN_PATH, xml_line(device),
            "<%s> names '%.512s', which goes through a link of /proc or a loop of links; a "
            "process can make such a link lead elsewhere at any moment\n"
            "use the file's own path, or remove the device: virsh edit",
            (const char *)device->name, value);
    if (fd >= 0) {
        directory = find_above(scan, fd, &known);
        close(fd);
    }
    /* If the kernel does not tell where all of it leads, the spelling counts, too. */
    if (!directory && !(known && all) && has_name(value))
        directory = "a directory of virt-seed's";
    if (!directory)
        return 0;
    return failure_set_at(
        failure, FAILURE_FORBIDDEN_PATH, xml_line(device),
        "<%s> names '%.512s', which leads into %s, where a domain may use only its own "
        "seed, as a disk, and its own report, for a channel\n"
        "use another file, or remove the device: virsh edit",
        (const char *)device->name, value, directory);
}

/*
 * Checks what the value is a list of, if it has our directories' name in it: QEMU takes
 * an initrd and an ACPI table as several files, and libvirt does not quote everything for
 * other programs. What only the guest reads is not a list of the host's files.
 */
static int
check_list(const struct scan *scan, const xmlNode *node, const char *value,
           struct failure **failure)
{
    static const char separators[] = ",:= ";
    const char *name = (const char *)node->name;
    cleanup_free char *list = NULL;
    char *rest = NULL;

    if (!strpbrk(value, separators) || !has_name(value) || strcmp(name, "cmdline") == 0 ||
        strcmp(name, "entry") == 0)
        return 0;
    list = xstrdup(value);
    for (char *item = strtok_r(list, separators, &rest); item;
         item = strtok_r(NULL, separators, &rest)) {
        if (check_value(scan, node, item, failure) < 0)
            return -1;
    }
    return 0;
}

/* Checks the text of an attribute of the element, or its own. */
static int
check_text(const struct scan *scan, const xmlNode *node, const xmlNode *text,
           struct failure **failure)
{
    const char *value = xml_single_text(text);
    cleanup_free char *copy = value || !text->children ? NULL : xml_text(text);

    value = value ? value : copy;
    if (!value)
        return 0;
    return check_value(scan, node, value, failure) < 0
               ? -1
               : check_list(scan, node, value, failure);
}

static int
check_element(const struct scan *scan, const xmlNode *node, struct failure **failure)
{
    for (const xmlAttr *attribute = node->properties; attribute;
         attribute = attribute->next) {
        if (check_text(scan, node, (const xmlNode *)attribute, failure) < 0)
            return -1;
    }
    return xml_first_element(node) ? 0 : check_text(scan, node, node, failure);
}

/* Return: whether it is a text for people, or for other programs. */
static bool
is_text(const xmlNode *child)
{
    static const char *const names[] = {"metadata", "title", "description"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (!child->ns && strcmp((const char *)child->name, names[i]) == 0)
            return true;
    }
    return false;
}

static void
stat_own(struct scan *scan)
{
    for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
        if (fs_stat_in_root(scan->root, directories[i], &scan->own[i]) < 0)
            scan->own[i].st_ino = 0;
    }
}

bool
forbidden_paths_have(int root, int fd)
{
    struct scan scan = {.root = root};
    bool known;

    stat_own(&scan);
    return find_above(&scan, fd, &known);
}

int
forbidden_paths_check(int root, const struct domain *domain, struct failure **failure)
{
    cleanup_free char *seed = seed_path(domain->uuid);
    cleanup_free char *report = wire_report_path(domain->uuid);
    cleanup_free char *rehearsal = xasprintf("%s/%s/", VIRT_SEED_TRYDIR, domain->uuid);
    struct scan scan = {
        .root = root, .seed = seed, .report = report, .rehearsal = rehearsal};

    stat_own(&scan);
    for (const xmlNode *child = xml_first_element(domain->root); child;
         child = xml_next_element(child)) {
        for (const xmlNode *node = is_text(child) ? NULL : child; node;
             node = xml_next_below(node, child)) {
            if (check_element(&scan, node, failure) < 0)
                return -1;
        }
    }
    return 0;
}
