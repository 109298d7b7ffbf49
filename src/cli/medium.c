/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The medium in the drive of a domain that runs: replaced through libvirt, which has QEMU
 * open the file anew. To rename another file to its path is not enough: QEMU keeps what it
 * has opened, and libvirt takes an update with the same path for none.
 *
 * How it works: the new image takes the place of the old one, which gets a second name;
 * then the medium is ejected and inserted, by force, since guests lock the tray. When that
 * fails the old image gets its name back and is inserted again.
 *
 * The domain may end at any time, and the hook then removes all that is the domain's. What
 * is published after that is removed here.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/memory.h"
#include "cli/libvirt.h"
#include "cli/replace.h"
#include "domain/interface.h"
#include "domain/seed-path.h"
#include "domain/xml.h"
#include "store/rundir.h"
#include "store/seed-file.h"
#include "wire/disk.h"

struct medium {
    const struct replacement *replacement;
    const char *uuid;
    int rundir;
    char *name;     /* of the seed in the run-time directory */
    char *old_name; /* and of the one before it */
    char *empty;    /* the drive's XML without a medium */
    char *loaded;   /* and with the seed */
    ino_t published;
};

static void
medium_clear(struct medium *medium)
{
    free(medium->name);
    free(medium->old_name);
    free(medium->empty);
    free(medium->loaded);
}

/* --- the drive ---------------------------------------------------------------------- */

/* Return: the seed's drive; by our alias where it is empty, as a failure may have left it. */
static const struct disk *
find_drive(const struct domain *running)
{
    const struct disk *disk = seed_path_find_disk(running);

    for (size_t i = 0; !disk && i < running->disk_count; i++) {
        cleanup_free char *alias = device_alias(running->disks[i].node);

        if (alias && strcmp(alias, SEED_DISK_ALIAS) == 0)
            disk = &running->disks[i];
    }
    return disk;
}

static int
fail_no_drive(const struct domain *running, struct failure **failure)
{
    if (domain_is_by_shim(running))
        failure_set(failure, FAILURE_DOMAIN,
                    "the drive is virt-seed-qemu's: libvirt does not know of it, and "
                    "cannot change its medium");
    else
        failure_set(
            failure, FAILURE_UNWIRED,
            "runs without a drive for its seed, and without the URL of one that is "
            "served");
    return failure_hint(failure,
                        "shut it down and start it: each start has the new seed");
}

