/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed as an image, UUID.iso in the run-time directory, in a drive that the domain is
 * wired with.
 *
 * How it works in a running guest: libvirt replaces the medium and makes QEMU open the
 * file again. Renaming another file to its path is not enough: QEMU keeps the open file,
 * and libvirt ignores an update with the same path. So the new image takes the old one's
 * name, and the old one gets a second name; then the medium is ejected and inserted, by
 * force because guests lock the tray. If that fails, the old image gets its name back and
 * is inserted again.
 */
#include "config.h"

#include "base/fs.h"
#include "base/names.h"
#include "domain/domain.h"
#include "domain/xml.h"
#include "host/rundir.h"
#include "store/delivery.h"
#include "store/seed-file.h"
#include "wire/wire.h"

static int
make(const struct delivery_start *start, const struct seed *seed,
     struct publication *publication, struct failure **failure)
{
    publication->has_image = true;
    return image_make(publication->output, seed, failure);
}

/* --- the drive of a guest that runs ------------------------------------------------- */

/* A replacement of the drive's medium. */
struct medium {
    const struct replacement *replacement;
    char *name;     /* the seed's name in the run-time directory */
    char *old_name; /* the old seed's */
    char *empty;    /* the drive's XML without the medium */
    char *loaded;   /* the same with the seed */
};

static void
medium_clear(struct medium *medium)
{
    free(medium->name);
    free(medium->old_name);
    free(medium->empty);
    free(medium->loaded);
}

/* Return: the seed's drive; an empty one, as after a failure, is found by virt-seed's
 * alias. */
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
check_replace(const struct domain *running, struct failure **failure)
{
    const struct disk *drive = find_drive(running);

    if (!drive)
        return failure_set(
            failure, FAILURE_UNWIRED,
            "is running with neither a seed drive nor a seed URL\n"
            "shut it down and start it again: each start makes a new seed");
    if (strcmp(drive->device, "cdrom") == 0)
        return 0;
    return failure_set(
        failure, FAILURE_BUS,
        "its seed is a read-only disk ('%s'), whose medium cannot be "
        "changed\n"
        "shut it down and start it again: each start makes a new seed; without "
        "bus=\"virtio\" the seed is a cdrom",
        drive->target);
}

/* Keeps the drive's alias, address, policy and labels: with any difference, libvirt takes
 * it for another drive. `index` counts the media that QEMU has had. */
static void
describe_drive(struct medium *medium, const struct disk *drive)
{
    xmlDoc *doc = drive->node->doc;
    xmlNode *node = xchecked(xmlDocCopyNode(drive->node, doc, 1));
    cleanup_free char *path = seed_path(medium->replacement->running->uuid);
    xmlNode *backing, *source;

    xml_set_attribute(node, "type", "file");
    backing = xml_child(node, "backingStore");
    if (backing)
        xml_remove(backing);
    source = xml_child(node, "source");
    /* In an empty drive it is missing or empty. */
    if (!source)
        source = xml_add_child(node, "source");
    if (!xmlHasProp(source, (const xmlChar *)"file")) {
        xml_set_attribute(source, "file", path);
        xml_set_attribute(source, "startupPolicy", "mandatory");
    }
    xmlUnsetProp(source, (const xmlChar *)"index");
    medium->loaded = xml_format_node(node, false);
    xml_remove(source);
    medium->empty = xml_format_node(node, false);
    xmlFreeNode(node);
}

/* --- the files ---------------------------------------------------------------------- */

static int
fail_file(const struct medium *medium, const char *what, struct failure **failure)
{
    return failure_set_errno(failure, FAILURE_RUNDIR, errno,
                             "could not %s %s/%s\ncheck the directory: ls -l %s", what,
                             scope()->rundir, medium->name, scope()->rundir);
}

static int
publish_medium(struct medium *medium, struct failure **failure)
{
    const struct replacement *replacement = medium->replacement;
    const int rundir = replacement->rundir;
    cleanup_close int image = image_open(failure);

    if (image < 0 || image_make(image, replacement->seed, failure) < 0)
        return -1;
    if (unlinkat(rundir, medium->old_name, 0) < 0 && errno != ENOENT)
        return fail_file(medium, "make room for", failure);
    if (linkat(rundir, medium->name, rundir, medium->old_name, 0) < 0 && errno != ENOENT)
        return fail_file(medium, "keep", failure);
    return storage_publish_image(replacement->root, rundir, replacement->running->uuid,
                                 false, image, failure);
}

