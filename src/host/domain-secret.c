/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/names.h"
#include "host/domain-secret.h"
#include "host/own-directory.h"

char *
domain_secret_path(const char *uuid, const char *name)
{
    return xasprintf("%s/%s%s%s", scope()->domain_secrets, uuid, *name ? "/" : "", name);
}

int
domain_secret_read(int root, const char *uuid, const char *name, size_t limit,
                   struct buffer *content, struct failure **failure)
{
    cleanup_free char *path = domain_secret_path(uuid, name);
    cleanup_free char *directory_path = domain_secret_path(uuid, "");
    cleanup_close int parent =
        secret_open_directory(root, scope()->domain_secrets, failure);
    cleanup_close int directory = -1;

    if (parent >= 0)
        directory = secret_open_directory(root, directory_path, failure);
    if (directory >= 0 &&
        secret_read_file(directory, name, path, limit, content, failure) == 0)
        return 0;
    if ((*failure)->code != FAILURE_SECRET_MISSING)
        return -1;
    failure_free(steal(*failure));
    return 1;
}

int
domain_secret_make_directory(int root, const char *uuid, struct failure **failure)
{
    cleanup_free char *path = domain_secret_path(uuid, "");
    cleanup_close int state = statedir_make(root);
    cleanup_close int parent = -1;

    if (state < 0)
        return secret_fail("make", scope()->statedir, state, failure);
    parent = secret_make_directory(root, scope()->domain_secrets, failure);
    return parent < 0 ? -1 : secret_make_directory(root, path, failure);
}
