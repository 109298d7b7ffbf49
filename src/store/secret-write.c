/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/tmpfile.h"
#include "store/secret-write.h"
#include "store/secret.h"

static int
fail_path(int error, const char *path, struct failure **failure)
{
    failure_set_errno(failure, FAILURE_SECRET, error, "could not make or read %s", path);
    return failure_hint(failure, "see what is there: ls -ld %s; root may write there",
                        path);
}

int
secret_make_directory(int root, const char *path, struct failure **failure)
{
    cleanup_close int fd = fs_make_directories(root, path, 0700);

    if (fd < 0)
        return fail_path(fd, path, failure);
    return secret_check_closed(fd, path, failure) < 0 ? -1 : steal_fd(fd);
}

static int
open_secret(int root, const char *name, struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s", SECRET_DIRECTORY, name);
    cleanup_close int configuration = fs_make_directories(root, VIRT_SEED_CONFDIR, 0755);
    cleanup_close int secrets = -1;

    if (configuration < 0)
        return fail_path(configuration, VIRT_SEED_CONFDIR, failure);
    secrets = secret_make_directory(root, SECRET_DIRECTORY, failure);
    return secrets < 0 ? -1 : secret_make_directory(root, path, failure);
}

/* `there` says whether the key is there, with the same content. */
static int
compare_key(int secret, const char *path, const struct secret_key *key, bool *there,
            struct failure **failure)
{
    cleanup_close int fd = fs_open_regular_beneath(secret, key->name, NULL);
    cleanup_buffer struct buffer content = {0};
    int error;

    *there = fd >= 0;
    if (fd == -ENOENT)
        return 0;
    if (fd < 0)
        return fail_path(fd, path, failure);
    if (secret_check_closed(fd, path, failure) < 0)
        return -1;
    error = fs_read_all(fd, LIMIT_PART, &content);
    if (error < 0 && error != -EFBIG)
        return fail_path(error, path, failure);
    if (error == 0 && content.size == key->content.size &&
        (content.size == 0 || memcmp(content.data, key->content.data, content.size) == 0))
        return 0;
    failure_set(failure, FAILURE_SECRET, "%s is there already, and is not the same",
                path);
    return failure_hint(failure, "remove it, or leave --secrets away to keep it");
}

static int
write_key(int secret, const struct secret_key *key)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    /* Whoever reads all keys passes over what begins with a dot (secret_read_all). */
    int error = tmpfile_open(&tmpfile, secret, "..import");

    if (error == 0)
        error = fs_write_all(tmpfile.fd, key->content.data, key->content.size);
    return error == 0 ? tmpfile_publish(&tmpfile, key->name) : error;
}

static int
write_or_compare(int secret, const char *name, const struct secret_key *key, bool write,
                 struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s/%s", SECRET_DIRECTORY, name, key->name);
    bool there;
    int error;

    if (compare_key(secret, path, key, &there, failure) < 0)
        return -1;
    if (!write || there)
        return 0;
    error = write_key(secret, key);
    return error < 0 ? fail_path(error, path, failure) : 0;
}

int
secret_write(int root, const char *name, const struct secret_key *keys, size_t key_count,
             struct failure **failure)
{
    cleanup_close int secret = -1;

    if (secret_check_name("secret", name, failure) < 0)
        return -1;
    for (size_t i = 0; i < key_count; i++) {
        if (secret_check_key(keys[i].name, failure) < 0)
            return -1;
    }
    secret = open_secret(root, name, failure);
    if (secret < 0)
        return -1;
    for (size_t i = 0; i < key_count; i++) {
        if (write_or_compare(secret, name, &keys[i], false, failure) < 0)
            return -1;
    }
    for (size_t i = 0; i < key_count; i++) {
        if (write_or_compare(secret, name, &keys[i], true, failure) < 0)
            return -1;
    }
    return 0;
}

int
secret_replace(int root, const char *name, const struct secret_key *key,
               struct failure **failure)
{
    cleanup_free char *path = NULL;
    cleanup_close int secret = -1;
    int error;

    if (secret_check_name("secret", name, failure) < 0 ||
        secret_check_key(key->name, failure) < 0)
        return -1;
    secret = open_secret(root, name, failure);
    if (secret < 0)
        return -1;
    path = xasprintf("%s/%s/%s", SECRET_DIRECTORY, name, key->name);
    error = write_key(secret, key);
    return error < 0 ? fail_path(error, path, failure) : 0;
}
