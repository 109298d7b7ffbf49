/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <libvirt/virterror.h>

#include "base/scope.h"
#include "cli/images.h"
#include "cli/libvirt.h"
#include "domain/xml.h"

/* Where virt-install makes it. Return: owned by the caller (free). */
static char *
default_path(void)
{
    if (scope()->home)
        return xasprintf("%s/.local/share/libvirt/images", scope()->home);
    return xstrdup(VIRT_SEED_IMAGES);
}

static virStoragePoolPtr
make_default(virConnectPtr connection, struct failure **failure)
{
    cleanup_free char *path = default_path();
    xmlChar *escaped = xmlEncodeSpecialChars(NULL, (const xmlChar *)path);
    cleanup_free char *text = xasprintf("<pool type='dir'><name>" POOL_DEFAULT "</name>"
                                        "<target><path>%s</path></target></pool>",
                                        escaped);
    virStoragePoolPtr pool = virStoragePoolDefineXML(connection, text, 0);

    xmlFree(escaped);
    if (pool && virStoragePoolBuild(pool, 0) == 0) {
        virStoragePoolSetAutostart(pool, 1);
        return pool;
    }
    libvirt_fail(failure, "could not make the storage pool '" POOL_DEFAULT "' in %s",
                 path);
    if (pool) {
        virStoragePoolUndefine(pool);
        virStoragePoolFree(pool);
    }
    return NULL;
}

/* Return: the path of a pool that is a directory, owned by the caller (free), or NULL. */
static char *
read_path(virStoragePoolPtr pool, struct failure **failure)
{
    const char *name = virStoragePoolGetName(pool);
    cleanup_free char *text = virStoragePoolGetXMLDesc(pool, 0);
    cleanup_xml xmlDoc *doc = NULL;
    const xmlNode *root;
    char *path = NULL;

    if (!text)
        libvirt_fail(failure, "could not read the storage pool '%s'", name);
    else
        doc = xml_parse(text, strlen(text), name, failure);
    root = doc ? xmlDocGetRootElement(doc) : NULL;
    if (root && xml_attribute_is(root, "type", "dir"))
        path = xml_text(xml_child(xml_child(root, "target"), "path"));
    if (root && !path)
        failure_set(failure, FAILURE_LIBVIRT,
                    "the storage pool '%s' is not a directory of files\n"
                    "name one of type 'dir' with --pool; 'virsh pool-list --all "
                    "--details' shows them",
                    name);
    return path;
}

int
pool_open(struct pool *pool, virConnectPtr connection, const char *name, bool dry,
          struct failure **failure)
{
    *pool = POOL_NONE;
    pool->libvirt = virStoragePoolLookupByName(connection, name);
    if (!pool->libvirt && strcmp(name, POOL_DEFAULT) != 0)
        return failure_set(failure, FAILURE_LIBVIRT,
                           "there is no storage pool '%s'\n"
                           "'virsh pool-list --all' shows them",
                           name);
    if (!pool->libvirt && dry) {
        pool->path = default_path();
        return 0;
    }
    if (!pool->libvirt)
        pool->libvirt = make_default(connection, failure);
    if (!pool->libvirt)
        return -1;
    if (virStoragePoolIsActive(pool->libvirt) == 0 && !dry &&
        virStoragePoolCreate(pool->libvirt, 0) < 0)
        return libvirt_fail(failure, "could not start the storage pool '%s'", name);
    pool->path = read_path(pool->libvirt, failure);
    if (!pool->path)
        return -1;
    pool->directory = open(pool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dry)
        return 0;
    if (pool->directory < 0 || faccessat(pool->directory, ".", W_OK, AT_EACCESS) < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not write to %s\n%s", pool->path,
                                 scope_denied_hint());
    return 0;
}

void
pool_close(struct pool *pool)
{
    if (pool->libvirt)
        virStoragePoolFree(pool->libvirt);
    free(pool->path);
    close_pointer(&pool->directory);
    *pool = POOL_NONE;
}
