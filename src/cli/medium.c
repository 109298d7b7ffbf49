/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the new image takes the place of the old one, which gets a second name;
 * then the medium is ejected and inserted, by force, since guests lock the tray. When that
 * fails the old image gets its name back and is inserted again.
 *
 * The domain may end at any time, and the hook then removes all that is the domain's. What
 * is published after that is removed here. Two of us at once wait for each other.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/memory.h"
#include "cli/libvirt.h"
#include "cli/medium.h"
#include "domain/interface.h"
#include "domain/request-text.h"
#include "domain/request.h"
#include "domain/seed-path.h"
#include "domain/wire-disk.h"
#include "domain/wire-shim.h"
#include "domain/xml.h"
#include "store/rundir.h"
#include "store/seed-file.h"

struct replacement {
    const struct context *context;
    virDomainPtr domain;
    const char *uuid;
    int rundir;
    char *name;     /* of the seed in the run-time directory */
    char *old_name; /* and of the one before it */
    char *empty;    /* the drive's XML without a medium */
    char *loaded;   /* and with the seed */
    ino_t published;
};

static void
replacement_clear(struct replacement *replacement)
{
    if (replacement->rundir >= 0)
        close(replacement->rundir);
    free(replacement->name);
    free(replacement->old_name);
    free(replacement->empty);
    free(replacement->loaded);
}

/* --- the drive ---------------------------------------------------------------------- */

/* Return: the seed's drive; by our alias where it is empty, as a failure may have left it. */
static const struct disk *
find_drive(const struct domain *running)
{
    const struct disk *disk = seed_path_find_disk(running);

    for (size_t i = 0; !disk && i < running->disk_count; i++) {
        cleanup_free char *alias = device_alias(running->disks[i].node);

        if (alias && strcmp(alias, WIRE_DISK_ALIAS) == 0)
            disk = &running->disks[i];
    }
    return disk;
}

static int
fail_no_drive(const struct domain *running, struct failure **failure)
{
    if (wire_is_by_shim(running))
        failure_set(failure, FAILURE_DOMAIN,
                    "the drive is virt-seed-qemu's: libvirt does not know of it, and "
                    "cannot change its medium");
    else
        failure_set(failure, FAILURE_UNWIRED, "runs without a drive for its seed");
    return failure_hint(failure,
                        "shut it down and start it: each start has the new seed");
}

int
medium_check_caller(const struct context *context, struct failure **failure)
{
    if (strcmp(context->root_path, "/") != 0) {
        failure_set(failure, FAILURE_USAGE,
                    "QEMU reads the medium below /, not below '%s'", context->root_path);
        return failure_hint(failure, "leave --root away");
    }
    if (geteuid() != 0) {
        failure_set(failure, FAILURE_RUNDIR, "root alone may write into %s",
                    VIRT_SEED_RUNDIR);
        return failure_hint(failure, "run the command as root");
    }
    return 0;
}

int
medium_check(const struct domain *running, struct failure **failure)
{
    const struct disk *drive = find_drive(running);

    if (!drive)
        return fail_no_drive(running, failure);
    if (strcmp(drive->device, "cdrom") == 0)
        return 0;
    failure_set(failure, FAILURE_BUS,
                "its seed is a read-only disk ('%s'), whose medium cannot be changed",
                drive->target);
    return failure_hint(failure, "shut it down and start it: each start has the new "
                                 "seed; without bus=\"virtio\" it has a cdrom");
}

static char *
format(xmlNode *node)
{
    xmlBuffer *buffer = xmlBufferCreate();
    char *text;

    if (!buffer || xmlNodeDump(buffer, node->doc, node, 0, 0) < 0)
        abort();
    text = xstrdup((const char *)xmlBufferContent(buffer));
    xmlBufferFree(buffer);
    return text;
}

/* The medium's element; of an empty drive it is missing or says nothing. */
static xmlNode *
find_or_add_source(xmlNode *node, const char *path)
{
    xmlNode *source = xml_child(node, "source");

    if (source && xmlHasProp(source, (const xmlChar *)"file"))
        return source;
    if (!source)
        source = xml_add_child(node, "source");
    xmlSetProp(source, (const xmlChar *)"file", (const xmlChar *)path);
    xmlSetProp(source, (const xmlChar *)"startupPolicy", (const xmlChar *)"mandatory");
    return source;
}

