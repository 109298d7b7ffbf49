/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: there is no list of the elements that name files, since libvirt adds some
 * with each version. Each value with a slash is taken for a path, and so is each part of
 * it, since QEMU takes some values for lists, and libvirt does not quote all of them. The
 * kernel opens as much of the path as exists, and each directory above that is compared
 * with ours by device and inode. Values that are not paths lead nowhere.
 *
 * A short value can cost the kernel a long way through links, so what is limited is the
 * processor time. It includes the kernel's. The same path many times is looked up once,
 * and a path whose beginning is missing is not looked up piece by piece.
 */
#include "config.h"

#include <linux/magic.h>
#include <sys/file.h>
#include <sys/vfs.h>

#include "base/fs.h"
#include "base/names.h"
#include "host/domain-text.h"
#include "host/forbidden-paths.h"

/* The name of all of virt-seed's directories. */
#define NAME "/virt-seed"
/* As a message says it that does not know which. */
#define OURS "a directory of virt-seed's"

struct scan {
    int root;
    struct own_directories own;
    char *seed, *report, *log, *rehearsal; /* the domain's own */
    clock_t end;                           /* of clock(3) */
    char harmless[PATH_MAX];               /* the last path that leads elsewhere */
    struct domain_text text;
};

/* --- where a path leads ------------------------------------------------------------- */

void
own_directories_find(struct own_directories *own, int root)
{
    *own = (struct own_directories){
        .paths = {scope()->rundir, scope()->reportdir, scope()->statedir,
                  scope()->confdir, scope()->trydir},
    };
    /* What is missing stays without an inode. */
    for (size_t i = 0; i < OWN_DIRECTORIES; i++)
        fs_stat_in_root(root, own->paths[i], &own->status[i]);
}

int
own_directories_find_above(const struct own_directories *own, int fd,
                           const char **directory)
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
        for (size_t i = 0; i < OWN_DIRECTORIES; i++) {
            if (own->status[i].st_ino == status.st_ino &&
                own->status[i].st_dev == status.st_dev)
                *directory = own->paths[i];
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

/* Return: whether the first component does not exist, as of most values that are not
 * paths. Then nothing of the path does. */
static bool
lacks_beginning(const struct scan *scan, const char *path)
{
    cleanup_free char *beginning = xstrndup(path, strcspn(path, "/"));
    cleanup_close int fd = fs_open_in_root(scan->root, beginning);

    return fd == -ENOENT;
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
        /* The root itself is not ours. */
        if (!*path)
            return 0;
        /* QEMU and virtlogd run in "/". */
        fd = fs_open_in_root(scan->root, path);
        if (!is_missing(fd))
            break;
        last = strrchr(path, '/');
        if (strlen(path) == length && lacks_beginning(scan, path))
            last = NULL;
        *(last ? last : path) = '\0';
    }
    if (fd < 0)
        return fd;
    if (strlen(path) < length && fstatfs(fd, &status) == 0 &&
        status.f_type == PROC_SUPER_MAGIC)
        return -ELOOP;
    return own_directories_find_above(&scan->own, fd, directory);
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
    cleanup_close int fd = fs_open_regular_beneath(directory, REHEARSAL_LOCK, NULL);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static bool
is_own(const struct scan *scan, const struct domain_value *value)
{
    const size_t length = strlen(scan->rehearsal);
    const char *file = "";

    if (strncmp(value->text, scan->rehearsal, length) == 0)
        file = value->text + length;
    /* A file of the directory that `virt-seed try` has made for this rehearsal. */
    if (*file && *file != '.' && !strchr(file, '/'))
        return is_rehearsal_starting(scan);
    if (!text_part_is(value->element, "source"))
        return false;
    if (text_part_is(value->parent, "disk"))
        return strcmp(value->text, scan->seed) == 0;
    return text_part_is(value->parent, "channel") &&
           (strcmp(value->text, scan->report) == 0 ||
            strcmp(value->text, scan->log) == 0);
}

/* Fails because of what find_directory() has found. Does not quote arguments for QEMU
 * itself, which may be secrets. */
static int
refuse_path(const struct scan *scan, const struct domain_value *value, const char *path,
            int error, const char *directory, struct failure **failure)
{
    /* As people know it: the device. */
    const struct text_part named = value->has_prefix ? value->element : value->device;
    cleanup_free char *name = xstrndup(named.start, named.length);
    cleanup_free char *what = NULL;

    if (value->has_prefix)
        what = xasprintf("<%s> names a path", name);
    else
        what = xasprintf("<%s> names '%.512s'", name, path);

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
        failure, FAILURE_FORBIDDEN_PATH, domain_text_line(&scan->text, named.start),
        "%s, which leads into %s, where a domain may use only its own seed, as a disk, and "
        "its own report or log, for a channel\n"
        "use another file, or remove the device: virsh edit",
        what, directory);
}

