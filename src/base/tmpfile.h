/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that appears under its name whole or not at all: opened next to the target
 * under a name of its own, then published by rename(2), or removed.
 */
#pragma once

#include <sys/types.h>

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
