/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "domain/request.h"
#include "store/delivery.h"
#include "store/imds-tree.h"

const struct delivery *const deliveries[] = {
    &delivery_server,
    &delivery_shim,
    &delivery_drive,
    NULL,
};

const struct delivery *
delivery_for(const struct request *request, const struct domain *domain)
{
    if (!request_has_disk(request))
        return &delivery_server;
    return domain_uses_shim(domain) ? &delivery_shim : &delivery_drive;
}

const struct delivery *
delivery_of_running(const struct domain *running)
{
    cleanup_wire_facts struct wire_facts facts = {0};

    wire_facts_read(&facts, running);
    for (size_t i = 0; deliveries[i]; i++) {
        if (deliveries[i]->is_wired(&facts))
            return deliveries[i];
    }
    return &delivery_drive;
}

/* --- what is there ---------------------------------------------------------------- */

bool
delivery_is_there(const struct delivery *delivery, int rundir, const char *uuid)
{
    cleanup_free char *name = delivery->name(uuid);

    return faccessat(rundir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int
delivery_open(int rundir, const char *uuid, const struct delivery **delivery,
              struct stat *status)
{
    int fd = -ENOENT;

    for (size_t i = 0; deliveries[i] && fd < 0; i++) {
        *delivery = deliveries[i];
        fd = deliveries[i]->open(rundir, uuid, status);
    }
    return fd;
}

int
delivery_read(int root, const char *uuid, struct seed *seed, bool *found,
              struct failure **failure)
{
    cleanup_close int rundir = fs_open_directory_in_root(root, VIRT_SEED_RUNDIR);

    for (int attempt = 0; attempt < IMDS_ATTEMPTS; attempt++) {
        const struct delivery *delivery;
        struct stat opened, current;
        cleanup_close int fd =
            rundir < 0 ? rundir : delivery_open(rundir, uuid, &delivery, &opened);
        cleanup_close int again = -1;

        *found = fd != -ENOENT;
        if (!*found)
            return 0;
        if (fd < 0)
            return failure_set_errno(failure, FAILURE_RUNDIR, fd,
                                     "could not read %s/%s.iso\nroot may read it",
                                     VIRT_SEED_RUNDIR, uuid);
        if (delivery->read(fd, seed, failure) < 0)
            return failure_prefix(failure, "the seed of domain %s in %s", uuid,
                                  VIRT_SEED_RUNDIR);
        if (!S_ISDIR(opened.st_mode))
            return 0;
        /* A directory that has given way to another meanwhile is being emptied: what was
         * missing in it says nothing. */
        again = delivery_open(rundir, uuid, &delivery, &current);
        if (again >= 0 && current.st_ino == opened.st_ino)
            return 0;
        seed_clear(seed);
    }
    return failure_set(failure, FAILURE_RUNDIR,
                       "the seed of domain %s is replaced again and again", uuid);
}

/* --- a replacement ---------------------------------------------------------------- */

static bool
has_other_request(const struct replacement *replacement)
{
    const xmlNode *before = request_find(replacement->running);
    const xmlNode *request = request_find(replacement->request->domain);

    return before && request && !request_is_same(before, request);
}

int
replace_request(const struct replacement *replacement, struct failure **failure)
{
    const struct delivery_guest *guest = replacement->guest;

    if (!has_other_request(replacement) ||
        guest->set_request(guest->data, request_find(replacement->request->domain),
                           failure) == 0)
        return 0;
    if (!replace_has_ended(replacement, failure))
        failure_hint(failure, "the domain has its old seed, nothing has changed");
    return -1;
}

void
replace_request_back(const struct replacement *replacement)
{
    const struct delivery_guest *guest = replacement->guest;
    cleanup_failure struct failure *ignored = NULL;

    if (has_other_request(replacement))
        guest->set_request(guest->data, request_find(replacement->running), &ignored);
}

bool
replace_has_ended(const struct replacement *replacement, struct failure **failure)
{
    if (!replacement->guest->has_ended(replacement->guest->data))
        return false;
    failure_hint(failure,
                 "the domain has ended meanwhile; its next start has the seed of "
                 "its definition");
    return true;
}

ino_t
replace_find_inode(const struct replacement *replacement, const char *name)
{
    struct stat status = {0};

    fstatat(replacement->rundir, name, &status, AT_SYMLINK_NOFOLLOW);
    return status.st_ino;
}
