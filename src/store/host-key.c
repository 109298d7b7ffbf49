/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "seed/ssh-host-keys.h"
#include "store/domain-secret.h"
#include "store/host-key.h"
#include "store/own-directory.h"
#include "store/secret.h"

static char *
public_name(const char *uuid)
{
    return xasprintf("%s." PART_HOST_KEY_PUBLIC, uuid);
}

/* --- reading ---------------------------------------------------------------------- */

static int
fail_missing(const char *path, const char *uuid, bool has_booted,
             struct failure **failure)
{
    cleanup_free char *directory = domain_secret_path(uuid, "");

    if (!has_booted)
        return failure_set(
            failure, FAILURE_SECRET_MISSING,
            "%s does not exist: the domain's host key has not been made yet\n"
            "start the domain: its first start makes the key",
            path);
    return failure_set(
        failure, FAILURE_SECRET_MISSING,
        "%s does not exist: the host key that the guest got at its first start\n"
        "copy it from the host where it was made: rsync -aR HOST:%s /",
        path, directory);
}

static int
read_private(int root, const char *uuid, struct buffer *key, struct failure **failure)
{
    return domain_secret_read(root, uuid, PART_HOST_KEY, LIMIT_SSH_KEY, key, failure);
}

int
host_key_read_public(int root, const char *uuid, struct part *part,
                     struct failure **failure)
{
    cleanup_free char *name = public_name(uuid);
    cleanup_free char *path = xasprintf("%s/%s", VIRT_SEED_STATEDIR, name);
    cleanup_buffer struct buffer line = {0};
    int error = statedir_read(root, name, LIMIT_SSH_KEY, &line);

    if (error == -ENOENT)
        return fail_missing(path, uuid, false, failure);
    if (error < 0)
        return secret_fail("read", path, error, failure);
    *part_add_entry(part, PART_HOST_KEY_PUBLIC) = steal_buffer(&line);
    return 0;
}

/* --- making ----------------------------------------------------------------------- */

static int
generate(int directory)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    cleanup_buffer struct buffer key = {0};
    struct {
        uint8_t secret[OPENSSH_SECRET_SIZE];
        uint32_t check;
    } random;
    int error;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return -errno;
    openssh_key_append(&key, random.secret, random.check);
    explicit_bzero(&random, sizeof(random));
    error = tmpfile_open(&tmpfile, directory, PART_HOST_KEY);
    if (error == 0)
        error = fs_write_all(tmpfile.fd, key.data, key.size);
    /* Write it to disk before it gets its name: guests must keep the key even if the host
     * crashes. */
    if (error == 0 && fsync(tmpfile.fd) < 0)
        error = -errno;
    if (error == 0)
        error = tmpfile_publish_new(&tmpfile, PART_HOST_KEY);
    /* Another process has made one. */
    if (error == -EEXIST)
        return 0;
    return error == 0 && fsync(directory) < 0 ? -errno : error;
}

static int
make_private(int root, const char *uuid, struct failure **failure)
{
    cleanup_free char *path = domain_secret_path(uuid, "");
    cleanup_close int directory = domain_secret_make_directory(root, uuid, failure);
    int error;

    if (directory < 0)
        return -1;
    error = generate(directory);
    return error < 0 ? secret_fail("make a key in", path, error, failure) : 0;
}

/* Replaces a different public key: the private key may have been copied from another
 * host. */
static int
publish_public(int root, const char *uuid, const char *line, struct failure **failure)
{
    cleanup_free char *name = public_name(uuid);
    cleanup_close int directory = statedir_make(root);
    cleanup_buffer struct buffer present = {0};
    int error = directory < 0 ? directory : 0;

    if (statedir_read(root, name, LIMIT_SSH_KEY, &present) == 0 && present.size > 0 &&
        strcmp(present.data, line) == 0)
        return 0;
    if (error == 0)
        error = fs_replace_file(directory, name, line, 0644, (gid_t)-1);
    if (error < 0)
        return secret_fail("write a public key into", VIRT_SEED_STATEDIR, error, failure);
    return 0;
}

/* --- both keys ---------------------------------------------------------------------- */

/* Adds the private key and the public key, which is made from it, to the part. */
static int
add_keys(int root, const char *uuid, struct buffer *key, bool publishes,
         struct part *part, struct failure **failure)
{
    cleanup_free char *path = domain_secret_path(uuid, PART_HOST_KEY);
    cleanup_free char *public = key->size > 0 ? openssh_key_public(key->data) : NULL;
    cleanup_free char *line = public ? xasprintf("%s virt-seed\n", public) : NULL;

    if (!line)
        return failure_set(
            failure, FAILURE_SSH_KEY,
            "%s is not an OpenSSH private key\n"
            "restore it from a backup; if it is lost, remove it, and the next start makes "
            "a new one",
            path);
    if (publishes && publish_public(root, uuid, line, failure) < 0)
        return -1;
    *part_add_entry(part, PART_HOST_KEY) = steal_buffer(key);
    buffer_append_string(part_add_entry(part, PART_HOST_KEY_PUBLIC), line);
    return 0;
}

int
host_key_read(int root, const char *uuid, bool has_booted, struct part *part,
              struct failure **failure)
{
    cleanup_buffer struct buffer key = {0};
    cleanup_free char *path = domain_secret_path(uuid, PART_HOST_KEY);
    int missing = read_private(root, uuid, &key, failure);

    if (missing < 0)
        return -1;
    if (missing)
        return fail_missing(path, uuid, has_booted, failure);
    return add_keys(root, uuid, &key, false, part, failure);
}

int
host_key_prepare(int root, const char *uuid, bool may_make, struct part *part,
                 struct failure **failure)
{
    cleanup_buffer struct buffer key = {0};
    cleanup_free char *path = domain_secret_path(uuid, PART_HOST_KEY);
    int missing = read_private(root, uuid, &key, failure);

    if (missing > 0 && !may_make)
        return fail_missing(path, uuid, true, failure);
    if (missing > 0 && make_private(root, uuid, failure) == 0)
        missing = read_private(root, uuid, &key, failure);
    if (*failure)
        return -1;
    return add_keys(root, uuid, &key, true, part, failure);
}
