/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/memory.h"
#include "domain/interface.h"
#include "domain/xml.h"
#include "seed/datasource.h"
#include "seed/json.h"
#include "store/imds-tree.h"
#include "store/own-directory.h"
#include "store/served-seed.h"
#include "wire/url.h"

#define HOST_NAME_SIZE 256

_Static_assert(SEED_URL_TOKEN_LENGTH == IMDS_TOKEN_LENGTH, "it is the same token");

/* --- the tree --------------------------------------------------------------------- */

#define ASKS "asks for datasource=\"nocloud-net\", and there is no metadata server: "
#define MAKE "systemd-tmpfiles --create virt-seed-imds.conf"

static int
fail_missing(struct failure **failure)
{
    failure_set(failure, FAILURE_IMDS, ASKS "%s is not there", IMDS_TREE);
    return failure_hint(failure,
                        "make it, and start the server: systemd-sysusers && " MAKE
                        " && systemctl enable --now virt-seed-imds.socket "
                        "virt-seed-imds.service; or use datasource=\"nocloud\", which is "
                        "a disk");
}

static int
fail_no_directory(struct failure **failure)
{
    failure_set(failure, FAILURE_IMDS, ASKS "%s is not a directory", IMDS_TREE);
    return failure_hint(failure, "remove it, and make the directory: " MAKE);
}

static int
fail_closed(mode_t mode, struct failure **failure)
{
    failure_set(failure, FAILURE_IMDS,
                ASKS "%s has mode %04o, expected 0750 with the server's group", IMDS_TREE,
                mode & 07777);
    return failure_hint(failure, "have it mended: " MAKE);
}

