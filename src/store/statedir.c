/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "store/statedir.h"

#define STATEDIR_MODE 0711

int
statedir_make(int root)
{
    return fs_make_directories(root, VIRT_SEED_STATEDIR, STATEDIR_MODE);
}

int
statedir_open(int root)
{
    return fs_open_directory_in_root(root, VIRT_SEED_STATEDIR);
}