static int
check_path(struct scan *scan, const struct domain_value *value, const char *path,
           struct failure **failure)
{
    const char *directory = NULL;
    int error;

    /* Nobody can open a longer path. */
    if (!strchr(path, '/') || strlen(path) >= PATH_MAX)
        return 0;
    if (strcmp(path, scan->harmless) == 0)
        return 0;
    error = find_directory(scan, path, &directory);
    if (error < 0 || directory)
        return refuse_path(scan, value, path, error, directory, failure);
    memcpy(scan->harmless, path, strlen(path) + 1);
    return 0;
}

/* Checks the value, and its parts: QEMU takes an initrd and an ACPI table as several files,
 * and libvirt does not quote everything for other programs. */
static int
check_value(struct scan *scan, const struct domain_value *value, struct failure **failure)
{
    static const char separators[] = ",:= \"'";
    const char *text = value->text;
    cleanup_free char *parts = NULL;
    char *rest = NULL;

    if (!strchr(text, '/') || is_own(scan, value))
        return 0;
    /* Several programs read these, each with its own quotes. */
    if ((value->has_prefix || strncmp(text, "json:", 5) == 0) && has_name(text))
        return refuse_path(scan, value, text, 0, OURS, failure);
    if (check_path(scan, value, text, failure) < 0)
        return -1;
    /* The kernel's command line is for the guest alone. */
    if (!strpbrk(text, separators) || text_part_is(value->element, "cmdline"))
        return 0;
    parts = xstrdup(text);
    for (char *part = strtok_r(parts, separators, &rest); part;
         part = strtok_r(NULL, separators, &rest)) {
        if (check_path(scan, value, part, failure) < 0)
            return -1;
    }
    return 0;
}

static int
check_values(struct scan *scan, const struct buffer *xml, struct failure **failure)
{
    struct domain_value value;
    int result;

    if (domain_text_begin(&scan->text, xml, failure) < 0)
        return -1;
    while ((result = domain_text_next(&scan->text, &value, failure)) > 0) {
        if (check_value(scan, &value, failure) < 0)
            return -1;
    }
    return result;
}

int
forbidden_paths_check(int root, const struct buffer *xml, const char *uuid,
                      struct failure **failure)
{
    cleanup_free char *seed = seed_path(uuid);
    cleanup_free char *report = report_path(uuid, REPORT_SUFFIX);
    cleanup_free char *log = report_path(uuid, LOG_SUFFIX);
    cleanup_free char *rehearsal = xasprintf("%s/%s/", scope()->trydir, uuid);
    struct scan scan = {
        .root = root,
        .seed = seed,
        .report = report,
        .log = log,
        .rehearsal = rehearsal,
        .end = clock() + LIMIT_PATHS_MILLISECONDS * (CLOCKS_PER_SEC / 1000),
    };
    int result;

    own_directories_find(&scan.own, root);
    result = check_values(&scan, xml, failure);
    domain_text_clear(&scan.text);
    return result;
}
