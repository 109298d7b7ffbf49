/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/names.h"
#include "host/domain-secret.h"
#include "store/password.h"

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
