/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>

#include "base/fs.h"
#include "base/names.h"

const char *
fs_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *
fs_plain_path(const char *path)
{
    cleanup_free char *copy = xstrdup(path);
    cleanup_free char *plain = xmalloc(strlen(path) + 1);
    char *end = plain;
    char *rest = NULL;

    if (*path != '/' || strlen(path) >= LIMIT_PATH)
        return NULL;
    for (const char *at = path; *at; at++) {
        if (iscntrl((unsigned char)*at))
            return NULL;
    }
    for (const char *name = strtok_r(copy, "/", &rest); name;
         name = strtok_r(NULL, "/", &rest)) {
        if (strcmp(name, "..") == 0)
            return NULL;
        if (strcmp(name, ".") != 0)
            end = stpcpy(stpcpy(end, "/"), name);
    }
    *end = '\0';
    return *plain ? steal(plain) : NULL;
}

bool
fs_is_below(const char *path, const char *directory)
{
    const size_t length = strlen(directory);

    return strncmp(path, directory, length) == 0 && path[length] == '/';
}

static int
open_resolved(int dir, const char *name, int flags, unsigned int resolve)
{
    struct open_how how = {
        .flags = (unsigned int)(O_RDONLY | O_CLOEXEC | flags),
        .resolve = resolve | RESOLVE_NO_MAGICLINKS,
    };
    long fd;

    if (dir < 0)
        return dir;
    /* EAGAIN: a concurrent rename kept the kernel from being sure. */
    do
        fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));
    while (fd < 0 && (errno == EINTR || errno == EAGAIN));
    return fd < 0 ? -errno : (int)fd;
}

int
fs_open_beneath(int dir, const char *name, int flags)
{
    return open_resolved(dir, name, O_NONBLOCK | O_NOCTTY | flags, RESOLVE_BENEATH);
}

