/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading and writing files that others may have put there. Everything goes by
 * directory descriptor; a name from outside is resolved beneath its directory by the
 * kernel (openat2(2)), never joined to a path. All functions return 0 or a descriptor,
 * or -errno.
 */
#pragma once

#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/buffer.h"

/* Return: the path's last component, which is part of it. */
const char *fs_base_name(const char *path);

/*
 * Opens `name`, which may have slashes and symbolic links, for reading; a name that
 * leads out of `dir` is -EXDEV. `flags` are added to O_RDONLY | O_CLOEXEC | O_NONBLOCK
 * | O_NOCTTY, so that a FIFO or a device cannot hold us up.
 * Return: a descriptor, owned by the caller.
 */
int fs_open_beneath(int dir, const char *name, int flags);

/*
 * As fs_open_beneath(), where no symbolic link may be on the way and nothing that is
 * mounted: -ELOOP, -EXDEV.
 */
int fs_open_strictly_beneath(int dir, const char *name, int flags);

/* Opens the directory `path` as the root for what follows. */
int fs_open_root(const char *path);

/*
 * Opens the directory at the absolute `path`, where "/" is the directory `root`; symbolic
 * links on the way stay below it. The descriptor (O_PATH) is for openat(2) and its kin;
 * who may not list the directory gets it, too.
 */
int fs_open_directory_in_root(int root, const char *path);

/* The same for anything that is at the path, a directory or not. */
int fs_open_in_root(int root, const char *path);
/* What stat(2) says of what is there: of a symbolic link's target. */
int fs_stat_in_root(int root, const char *path, struct stat *status);

/*
 * As fs_open_beneath(), for a regular file; anything else is -EINVAL (a directory
 * -EISDIR). `status`, where not NULL, gets what fstat(2) says of the opened file.
 */
int fs_open_regular_beneath(int dir, const char *name, struct stat *status);

/* Opens a stream of the directory's entries; the descriptor stays as it is.
 * Return: owned by the caller (cleanup_closedir), or NULL with errno. */
DIR *fs_list(int dir);

/* Appends everything up to the end of file; -EFBIG when that is more than `limit`
 * bytes. */
int fs_read_all(int fd, size_t limit, struct buffer *buffer);

/* Appends the content of the file at the absolute `path` below `root`, as
 * fs_open_directory_in_root() finds it. */
int fs_read_in_root(int root, const char *path, size_t limit, struct buffer *buffer);

/* Writes all of it, whatever the kernel takes at a time. */
int fs_write_all(int fd, const void *data, size_t size);

/* Gives the file `name` of the directory the name `link`, too, in the place of what has
 * it. */
int fs_link_again(int dir, const char *name, const char *link);

/*
 * Opens the directory at `path`, taken below `root`; missing ones on
 * the way are made with `mode`. No component may be a symbolic link.
 * Return: a descriptor, owned by the caller.
 */
int fs_make_directories(int root, const char *path, mode_t mode);

/*
 * Removes the file or the directory, with all that is in it; nothing there is no error.
 * No symbolic link is followed. Return: 0, or the first error as -errno, -ELOOP where it
 * is too deep (LIMIT_TREE_DEPTH).
 */
int fs_remove_tree(int dir, const char *name);

/*
 * A file that appears under its name whole or not at all: opened next to the target
 * under a name of its own, then published by rename(2), or removed.
 */
struct tmpfile {
    int fd;     /* for reading and writing; owned */
    int dir;    /* borrowed from the caller of tmpfile_open() */
    char *name; /* NULL once published */
};

/*
 * Opens `TARGET.new.XXXXXX` below `dir`, which must stay open as long as the tmpfile,
 * with mode 0600. Whatever is left over after a kill begins with the target's name.
 * Return: 0 or -errno.
 */
int tmpfile_open(struct tmpfile *tmpfile, int dir, const char *target);

/* Gives the file its name, replacing what was there. Return: 0 or -errno. */
int tmpfile_publish(struct tmpfile *tmpfile, const char *target);

/* The same where there is nothing of that name; else -EEXIST, and what is there stays. */
int tmpfile_publish_new(struct tmpfile *tmpfile, const char *target);

/* Closes it, and removes it where it was not published. */
void tmpfile_close(struct tmpfile *tmpfile);

#define cleanup_tmpfile __attribute__((cleanup(tmpfile_close)))
#define TMPFILE_NONE ((struct tmpfile){.fd = -1, .dir = -1, .name = NULL})