static int
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
describe_drive(struct medium *medium, const struct disk *drive)
{
    xmlDoc *doc = drive->node->doc;
    xmlNode *node = xmlDocCopyNode(drive->node, doc, 1);
    cleanup_free char *path = seed_path(medium->uuid);
    xmlNode *backing, *source;

    if (!node)
        abort();
    xmlSetProp(node, (const xmlChar *)"type", (const xmlChar *)"file");
    backing = xml_child(node, "backingStore");
    if (backing)
        xml_remove(backing);
    source = find_or_add_source(node, path);
    xmlUnsetProp(source, (const xmlChar *)"index");
    medium->loaded = format(node);
    xml_remove(source);
    medium->empty = format(node);
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
fail_file(const struct medium *medium, const char *what, struct failure **failure)
{
    failure_set_errno(failure, FAILURE_RUNDIR, errno, "could not %s %s/%s", what,
                      VIRT_SEED_RUNDIR, medium->name);
    return failure_hint(failure, "see what is there: ls -l %s", VIRT_SEED_RUNDIR);
}

static ino_t
find_published(const struct medium *medium)
{
    return replace_find_inode(medium->replacement, medium->name);
}

/* Return: whether there was one. */
static bool
put_back_file(struct medium *medium)
{
    int rundir = medium->rundir;

    if (renameat(rundir, medium->old_name, rundir, medium->name) < 0)
        return false;
    medium->published = find_published(medium);
    return true;
}

static int
publish(struct medium *medium, struct failure **failure)
{
    int rundir = medium->rundir;

    if (unlinkat(rundir, medium->old_name, 0) < 0 && errno != ENOENT)
        return fail_file(medium, "make room for", failure);
    if (linkat(rundir, medium->name, rundir, medium->old_name, 0) < 0 && errno != ENOENT)
        return fail_file(medium, "keep", failure);
    if (seed_file_publish(medium->replacement->context->root, rundir, medium->uuid,
                          medium->replacement->seed, failure) < 0)
        return -1;
    medium->published = find_published(medium);
    return 0;
}

/*
 * While the hook works on the domain libvirt does not answer whether it runs; so either its
 * removal is still to come, or a file that is ours now came after it. One that a new start
 * has made is another file.
 */
static void
remove_leftovers(const struct medium *medium)
{
    unlinkat(medium->rundir, medium->old_name, 0);
    if (libvirt_has_ended(medium->replacement->domain) &&
        find_published(medium) == medium->published)
        unlinkat(medium->rundir, medium->name, 0);
}

static bool
medium_is_in(const struct context *context, const struct domain *running)
{
    cleanup_close int rundir = fs_open_directory_in_root(context->root, VIRT_SEED_RUNDIR);
    cleanup_free char *old_name = old_seed_name(running->uuid);
    struct stat status;

    return seed_path_find_disk(running) && rundir >= 0 &&
           fstatat(rundir, old_name, &status, AT_SYMLINK_NOFOLLOW) < 0;
}

/* --- the exchange ------------------------------------------------------------------- */

#define TRAY_ATTEMPTS 3
#define TRAY_PAUSE_MICROSECONDS 100000

/* libvirt opens the tray and goes on, in two steps. Between them the guest, when it boots or
 * looks at its drives, may close it: "Tray of device is not open". */
static int
update_device(const struct medium *medium, const char *xml)
{
    for (int attempt = 1;; attempt++) {
        int result = virDomainUpdateDeviceFlags(medium->replacement->domain, xml,
                                                VIR_DOMAIN_DEVICE_MODIFY_LIVE |
                                                    VIR_DOMAIN_DEVICE_MODIFY_FORCE);

        if (result == 0 || attempt == TRAY_ATTEMPTS)
            return result;
        usleep(TRAY_PAUSE_MICROSECONDS);
    }
}

/* libvirt may take an update for none. */
static int
check_inserted(const struct medium *medium, struct failure **failure)
{
    const struct source source = {.libvirt = medium->replacement->domain};
    cleanup_source struct source running = {0};

    if (source_load_running(&running, &source, failure) < 0)
        return -1;
    if (seed_path_find_disk(&running.domain))
        return 0;
    return failure_set(failure, FAILURE_LIBVIRT,
                       "libvirt says that it has inserted the new medium, and it is not "
                       "there");
}

/* After a failure that is set: what the guest has now, by libvirt's own word. */
static int
recover(struct medium *medium, struct failure **failure)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_free char *name = xshellquote(virDomainGetName(medium->replacement->domain));
    bool kept = put_back_file(medium);

    if (replace_has_ended(medium->replacement, failure))
        return -1;
    update_device(medium, medium->loaded);
    if (check_inserted(medium, &ignored) == 0)
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
exchange(struct medium *medium, struct failure **failure)
{
    if (update_device(medium, medium->empty) < 0)
        libvirt_fail(failure, "libvirt could not eject the old medium");
    else if (update_device(medium, medium->loaded) < 0)
        libvirt_fail(failure, "libvirt could not insert the new medium");
    else if (check_inserted(medium, failure) == 0)
        return 0;
    return recover(medium, failure);
}

static int
exchange_with_request(struct medium *medium, struct failure **failure)
{
    if (replace_request(medium->replacement, failure) < 0) {
        put_back_file(medium);
        return -1;
    }
    if (exchange(medium, failure) == 0)
        return 0;
    replace_request_back(medium->replacement);
    return -1;
}

static int
medium_replace(const struct replacement *replacement, struct failure **failure)
{
    const char *uuid = replacement->running->uuid;
    __attribute__((cleanup(medium_clear))) struct medium medium = {
        .replacement = replacement,
        .uuid = uuid,
        .rundir = replacement->rundir,
        .name = rundir_seed_name(uuid),
        .old_name = old_seed_name(uuid),
    };
    int result;

    describe_drive(&medium, find_drive(replacement->running));
    result = publish(&medium, failure);
    if (result == 0)
        result = exchange_with_request(&medium, failure);
    remove_leftovers(&medium);
    return result;
}

const struct seed_place medium_place = {
    .where = "in its drive",
    .check = medium_check,
    .is_in = medium_is_in,
    .replace = medium_replace,
};