/* All that libvirt says of the drive stays, its alias, address, policy and labels: it takes
 * a difference for another drive. `index` counts the media that QEMU has had. */
static void
describe_drive(struct replacement *replacement, const struct disk *drive)
{
    xmlDoc *doc = drive->node->doc;
    xmlNode *node = xmlDocCopyNode(drive->node, doc, 1);
    cleanup_free char *path = seed_path(replacement->uuid);
    xmlNode *backing, *source;

    if (!node)
        abort();
    xmlSetProp(node, (const xmlChar *)"type", (const xmlChar *)"file");
    backing = xml_child(node, "backingStore");
    if (backing)
        xml_remove(backing);
    source = find_or_add_source(node, path);
    xmlUnsetProp(source, (const xmlChar *)"index");
    replacement->loaded = format(node);
    xml_remove(source);
    replacement->empty = format(node);
    xmlFreeNode(node);
}

/* --- the files ---------------------------------------------------------------------- */

static char *
old_seed_name(const char *uuid)
{
    cleanup_free char *name = rundir_seed_name(uuid);

    return xasprintf("%s.old", name);
}

static int
fail_file(const struct replacement *replacement, const char *what,
          struct failure **failure)
{
    failure_set_errno(failure, FAILURE_RUNDIR, errno, "could not %s %s/%s", what,
                      VIRT_SEED_RUNDIR, replacement->name);
    return failure_hint(failure, "see what is there: ls -l %s", VIRT_SEED_RUNDIR);
}

static void
note_published(struct replacement *replacement)
{
    struct stat status = {0};

    fstatat(replacement->rundir, replacement->name, &status, AT_SYMLINK_NOFOLLOW);
    replacement->published = status.st_ino;
}

/* Return: whether there was one. */
static bool
put_back_file(struct replacement *replacement)
{
    int rundir = replacement->rundir;

    if (renameat(rundir, replacement->old_name, rundir, replacement->name) < 0)
        return false;
    note_published(replacement);
    return true;
}

static int
publish(struct replacement *replacement, const struct seed *seed,
        struct failure **failure)
{
    int rundir = replacement->rundir;

    if (unlinkat(rundir, replacement->old_name, 0) < 0 && errno != ENOENT)
        return fail_file(replacement, "make room for", failure);
    if (linkat(rundir, replacement->name, rundir, replacement->old_name, 0) < 0 &&
        errno != ENOENT)
        return fail_file(replacement, "keep", failure);
    if (seed_file_publish(replacement->context->root, rundir, replacement->uuid, seed,
                          failure) < 0)
        return -1;
    note_published(replacement);
    return 0;
}

/*
 * While the hook works on the domain libvirt does not answer whether it runs; so either its
 * removal is still to come, or a file that is ours now came after it. One that a new start
 * has made is another file.
 */
