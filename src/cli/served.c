/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running domain's seed in the metadata server's tree, replaced: at once, and whole. The
 * guest's URL stays, since the token is the one in the serial that the domain runs with.
 *
 * The domain may end at any time, and the hook then withdraws what is published of it. What is
 * published after that is withdrawn here.
 */
#include "config.h"

#include "base/cleanup.h"
#include "cli/libvirt.h"
#include "cli/replace.h"
#include "store/imds-tree.h"
#include "store/served-seed.h"
#include "wire/url.h"

/* There is nothing that a guest could hold on to. */
static int
served_check(const struct domain *running, struct failure **failure)
{
    (void)running;
    (void)failure;
    return 0;
}

static bool
served_is_in(const struct context *context, const struct domain *running)
{
    cleanup_seed_url struct seed_url url = {.address = NULL};

    return seed_url_find_own(&url, running) &&
           served_seed_is_open_to(context->root, running, url.token);
}

/* Return: 0 where nothing is published of the domain. */
static ino_t
find_published(const struct replacement *replacement)
{
    cleanup_free char *path = imds_domain_name(replacement->running->uuid);

    return replace_find_inode(replacement, path);
}

static int
publish(const struct replacement *replacement, ino_t *published, struct failure **failure)
{
    cleanup_seed_url struct seed_url url = {.address = NULL};
    /* The log of the next start says it. */
    cleanup_failure struct failure *unsaid = NULL;

    seed_url_find_own(&url, replacement->running);
    if (served_seed_publish(replacement->rundir, replacement->running, url.token,
                            replacement->request, replacement->seed, &unsaid,
                            failure) < 0)
        return -1;
    *published = find_published(replacement);
    return 0;
}

/* While the hook works on the domain libvirt does not answer whether it runs: either the hook's
 * removal is still to come, or came before. What a new start has published is another
 * directory. */
static int
check_running(const struct replacement *replacement, ino_t published,
              struct failure **failure)
{
    if (!libvirt_has_ended(replacement->domain))
        return 0;
    if (find_published(replacement) == published &&
        served_seed_withdraw(replacement->rundir, replacement->running->uuid, failure) <
            0)
        return -1;
    failure_set(failure, FAILURE_DOMAIN, "its seed came too late");
    replace_has_ended(replacement, failure);
    return -1;
}

static int
served_replace(const struct replacement *replacement, struct failure **failure)
{
    ino_t published;

    if (replace_request(replacement, failure) < 0)
        return -1;
    if (publish(replacement, &published, failure) == 0)
        return check_running(replacement, published, failure);
    replace_request_back(replacement);
    replace_has_ended(replacement, failure);
    return -1;
}

const struct seed_place served_place = {
    .where = "at its URL",
    .served = true,
    .check = served_check,
    .is_in = served_is_in,
    .replace = served_replace,
};
