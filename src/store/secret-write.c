/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/names.h"
#include "base/scope.h"
#include "host/domain-secret.h"
#include "host/own-directory.h"
#include "host/secret.h"
#include "store/secret-write.h"

/* --- secrets of the host -------------------------------------------------------------- */

/* Opens the secret, or makes it. `has_keys` says whether it has a key, or a list of
 * domains. Return: a descriptor, owned by the caller, or -1. */
static int
open_to_write(int root, const char *name, bool *has_keys, struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s", scope()->secrets, name);
    cleanup_close int configuration =
        own_directory_make(root, scope()->confdir, scope()->conf_mode);
    cleanup_close int secrets = -1;
    cleanup_close int secret = -1;
    cleanup_closedir DIR *dir = NULL;
    const struct dirent *entry;

    if (configuration < 0)
        return secret_fail("make or read", scope()->confdir, configuration, failure);
    secrets = secret_make_directory(root, scope()->secrets, failure);
    secret = secrets < 0 ? -1 : secret_make_directory(root, path, failure);
    if (secret < 0)
        return -1;
    dir = fs_list(secret);
    do
        entry = fs_next(dir);
    while (entry && entry->d_name[0] == '.');
    if (!entry && errno != 0)
        return secret_fail("make or read", path, errno, failure);
    *has_keys = entry;
    return steal_fd(secret);
}

/* `exists` says whether the key already exists; other content is a failure. */
static int
compare_key(int secret, const char *name, const struct secret_key *key, bool *exists,
            struct failure **failure)
{
    cleanup_buffer struct buffer content = {0};
    cleanup_failure struct failure *reason = NULL;
    cleanup_free char *path = xasprintf("%s/%s/%s", scope()->secrets, name, key->name);

    secret_read_file(secret, key->name, path, LIMIT_PART, &content, &reason);
    *exists = !reason;
    if (!reason && buffer_is_same(&content, &key->content))
        return 0;
    if (reason && reason->code == FAILURE_SECRET_MISSING)
        return 0;
    if (reason && reason->code != FAILURE_LIMIT) {
        *failure = steal(reason);
        return -1;
    }
    return failure_set(failure, FAILURE_SECRET,
                       "%s already exists with other content\n"
                       "remove it, or omit --secrets to keep it",
                       path);
}

static int
write_key(int secret, const char *name, const struct secret_key *key,
          struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s/%s", scope()->secrets, name, key->name);
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    /* secret_read_all() ignores names that begin with a dot. */
    int error = tmpfile_open(&tmpfile, secret, "..import");

    if (error == 0)
        error = fs_write_all(tmpfile.fd, key->content.data, key->content.size);
    if (error == 0)
        error = tmpfile_publish(&tmpfile, key->name);
    return error < 0 ? secret_fail("make or read", path, error, failure) : 0;
}

int
secret_write(int root, const char *name, const struct secret_key *keys, size_t key_count,
             struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s", scope()->secrets, name);
    cleanup_close int secret = -1;
    const char *missing = NULL;
    bool had_keys = false, exists;

    if (secret_check_name("secret", name, failure) < 0)
        return -1;
    for (size_t i = 0; i < key_count; i++) {
        if (secret_check_key(keys[i].name, failure) < 0)
            return -1;
    }
    secret = open_to_write(root, name, &had_keys, failure);
    if (secret < 0)
        return -1;
    for (size_t i = 0; i < key_count; i++) {
        if (compare_key(secret, name, &keys[i], &exists, failure) < 0)
            return -1;
        if (!exists)
            missing = keys[i].name;
    }
    /* It may be somebody else's secret of the same name, which other domains read whole. */
    if (missing && had_keys)
        return failure_set(failure, FAILURE_SECRET,
                           "%s already exists, without the key '%s'\n"
                           "remove it, or omit --secrets and add the key yourself",
                           path, missing);
    for (size_t i = 0; i < key_count && missing; i++) {
        if (write_key(secret, name, &keys[i], failure) < 0)
            return -1;
    }
    return 0;
}

/* --- passwords of a domain ------------------------------------------------------------ */

static const char *const names[PASSWORD_COUNT] = {
    [PASSWORD_OF_USER] = PASSWORD_NAME,
    [PASSWORD_OF_ROOT] = ROOT_PASSWORD_NAME,
};

int
new_passwords_write(struct new_passwords *passwords, int root, const char *uuid,
                    struct failure **failure)
{
    cleanup_free char *path = domain_secret_path(uuid, "");
    int error = 0;

    passwords->directory = domain_secret_make_directory(root, uuid, failure);
    if (passwords->directory < 0)
        return -1;
    for (size_t i = 0; i < PASSWORD_COUNT && error == 0; i++) {
        const char *hash = passwords->hashes[i];
        struct tmpfile *file = &passwords->files[i];

        if (!hash)
            continue;
        error = tmpfile_open(file, passwords->directory, names[i]);
        if (error == 0)
            error = fs_write_all(file->fd, hash, strlen(hash));
        if (error == 0 && fsync(file->fd) < 0)
            error = -errno;
    }
    if (error < 0)
        return secret_fail("write a password into", path, error, failure);
    return 0;
}

int
new_passwords_publish(struct new_passwords *passwords, struct failure **failure)
{
    int error = 0;

    for (size_t i = 0; i < PASSWORD_COUNT && error == 0; i++) {
        if (passwords->hashes[i])
            error = tmpfile_publish(&passwords->files[i], names[i]);
    }
    if (error == 0 && fsync(passwords->directory) < 0)
        error = -errno;
    if (error < 0)
        return secret_fail("write a password into", scope()->domain_secrets, error,
                           failure);
    return 0;
}

void
new_passwords_clear(struct new_passwords *passwords)
{
    for (size_t i = 0; i < PASSWORD_COUNT; i++) {
        free(passwords->hashes[i]);
        tmpfile_close(&passwords->files[i]);
    }
    close_pointer(&passwords->directory);
}

void
passwords_remove_unused(int root, const char *uuid, const struct parts *parts)
{
    static const enum part_kind kinds[] = {PART_PASSWORD, PART_ROOT_PASSWORD};
    cleanup_free char *path = domain_secret_path(uuid, "");
    cleanup_close int directory = fs_open_directory_in_root(root, path);

    for (size_t i = 0; directory >= 0 && i < PASSWORD_COUNT; i++) {
        if (!parts_find(parts, kinds[i]))
            unlinkat(directory, names[i], 0);
    }
}