static void
remove_leftovers(const struct replacement *replacement)
{
    struct stat status;

    unlinkat(replacement->rundir, replacement->old_name, 0);
    if (virDomainIsActive(replacement->domain) == 0 &&
        fstatat(replacement->rundir, replacement->name, &status, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        status.st_ino == replacement->published)
        unlinkat(replacement->rundir, replacement->name, 0);
}

bool
medium_is_in(const struct context *context, const struct domain *running)
{
    cleanup_close int rundir = fs_open_directory_in_root(context->root, VIRT_SEED_RUNDIR);
    cleanup_free char *old_name = old_seed_name(running->uuid);
    struct stat status;

    return seed_path_find_disk(running) && rundir >= 0 &&
           fstatat(rundir, old_name, &status, AT_SYMLINK_NOFOLLOW) < 0;
}

/* --- the exchange ------------------------------------------------------------------- */

static int
update_device(const struct replacement *replacement, const char *xml)
{
    return virDomainUpdateDeviceFlags(replacement->domain, xml,
                                      VIR_DOMAIN_DEVICE_MODIFY_LIVE |
                                          VIR_DOMAIN_DEVICE_MODIFY_FORCE);
}

/* libvirt may take an update for none. */
static int
check_inserted(const struct replacement *replacement, struct failure **failure)
{
    const struct source source = {.libvirt = replacement->domain};
    cleanup_source struct source running = {0};

    if (source_load_running(&running, &source, failure) < 0)
        return -1;
    if (seed_path_find_disk(&running.domain))
        return 0;
    return failure_set(failure, FAILURE_LIBVIRT,
                       "libvirt says that it has inserted the new medium, and it is not "
                       "there");
}

/* Return: whether that is all there is to say of a failure. */
static bool
has_ended(const struct replacement *replacement, struct failure **failure)
{
    if (virDomainIsActive(replacement->domain) != 0)
        return false;
    failure_hint(failure,
                 "the domain has ended meanwhile; its next start has the seed of "
                 "its definition");
    return true;
}

/* After a failure that is set: what the guest has now, by libvirt's own word. */
static int
recover(struct replacement *replacement, struct failure **failure)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_free char *name = xshellquote(virDomainGetName(replacement->domain));
    bool kept = put_back_file(replacement);

    if (has_ended(replacement, failure))
        return -1;
    update_device(replacement, replacement->loaded);
    if (check_inserted(replacement, &ignored) == 0)
        return failure_hint(failure, "the drive %s; run the command again",
                            kept ? "has its old medium, nothing has changed"
                                 : "is not empty");
    return failure_hint(failure,
                        "the drive may be EMPTY, and then the guest becomes a new "
                        "instance when it is rebooted: before that, run: virt-seed "
                        "update %s",
                        name);
}

static int
exchange(struct replacement *replacement, struct failure **failure)
{
    if (update_device(replacement, replacement->empty) < 0)
        libvirt_fail(failure, "libvirt could not eject the old medium");
    else if (update_device(replacement, replacement->loaded) < 0)
        libvirt_fail(failure, "libvirt could not insert the new medium");
    else if (check_inserted(replacement, failure) == 0)
        return 0;
    return recover(replacement, failure);
}

static int
set_request(virDomainPtr domain, const xmlNode *request, struct failure **failure)
{
    cleanup_free char *text = request_format(request);

    if (virDomainSetMetadata(domain, VIR_DOMAIN_METADATA_ELEMENT, text, "ci",
                             REQUEST_NAMESPACE, VIR_DOMAIN_AFFECT_LIVE) == 0)
        return 0;
    return libvirt_fail(failure,
                        "libvirt did not take the request of the running domain");
}

/* The request goes first: where libvirt does not take it nothing has been ejected. */
static int
exchange_with_request(struct replacement *replacement, const xmlNode *before,
                      const xmlNode *request, struct failure **failure)
{
    cleanup_failure struct failure *ignored = NULL;
    bool differs = before && request && !request_is_same(before, request);

    if (differs && set_request(replacement->domain, request, failure) < 0) {
        put_back_file(replacement);
        if (!has_ended(replacement, failure))
            failure_hint(failure, "the drive has its old medium, nothing has changed");
        return -1;
    }
    if (exchange(replacement, failure) == 0)
        return 0;
    if (differs)
        set_request(replacement->domain, before, &ignored);
    return -1;
}

int
medium_replace(const struct context *context, const struct source *source,
               const struct source *running, const xmlNode *request,
               const struct seed *seed, struct failure **failure)
{
    __attribute__((cleanup(replacement_clear))) struct replacement replacement = {
        .context = context,
        .domain = source->libvirt,
        .uuid = running->domain.uuid,
        .rundir = rundir_open(context->root, failure),
    };
    int result;

    if (replacement.rundir < 0)
        return -1;
    replacement.name = rundir_seed_name(replacement.uuid);
    replacement.old_name = old_seed_name(replacement.uuid);
    describe_drive(&replacement, find_drive(&running->domain));
    if (flock(replacement.rundir, LOCK_EX) < 0)
        return fail_file(&replacement, "lock", failure);
    result = publish(&replacement, seed, failure);
    if (result == 0)
        result = exchange_with_request(&replacement, request_find(&running->domain),
                                       request, failure);
    remove_leftovers(&replacement);
    return result;
}
