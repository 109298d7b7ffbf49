/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed in the metadata server's tree (imds-tree.h), for a guest without a seed disk:
 * NoCloud's documents. If nobody has made the tree for the server, a cold boot is
 * refused: the guest would come up as a new machine.
 *
 * How it works in a running guest: the served documents are replaced in one step. The
 * guest's URL stays, because the token comes from the serial that the domain runs with.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "domain/domain.h"
#include "store/delivery.h"
#include "store/imds-health.h"
#include "store/imds-tree.h"
#include "store/own-directory.h"
#include "wire/url.h"

_Static_assert(SEED_URL_TOKEN_LENGTH == IMDS_TOKEN_LENGTH, "it is the same token");

/* --- the tree --------------------------------------------------------------------- */

#define ASKS "asks for datasource=\"nocloud-net\", but there is no metadata server: "
#define MAKE "systemd-tmpfiles --create virt-seed-imds.conf"

static int
fail_missing(struct failure **failure)
{
    return failure_set(
        failure, FAILURE_IMDS,
        ASKS "%s does not exist\n"
             "create it and start the server: systemd-sysusers && " MAKE " && "
             "systemctl enable --now virt-seed-imds.socket "
             "virt-seed-imds.service; or use datasource=\"nocloud\", which is a disk",
        IMDS_TREE);
}

/* The tree must have been made for the server: the server could not read one made
 * here. */
static int
check_tree(int rundir, struct failure **failure)
{
    struct stat above, status;

    if (fstat(rundir, &above) < 0)
        return 0;
    if (fstatat(rundir, IMDS_TREE_NAME, &status, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno == ENOENT)
            return fail_missing(failure);
        return 0;
    }
    if (!S_ISDIR(status.st_mode))
        return failure_set(failure, FAILURE_IMDS,
                           ASKS "%s is not a directory\n"
                                "replace it with a directory: " MAKE,
                           IMDS_TREE);
    if ((status.st_mode & 050) != 050)
        return failure_set(failure, FAILURE_IMDS,
                           ASKS
                           "%s has mode %04o, expected 0750 with the server's group\n"
                           "fix it: " MAKE,
                           IMDS_TREE, status.st_mode & 07777);
    return own_directory_check(&status, above.st_uid, IMDS_TREE, failure);
}

static int
check_host(int root, struct failure **failure)
{
    cleanup_close int rundir = fs_open_directory_in_root(root, VIRT_SEED_RUNDIR);

    if (rundir == -ENOENT)
        return fail_missing(failure);
    return rundir < 0 ? 0 : check_tree(rundir, failure);
}

static bool
is_for(const struct request *request, bool uses_shim)
{
    return request->datasource->over_http;
}

static bool
is_wired(const struct wire_facts *facts)
{
    return facts->own_url;
}

/* --- whose it is ------------------------------------------------------------------ */

static struct imds_mac *
list_macs(const struct interfaces *interfaces, size_t *count)
{
    struct imds_mac *macs = xcalloc(interfaces->count + 1, sizeof(*macs));

    *count = 0;
    for (size_t i = 0; i < interfaces->count; i++) {
        const struct interface *interface = &interfaces->items[i];
        enum imds_link link = IMDS_LINK_NEIGHBOUR;

        if (interface->type && strcmp(interface->type, "user") == 0)
            link = IMDS_LINK_USER;
        if (interface->mac)
            macs[(*count)++] = (struct imds_mac){interface->mac, link};
    }
    return macs;
}

/* --- what is done with it --------------------------------------------------------- */

/* The domain's interfaces and the token decide who may read the documents. */
static int
publish(const struct delivery_start *start, const struct seed *seed,
        struct failure **failure)
{
    const struct domain *domain = start->domain;
    cleanup_close int tree = -1;
    cleanup_interfaces struct interfaces interfaces = {0};
    cleanup_free struct imds_mac *macs = NULL;
    struct imds_domain published = {.uuid = domain->uuid,
                                    .token = start->facts->url.token};

    /* Without a URL the domain starts unwired, as configured, and nothing is served. */
    if (!start->facts->own_url)
        return storage_imds.withdraw(start->rundir, domain->uuid, failure);
    if (check_tree(start->rundir, failure) < 0)
        return -1;
    tree = imds_tree_open(start->rundir, failure);
    if (tree < 0 || interfaces_read(&interfaces, domain, failure) < 0)
        return -1;
    macs = list_macs(&interfaces, &published.mac_count);
    published.macs = macs;
    published.documents = seed->documents;
    published.document_count = seed->document_count;
    return imds_tree_publish(tree, &published, failure);
}

static bool
is_readable(int root, const struct domain *domain)
{
    cleanup_wire_facts struct wire_facts facts = {0};
    cleanup_interfaces struct interfaces interfaces = {0};
    cleanup_failure struct failure *ignored = NULL;
    cleanup_free struct imds_mac *macs = NULL;
    cleanup_imds_tree struct imds_tree tree = IMDS_TREE_NONE;
    cleanup_close int directory = -1;
    cleanup_free char *lines = NULL;
    struct imds_access access;
    size_t count;

    wire_facts_read(&facts, domain);
    if (!facts.own_url || interfaces_read(&interfaces, domain, &ignored) < 0 ||
        imds_tree_read(&tree, root) < 0)
        return false;
    directory = imds_tree_open_domain(&tree, domain->uuid);
    if (directory < 0 || imds_tree_read_access(&tree, directory, &access) < 0)
        return false;
    macs = list_macs(&interfaces, &count);
    lines = imds_macs_format(macs, count);
    return strcmp(access.macs, lines) == 0 && strcmp(access.text, facts.url.token) == 0;
}

/* --- the seed of a guest that runs -------------------------------------------------- */

/* The guest holds nothing open. */
static int
check_replace(const struct domain *running, struct failure **failure)
{
    return 0;
}

const struct delivery delivery_imds = {
    .storage = &storage_imds,
    .wiring = "address",
    /* The guest read its documents long ago. */
    .resumed_without = "resuming without its documents",
    .is_for = is_for,
    .is_wired = is_wired,
    .check_host = check_host,
    .check_server = imds_health_check,
    .make_report = delivery_make_report,
    .publish = publish,
    .check_replace = check_replace,
    .is_readable = is_readable,
};
