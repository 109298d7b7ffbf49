/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed of a guest without a disk, in the metadata server's tree (imds-tree.h). Beside
 * NoCloud's documents there is who the guest is, and the same once more in OpenStack's layout.
 */
#pragma once

#include <stdbool.h>

#include "domain/domain.h"
#include "domain/request.h"
#include "seed/seed.h"

/*
 * Publishes the seed, as seed_make() has made it of the request, in place of what was there of
 * the domain; the seed gets the other documents, too. The interfaces of the domain and the
 * token say who may read it. What cannot be said in OpenStack's layout is left out, and
 * `unsaid` says why.
 *
 * Where nobody has made the tree for the server, that is a failure: without its server the
 * guest would come up as a new machine. Whether the server runs is not asked here.
 */
int served_seed_publish(int rundir, const struct domain *domain, const char *token,
                        const struct request *request, struct seed *seed,
                        struct failure **unsaid, struct failure **failure);

/*
 * Refuses a host, whose "/" is the directory `root`, on which served_seed_publish() would find
 * no tree of the server's. Where the caller may not look, it may be that there is one.
 */
int served_seed_check_tree(int root, struct failure **failure);

/* Return: whether something of the domain is published. */
bool served_seed_is_there(int rundir, const char *uuid);

/* Return: whether what is published of the domain may be read with that token and by its
 * interfaces, and by no others. */
bool served_seed_is_open_to(int root, const struct domain *domain, const char *token);

/* Takes away what is published of the domain, and what processes that were killed have left of
 * that; it looks at all names in the tree. */
int served_seed_withdraw(int rundir, const char *uuid, struct failure **failure);
