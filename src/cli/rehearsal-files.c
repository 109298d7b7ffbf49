/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/file.h>

#include <uuid/uuid.h>

#include "base/fs.h"
#include "base/names.h"
#include "cli/images.h"
#include "cli/rehearsal.h"
#include "host/libvirt-host.h"
#include "host/own-directory.h"
#include "host/report-file.h"
#include "store/seed-file.h"

/* How much of the guest's console is shown after a failure. */
#define CONSOLE_LINES 20
#define CONSOLE_BYTES (8 * KIB)

static int
fail_file(const struct rehearsal *rehearsal, const char *what, const char *name,
          int error, struct failure **failure)
{
    return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not %s %s/%s/%s",
                             what, scope()->trydir, rehearsal->directory_name, name);
}

int
rehearsal_files_open(struct rehearsal *rehearsal, int root, struct failure **failure)
{
    uuid_t uuid;

    rehearsal->root = root;
    rehearsal->qemu = qemu_user_find(root);
    rehearsal->parent =
        own_directory_open(root, scope()->trydir, scope()->pass_mode, failure);
    if (rehearsal->parent < 0)
        return -1;
    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, rehearsal->directory_name);
    if (mkdirat(rehearsal->parent, rehearsal->directory_name, scope()->pass_mode) == 0)
        rehearsal->directory = openat(rehearsal->parent, rehearsal->directory_name,
                                      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (rehearsal->directory < 0 || flock(rehearsal->directory, LOCK_EX | LOCK_NB) < 0)
        return fail_file(rehearsal, "make", "", errno, failure);
    /* `gc` may have found it before it was locked. */
    if (!fs_is_named(rehearsal->directory, rehearsal->parent, rehearsal->directory_name))
        return fail_file(rehearsal, "make", "", ENOENT, failure);
    return 0;
}

/* --- making them -------------------------------------------------------------------- */

static int
make_overlay(const struct rehearsal *rehearsal, struct rehearsal_disk *disk,
             struct failure **failure)
{
    cleanup_close int base = fs_open_in_root(rehearsal->root, disk->path);
    cleanup_close int overlay = -1;
    struct stat status;

    if (base < 0 || fstat(base, &status) < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, base < 0 ? base : errno,
                                 "could not open '%s'", disk->path);
    disk->base = steal_fd(base);
    disk->uid = status.st_uid;
    disk->gid = status.st_gid;
    overlay = openat(rehearsal->directory, disk->name,
                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (overlay < 0)
        return fail_file(rehearsal, "make", disk->name, errno, failure);
    if (disk_make_layer(overlay, disk->path, disk->format, disk->size, failure) < 0)
        return failure_prefix(failure, "could not make an overlay over '%s'", disk->path);
    /* What the guest writes is nobody else's, as on its own disk. */
    if (fchown(overlay, rehearsal->qemu.uid, rehearsal->qemu.gid) < 0)
        return fail_file(rehearsal, "give away", disk->name, errno, failure);
    return 0;
}

/* A domain that was never started may have no variables yet: libvirt makes them. */
static int
copy_nvram(const struct rehearsal *rehearsal, const char *path, struct failure **failure)
{
    cleanup_buffer struct buffer content = {0};
    struct stat status;
    int error = path ? fs_stat_in_root(rehearsal->root, path, &status) : -ENOENT;

    if (error == -ENOENT)
        return 0;
    if (error == 0 && !S_ISREG(status.st_mode))
        return failure_set(failure, FAILURE_DOMAIN,
                           "the firmware's variables, '%s', are not a regular file\n"
                           "a rehearsal needs an <nvram> that is one",
                           path);
    if (error == 0)
        error = fs_read_in_root(rehearsal->root, path, LIMIT_NVRAM, &content);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not read '%s'",
                                 path);
    error = fs_replace_file(rehearsal->directory, REHEARSAL_NVRAM, content.data,
                            content.size, 0600, (gid_t)-1);
    if (error == 0 && fchownat(rehearsal->directory, REHEARSAL_NVRAM, rehearsal->qemu.uid,
                               rehearsal->qemu.gid, AT_SYMLINK_NOFOLLOW) < 0)
        error = -errno;
    if (error < 0)
        return fail_file(rehearsal, "write", REHEARSAL_NVRAM, error, failure);
    return 0;
}

