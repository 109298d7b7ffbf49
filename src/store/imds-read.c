/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "store/imds-read.h"

/* --- the list of MACs ------------------------------------------------------------- */

/* Takes the next line of a list of MACs. Return: false at its end, when `rest` is "", and
 * at an invalid line, where `rest` stays. */
static bool
next_mac(const char **rest, char mac[IMDS_MAC_LENGTH + 1], enum imds_link *link)
{
    const char *line = *rest;
    const char *end = strchr(line, '\n');
    const char *word;

    if (!end || end - line <= IMDS_MAC_LENGTH || line[IMDS_MAC_LENGTH] != ' ')
        return false;
    word = line + IMDS_MAC_LENGTH + 1;
    memcpy(mac, line, IMDS_MAC_LENGTH);
    mac[IMDS_MAC_LENGTH] = '\0';
    for (size_t i = 0; imds_is_mac(mac) && i < IMDS_LINK_COUNT; i++) {
        const char *name = imds_link_names[i];

        if (strlen(name) == (size_t)(end - word) &&
            memcmp(name, word, strlen(name)) == 0) {
            *link = (enum imds_link)i;
            *rest = end + 1;
            return true;
        }
    }
    return false;
}

/* --- reading ---------------------------------------------------------------------- */

int
imds_tree_read(struct imds_tree *tree, int root)
{
    cleanup_close int fd = fs_open_directory_in_root(root, IMDS_TREE);
    struct stat top, status;

    if (fd < 0)
        return fd;
    if (fstat(root, &top) < 0 || fstat(fd, &status) < 0)
        return -errno;
    if (status.st_uid != top.st_uid || status.st_mode & 022)
        return -EPERM;
    /* An O_PATH descriptor does not need the permission to enter. */
    if (faccessat(fd, ".", X_OK, 0) < 0)
        return -errno;
    *tree = (struct imds_tree){.fd = steal_fd(fd), .owner = top.st_uid};
    return 0;
}

const char *
imds_tree_reason(int error)
{
    switch (error) {
    case -ENOENT:
        return IMDS_TREE " does not exist: systemd-tmpfiles --create virt-seed-imds.conf";
    case -EACCES:
        return "the server may not read " IMDS_TREE ", which must belong to its group: "
               "systemd-tmpfiles --create virt-seed-imds.conf";
    case -EPERM:
        return IMDS_TREE
            " does not belong to root, or is writable by others: find out why, and "
            "remove it";
    case -ELOOP:
    case -ENOTDIR:
    case -EXDEV:
        return IMDS_TREE " is not a directory, or its path contains a symbolic link";
    default:
        return strerror(-error);
    }
}

void
imds_tree_close(struct imds_tree *tree)
{
    close_pointer(&tree->fd);
    *tree = IMDS_TREE_NONE;
}

static int
open_owned(const struct imds_tree *tree, int dir, const char *path, int flags,
           struct stat *status)
{
    cleanup_close int fd = fs_open_strictly_beneath(dir, path, flags);

    if (fd < 0)
        return fd;
    if (fstat(fd, status) < 0)
        return -errno;
    return status->st_uid == tree->owner ? steal_fd(fd) : -EPERM;
}

int
imds_tree_open_domain(const struct imds_tree *tree, const char *uuid)
{
    struct stat status;

    if (!text_is_uuid(uuid))
        return -ENOENT;
    return open_owned(tree, tree->fd, uuid, O_DIRECTORY, &status);
}

int
imds_tree_open_file(const struct imds_tree *tree, int domain, const char *path,
                    struct stat *status)
{
    cleanup_close int fd = open_owned(tree, domain, path, 0, status);

    if (fd < 0)
        return fd;
    return S_ISREG(status->st_mode) ? steal_fd(fd) : -EINVAL;
}

/* Runs for each request, so it uses one read(2), which returns all of a regular file. */
int
imds_tree_read_access(const struct imds_tree *tree, int domain,
                      struct imds_access *access)
{
    struct stat status;
    cleanup_close int fd = imds_tree_open_file(tree, domain, IMDS_ACCESS, &status);
    char mac[IMDS_MAC_LENGTH + 1];
    enum imds_link link;
    const char *rest;
    ssize_t size;
    char *end;

    if (fd < 0)
        return fd;
    size = read(fd, access->text, sizeof(access->text) - 1);
    if (size < 0)
        return -errno;
    access->text[size] = '\0';
    end = strchr(access->text, '\n');
    if (size != status.st_size || strlen(access->text) != (size_t)size || !end)
        return -EINVAL;
    *end = '\0';
    rest = access->macs = end + 1;
    /* Every line must be complete and valid: the server must not treat an unknown line as
     * no MAC. */
    while (next_mac(&rest, mac, &link))
        ;
    return imds_is_token(access->text) && !*rest ? 0 : -EINVAL;
}

unsigned int
imds_access_links(const struct imds_access *access, const char *mac)
{
    const char *rest = access->macs;
    char listed[IMDS_MAC_LENGTH + 1];
    enum imds_link link;
    unsigned int links = 0;

    while (next_mac(&rest, listed, &link)) {
        if (!mac || strcmp(listed, mac) == 0)
            links |= IMDS_LINK_SET(link);
    }
    return links;
}
