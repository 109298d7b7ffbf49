/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <libvirt/virterror.h>

#include "base/fs.h"
#include "base/scope.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "domain/request.h"
#include "domain/xml.h"
#include "store/leftovers.h"

struct options {
    bool yes;
    bool keep_disk;
};

#define UNDEFINE_FLAGS                                                                   \
    (VIR_DOMAIN_UNDEFINE_MANAGED_SAVE | VIR_DOMAIN_UNDEFINE_SNAPSHOTS_METADATA |         \
     VIR_DOMAIN_UNDEFINE_CHECKPOINTS_METADATA | VIR_DOMAIN_UNDEFINE_NVRAM)

static bool
has_disk(const struct domain *domain, const char *path)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        const char *source = domain->disks[i].source;

        if (source && strcmp(source, path) == 0)
            return true;
    }
    return false;
}

/* Names the disk that `new` has made, unless it was removed, and the domain's others: with an
 * external snapshot, the domain has a layer over the first. */
static void
say_kept(const struct domain *domain, const char *made, bool is_removed)
{
    if (!is_removed && access(made, F_OK) == 0)
        print_outside_line(stdout, "%s: %s stays", domain->name, made);
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];

        if (disk->source && strcmp(disk->device, "disk") == 0 &&
            strcmp(disk->source, made) != 0)
            print_outside_line(stdout, "%s: %s stays", domain->name, disk->source);
    }
}

static int
fail_unconfirmed(const char *name, struct failure **failure)
{
    return failure_set(failure, FAILURE_DOMAIN,
                       "nothing of '%s' was removed\n"
                       "give --yes to remove it without a question",
                       name);
}

/* A pool that was not refreshed since may not know it. */
static virStorageVolPtr
find_volume(virConnectPtr connection, const char *path)
{
    const char *name = fs_base_name(path);
    cleanup_free char *directory = xasprintf("%.*s", (int)(name - path) - 1, path);
    virStorageVolPtr volume = virStorageVolLookupByPath(connection, path);
    virStoragePoolPtr pool;

    if (volume)
        return volume;
    pool = virStoragePoolLookupByTargetPath(connection, directory);
    if (pool) {
        virStoragePoolRefresh(pool, 0);
        virStoragePoolFree(pool);
    }
    return virStorageVolLookupByPath(connection, path);
}

/* libvirt removes it, whose pool it is in: the path is no more than what the domain's author
 * wrote. */
static int
remove_disk(virConnectPtr connection, const char *path, struct failure **failure)
{
    virStorageVolPtr volume = find_volume(connection, path);
    int result = -1;

    if (!volume && virGetLastErrorCode() == VIR_ERR_NO_STORAGE_VOL)
        return failure_set(failure, FAILURE_LIBVIRT,
                           "the disk '%s' is in no pool that is active, and stays\n"
                           "remove it yourself",
                           path);
    if (volume)
        result = virStorageVolDelete(volume, 0);
    if (result < 0)
        libvirt_fail(failure, "could not remove the disk '%s'", path);
    if (volume)
        virStorageVolFree(volume);
    return result;
}

/* Records, secrets, host key, reports and logs. */
static int
remove_kept(const struct context *context, const char *uuid, struct failure **failure)
{
    cleanup_leftovers struct leftovers leftovers = {0};

    if (leftovers_find(context->root, &leftovers, failure) < 0)
        return -1;
    for (size_t i = 0; i < leftovers.count; i++) {
        const struct leftover *leftover = &leftovers.list[i];

        if (strcmp(leftover->uuid, uuid) == 0 &&
            leftover_remove(context->root, leftover, failure) < 0)
            return -1;
    }
    return 0;
}

static int
remove_domain(const struct context *context, const struct options *options,
              const struct definition *definition, const char *made,
              struct failure **failure)
{
    virDomainPtr domain = definition->libvirt;
    const char *name = definition->domain.name;
    const bool runs = virDomainIsActive(domain) == 1;
    const bool removes_disk = !options->keep_disk && has_disk(&definition->domain, made);
    cleanup_failure struct failure *further = NULL;
    int result;