int
rehearsal_files_make(struct rehearsal *rehearsal, const struct seed *seed,
                     struct failure **failure)
{
    cleanup_close int image = -1;

    for (size_t i = 0; i < rehearsal->disk_count; i++) {
        if (make_overlay(rehearsal, &rehearsal->disks[i], failure) < 0)
            return -1;
    }
    if (copy_nvram(rehearsal, rehearsal->nvram, failure) < 0)
        return -1;
    image = image_open(failure);
    if (image < 0 || image_make(image, seed, failure) < 0)
        return -1;
    return image_publish(rehearsal->directory, REHEARSAL_SEED, NULL, &rehearsal->qemu,
                         image, failure);
}

/* --- the start ---------------------------------------------------------------------- */

int
rehearsal_files_begin_start(struct rehearsal *rehearsal, struct failure **failure)
{
    rehearsal->lock = openat(rehearsal->directory, REHEARSAL_LOCK,
                             O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (rehearsal->lock < 0 || flock(rehearsal->lock, LOCK_EX | LOCK_NB) < 0)
        return fail_file(rehearsal, "lock", REHEARSAL_LOCK, errno, failure);
    if (renameat(rehearsal->parent, rehearsal->directory_name, rehearsal->parent,
                 rehearsal->uuid) < 0)
        return fail_file(rehearsal, "rename", "", errno, failure);
    memcpy(rehearsal->directory_name, rehearsal->uuid, sizeof(rehearsal->directory_name));
    return report_file_make(rehearsal->root, rehearsal->uuid, REPORT_BY_VIRTLOGD, false,
                            failure);
}

void
rehearsal_files_end_start(struct rehearsal *rehearsal)
{
    close_pointer(&rehearsal->lock);
    rehearsal->lock = -1;
}

/* --- afterwards --------------------------------------------------------------------- */

char *
rehearsal_files_read_console(const struct rehearsal *rehearsal)
{
    cleanup_close int fd =
        fs_open_regular_beneath(rehearsal->directory, REHEARSAL_CONSOLE, NULL);
    off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    off_t start = end > (off_t)CONSOLE_BYTES ? end - (off_t)CONSOLE_BYTES : 0;
    char bytes[CONSOLE_BYTES];
    ssize_t count = end > 0 ? pread(fd, bytes, sizeof(bytes), start) : 0;
    cleanup_free char *text = xcalloc(sizeof(bytes) + 1, 1);
    size_t length = 0;
    int lines = 0;

    for (ssize_t i = 0; i < count; i++) {
        if (bytes[i] != '\r' && bytes[i] != '\0')
            text[length++] = bytes[i];
    }
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    while (length > 0 && (text[length - 1] != '\n' || ++lines < CONSOLE_LINES))
        length--;
    return count > 0 ? xstrdup(text + length) : NULL;
}

void
rehearsal_files_give_back(const struct rehearsal *rehearsal, bool domain_runs)
{
    for (size_t i = 0; i < rehearsal->disk_count; i++) {
        const struct rehearsal_disk *disk = &rehearsal->disks[i];
        cleanup_failure struct failure *failure = NULL;

        if (disk->base < 0 || (!domain_runs && fchownat(disk->base, "", disk->uid,
                                                        disk->gid, AT_EMPTY_PATH) == 0))
            continue;
        failure_set(&failure, FAILURE_SYSTEM,
                    "could not give '%s' back to its owner%s\n"
                    "once the domain is shut off, run: chown %u:%u '%s'",
                    disk->path,
                    domain_runs ? ", since the domain was started meanwhile" : "",
                    disk->uid, disk->gid, disk->path);
        print_warning(failure);
    }
}

void
rehearsal_files_remove(const struct rehearsal *rehearsal)
{
    cleanup_failure struct failure *failure = NULL;
    int error;

    if (rehearsal->directory < 0)
        return;
    report_file_remove(rehearsal->root, rehearsal->uuid, &failure);
    error = fs_remove_tree(rehearsal->parent, rehearsal->directory_name);
    if (error < 0 && !failure)
        fail_file(rehearsal, "remove", "", error, &failure);
    if (failure)
        print_warning(failure);
}
