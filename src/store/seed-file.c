/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/scope.h"
#include "host/imds-tree.h"
#include "image/image.h"
#include "store/seed-file.h"

int
image_make(int fd, const struct seed *seed, struct failure **failure)
{
    if (iso_write(fd, seed, failure) == 0 && iso_verify(fd, seed, failure) == 0)
        return 0;
    return failure_hint(failure, IMAGE_IN_MEMORY);
}

/* --- reading ------------------------------------------------------------------------ */

static int
read_documents(int directory, struct seed *seed, struct failure **failure)
{
    static const char *const paths[] = {IMDS_META_DATA, IMDS_USER_DATA, IMDS_VENDOR_DATA,
                                        IMDS_NETWORK_CONFIG};
    int error = 0;

    *seed = (struct seed){.label = xstrdup(SEED_LABEL_NOCLOUD)};
    for (size_t i = 0; i < ARRAY_SIZE(paths) && error == 0; i++) {
        cleanup_close int fd = fs_open_strictly_beneath(directory, paths[i], 0);

        if (fd >= 0)
            error = fs_read_all(fd, LIMIT_SEED, &seed_add_document(seed, paths[i])->data);
        else if (fd != -ENOENT)
            error = fd;
    }
    if (error == 0)
        return 0;
    return failure_set_errno(failure, FAILURE_RUNDIR, error, "could not read below %s",
                             IMDS_TREE);
}

/* Opens the domain's seed; `storage` gets its storage. Return: a descriptor, owned by the
 * caller, or -errno. */
static int
storage_open(int rundir, const char *uuid, const struct storage **storage)
{
    int fd = -ENOENT;

    for (size_t i = 0; storages[i] && fd < 0; i++) {
        cleanup_free char *name = storages[i]->name(uuid);

        *storage = storages[i];
        if (storage_has_image(storages[i]))
            fd = fs_open_regular_beneath(rundir, name, NULL);
        else
            fd = fs_open_strictly_beneath(rundir, name, O_DIRECTORY);
    }
    return fd;
}

int
storage_read(int root, const char *uuid, const struct storage **storage,
             struct seed *seed, struct failure **failure)
{
    cleanup_close int rundir = fs_open_directory_in_root(root, scope()->rundir);
    const struct storage *place = NULL;

    *storage = NULL;
    for (int attempt = 0; attempt < IMDS_ATTEMPTS; attempt++) {
        cleanup_close int fd = rundir < 0 ? rundir : storage_open(rundir, uuid, &place);
        struct stat opened;
        int result;

        if (fd == -ENOENT)
            return 0;
        if (fd < 0)
            return failure_set_errno(failure, FAILURE_RUNDIR, fd,
                                     "could not read the seed of domain %s in %s\n"
                                     "%s",
                                     uuid, scope()->rundir, scope_denied_hint());
        if (storage_has_image(place))
            result = iso_read(fd, seed, failure);
        else
            result = read_documents(fd, seed, failure);
        if (result < 0)
            return failure_prefix(failure, "the seed of domain %s in %s", uuid,
                                  scope()->rundir);
        /* An open image stays whole, but a directory that was replaced in the meantime may
         * have been read while it was emptied. */
        if (storage_has_image(place) ||
            (fstat(fd, &opened) == 0 &&
             opened.st_ino == storage_inode(place, rundir, uuid))) {
            *storage = place;
            return 0;
        }
        seed_clear(seed);
    }
    return failure_set(failure, FAILURE_RUNDIR,
                       "the seed of domain %s keeps being replaced", uuid);
}

bool
seed_is_same(const struct seed *one, const struct seed *other)
{
    if (strcmp(one->label, other->label) != 0 ||
        one->document_count != other->document_count)
        return false;
    for (size_t i = 0; i < one->document_count; i++) {
        const struct document *document = &one->documents[i];
        const struct document *same = seed_find_document(other, document->path);

        if (!same || !buffer_is_same(&document->data, &same->data))
            return false;
    }
    return true;
}
