/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading and writing files in places that others may control. Everything is relative to
 * a directory descriptor; the kernel resolves names from outside beneath their directory
 * (openat2(2)), and they are never joined to a path. Unless they say otherwise, functions
 * return 0 or a descriptor, or -errno.
 *
 * A directory that could not be opened can be given as it is, as -errno: what opens, reads
 * or removes something below it then returns that.
 */
#pragma once

#include <dirent.h>

#include "base/base.h"

/* Return: the path's last component, borrowed from it. */
const char *fs_base_name(const char *path);

/* Return: the absolute path without "//", "/./" and a slash at its end, owned by the caller
 * (free); NULL if it is not one, is "/", leads up, has LIMIT_PATH bytes or a control
 * character. */
char *fs_plain_path(const char *path);

/* Return: whether the path begins with the directory's, and a slash. */
bool fs_is_below(const char *path, const char *directory);

/*
 * Opens `name`, which may contain slashes and symbolic links, for reading; -EXDEV if it
 * leads out of `dir`. `flags` are added to O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
 * so that a FIFO or a device cannot block the caller.
 * Return: a descriptor, owned by the caller.
 */
int fs_open_beneath(int dir, const char *name, int flags);

/*
 * As fs_open_beneath(), but a symbolic link on the way is -ELOOP, and a mount point
 * -EXDEV.
 */
int fs_open_strictly_beneath(int dir, const char *name, int flags);

/* Opens the directory `path`, to be used as the root by other functions. */
int fs_open_root(const char *path);

/*
 * Opens the directory at the absolute `path`, with the directory `root` as "/"; symbolic
 * links on the way stay below it. The descriptor (O_PATH) is for openat(2) and similar
 * calls, and does not need permission to list the directory.
 */
int fs_open_directory_in_root(int root, const char *path);

/* The same for a file of any type. */
int fs_open_in_root(int root, const char *path);
/* As stat(2), which follows symbolic links. */
int fs_stat_in_root(int root, const char *path, struct stat *status);

/*
 * As fs_open_beneath(), for a regular file; anything else is -EINVAL (a directory
 * -EISDIR). `status`, unless NULL, gets the fstat(2) of the opened file.
 */
int fs_open_regular_beneath(int dir, const char *name, struct stat *status);

/* Return: whether `name`, itself and not what it links to, is the opened file. */
bool fs_is_named(int fd, int dir, const char *name);

/* Lists the directory; `dir` stays open and keeps its position. Return: owned by the
 * caller (cleanup_closedir), or NULL with errno. */
DIR *fs_list(int dir);

/* Return: the next entry; NULL with errno 0 at the end, else with what has failed: here, or
 * in fs_list(), which gave no list. */
struct dirent *fs_next(DIR *entries);

/* Appends everything up to the end of file; -EFBIG, with the beginning appended, if that is
 * more than `limit` bytes. */
int fs_read_all(int fd, size_t limit, struct buffer *buffer);

/* Appends the content of the regular file `name` below the directory at the absolute path,
 * each resolved as by the functions above. */
int fs_read_below(int root, const char *directory, const char *name, size_t limit,
                  struct buffer *buffer);

/* Appends the content of the file at the absolute `path` below `root`, resolved as in
 * fs_open_directory_in_root(). */
int fs_read_in_root(int root, const char *path, size_t limit, struct buffer *buffer);

/* Writes all of it, with as many calls as it takes. */
int fs_write_all(int fd, const void *data, size_t size);

/* Sets the owner and the group, then the mode; -1 leaves either as it is. */
int fs_set_owner(int fd, uid_t owner, gid_t group, mode_t mode);

/* Writes all of the file `from`, from its beginning. */
int fs_copy_all(int from, int to);

/* Removes the file. Return: 1; 0 if there is no such file; or -errno. */
int fs_remove_file(int dir, const char *name);

/* Adds the hard link `link` to the file `name`, replacing an existing `link`. */
int fs_link_again(int dir, const char *name, const char *link);

/*
 * Opens the directory at `path` below `root`, and makes missing directories with `mode`.
 * No component may be a symbolic link; the caller sees to it that none is "..".
 * Return: a descriptor, owned by the caller.
 */
int fs_make_directories(int root, const char *path, mode_t mode);

/*
 * Removes the file or the directory with its content; a missing one is not an error. Does
 * not follow symbolic links. Return: 0, or the first error as -errno; -ELOOP if the tree
 * is too deep (LIMIT_TREE_DEPTH).
 */
int fs_remove_tree(int dir, const char *name);

/*
 * A file that appears under its name complete or not at all: it is written under a
 * temporary name next to the target, then published by rename(2), or removed.
 */
struct tmpfile {
    int fd;     /* for reading and writing; owned */
    int dir;    /* borrowed from the caller of tmpfile_open() */
    char *name; /* NULL once published */
};

/*
 * Opens `TARGET.new.XXXXXXXX` below `dir`, which must stay open as long as the tmpfile,
 * with mode 0600. If the process is killed, the file is left over (store/leftovers.h).
 * Return: 0 or -errno.
 */
int tmpfile_open(struct tmpfile *tmpfile, int dir, const char *target);

/* Gives the file its final name, replacing an existing file. Return: 0 or -errno. */
int tmpfile_publish(struct tmpfile *tmpfile, const char *target);

/* The same, but -EEXIST if a file of that name exists, which then stays. */
int tmpfile_publish_new(struct tmpfile *tmpfile, const char *target);

/* Closes the file, and removes it unless it was published. */
void tmpfile_close(struct tmpfile *tmpfile);

/* Whoever writes a temporary file holds a lock on it, so one without a lock was left by a
 * process that was killed. Return: whether the file was such a one, and was removed, or
 * with `dry` would be. */
bool fs_remove_abandoned(int dir, const char *name, bool dry);

/* Makes or replaces a file by way of a tmpfile: with that content, mode and group
 * ((gid_t)-1: the caller's). Return: 0 or -errno. */
int fs_replace_file(int dir, const char *name, const void *data, size_t size, mode_t mode,
                    gid_t group);

#define cleanup_tmpfile __attribute__((cleanup(tmpfile_close)))
#define TMPFILE_NONE ((struct tmpfile){.fd = -1, .dir = -1, .name = NULL})
