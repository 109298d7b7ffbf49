/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/tmpfile.h"
#include "seed/openssh-key.h"
#include "store/host-key.h"
#include "store/own-directory.h"
#include "store/secret.h"

static char *
directory_path(const char *uuid)
{
    return xasprintf("%s/%s", HOST_KEY_DIRECTORY, uuid);
}

static char *
private_path(const char *uuid)
{
    return xasprintf("%s/%s/" PART_HOST_KEY, HOST_KEY_DIRECTORY, uuid);
}

static char *
public_name(const char *uuid)
{
    return xasprintf("%s." PART_HOST_KEY_PUBLIC, uuid);
}

static int
fail_at(const char *path, int error, const char *what, struct failure **failure)
{
    failure_set_errno(failure, FAILURE_SECRET, error, "could not %s %s", what, path);
    return failure_hint(failure, "see what is there: ls -ld %s; root may write there",
                        path);
}

/* --- reading ---------------------------------------------------------------------- */

static int
fail_not_made(const char *path, struct failure **failure)
{
    failure_set(failure, FAILURE_SECRET_MISSING,
                "there is no %s: the domain's host key is not made yet", path);
    return failure_hint(failure, "start the domain: its first start makes the key");
}

/* Where there is none, the failure is FAILURE_SECRET_MISSING, and says no more. */
static int
read_private(int root, const char *uuid, struct buffer *key, struct failure **failure)
{
    cleanup_free char *path = private_path(uuid);
    cleanup_close int parent = secret_open_directory(root, HOST_KEY_DIRECTORY, failure);
    cleanup_free char *directory_name = directory_path(uuid);
    cleanup_close int directory = -1;

    if (parent >= 0)
        directory = secret_open_directory(root, directory_name, failure);
    if (directory < 0)
        return -1;
    return secret_read_file(directory, PART_HOST_KEY, path, LIMIT_SSH_KEY, key, failure);
}

static bool
is_missing(struct failure *const *failure)
{
    return (*failure)->code == FAILURE_SECRET_MISSING;
}

static void
forget(struct failure **failure)
{
    failure_free(*failure);
    *failure = NULL;
}

/* Return: the line of the public key, owned by the caller (free), or NULL. */
static char *
public_line(const char *uuid, const struct buffer *key, struct failure **failure)
{
    cleanup_free char *line = key->size > 0 ? openssh_key_public(key->data) : NULL;
    cleanup_free char *path = NULL;

    if (line)
        return xasprintf("%s virt-seed\n", line);
    path = private_path(uuid);
    failure_set(failure, FAILURE_SSH_KEY, "%s is no private key of OpenSSH", path);
    failure_hint(failure, "bring it back from a backup; where it is lost, remove it, and "
                          "the next start makes another one");
    return NULL;
}

int
host_key_read(int root, const char *uuid, struct part *part, struct failure **failure)
{
    cleanup_buffer struct buffer key = {0};
    cleanup_free char *path = private_path(uuid);
    cleanup_free char *line = NULL;

    if (read_private(root, uuid, &key, failure) < 0) {
        if (!is_missing(failure))
            return -1;
        forget(failure);
        return fail_not_made(path, failure);
    }
    line = public_line(uuid, &key, failure);
    if (!line)
        return -1;
    *part_add_entry(part, PART_HOST_KEY) = steal_buffer(&key);
    buffer_append_string(part_add_entry(part, PART_HOST_KEY_PUBLIC), line);
    return 0;
}

int
host_key_read_public(int root, const char *uuid, struct part *part,
                     struct failure **failure)
{
    cleanup_free char *name = public_name(uuid);
    cleanup_free char *path = xasprintf("%s/%s", VIRT_SEED_STATEDIR, name);
    cleanup_close int directory = statedir_open(root);
    cleanup_close int fd =
        directory < 0 ? directory : fs_open_regular_beneath(directory, name, NULL);
    cleanup_buffer struct buffer line = {0};
    int error = fd < 0 ? fd : fs_read_all(fd, LIMIT_SSH_KEY, &line);

    if (error == -ENOENT)
        return fail_not_made(path, failure);
    if (error < 0)
        return fail_at(path, error, "read", failure);
    *part_add_entry(part, PART_HOST_KEY_PUBLIC) = steal_buffer(&line);
    return 0;
}

