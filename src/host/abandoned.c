/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <dirent.h>
#include <string.h>

#include "base/fs.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/text.h"
#include "host/abandoned.h"
#include "host/domain-secret.h"

bool
is_temporary_name(const char *name)
{
    const size_t length = strlen(name);
    const size_t end = strlen(TEMPORARY_SUFFIX "xxxxxxxx");

    return length > end && text_matches(name + length - end, TEMPORARY_SUFFIX "xxxxxxxx");
}

static void
remove_abandoned_in(int root, const char *path, const char *prefix)
{
    cleanup_close int fd = fs_open_directory_in_root(root, path);
    cleanup_closedir DIR *dir = fd < 0 ? NULL : fs_list(fd);
    const struct dirent *entry;

    while ((entry = fs_next(dir))) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            is_temporary_name(entry->d_name))
            fs_remove_abandoned(fd, entry->d_name);
    }
}

void
abandoned_remove(int root, const char *uuid)
{
    cleanup_free char *secrets = domain_secret_path(uuid, "");

    remove_abandoned_in(root, VIRT_SEED_STATEDIR, uuid);
    remove_abandoned_in(root, VIRT_SEED_REPORTDIR, uuid);
    remove_abandoned_in(root, secrets, "");
}
