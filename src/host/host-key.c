/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/names.h"
#include "host/domain-secret.h"
#include "host/host-key.h"
#include "host/own-directory.h"
#include "host/secret.h"

void
host_key_clear(struct host_key *key)
{
    buffer_clear(&key->private);
    free(key->public);
    *key = (struct host_key){0};
}

/* --- publishing --------------------------------------------------------------------- */

static int
write_private(int directory, const struct buffer *key)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    int error = tmpfile_open(&tmpfile, directory, HOST_KEY_NAME);

    if (error == 0)
        error = fs_write_all(tmpfile.fd, key->data, key->size);
    /* Write it to disk before it gets its name: guests must keep the key even if the host
     * crashes. */
    if (error == 0 && fsync(tmpfile.fd) < 0)
        error = -errno;
    if (error == 0)
        error = tmpfile_publish_new(&tmpfile, HOST_KEY_NAME);
    return error == 0 && fsync(directory) < 0 ? -errno : error;
}

static int
publish_private(int root, const char *uuid, const struct buffer *key,
                struct failure **failure)
{
    cleanup_free char *path = domain_secret_path(uuid, "");
    cleanup_close int directory = domain_secret_make_directory(root, uuid, failure);
    int error;

    if (directory < 0)
        return -1;
    error = write_private(directory, key);
    if (error == -EEXIST)
        return failure_set(failure, FAILURE_SECRET,
                           "another start of the domain has just made its host key\n"
                           "start it again");
    return error < 0 ? secret_fail("make a key in", path, error, failure) : 0;
}

/* Replaces a different public key: the private key may have been copied from another
 * host. */
static int
publish_public(int root, const char *uuid, const char *line, struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s." HOST_KEY_PUBLIC_NAME, uuid);
    cleanup_close int directory = statedir_make(root);
    cleanup_buffer struct buffer present = {0};
    int error = directory < 0 ? directory : 0;

    if (fs_read_below(root, scope()->statedir, name, LIMIT_SSH_KEY, &present) == 0 &&
        strcmp(buffer_text(&present), line) == 0)
        return 0;
    if (error == 0)
        error = fs_replace_file(directory, name, line, strlen(line), 0644, (gid_t)-1);
    if (error < 0)
        return secret_fail("write a public key into", scope()->statedir, error, failure);
    return 0;
}

int
host_key_publish(int root, const char *uuid, const struct host_key *key,
                 struct failure **failure)
{
    if (key->private.size > 0 && publish_private(root, uuid, &key->private, failure) < 0)
        return -1;
    return key->public ? publish_public(root, uuid, key->public, failure) : 0;
}
