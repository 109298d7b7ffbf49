/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: there is no list of the elements that name files, since libvirt adds some
 * with each version. Each value with a slash is taken for a path, and so is each part of
 * it, since QEMU takes some values for lists, and libvirt does not quote all of them. The
 * kernel opens as much of the path as exists, and each directory above that is compared
 * with ours by device and inode. Values that are not paths lead nowhere.
 *
 * A short value can cost the kernel a long way through links, so what is limited is the
 * processor time. It includes the kernel's.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
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
/* As a message says it that does not know which. */
#define OURS "a directory of virt-seed's"

struct scan {
    int root;
    struct stat own[ARRAY_SIZE(directories)]; /* without an inode: it does not exist */
    char *seed, *report, *rehearsal;          /* the domain's own */
    clock_t end;                              /* of clock(3) */
};

/* --- where a path leads ------------------------------------------------------------- */

/* Sets our directory that the opened file is or is in. Return: 0, or -errno if the kernel
 * does not tell the file's path. */
static int
find_above(const struct scan *scan, int fd, const char **directory)
{
    char link[sizeof("/proc/self/fd/") + 3 * sizeof(fd)], path[PATH_MAX];
    struct stat status;
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof(path) - 1);
    if (length <= 0 || path[0] != '/')
        return -ESTALE;
    path[length] = '\0';
    /* The kernel's path has no links, so cutting it leads to each directory above. */
    for (char *end = path + length; end > path; end = strrchr(path, '/')) {
        *end = '\0';
        if (stat(path, &status) < 0)
            continue;
        for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
            if (scan->own[i].st_ino == status.st_ino &&
                scan->own[i].st_dev == status.st_dev)
                *directory = directories[i];
        }
    }
    return 0;
}

/* Return: whether the path, or a beginning of it, is worth another try without its last
 * component. On a network's file system, root may lack a permission that libvirt has as
 * another user. */
static bool
is_missing(int error)
{
    return error == -ENOENT || error == -ENOTDIR || error == -ENAMETOOLONG ||
           error == -EACCES;
}

/*
 * Cuts the path to as much of it as exists, and sets our directory that this leads into.
 * Return: 0 or -errno; -ELOOP if there is a link of /proc on the way, such as
 * /proc/PID/cwd, or may be once there is such a process; -ETIME if there is no time left.
 */
static int
follow(const struct scan *scan, char *path, const char **directory)
{
    cleanup_close int fd = -1;
    const size_t length = strlen(path);
    struct statfs status;
    char *last;

    for (;;) {
        if (clock() > scan->end)
            return -ETIME;
        /* QEMU and virtlogd run in "/". */
        fd = fs_open_in_root(scan->root, *path ? path : "/");
        if (!is_missing(fd) || !*path)
            break;
        last = strrchr(path, '/');
        *(last ? last : path) = '\0';
    }
    if (fd < 0)
        return fd;
    if (strlen(path) < length && fstatfs(fd, &status) == 0 &&
        status.f_type == PROC_SUPER_MAGIC)
        return -ELOOP;
    return find_above(scan, fd, directory);
}

/* Return: whether a component of a path in the text has our directories' name. */
static bool
has_name(const char *text)
{
    while ((text = strstr(text, NAME))) {
        text += strlen(NAME);
        if (!isalnum((unsigned char)*text) && (!*text || !strchr("-_.", *text)))
            return true;
    }
    return false;
}

/* Sets our directory that the path leads into, or would lead into. Return: as follow(). */
static int
find_directory(const struct scan *scan, const char *path, const char **directory)
{
    /* A slash at the beginning could make it too long. */
    const char *relative = path + strspn(path, "/");
    cleanup_free char *existing = xstrdup(relative);
    const int error = follow(scan, existing, directory);
    const char *missing = relative + strlen(existing);
    const char *up = strstr(missing, "..");

    /* What ".." leaves may exist when the path is opened, or in a directory where QEMU
     * looks next. */
    if (error < 0 || *directory)
        return error;
    if (up && has_name(up))
        *directory = OURS;
    return 0;
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
    const char *file = strncmp(value, scan->rehearsal, length) == 0 ? value + length : "";

    /* A file of the directory that `virt-seed try` has made for this rehearsal. */
    if (*file && *file != '.' && !strchr(file, '/'))
        return is_rehearsal_starting(scan);
    if (strcmp((const char *)node->name, "source") != 0)
        return false;
    if (strcmp(device, "disk") == 0)
        return strcmp(value, scan->seed) == 0;
    return strcmp(device, "channel") == 0 && strcmp(value, scan->report) == 0;
}

