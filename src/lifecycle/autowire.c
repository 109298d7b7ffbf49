/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the definition cannot be changed while the hook runs, because libvirt
 * holds the domain's lock until the hook and the failed start have ended. So a child in
 * its own session does it. It must not keep our standard output or error open, because
 * libvirt reads them to the end.
 */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/names.h"
#include "base/process.h"
#include "lifecycle/lifecycle.h"

/* Runs the `virt-seed` next to this program, as in a build directory, or else the installed
 * one. */
bool
autowire_begin(const struct lifecycle *lifecycle)
{
    cleanup_free char *beside = process_path_beside("virt-seed");
    const bool is_beside = beside && access(beside, X_OK) == 0;
    char *command = is_beside ? beside : (char *)VIRT_SEED_BINDIR "/virt-seed";
    char *arguments[] = {command, (char *)"wire", (char *)"--after-refusal",
                         (char *)lifecycle->uuid, NULL};
    pid_t child;

    if (access(command, X_OK) < 0)
        return false;
    child = fork();
    if (child != 0)
        return child > 0;
    if (setsid() < 0 || chdir("/") < 0 || process_keep_descriptors(-1, -1) < 0)
        _exit(EXIT_FAILURE);
    execv(command, arguments);
    _exit(EXIT_FAILURE);
}
