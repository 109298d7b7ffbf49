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

#include "base/fs.h"
#include "base/scope.h"
#include "domain/domain.h"
#include "host/imds-tree.h"
#include "store/delivery.h"
#include "store/imds-check.h"
#include "store/imds-read.h"
#include "wire/url.h"

_Static_assert(SEED_URL_TOKEN_LENGTH == IMDS_TOKEN_LENGTH, "it is the same token");

static int
check_host(int root, struct failure **failure)
{
    cleanup_close int rundir = fs_open_directory_in_root(root, scope()->rundir);

    if (rundir < 0 && rundir != -ENOENT)
        return 0;
    return imds_tree_check(rundir, failure);
}

static struct imds_mac *
list_macs(const struct interfaces *interfaces, size_t *count)
{
    struct imds_mac *macs = xcalloc(interfaces->count + 1, sizeof(*macs));

    *count = 0;
    for (size_t i = 0; i < interfaces->count; i++) {
        const struct interface *interface = &interfaces->items[i];
        struct imds_mac *mac = &macs[*count];

        if (!interface->mac)
            continue;
        if (interface->type && strcmp(interface->type, "user") == 0)
            mac->link = IMDS_LINK_USER;
        snprintf(mac->mac, sizeof(mac->mac), "%s", interface->mac);
        (*count)++;
    }
    return macs;
}

/* The domain's interfaces and the token decide who may read the documents. */
static int
make(const struct delivery_start *start, const struct seed *seed,
     struct publication *publication, struct failure **failure)
{
    const struct domain *domain = start->domain;
    cleanup_interfaces struct interfaces interfaces = {0};

    if (!start->facts->own_url)
        return 0;
    if (interfaces_read(&interfaces, domain, failure) < 0)
        return -1;
    publication->served.token = xstrdup(start->facts->url.token);
    publication->served.macs = list_macs(&interfaces, &publication->served.mac_count);
    publication->served.seed = seed;
    return 0;
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

/* The guest holds nothing open. */
static int
check_replace(const struct domain *running, struct failure **failure)
{
    return 0;
}

static int
replace(const struct replacement *replacement, ino_t *published, struct failure **failure)
{
    const struct domain *running = replacement->running;
    cleanup_wire_facts struct wire_facts facts = {0};
    cleanup_publication struct publication publication = PUBLICATION_NONE;
    const struct delivery_start again = {
        .domain = running,
        .facts = &facts,
        .request = replacement->request,
    };

    wire_facts_read(&facts, running);
    if (facts.own_url && imds_tree_check(replacement->rundir, failure) < 0)
        return -1;
    if (make(&again, replacement->seed, &publication, failure) < 0 ||
        publication_publish(&publication, replacement->root, replacement->rundir,
                            running->uuid, failure) < 0)
        return -1;
    *published = storage_inode(&storage_imds, replacement->rundir, running->uuid);
    return 0;
}

const struct delivery delivery_imds = {
    .storage = &storage_imds,
    .wiring = "address",
    .check_host = check_host,
    .check_server = imds_health_check,
    .reporter = delivery_reporter,
    .make = make,
    .check_replace = check_replace,
    .is_readable = is_readable,
    .replace = replace,
};