/* --- making ----------------------------------------------------------------------- */

static int
generate(struct buffer *key)
{
    struct {
        uint8_t secret[OPENSSH_SECRET_SIZE];
        uint32_t check;
    } random;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return -errno;
    openssh_key_append(key, random.secret, random.check);
    explicit_bzero(&random, sizeof(random));
    return 0;
}

/* On the disk before it has its name: the guest will be known by it, whatever happens to
 * the host. Return: 0, also where there is one now that somebody else has made. */
static int
publish_private(int directory, const struct buffer *key)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    int error = tmpfile_open(&tmpfile, directory, PART_HOST_KEY);

    if (error == 0)
        error = fs_write_all(tmpfile.fd, key->data, key->size);
    if (error == 0 && fsync(tmpfile.fd) < 0)
        error = -errno;
    if (error == 0)
        error = tmpfile_publish_new(&tmpfile, PART_HOST_KEY);
    if (error == -EEXIST)
        return 0;
    return error == 0 && fsync(directory) < 0 ? -errno : error;
}

static int
make_private(int root, const char *uuid, struct failure **failure)
{
    cleanup_buffer struct buffer key = {0};
    cleanup_free char *path = directory_path(uuid);
    cleanup_close int state = statedir_make(root);
    cleanup_close int parent = -1;
    cleanup_close int directory = -1;
    int error;

    if (state < 0)
        return fail_at(VIRT_SEED_STATEDIR, state, "make", failure);
    parent = secret_make_directory(root, HOST_KEY_DIRECTORY, failure);
    if (parent < 0)
        return -1;
    directory = secret_make_directory(root, path, failure);
    if (directory < 0)
        return -1;
    error = generate(&key);
    if (error == 0)
        error = publish_private(directory, &key);
    return error < 0 ? fail_at(path, error, "make a key in", failure) : 0;
}

static int
write_public(int directory, const char *name, const char *line)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    int error = tmpfile_open(&tmpfile, directory, name);

    if (error == 0)
        error = fs_write_all(tmpfile.fd, line, strlen(line));
    if (error == 0 && fchmod(tmpfile.fd, 0644) < 0)
        error = -errno;
    return error == 0 ? tmpfile_publish(&tmpfile, name) : error;
}

/* Written anew where it is another one: the private key may have come from elsewhere. */
static int
publish_public(int root, const char *uuid, const struct buffer *key,
               struct failure **failure)
{
    cleanup_free char *line = public_line(uuid, key, failure);
    cleanup_free char *name = public_name(uuid);
    cleanup_close int directory = statedir_make(root);
    cleanup_close int fd =
        directory < 0 ? directory : fs_open_regular_beneath(directory, name, NULL);
    cleanup_buffer struct buffer present = {0};
    int error;

    if (!line)
        return -1;
    if (fd >= 0 && fs_read_all(fd, LIMIT_SSH_KEY, &present) == 0 && present.size > 0 &&
        strcmp(present.data, line) == 0)
        return 0;
    error = directory < 0 ? directory : write_public(directory, name, line);
    return error < 0
               ? fail_at(VIRT_SEED_STATEDIR, error, "write a public key into", failure)
               : 0;
}

static int
fail_not_here(const char *uuid, struct failure **failure)
{
    cleanup_free char *path = private_path(uuid);
    cleanup_free char *directory = directory_path(uuid);

    failure_set(failure, FAILURE_SECRET_MISSING,
                "there is no %s, the host key that the guest has since its first start",
                path);
    return failure_hint(failure,
                        "bring it over from the host where it was made: "
                        "rsync -aR HOST:%s /",
                        directory);
}

int
host_key_prepare(int root, const char *uuid, bool may_make, struct failure **failure)
{
    cleanup_buffer struct buffer key = {0};

    if (read_private(root, uuid, &key, failure) < 0) {
        if (!is_missing(failure))
            return -1;
        forget(failure);
        if (!may_make)
            return fail_not_here(uuid, failure);
        if (make_private(root, uuid, failure) < 0 ||
            read_private(root, uuid, &key, failure) < 0)
            return -1;
    }
    return publish_public(root, uuid, &key, failure);
}
