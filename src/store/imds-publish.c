/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/text.h"
#include "seed/seed.h"
#include "store/imds-tree.h"
#include "store/own-directory.h"

#define DIRECTORY_MODE 0750
#define FILE_MODE 0640
/* If nobody has made the tree for the server. */
#define CLOSED_MODE 0700

int
imds_tree_open(int rundir, struct failure **failure)
{
    int fd = own_directory_open(rundir, IMDS_TREE_NAME, CLOSED_MODE, failure);

    if (fd < 0)
        failure_prefix(failure, "in %s", VIRT_SEED_RUNDIR);
    return fd;
}

/* --- making: files ---------------------------------------------------------------- */

/* Opens the file or directory to the group of the tree once it is complete. */
static int
open_up(int fd, gid_t group, mode_t mode)
{
    return fchown(fd, (uid_t)-1, group) < 0 || fchmod(fd, mode) < 0 ? -errno : 0;
}

static int
make_file(int dir, const char *name, gid_t group, const void *data, size_t size)
{
    cleanup_close int fd =
        openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int error = fd < 0 ? -errno : 0;

    if (error == 0)
        error = fs_write_all(fd, data, size);
    return error == 0 ? open_up(fd, group, FILE_MODE) : error;
}

static int
make_directory(int parent, const char *name, gid_t group)
{
    cleanup_close int fd = -1;
    int error;

    if (mkdirat(parent, name, CLOSED_MODE) < 0 && errno != EEXIST)
        return -errno;
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    error = open_up(fd, group, DIRECTORY_MODE);
    return error < 0 ? error : steal_fd(fd);
}

static int
make_document(int domain, gid_t group, const struct document *document)
{
    cleanup_free char *path = xstrdup(document->path);
    cleanup_close int dir = -1;
    char *rest = path;
    const char *name = strsep(&rest, "/");

    for (; rest; name = strsep(&rest, "/")) {
        int next = make_directory(dir < 0 ? domain : dir, name, group);

        if (next < 0)
            return next;
        close_pointer(&dir);
        dir = next;
    }
    return make_file(dir < 0 ? domain : dir, name, group, document->data.data,
                     document->data.size);
}

