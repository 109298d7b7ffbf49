/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/random.h>

#include "base/fs.h"
#include "base/names.h"
#include "host/documents.h"
#include "host/imds-tree.h"
#include "host/own-directory.h"
#include "host/rundir.h"

#define DIRECTORY_MODE 0750
#define FILE_MODE 0640
/* If nobody has made the tree for the server. */
#define CLOSED_MODE 0700

/* --- names ------------------------------------------------------------------------ */

bool
imds_is_mac(const char *text)
{
    return text_matches(text, "xx:xx:xx:xx:xx:xx");
}

bool
imds_is_token(const char *text)
{
    return text_is_hex(text, IMDS_TOKEN_LENGTH);
}

/* --- the list of MACs ------------------------------------------------------------- */

const char *const imds_link_names[IMDS_LINK_COUNT] = {
    [IMDS_LINK_NEIGHBOUR] = "neighbour",
    [IMDS_LINK_USER] = "user",
};

char *
imds_macs_format(const struct imds_mac *macs, size_t count)
{
    cleanup_buffer struct buffer lines = {0};

    buffer_append_string(&lines, "");
    for (size_t i = 0; i < count; i++)
        buffer_printf(&lines, "%s %s\n", macs[i].mac, imds_link_names[macs[i].link]);
    return steal(lines.data);
}

/* --- the tree --------------------------------------------------------------------- */

struct imds_finding
imds_tree_find(int rundir)
{
    struct stat above, status;
    const bool is_there =
        fstat(rundir, &above) == 0 &&
        fstatat(rundir, IMDS_TREE_NAME, &status, AT_SYMLINK_NOFOLLOW) == 0;

    if (!is_there && (rundir < 0 || errno == ENOENT))
        return (struct imds_finding){.health = IMDS_TREE_MISSING};
    if (!is_there)
        return (struct imds_finding){.health = IMDS_HEALTHY};
    if (!S_ISDIR(status.st_mode))
        return (struct imds_finding){.health = IMDS_TREE_NO_DIRECTORY};
    if ((status.st_mode & 050) != 050)
        return (struct imds_finding){IMDS_TREE_CLOSED, status.st_mode & 07777};
    if (status.st_uid != above.st_uid)
        return (struct imds_finding){IMDS_TREE_OWNER, status.st_uid};
    if (status.st_mode & 022)
        return (struct imds_finding){IMDS_TREE_OPEN, status.st_mode & 07777};
    return (struct imds_finding){.health = IMDS_HEALTHY};
}

int
imds_tree_open(int rundir, struct failure **failure)
{
    int fd = own_directory_open(rundir, IMDS_TREE_NAME, CLOSED_MODE, failure);

    if (fd < 0)
        failure_prefix(failure, "in %s", VIRT_SEED_RUNDIR);
    return fd;
}

/* --- making: files ---------------------------------------------------------------- */

static int
make_file(int dir, const char *name, gid_t group, const void *data, size_t size)
{
    cleanup_close int fd =
        openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int error = fd < 0 ? -errno : 0;

    if (error == 0)
        error = fs_write_all(fd, data, size);
    /* The group may read the file, as well as the directory, only once it is complete. */
    return error == 0 ? fs_set_owner(fd, (uid_t)-1, group, FILE_MODE) : error;
}

static int
fill_directory(int tree, const char *name, gid_t group, const struct imds_domain *domain)
{
    const struct document *documents = domain->seed->documents;
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
    for (size_t i = 0; error == 0 && i < domain->seed->document_count; i++)
        error = make_file(dir, documents[i].path, group, documents[i].data.data,
                          documents[i].data.size);
    return error == 0 ? fs_set_owner(dir, (uid_t)-1, group, DIRECTORY_MODE) : error;
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
imds_tree_publish(int tree, const char *uuid, const struct imds_domain *domain,
                  struct failure **failure)
{
    cleanup_free char *name = other_name(uuid);
    struct stat status = {0};
    int error;

    if (!name || fstat(tree, &status) < 0 || mkdirat(tree, name, CLOSED_MODE) < 0)
        error = -errno;
    else
        error = fill_directory(tree, name, status.st_gid, domain);
    /* The old directory, if any, then has the temporary name. */
    if (error == 0 && renameat2(tree, name, tree, uuid, RENAME_NOREPLACE) < 0) {
        if (errno != EEXIST || renameat2(tree, name, tree, uuid, RENAME_EXCHANGE) < 0)
            error = -errno;
    }
    /* The unpublished or the old one; if it stays, the domain's release removes it. */
    if (name)
        fs_remove_tree(tree, name);
    if (error == 0)
        return 0;
    return own_directory_fail(FAILURE_RUNDIR, "write below", IMDS_TREE, uuid, error,
                              failure);
}

/* --- removing --------------------------------------------------------------------- */

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
    const struct dirent *entry;
    bool is_none, is_found;
    int error = 0;

    do
        entry = fs_next(dir);
    while (entry && strncmp(entry->d_name, uuid, UUID_LENGTH) != 0);
    /* Nobody publishes in what is not a directory. */
    is_none = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    is_found = dir && entry;
    if (!is_found && errno != 0 && !is_none)
        return rundir_fail_to_remove(IMDS_TREE, uuid, errno, failure);
    if (!is_found)
        return 0;
    tree = imds_tree_open(rundir, failure);
    if (tree < 0)
        return -1;
    name = other_name(uuid);
    if (!name || (renameat(tree, uuid, tree, name) < 0 && errno != ENOENT))
        error = -errno;
    rewinddir(dir);
    while ((entry = fs_next(dir))) {
        int one = 0;

        if (strncmp(entry->d_name, uuid, UUID_LENGTH) == 0)
            one = fs_remove_tree(tree, entry->d_name);
        if (error == 0)
            error = one;
    }
    if (error == 0)
        error = -errno;
    return error < 0 ? rundir_fail_to_remove(IMDS_TREE, uuid, error, failure) : 0;
}
