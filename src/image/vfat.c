/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads images of either type, those of vfat with mtools, which does not mount them and
 * only needs to read the file. Programs that read no images use label.c without this.
 *
 * How it works: mdir lists all files, and mtype prints one after another. The image may
 * contain anything, and so may the names in it: mtype would take some of them for a
 * pattern, so it only gets plain ones. Both programs read a copy that nobody can change,
 * without root's rights, with limits of memory and output, and the whole image has a limit
 * of time.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "image/image.h"

/* What mdir and mtype call the root of the image. */
#define VOLUME "::/"
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+ "

struct volume {
    int fd;
    time_t end; /* of CLOCK_MONOTONIC: when reading must have ended */
};

/* `options` ends with the letter i, whose argument is the image. Return: as
 * child_run(). */
static int
run_mtools(const struct volume *volume, const char *program, const char *options,
           const char *path, size_t limit, struct buffer *output)
{
    cleanup_free char *image = xasprintf("/proc/self/fd/%d", volume->fd);
    char *words[] = {(char *)program, (char *)options, image, (char *)path, NULL};
    /* Ignore the user's and the host's configuration, and do not check the geometry, which
     * disk images lack. */
    char *environment[] = {(char *)"MTOOLSRC=/dev/null", (char *)"MTOOLS_SKIP_CHECK=1",
                           (char *)"LC_ALL=C.UTF-8", NULL};
    const int documents[] = {volume->fd, -1};
    struct child child = {
        .words = words,
        .environment = environment,
        .documents = documents,
        .silent = true,
        .output = limit + 1,
        .memory = LIMIT_VFAT_MEMORY,
        .unprivileged = true,
    };
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    child.seconds = now.tv_sec < volume->end ? (int)(volume->end - now.tv_sec) : 0;
    return child_run(&child, output);
}

/* Return: whether all names in the path are plain, so that it means exactly one file. */
static bool
is_plain(const char *path)
{
    size_t length;

    if (!*path || path[strspn(path, PLAIN "/")])
        return false;
    for (const char *name = path; name; name = strchr(name, '/')) {
        name += *name == '/';
        length = strcspn(name, "/");
        if (length == 0 || strspn(name, ".") == length)
            return false;
    }
    return true;
}

static int
add_file(const struct volume *volume, struct seed *seed, const char *path,
         struct failure **failure)
{
    struct document *file = seed_add_document(seed, path);
    cleanup_free char *name = xasprintf(VOLUME "%s", path);
    const char *problem = "could not read";
    int status;

    file->unread = true;
    if (!is_plain(path))
        return 0;
    status = run_mtools(volume, "mtype", "-i", name, LIMIT_SEED, &file->data);
    file->size = file->data.size;
    file->unread = status != 0 || file->size > LIMIT_SEED;
    if (!file->unread)
        return 0;
    buffer_clear(&file->data);
    if (file->size > LIMIT_SEED)
        return 0;
    if (status == CHILD_KILLED)
        problem = "took too long to read";
    return failure_set(failure, FAILURE_IMAGE, "mtools %s '%s'\nthe image is damaged",
                       problem, path);
}

/* Return: a sealed copy of the image, owned by the caller, or -1. */
static int
copy_image(int fd, struct failure **failure)
{
    cleanup_buffer struct buffer content = {0};
    int error = lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;

    if (error == 0)
        error = fs_read_all(fd, LIMIT_IMAGE, &content);
    if (error == -EFBIG)
        return image_fail_limit(failure, "is larger than", LIMIT_IMAGE / MIB, "MiB");
    if (error == 0)
        error = process_document("seed", &content);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not copy the image");
    return error;
}

static int
vfat_read(int fd, const char *label, struct seed *seed, struct failure **failure)
{
    cleanup_close int copy = copy_image(fd, failure);
    struct volume volume = {.fd = copy};
    cleanup_buffer struct buffer list = {0};
    struct timespec now;
    char *rest;
    size_t total = 0;
    int result;

    *seed = (struct seed){.label = xstrdup(label ? label : "")};
    if (copy < 0)
        return -1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    volume.end = now.tv_sec + LIMIT_VFAT_SECONDS;
    result = run_mtools(&volume, "mdir", "-ab/i", VOLUME, LIMIT_VFAT_LIST, &list);
    if (result == CHILD_MISSING)
        return failure_set(failure, FAILURE_IMAGE,
                           "a vfat image with the label '%s', and there is no mdir to "
                           "read it\n"
                           "install the package mtools",
                           seed->label);
    if (result != 0)
        return failure_set(failure, FAILURE_IMAGE,
                           "mtools could not read the vfat image\n"
                           "the image is damaged, or has too many files for a seed");
    rest = list.data;
    for (char *path = strsep(&rest, "\n"); path; path = strsep(&rest, "\n")) {
        size_t depth = 0;

        if (strncmp(path, VOLUME, strlen(VOLUME)) != 0)
            continue;
        path += strlen(VOLUME);
        for (const char *at = path; *at; at++)
            depth += *at == '/';
        if (depth > LIMIT_IMAGE_DEPTH)
            return image_fail_limit(failure, "is nested deeper than", LIMIT_IMAGE_DEPTH,
                                    "directories");
        /* A directory; its files have their own lines. */
        if (!*path || path[strlen(path) - 1] == '/')
            continue;
        if (seed->document_count == LIMIT_IMAGE_FILES)
            return image_fail_limit(failure, "has more than", LIMIT_IMAGE_FILES, "files");
        if (seed_find_document(seed, path))
            continue;
        if (add_file(&volume, seed, path, failure) < 0)
            return -1;
        total += seed->documents[seed->document_count - 1].data.size;
        if (total > LIMIT_IMAGE)
            return image_fail_limit(failure, "is larger than", LIMIT_IMAGE / MIB, "MiB");
    }
    return 0;
}

int
image_read(int fd, struct seed *seed, struct failure **failure)
{
    cleanup_free char *type = NULL;
    cleanup_free char *label = label_read(fd, &type);

    if (type && strcmp(type, "vfat") == 0)
        return vfat_read(fd, label, seed, failure);
    return iso_read(fd, seed, failure);
}