static int
fill_directory(int tree, const char *name, gid_t group, const struct imds_domain *domain)
{
    cleanup_close int dir =
        openat(tree, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    cleanup_free char *macs = NULL;
    cleanup_free char *access = NULL;
    int error;

    if (dir < 0)
        return -errno;
    macs = imds_macs_format(domain->macs, domain->mac_count);
    access = xasprintf("%s\n%s", domain->token, macs);
    error = make_file(dir, IMDS_ACCESS, group, access, strlen(access));
    for (size_t i = 0; error == 0 && i < domain->document_count; i++)
        error = make_document(dir, group, &domain->documents[i]);
    return error == 0 ? open_up(dir, group, DIRECTORY_MODE) : error;
}

/* --- the index of MACs ------------------------------------------------------------- */

/* Sets `list` to that of the MACs in the directory `name`, borrowed from `text`; "" if
 * there is none. Return: 0 or -errno. */
static int
read_list(int tree, const char *name, struct buffer *text, const char **list)
{
    cleanup_free char *path = xasprintf("%s/" IMDS_ACCESS, name);
    cleanup_close int fd = fs_open_strictly_beneath(tree, path, 0);
    int error = fd < 0 ? fd : fs_read_all(fd, LIMIT_IMDS_ACCESS, text);
    const char *end = error == 0 && text->data ? strchr(text->data, '\n') : NULL;

    *list = end ? end + 1 : "";
    return error == -ENOENT ? 0 : error;
}

/* Adds the domain to the MAC's directory in the index, which another domain's release may
 * remove at the same time. */
static int
add_to_index(int tree, gid_t group, const char *mac, const char *uuid)
{
    cleanup_close int index = make_directory(tree, IMDS_INDEX, group);
    int error = -ENOENT;

    if (index < 0)
        return index;
    for (int attempt = 0; attempt < IMDS_ATTEMPTS && error == -ENOENT; attempt++) {
        cleanup_close int dir = make_directory(index, mac, group);

        error = dir < 0 ? dir : make_file(dir, uuid, group, NULL, 0);
    }
    return error == -EEXIST ? 0 : error;
}

/* Removes the MACs of the obsolete directory `name` from the index, except those that the
 * domain has published. Return: 0; or -errno, and then the directory must stay, because
 * nothing else says which they are. */
static int
clean_index(int tree, const char *name, const char *uuid)
{
    cleanup_buffer struct buffer text = {0}, published = {0};
    struct imds_access kept = {.macs = NULL};
    const char *list;
    char mac[IMDS_MAC_LENGTH + 1];
    enum imds_link link;
    int error = read_list(tree, name, &text, &list);

    if (error == 0)
        error = read_list(tree, uuid, &published, &kept.macs);
    while (error == 0 && imds_next_mac(&list, mac, &link)) {
        cleanup_free char *path = xasprintf(IMDS_INDEX "/%s", mac);
        cleanup_close int dir = -1;

        if (!(IMDS_LINK_SET(link) & IMDS_ON_LINK) ||
            (imds_access_links(&kept, mac) & IMDS_ON_LINK))
            continue;
        dir = openat(tree, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if ((dir < 0 || unlinkat(dir, uuid, 0) < 0) && errno != ENOENT)
            error = -errno;
        /* Fails if another domain has the same MAC. */
        unlinkat(tree, path, AT_REMOVEDIR);
    }
    return error;
}

/* Removes a directory that is not published, and what the index has of it. */
static int
remove_obsolete(int tree, const char *name, const char *uuid)
{
    int error = clean_index(tree, name, uuid);

    return error == 0 ? fs_remove_tree(tree, name) : error;
}

/* --- making: whole domains -------------------------------------------------------- */

/* Return: an unused name, owned by the caller (free); NULL with errno. */
static char *
other_name(const char *uuid)
{
    uint32_t random;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return NULL;
    return xasprintf("%s" TEMPORARY_SUFFIX "%08x", uuid, random);
}

/* A failure comes before the last step, so the domain keeps what it had. */
int
imds_tree_publish(int tree, const struct imds_domain *domain, struct failure **failure)
{
    cleanup_free char *name = other_name(domain->uuid);
    bool well = text_is_uuid(domain->uuid) && imds_is_token(domain->token) &&
                domain->mac_count <= LIMIT_NICS;
    struct stat status = {0};
    int error;

    for (size_t i = 0; well && i < domain->mac_count; i++)
        well = imds_is_mac(domain->macs[i].mac);
    if (!well)
        return failure_set(
            failure, FAILURE_RUNDIR,
            "the domain's UUID, token or MACs are malformed for the metadata server");
    if (!name || fstat(tree, &status) < 0 || mkdirat(tree, name, CLOSED_MODE) < 0) {
        error = -errno;
    } else {
        error = fill_directory(tree, name, status.st_gid, domain);
    }
    for (size_t i = 0; error == 0 && i < domain->mac_count; i++) {
        if (IMDS_LINK_SET(domain->macs[i].link) & IMDS_ON_LINK)
            error = add_to_index(tree, status.st_gid, domain->macs[i].mac, domain->uuid);
    }
    /* The old directory, if any, then has the temporary name. */
    if (error == 0 && renameat2(tree, name, tree, domain->uuid, RENAME_NOREPLACE) < 0 &&
        (errno != EEXIST ||
         renameat2(tree, name, tree, domain->uuid, RENAME_EXCHANGE) < 0))
        error = -errno;
    /* The unpublished or the old one; if it stays, the domain's release removes it. */
    if (name)
        remove_obsolete(tree, name, domain->uuid);
    if (error == 0)
        return 0;
    return failure_set_errno(failure, FAILURE_RUNDIR, error,
                             "could not write below %s/%s\n"
                             "check that it is writable and has free space: df %s",
                             IMDS_TREE, domain->uuid, VIRT_SEED_RUNDIR);
}

/* --- removing --------------------------------------------------------------------- */

static int
fail_remaining(const char *uuid, int error, struct failure **failure)
{
    return failure_set_errno(
        failure, FAILURE_RUNDIR, error,
        "could not remove the domain's files from %s\n"
        "remove everything that begins with %s/%s; it contains the domain's seed",
        IMDS_TREE, IMDS_TREE, uuid);
}

/* Removes all generations: the published one, which is renamed first, and those left by
 * killed processes. */
int
imds_tree_remove(int rundir, const char *uuid, struct failure **failure)
{
    cleanup_close int listed =
        openat(rundir, IMDS_TREE_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    cleanup_closedir DIR *dir = listed < 0 ? NULL : fs_list(listed);
    cleanup_free char *name = NULL;
    cleanup_close int tree = -1;
    const struct dirent *entry = NULL;
    int error;

    while (dir && (errno = 0, entry = readdir(dir)) &&
           strncmp(entry->d_name, uuid, UUID_LENGTH) != 0)
        ;
    /* Nobody publishes in what is not a directory. */
    if (!entry)
        return errno == 0 || errno == ENOENT || errno == ENOTDIR || errno == ELOOP
                   ? 0
                   : fail_remaining(uuid, errno, failure);
    tree = imds_tree_open(rundir, failure);
    if (tree < 0)
        return -1;
    name = other_name(uuid);
    error =
        !name || (renameat(tree, uuid, tree, name) < 0 && errno != ENOENT) ? -errno : 0;
    rewinddir(dir);
    while ((errno = 0, entry = readdir(dir))) {
        int one = 0;

        if (strncmp(entry->d_name, uuid, UUID_LENGTH) == 0)
            one = remove_obsolete(tree, entry->d_name, uuid);
        if (error == 0)
            error = one;
    }
    if (error == 0)
        error = -errno;
    return error < 0 ? fail_remaining(uuid, error, failure) : 0;
}