static bool
is_readable(int root, const struct domain *running)
{
    cleanup_close int rundir = fs_open_directory_in_root(root, scope()->rundir);
    cleanup_free char *old_name = xasprintf("%s" SEED_OLD_SUFFIX, running->uuid);
    struct stat status;

    return seed_path_find_disk(running) && rundir >= 0 &&
           fstatat(rundir, old_name, &status, AT_SYMLINK_NOFOLLOW) < 0;
}

/* --- the exchange ------------------------------------------------------------------- */

#define ATTEMPTS 3
#define TRAY_ATTEMPTS 50
#define PAUSE_MICROSECONDS 100000

/* libvirt opens the tray and changes the medium in two steps. In between, a guest that
 * boots or looks at its drives may close the tray, and firmware on a busy host does so for
 * a while: QEMU says "Tray of device 'ID' is not open". */
static int
update_device(const struct delivery_guest *guest, const char *xml, const char *what,
              struct failure **failure)
{
    for (int attempt = 1;; attempt++) {
        cleanup_failure struct failure *reason = NULL;

        if (guest->update_device(guest->data, xml, what, &reason) == 0)
            return 0;
        if (attempt >=
            (strstr(reason->message, "Tray of device") ? TRAY_ATTEMPTS : ATTEMPTS)) {
            *failure = steal(reason);
            return -1;
        }
        usleep(PAUSE_MICROSECONDS);
    }
}

/* Restores the old medium after `failure`, and adds what the guest has now, according to
 * libvirt. */
static void
recover(const struct medium *medium, ino_t *published, struct failure **failure)
{
    const struct domain *running = medium->replacement->running;
    const struct delivery_guest *guest = medium->replacement->guest;
    cleanup_failure struct failure *ignored = NULL;
    cleanup_failure struct failure *unseen = NULL;
    cleanup_free char *name = xshellquote(running->name);
    const int rundir = medium->replacement->rundir;
    const char *state = "is not empty";

    if (renameat(rundir, medium->old_name, rundir, medium->name) == 0) {
        *published = storage_inode(&storage_image, rundir, running->uuid);
        state = "has its old medium and nothing has changed";
    }
    if (guest->has_ended(guest->data))
        return;
    update_device(guest, medium->loaded, "insert the old medium", &ignored);
    if (guest->check_medium(guest->data, &unseen) == 0)
        failure_hint(failure, "the drive %s; run the command again", state);
    else
        failure_hint(
            failure,
            "the drive may be EMPTY, in which case the guest becomes a new instance "
            "when it reboots; before that, run: virt-seed update %s",
            name);
}

static int
replace(const struct replacement *replacement, ino_t *published, struct failure **failure)
{
    const char *uuid = replacement->running->uuid;
    const struct delivery_guest *guest = replacement->guest;
    __attribute__((cleanup(medium_clear))) struct medium medium = {
        .replacement = replacement,
        .name = rundir_seed_name(uuid),
        .old_name = xasprintf("%s" SEED_OLD_SUFFIX, uuid),
    };
    int result;

    describe_drive(&medium, find_drive(replacement->running));
    result = publish_medium(&medium, failure);
    if (result == 0) {
        *published = storage_inode(&storage_image, replacement->rundir, uuid);
        if (update_device(guest, medium.empty, "eject the old medium", failure) < 0 ||
            update_device(guest, medium.loaded, "insert the new medium", failure) < 0 ||
            guest->check_medium(guest->data, failure) < 0) {
            recover(&medium, published, failure);
            result = -1;
        }
    }
    unlinkat(replacement->rundir, medium.old_name, 0);
    return result;
}

const struct delivery delivery_drive = {
    .storage = &storage_image,
    .wiring = "disk",
    .reporter = delivery_reporter,
    .make = make,
    .check_replace = check_replace,
    .is_readable = is_readable,
    .replace = replace,
};