/* As somebody has made it for the server: to make it here would be for nobody. */
static int
check_tree(int rundir, struct failure **failure)
{
    struct stat above, status;

    if (fstat(rundir, &above) < 0)
        return 0;
    if (fstatat(rundir, IMDS_TREE_NAME, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? fail_missing(failure) : 0;
    if (!S_ISDIR(status.st_mode))
        return fail_no_directory(failure);
    if ((status.st_mode & 050) != 050)
        return fail_closed(status.st_mode, failure);
    return own_directory_check(&status, above.st_uid, IMDS_TREE, failure);
}

int
served_seed_check_tree(int root, struct failure **failure)
{
    cleanup_close int rundir = fs_open_directory_in_root(root, VIRT_SEED_RUNDIR);

    if (rundir == -ENOENT)
        return fail_missing(failure);
    return rundir < 0 ? 0 : check_tree(rundir, failure);
}

static int
open_tree(int rundir, struct failure **failure)
{
    return check_tree(rundir, failure) < 0 ? -1 : imds_tree_open(rundir, failure);
}

/* --- whose it is ------------------------------------------------------------------ */

/* Return: whether the host lets nothing pass from the interface that has another MAC, or says
 * so in ARP. */
static bool
is_filtered(const xmlNode *interface)
{
    const xmlNode *filter = xml_child(interface, "filterref");

    /* Of another switch than the kernel's bridge, libvirt's filter sees nothing. */
    if (xml_child(interface, "virtualport"))
        return false;
    for (const xmlNode *parameter = filter ? xml_child(filter, "parameter") : NULL;
         parameter; parameter = xml_next(parameter, "parameter")) {
        if (xml_attribute_is(parameter, "name", "MAC"))
            return false;
    }
    /* Of libvirt's own filters: no-mac-spoofing lets ARP through that names another MAC, by
     * which the kernel goes; clean-traffic-gateway lets through whatever is for the gateway. */
    return filter && xml_attribute_is(filter, "filter", "clean-traffic");
}

static enum imds_link
link_of(const struct interface *interface)
{
    if (interface->type && strcmp(interface->type, "user") == 0)
        return IMDS_LINK_USER;
    return is_filtered(interface->node) ? IMDS_LINK_FILTERED : IMDS_LINK_UNFILTERED;
}

static struct imds_mac *
list_macs(const struct interfaces *interfaces, size_t *count)
{
    struct imds_mac *macs = xcalloc(interfaces->count + 1, sizeof(*macs));

    *count = 0;
    for (size_t i = 0; i < interfaces->count; i++) {
        const struct interface *interface = &interfaces->items[i];

        if (interface->mac)
            macs[(*count)++] = (struct imds_mac){interface->mac, link_of(interface)};
    }
    return macs;
}

static void
add_identity(struct seed *seed, const struct domain *domain)
{
    cleanup_json json_t *object = json_object();
    cleanup_free char *instance_id = nocloud_instance_id(seed);
    cleanup_free char *text = NULL;
    char host[HOST_NAME_SIZE] = "";

    if (gethostname(host, sizeof(host) - 1) < 0)
        *host = '\0';
    json_must(json_object_set_new(object, "domain", json_outside_string(domain->name)));
    json_set_string(object, "uuid", domain->uuid);
    json_must(json_object_set_new(object, "host", json_outside_string(host)));
    json_set_string(object, "instance-id", instance_id);
    text = json_text(object);
    buffer_append_string(&seed_add_document(seed, IMDS_IDENTITY)->data, text);
}

/* --- what is done with it --------------------------------------------------------- */

int
served_seed_publish(int rundir, const struct domain *domain, const char *token,
                    const struct request *request, struct seed *seed,
                    struct failure **unsaid, struct failure **failure)
{
    cleanup_close int tree = open_tree(rundir, failure);
    cleanup_interfaces struct interfaces interfaces = {0};
    cleanup_free struct imds_mac *macs = NULL;
    struct imds_domain published = {.uuid = domain->uuid, .token = token};

    if (tree < 0 || interfaces_read(&interfaces, domain, failure) < 0)
        return -1;
    add_identity(seed, domain);
    openstack_add(seed, request, unsaid);
    macs = list_macs(&interfaces, &published.mac_count);
    published.macs = macs;
    published.documents = seed->documents;
    published.document_count = seed->document_count;
    return imds_tree_publish(tree, &published, failure);
}

bool
served_seed_is_there(int rundir, const char *uuid)
{
    cleanup_free char *path = imds_domain_name(uuid);

    return faccessat(rundir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The lists are in the order of the interfaces. */
static bool
has_access(const struct imds_access *access, const char *token,
           const struct imds_mac *macs, size_t mac_count)
{
    const char *rest = access->macs;
    char mac[IMDS_MAC_LENGTH + 1];
    enum imds_link link;
    size_t count = 0;

    while (imds_next_mac(&rest, mac, &link)) {
        if (count == mac_count || strcmp(macs[count].mac, mac) != 0 ||
            macs[count].link != link)
            return false;
        count++;
    }
    return count == mac_count && strcmp(access->text, token) == 0;
}

bool
served_seed_is_open_to(int root, const struct domain *domain, const char *token)
{
    cleanup_interfaces struct interfaces interfaces = {0};
    cleanup_failure struct failure *ignored = NULL;
    cleanup_free struct imds_mac *macs = NULL;
    cleanup_imds_tree struct imds_tree tree = IMDS_TREE_NONE;
    cleanup_close int directory = -1;
    struct imds_access access;
    size_t mac_count;

    if (interfaces_read(&interfaces, domain, &ignored) < 0 ||
        imds_tree_read(&tree, root) < 0)
        return false;
    directory = imds_tree_open_domain(&tree, domain->uuid);
    if (directory < 0 || imds_tree_read_access(&tree, directory, &access) < 0)
        return false;
    macs = list_macs(&interfaces, &mac_count);
    return has_access(&access, token, macs, mac_count);
}

/* Return: whether there is, of the domain, what is published or what a process that was killed
 * has left. */
static bool
has_generation(int rundir, const char *uuid)
{
    cleanup_close int tree =
        openat(rundir, IMDS_TREE_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    cleanup_closedir DIR *dir = tree < 0 ? NULL : fs_list(tree);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        if (strncmp(entry->d_name, uuid, UUID_LENGTH) == 0)
            return true;
    }
    return false;
}

int
served_seed_withdraw(int rundir, const char *uuid, struct failure **failure)
{
    cleanup_close int tree = -1;

    if (!has_generation(rundir, uuid))
        return 0;
    tree = imds_tree_open(rundir, failure);
    return tree < 0 ? -1 : imds_tree_remove(tree, uuid, failure);
}
