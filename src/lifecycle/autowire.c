/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the definition cannot be changed while the hook runs, because libvirt
 * holds the domain's lock until the hook and the failed start have ended. So a child in
 * its own session does it. It must not keep our standard output or error open, because
 * libvirt reads them to the end.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "domain/domain.h"
#include "lifecycle/lifecycle.h"

/* Starts `virt-seed wire`: the one next to this program, as in a build directory, or else
 * the installed one. Return: whether the child was started. */
static bool
start_wiring(const struct lifecycle *lifecycle)
{
    cleanup_free char *beside = process_path_beside("virt-seed");
    const bool is_beside = beside && access(beside, X_OK) == 0;
    char *command = is_beside ? beside : (char *)VIRT_SEED_BINDIR "/virt-seed";
    char *arguments[] = {command, (char *)"wire", (char *)"--after-refusal",
                         lifecycle->domain->uuid, NULL};
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

enum persistent_definition {
    PERSISTENT_NONE,    /* the domain is transient (`virsh create`) */
    PERSISTENT_UNWIRED, /* at least in part, or it cannot be read */
    PERSISTENT_WIRED,   /* but this start's XML is not: it is a snapshot's */
};

/* Reads libvirt's own file, since libvirt cannot be asked now. */
static enum persistent_definition
find_definition(const struct lifecycle *lifecycle, bool wired)
{
    cleanup_close int directory =
        fs_open_directory_in_root(lifecycle->root, VIRT_SEED_DEFINITIONS);
    cleanup_free char *name = xasprintf("%s.xml", lifecycle->domain->name);
    cleanup_free char *path = seed_path(lifecycle->domain->uuid);
    cleanup_free char *in_url = xasprintf("/%s/", lifecycle->domain->uuid);
    cleanup_close int fd =
        directory < 0 ? directory : fs_open_regular_beneath(directory, name, NULL);
    cleanup_buffer struct buffer text = {0};

    if (fd == -ENOENT)
        return PERSISTENT_NONE;
    if (fd < 0 || wired)
        return PERSISTENT_UNWIRED;
    if (fs_read_all(fd, LIMIT_DOMAIN_XML, &text) < 0 || text.size == 0)
        return PERSISTENT_UNWIRED;
    if (memmem(text.data, text.size, path, strlen(path)) ||
        memmem(text.data, text.size, in_url, strlen(in_url)))
        return PERSISTENT_WIRED;
    return PERSISTENT_UNWIRED;
}

int
autowire_refuse(const struct lifecycle *lifecycle, const struct request *request,
                const struct wire_facts *facts, const struct wiring *wiring,
                struct failure **failure)
{
    cleanup_free char *name = xshellquote(lifecycle->domain->name);
    cleanup_free char *emulator = wire_shim_emulator(lifecycle->domain);
    bool wired = wire_facts_are_wired(facts);

    /* Keep it short, since libvirt prefixes it with a long line. But if there is a wiring
     * that is another domain's or another request's, tell what is wrong with it. */
    if (wired || facts->seed_of_another || facts->report_of_another) {
        cleanup_free char *changes = wiring_describe(wiring);

        failure_set(
            failure, FAILURE_UNWIRED,
            "asks for cloud-init but is not wired for that; 'virt-seed wire' would "
            "report: %s",
            changes);
    } else {
        failure_set(failure, FAILURE_UNWIRED,
                    "asks for cloud-init but is not wired for it yet");
    }
    switch (find_definition(lifecycle, wired)) {
    case PERSISTENT_NONE:
        /* The emulator shim does not replace an existing wiring, and cannot do
         * everything. */
        if (wired || !wire_shim_can(request))
            return failure_hint(
                failure, "wire its XML before it is created: virt-seed wire FILE | "
                         "virsh create /dev/stdin; or define it with virsh define, and "
                         "start that");
        return failure_hint(
            failure,
            "wire its XML before it is created: virt-seed wire FILE | virsh create "
            "/dev/stdin; or give it <emulator>%s</emulator>; or define it with virsh "
            "define, and start that",
            emulator);
    case PERSISTENT_WIRED:
        return failure_hint(
            failure, "its definition is wired, but this start has an older "
                     "XML, as of a snapshot; 'unwired = warn' in " VIRT_SEED_CONFDIR
                     "/virt-seed.conf lets it start");
    case PERSISTENT_UNWIRED:
        break;
    }
    if (lifecycle->config->autowire && start_wiring(lifecycle))
        return failure_hint(failure, "wiring it now; run: virsh start %s", name);
    return failure_hint(failure, "run: virt-seed wire %s && virsh start %s", name, name);
}
