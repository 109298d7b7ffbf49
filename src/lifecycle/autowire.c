/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the definition cannot be changed while the hook runs, because libvirt holds the
 * domain's lock until the hook has ended and the failed start with it. So a child in a session
 * of its own does it. It must not keep our standard output or error open: libvirt reads them
 * to their end.
 */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/memory.h"
#include "base/process.h"
#include "lifecycle/autowire.h"

/* Return: the path of `virt-seed`: beside this program, as in a build directory, or where it
 * is installed; owned by the caller (free). */
static char *
find_command(void)
{
    char *beside = process_path_beside("virt-seed");

    if (beside && access(beside, X_OK) == 0)
        return beside;
    free(beside);
    return xstrdup(VIRT_SEED_BINDIR "/virt-seed");
}

static void
become_command(char *command, char *uuid)
{
    char *arguments[] = {command,  (char *)"wire", (char *)"--after-refusal",
                         (char *)"--domain", uuid, NULL};

    if (setsid() < 0 || chdir("/") < 0 || process_detach_descriptors() < 0)
        _exit(EXIT_FAILURE);
    alarm(0);
    execv(command, arguments);
    _exit(EXIT_FAILURE);
}

/* Return: whether the child was started. */
static bool
start_wiring(const struct lifecycle *lifecycle)
{
    cleanup_free char *command = find_command();
    pid_t child;

    if (access(command, X_OK) < 0)
        return false;
    child = fork();
    if (child == 0)
        become_command(command, lifecycle->domain->uuid);
    return child > 0;
}

/* Return: whether libvirt has a definition of the domain; a transient one, of `virsh create`,
 * ends with this start. */
static bool
has_definition(const struct lifecycle *lifecycle)
{
    cleanup_close int directory =
        fs_open_directory_in_root(lifecycle->root, VIRT_SEED_DEFINITIONS);
    cleanup_free char *name = xasprintf("%s.xml", lifecycle->domain->name);

    return directory >= 0 && faccessat(directory, name, F_OK, 0) == 0;
}

/* Return: the wiring in words, "cdrom 'sda' added …; …", owned by the caller (free). */
static char *
describe(const struct wiring *wiring)
{
    char *text = xstrdup(wiring->changes[0]);

    for (size_t i = 1; i < wiring->change_count; i++) {
        char *longer = xasprintf("%s; %s", text, wiring->changes[i]);

        free(text);
        text = longer;
    }
    return text;
}

int
autowire_refuse(struct lifecycle *lifecycle, const struct wiring *wiring,
                struct failure **failure)
{
    const char *name = lifecycle->domain->name;
    cleanup_free char *missing = describe(wiring);

    failure_set(failure, FAILURE_UNWIRED,
                "domain '%s' asks for cloud-init but is not wired for it; that means: %s",
                name, missing);
    if (!has_definition(lifecycle))
        return failure_hint(failure, "wire its XML before it is created: virt-seed wire "
                                     "FILE | virsh create /dev/stdin");
    if (lifecycle->config->autowire && start_wiring(lifecycle))
        return failure_hint(failure, "it is wired now; start it again: virsh start %s", name);
    return failure_hint(failure, "virt-seed wire %s && virsh start %s", name, name);
}
