/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "base/names.h"
#include "shim/emulator.h"

/* Red Hat's qemu-kvm is in the second. */
static const char *const directories[] = {"/usr/bin", "/usr/libexec", "/usr/local/bin"};

char *
emulator_find(int root, const char *called, struct failure **failure)
{
    const char *name = fs_base_name(called);

    if (strncmp(name, SHIM_NAME, strlen(SHIM_NAME)) != 0) {
        failure_set(failure, FAILURE_USAGE,
                    "called as '%s', expected the name of an emulator behind '%s'", name,
                    SHIM_PREFIX);
        failure_hint(failure,
                     "put <emulator>%s/" SHIM_NAME
                     "system-x86_64</emulator> into the domain's <devices>",
                     VIRT_SEED_BINDIR);
        return NULL;
    }
    name += strlen(SHIM_PREFIX);
    for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
        char *path = xasprintf("%s/%s", directories[i], name);

        if (faccessat(root, &path[1], X_OK, 0) == 0)
            return path;
        free(path);
    }
    failure_set(failure, FAILURE_SYSTEM,
                "there is no '%s' in /usr/bin, /usr/libexec or /usr/local/bin", name);
    failure_hint(failure, "install it, or name another one in <emulator>");
    return NULL;
}