int
fs_open_strictly_beneath(int dir, const char *name, int flags)
{
    return open_resolved(dir, name, O_NONBLOCK | O_NOCTTY | flags,
                         RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

int
fs_open_root(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

int
fs_open_directory_in_root(int root, const char *path)
{
    return open_resolved(root, path, O_DIRECTORY | O_PATH, RESOLVE_IN_ROOT);
}

int
fs_open_in_root(int root, const char *path)
{
    return open_resolved(root, path, O_PATH, RESOLVE_IN_ROOT);
}

int
fs_stat_in_root(int root, const char *path, struct stat *status)
{
    cleanup_close int fd = fs_open_in_root(root, path);

    if (fd < 0)
        return fd;
    return fstat(fd, status) < 0 ? -errno : 0;
}

int
fs_open_regular_beneath(int dir, const char *name, struct stat *status)
{
    cleanup_close int fd = fs_open_beneath(dir, name, 0);
    struct stat opened;

    if (fd < 0)
        return fd;
    if (fstat(fd, &opened) < 0)
        return -errno;
    if (S_ISDIR(opened.st_mode))
        return -EISDIR;
    if (!S_ISREG(opened.st_mode))
        return -EINVAL;
    if (status)
        *status = opened;
    return steal_fd(fd);
}

bool
fs_is_named(int fd, int dir, const char *name)
{
    struct stat opened, named;

    if (fstat(fd, &opened) < 0 || fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

DIR *
fs_list(int dir)
{
    cleanup_close int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);

    if (entries)
        (void)steal_fd(copy);
    return entries;
}

struct dirent *
fs_next(DIR *entries)
{
    if (!entries)
        return NULL;
    errno = 0;
    return readdir(entries);
}

/* Untouched memory costs nothing, but all that was reserved is wiped in the end. */
#define READ_ROOM (64UL * 1024)
#define READ_ROOM_MINIMUM (4UL * 1024)

/* Return: how much there is to read, 0 if that is not known, or -errno. libc's fstat(3) may
 * make a call that the maker's filter refuses. */
static off_t
find_rest(int fd)
{
    const off_t position = lseek(fd, 0, SEEK_CUR);
    const off_t end = position < 0 ? -1 : lseek(fd, 0, SEEK_END);

    if (end < 0)
        return 0;
    if (lseek(fd, position, SEEK_SET) < 0)
        return -errno;
    return end > position ? end - position : 0;
}

int
fs_read_all(int fd, size_t limit, struct buffer *buffer)
{
    const size_t start = buffer->size;
    const off_t rest = find_rest(fd);
    size_t first = READ_ROOM;

    if (rest < 0)
        return (int)rest;
    if (rest > 0)
        first = ((size_t)rest < limit ? (size_t)rest : limit) + READ_ROOM_MINIMUM + 1;
    buffer_reserve(buffer, first);
    for (;;) {
        size_t room = buffer->capacity - buffer->size;
        char *end = buffer_reserve(buffer, room > READ_ROOM_MINIMUM ? 0 : READ_ROOM);
        ssize_t count = read(fd, end, buffer->capacity - buffer->size - 1);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        end[count] = '\0';
        buffer->size += (size_t)count;
        if (buffer->size - start > limit)
            return -EFBIG;
        if (count == 0)
            return 0;
    }
}

int
fs_read_below(int root, const char *directory, const char *name, size_t limit,
              struct buffer *buffer)
{
    cleanup_close int dir = fs_open_directory_in_root(root, directory);
    cleanup_close int fd = fs_open_regular_beneath(dir, name, NULL);

    return fd < 0 ? fd : fs_read_all(fd, limit, buffer);
}

int
fs_read_in_root(int root, const char *path, size_t limit, struct buffer *buffer)
{
    cleanup_close int fd =
        open_resolved(root, path, O_NONBLOCK | O_NOCTTY, RESOLVE_IN_ROOT);

    return fd < 0 ? fd : fs_read_all(fd, limit, buffer);
}

int
fs_write_all(int fd, const void *data, size_t size)
{
    const char *position = data;

    while (size > 0) {
        ssize_t count = write(fd, position, size);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        position += count;
        size -= (size_t)count;
    }
    return 0;
}

int
fs_set_owner(int fd, uid_t owner, gid_t group, mode_t mode)
{
    return fchown(fd, owner, group) < 0 || fchmod(fd, mode) < 0 ? -errno : 0;
}

#define LINK_ATTEMPTS 16
/* Of one call; any size will do. */
#define COPY_SIZE (1UL << 30)

int
fs_copy_all(int from, int to)
{
    off_t offset = 0;
    ssize_t count;

    do
        count = sendfile(to, from, &offset, COPY_SIZE);
    while (count > 0 || (count < 0 && errno == EINTR));
    return count < 0 ? -errno : 0;
}

int
fs_link_again(int dir, const char *name, const char *link)
{
    /* Another process may do the same. */
    for (int i = 0; i < LINK_ATTEMPTS; i++) {
        if (linkat(dir, name, dir, link, 0) == 0)
            return 0;
        if (errno != EEXIST || (unlinkat(dir, link, 0) < 0 && errno != ENOENT))
            return -errno;
    }
    return -EEXIST;
}

int
fs_make_directories(int root, const char *path, mode_t mode)
{
    /* Nearly always, all of them exist. */
    const int fd =
        open_resolved(root, path, O_DIRECTORY, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
    cleanup_free char *copy = NULL;
    cleanup_close int dir = -1;
    char *rest = NULL;

    if (fd >= 0)
        return fd;
    copy = xstrdup(path);
    for (char *name = strtok_r(copy, "/", &rest); name;
         name = strtok_r(NULL, "/", &rest)) {
        int parent = dir < 0 ? root : dir;
        int next = -1;

        if (mkdirat(parent, name, mode) == 0 || errno == EEXIST)
            next = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0)
            return -errno;
        close_pointer(&dir);
        dir = next;
    }
    return dir < 0 ? -EINVAL : steal_fd(dir);
}

/* --- removing --------------------------------------------------------------------- */

static int
remove_at(int dir, const char *name, int depth)
{
    cleanup_close int fd = -1;
    cleanup_closedir DIR *stream = NULL;
    const struct dirent *entry;
    int error = 0;

    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return -errno;
    if (depth == 0)
        return -ELOOP;
    fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    stream = fd < 0 ? NULL : fs_list(fd);
    if (!stream)
        return -errno;
    while ((entry = fs_next(stream))) {
        int one = 0;

        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            one = remove_at(fd, entry->d_name, depth - 1);
        if (error == 0)
            error = one;
    }
    if (error == 0)
        error = -errno;
    if (error == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        error = -errno;
    return error;
}

int
fs_remove_file(int dir, const char *name)
{
    int error;

    if (dir < 0)
        return dir == -ENOENT ? 0 : dir;
    if (unlinkat(dir, name, 0) == 0)
        return 1;
    error = -errno;
    /* A file system that is read-only says so of a missing file, too. */
    if (error == -EROFS && faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
        error = -errno;
    return error == -ENOENT ? 0 : error;
}

int
fs_remove_tree(int dir, const char *name)
{
    return remove_at(dir, name, LIMIT_TREE_DEPTH);
}

/* --- files that appear whole ------------------------------------------------------ */

bool
fs_remove_abandoned(int dir, const char *name, bool dry)
{
    cleanup_close int fd =
        openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return false;
    /* The name may be another file's by now. */
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 || !fs_is_named(fd, dir, name))
        return false;
    return dry || unlinkat(dir, name, 0) == 0;
}

/* Locks a new file. Return: false if another process took it for an abandoned one. On a
 * file system without locks, no process can do that. */
static bool
lock_new(int fd)
{
    struct stat status;

    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno != EWOULDBLOCK;
    return fstat(fd, &status) < 0 || status.st_nlink > 0;
}

/* The name is the same each time, so that what a killed process has left goes when the
 * same file is written again; only if somebody writes it now is the name a random one. */
int
tmpfile_open(struct tmpfile *tmpfile, int dir, const char *target)
{
    uint32_t number = 0;

    for (int attempt = 0; attempt < 16; attempt++) {
        cleanup_free char *name = xasprintf("%s" TEMPORARY_SUFFIX "%08x", target, number);
        int fd =
            openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

        if (fd < 0 && errno != EEXIST)
            return -errno;
        if (fd >= 0 && lock_new(fd)) {
            *tmpfile = (struct tmpfile){.fd = fd, .dir = dir, .name = steal(name)};
            return 0;
        }
        if (fd >= 0)
            close(fd);
        else if (number == 0 && fs_remove_abandoned(dir, name, false))
            continue;
        if (getrandom(&number, sizeof(number), 0) != sizeof(number))
            return -errno;
    }
    return -EEXIST;
}

int
tmpfile_publish(struct tmpfile *tmpfile, const char *target)
{
    if (renameat(tmpfile->dir, tmpfile->name, tmpfile->dir, target) < 0)
        return -errno;
    free(steal(tmpfile->name));
    return 0;
}

int
tmpfile_publish_new(struct tmpfile *tmpfile, const char *target)
{
    const int dir = tmpfile->dir;

    if (renameat2(dir, tmpfile->name, dir, target, RENAME_NOREPLACE) == 0) {
        free(steal(tmpfile->name));
        return 0;
    }
    /* Not every file system can do that; closing then removes the temporary name. */
    if (errno == EINVAL && linkat(dir, tmpfile->name, dir, target, 0) == 0)
        return 0;
    return -errno;
}

void
tmpfile_close(struct tmpfile *tmpfile)
{
    if (tmpfile->name) {
        unlinkat(tmpfile->dir, tmpfile->name, 0);
        free(tmpfile->name);
    }
    if (tmpfile->fd >= 0)
        close(tmpfile->fd);
    *tmpfile = TMPFILE_NONE;
}

int
fs_replace_file(int dir, const char *name, const void *data, size_t size, mode_t mode,
                gid_t group)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    int error = tmpfile_open(&tmpfile, dir, name);

    if (error == 0)
        error = fs_write_all(tmpfile.fd, data, size);
    if (error == 0)
        error = fs_set_owner(tmpfile.fd, (uid_t)-1, group, mode);
    return error == 0 ? tmpfile_publish(&tmpfile, name) : error;
}