/* Fails because of what find_directory() has found. Does not quote arguments for QEMU
 * itself, which may be secrets. */
static int
refuse(const xmlNode *node, const char *path, int error, const char *directory,
       struct failure **failure)
{
    const xmlNode *device = node;
    cleanup_free char *what = NULL;

    /* As people know it: the device, or the child of <domain>. */
    while (!node->ns && device->parent->parent->type == XML_ELEMENT_NODE &&
           strcmp((const char *)device->parent->name, "devices") != 0)
        device = device->parent;
    if (node->ns)
        what = xasprintf("<qemu:%s> names a path", (const char *)device->name);
    else
        what = xasprintf("<%s> names '%.512s'", (const char *)device->name, path);

    if (error == -ETIME)
        return failure_set(
            failure, FAILURE_FORBIDDEN_PATH,
            "it takes too long to find out where the paths in its XML lead\n"
            "look for too many paths, or for long chains of symbolic links: "
            "virsh edit");
    if (error < 0)
        return failure_set_errno(
            failure, FAILURE_FORBIDDEN_PATH, error,
            "%s, and nobody can tell where that leads\n"
            "use the file's own path, without links of /proc, or remove the device: virsh "
            "edit",
            what);
    return failure_set_at(
        failure, FAILURE_FORBIDDEN_PATH, xml_line(device),
        "%s, which leads into %s, where a domain may use only its own seed, as a disk, and "
        "its own report, for a channel\n"
        "use another file, or remove the device: virsh edit",
        what, directory);
}

static int
check_path(const struct scan *scan, const xmlNode *node, const char *path,
           struct failure **failure)
{
    const char *directory = NULL;
    int error;

    /* Nobody can open a longer path. */
    if (!strchr(path, '/') || strlen(path) >= PATH_MAX)
        return 0;
    error = find_directory(scan, path, &directory);
    return error < 0 || directory ? refuse(node, path, error, directory, failure) : 0;
}

/* Checks the value, and its parts: QEMU takes an initrd and an ACPI table as several files,
 * and libvirt does not quote everything for other programs. */
static int
check_value(const struct scan *scan, const xmlNode *node, const char *value,
            struct failure **failure)
{
    static const char separators[] = ",:= \"'";
    cleanup_free char *parts = NULL;
    char *rest = NULL;

    if (!strchr(value, '/') || is_own(scan, node, value))
        return 0;
    /* Several programs read these, each with its own quotes. */
    if ((node->ns || strncmp(value, "json:", 5) == 0) && has_name(value))
        return refuse(node, value, 0, OURS, failure);
    if (check_path(scan, node, value, failure) < 0)
        return -1;
    /* The kernel's command line is for the guest alone. */
    if (!strpbrk(value, separators) || strcmp((const char *)node->name, "cmdline") == 0)
        return 0;
    parts = xstrdup(value);
    for (char *part = strtok_r(parts, separators, &rest); part;
         part = strtok_r(NULL, separators, &rest)) {
        if (check_path(scan, node, part, failure) < 0)
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
    return value ? check_value(scan, node, value, failure) : 0;
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
    const char *name = (const char *)child->name;

    if (child->ns)
        return false;
    return strcmp(name, "metadata") == 0 || strcmp(name, "title") == 0 ||
           strcmp(name, "description") == 0;
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
    const char *directory = NULL;

    stat_own(&scan);
    return find_above(&scan, fd, &directory) == 0 && directory;
}

int
forbidden_paths_check(int root, const struct domain *domain, struct failure **failure)
{
    cleanup_free char *seed = seed_path(domain->uuid);
    cleanup_free char *report = wire_report_path(domain->uuid);
    cleanup_free char *rehearsal = xasprintf("%s/%s/", VIRT_SEED_TRYDIR, domain->uuid);
    struct scan scan = {
        .root = root,
        .seed = seed,
        .report = report,
        .rehearsal = rehearsal,
        .end = clock() + LIMIT_PATHS_MILLISECONDS * (CLOCKS_PER_SEC / 1000),
    };

    stat_own(&scan);
    xml_foreach_element(child, domain->root) {
        for (const xmlNode *node = is_text(child) ? NULL : child; node;
             node = xml_next_below(node, child)) {
            if (check_element(&scan, node, failure) < 0)
                return -1;
        }
    }
    return 0;
}
