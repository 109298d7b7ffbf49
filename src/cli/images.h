/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Images, from which `virt-seed new` makes guests: which there are, where they are kept, and
 * the disks that begin with them. */
#pragma once

#include <libvirt/libvirt.h>

#include "base/fs.h"
#include "cli/cli.h"

/* --- catalogue.c ------------------------------------------------------------------------ */

/*
 * The images that are known by name, virt-seed-images(5): a file NAME.conf for each, with
 * lines of `key = value`, in /usr/share/virt-seed/images.d, and in images.d of the
 * configuration's directories. A later one replaces the earlier one of the same name.
 */
struct image {
    char *name;
    char *url;       /* for this machine's architecture; NULL if there is none */
    char *checksums; /* URL of a file with its SHA-256 or SHA-512 */
    char *osinfo;    /* identifiers of libosinfo, the best first, divided by blanks */
    char *user;      /* that it is set up for; NULL if that is not said */
};

/* Finds the image of that name; fails if there is none. */
int catalogue_find(struct image *image, int root, const char *name,
                   struct failure **failure);

/* Lists the names of all, sorted; the list is texts_free()'s. */
int catalogue_list(int root, char ***names, size_t *count, struct failure **failure);

void image_clear(struct image *image);

#define cleanup_image __attribute__((cleanup(image_clear)))

/* --- pool.c ----------------------------------------------------------------------------- */

/* The directory of a storage pool of libvirt's, in which images are kept, and disks made. */
struct pool {
    virStoragePoolPtr libvirt;
    char *path;
    int directory; /* its descriptor */
};

#define POOL_DEFAULT "default"
#define POOL_NONE ((struct pool){.directory = -1})

/* Opens the pool of that name, which must be a directory, and starts it if it is not
 * active. As virt-install does, it makes the default one if there is none, unless `dry`,
 * which then only finds out its path. */
int pool_open(struct pool *pool, virConnectPtr connection, const char *name, bool dry,
              struct failure **failure);

void pool_close(struct pool *pool);

#define cleanup_pool __attribute__((cleanup(pool_close)))

/* --- image-fetch.c, image-disk.c -------------------------------------------------------- */

/*
 * Images in a pool's directory: fetched by curl(1), checked, kept as DIGEST.qcow2, never
 * changed; and the disks that begin with them.
 *
 * How it works: whatever reads what a server or the author of an image has written runs
 * without privileges, within limits: curl(1) and qemu-img(1). We read four numbers of an
 * image's header, which say whether it is whole: one with a backing file or an external
 * data file would lead to other files of this host.
 */

#define QCOW2_SUFFIX ".qcow2"
#define RAW_SUFFIX ".raw"
#define GIB (UINT64_C(1) << 30)

/* An image that disks begin with. */
struct source {
    char *name;         /* in the pool's directory, DIGEST.qcow2; NULL for a file */
    int file;           /* a file elsewhere, to be copied, or -1; owned */
    const char *format; /* "qcow2" or "raw" */
    uint64_t size;      /* bytes that its guest sees */
};

/*
 * Fetches the image, unless it is there. Its digest is `checksum` ("sha256:…", "sha512:…",
 * or the digits alone), or with NULL what the checksums' file has for the URL's last
 * component. A part that an earlier call has fetched is used. Prints its progress unless
 * `quiet`. The caller frees source->name.
 */
int image_fetch(struct source *source, const struct pool *pool, const struct image *image,
                const char *checksum, bool quiet, struct failure **failure);

/* Return: the name of the file as which the image was fetched last and is still there, owned
 * by the caller (free), or NULL. */
char *image_find_cached(const struct pool *pool, const struct image *image);

/* Return: whether a file of that name is a part of an image, of which the rest is to
 * come. */
bool image_is_partial(const char *name);

/* Fails unless the file is an image in the format qcow2 that is whole, or a raw one. Sets its
 * format and its size. */
int image_check(struct source *source, int fd, const char *name,
                struct failure **failure);

/* Makes a disk of `size` bytes as a file in the pool's directory that is not published yet:
 * a layer over the source in the pool, or a copy of the file. */
int disk_make(struct tmpfile *disk, const struct pool *pool, const char *target,
              const struct source *source, uint64_t size, struct failure **failure);

/* Makes the empty file a layer of `size` bytes over the disk `base`, which is not opened. */
int disk_make_layer(int disk, const char *base, const char *format, uint64_t size,
                    struct failure **failure);