    if (!options->yes) {
        print_outside_line(stderr, "domain '%s'%s%s%s%s will be removed", name,
                           runs ? ", which runs," : "",
                           removes_disk ? " and its disk " : " without its disks",
                           removes_disk ? made : "", scope()->aside);
        if (!ask_yes("Go on?"))
            return fail_unconfirmed(name, failure);
    }
    /* Somebody may have started it meanwhile. */
    if (virDomainIsActive(domain) == 1 && virDomainDestroy(domain) < 0 &&
        virDomainIsActive(domain) == 1)
        return libvirt_fail(failure, "could not stop '%s'", name);
    if (virDomainUndefineFlags(domain, UNDEFINE_FLAGS) < 0)
        return libvirt_fail(failure, "could not undefine '%s'", name);
    if (virDomainIsActive(domain) == 1)
        return failure_set(failure, FAILURE_DOMAIN,
                           "'%s' was started while it was removed, and runs without a "
                           "definition\n"
                           "its disk stays; stop it: virsh destroy %s",
                           name, name);
    result = remove_kept(context, definition->domain.uuid, failure);
    if (removes_disk &&
        remove_disk(definition->connection, made, result < 0 ? &further : failure) < 0)
        result = -1;
    if (further)
        print_failure(further);
    if (result < 0)
        return -1;
    if (context->quiet)
        return STATUS_OK;
    print_outside_line(stdout, "%s: removed%s%s", name, removes_disk ? ", with " : "",
                       removes_disk ? made : "");
    say_kept(&definition->domain, made, removes_disk);
    return STATUS_OK;
}

/* Somebody else has made it, so it keeps everything but what is virt-seed's. */
static int
forget_domain(const struct context *context, const struct options *options,
              const struct definition *definition, struct failure **failure)
{
    cleanup_free void *unset = xcalloc(1, cmd_unset.options_size);
    cleanup_free char *uuid = xstrdup(definition->domain.uuid);
    const char *name = definition->domain.name;
    struct context one = *context;

    /* A name that ends in .xml would be a file there. */
    one.operands = &uuid;
    print_outside_line(stderr,
                       "'%s' was not made by 'virt-seed new': the domain and its disks "
                       "stay, and what virt-seed has of it goes",
                       name);
    if (!options->yes && !ask_yes("Go on?"))
        return fail_unconfirmed(name, failure);
    if (virDomainIsActive(definition->libvirt) == 1)
        return failure_set(failure, FAILURE_DOMAIN,
                           "'%s' runs with its seed\nstop it first: virsh shutdown %s",
                           name, name);
    if (virDomainHasManagedSaveImage(definition->libvirt, 0) == 1)
        return failure_set(
            failure, FAILURE_DOMAIN,
            "'%s' was saved, and could not be resumed without what virt-seed has "
            "of it\n"
            "start it and shut it down, or drop the saved state with "
            "'virsh managedsave-remove %s'",
            name, name);
    if (cmd_unset.run(&one, unset, failure) < 0)
        return -1;
    return remove_kept(context, definition->domain.uuid, failure);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_definition struct definition definition = {0};
    cleanup_free char *made = NULL;

    if (definition_load_domain(&definition, context, context->operands[0],
                               DEFINITION_CHANGE, failure) < 0 ||
        libvirt_require_own(definition.connection, failure) < 0)
        return -1;
    /* Before anything is gone that cannot be completed. */
    if (geteuid() != scope()->owner)
        return failure_set(failure, FAILURE_RUNDIR,
                           "only %s may remove what virt-seed keeps of a domain\n%s",
                           scope()->owner_name, scope_denied_hint());
    made = xml_attribute(request_find(&definition.domain), REQUEST_MADE_DISK);
    if (!made)
        return forget_domain(context, options, &definition, failure);
    return remove_domain(context, options, &definition, made, failure);
}

static const struct option_row rows[] = {
    OPTION('y', "yes", NULL, yes, "do not ask"),
    OPTION(0, "keep-disk", NULL, keep_disk, "leave its disk where it is"),
    OPTION_END,
};

const struct command cmd_rm = {
    .name = "rm",
    .operands = "DOMAIN…",
    .summary = "remove guests that 'new' has made",
    .help =
        "Removes domains that 'virt-seed new' has made: stops each, undefines it with its\n"
        "saved state, snapshots and firmware's variables, and removes its disk and what\n"
        "virt-seed keeps of it. Other disks stay. It asks before.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .for_each = true,
    .run = run,
};
