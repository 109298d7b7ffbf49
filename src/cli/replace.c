/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "cli/libvirt.h"
#include "cli/replace.h"
#include "domain/request-write.h"
#include "store/record.h"
#include "store/rundir.h"
#include "store/running-seed.h"
#include "wire/url.h"

const struct seed_place *
seed_place_find(const struct domain *running)
{
    cleanup_seed_url struct seed_url url = {.address = NULL};

    return seed_url_find_own(&url, running) ? &served_place : &medium_place;
}

int
replace_check_caller(const struct context *context, struct failure **failure)
{
    if (strcmp(context->root_path, "/") != 0) {
        failure_set(failure, FAILURE_USAGE,
                    "running guests read their seeds below /, not below '%s'",
                    context->root_path);
        return failure_hint(failure, "leave --root away");
    }
    if (geteuid() != 0) {
        failure_set(failure, FAILURE_RUNDIR, "root alone may write into %s",
                    VIRT_SEED_RUNDIR);
        return failure_hint(failure, "run the command as root");
    }
    return 0;
}

/* --- the request in the XML as it runs -------------------------------------------- */

static int
set_request(virDomainPtr domain, const xmlNode *request, struct failure **failure)
{
    cleanup_free char *text = request_format(request);

    if (virDomainSetMetadata(domain, VIR_DOMAIN_METADATA_ELEMENT, text, "ci",
                             REQUEST_NAMESPACE, VIR_DOMAIN_AFFECT_LIVE) == 0)
        return 0;
    return libvirt_fail(failure,
                        "libvirt did not take the request of the running domain");
}

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
    if (!has_other_request(replacement) ||
        set_request(replacement->domain, request_find(replacement->request->domain),
                    failure) == 0)
        return 0;
    if (!replace_has_ended(replacement, failure))
        failure_hint(failure, "the domain has its old seed, nothing has changed");
    return -1;
}

void
replace_request_back(const struct replacement *replacement)
{
    cleanup_failure struct failure *ignored = NULL;

    if (has_other_request(replacement))
        set_request(replacement->domain, request_find(replacement->running), &ignored);
}

bool
replace_has_ended(const struct replacement *replacement, struct failure **failure)
{
    if (!libvirt_has_ended(replacement->domain))
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

/* --- the replacement -------------------------------------------------------------- */

static int
fail_lock(struct failure **failure)
{
    failure_set_errno(failure, FAILURE_RUNDIR, errno, "could not lock %s",
                      VIRT_SEED_RUNDIR);
    return failure_hint(failure, "see what is there: ls -l %s", VIRT_SEED_RUNDIR);
}

/* For `pending`, when the domain has ended, too. What has been done is not taken back where
 * that cannot be recorded. */
static void
record_replacement(const struct replacement *replacement)
{
    int root = replacement->context->root;
    const char *uuid = replacement->running->uuid;
    cleanup_failure struct failure *ignored = NULL;
    cleanup_record struct record record = {0};
    cleanup_record_boot struct record_boot update = {0};
    cleanup_seed struct seed volume = {0};
    cleanup_close int lock = record_lock(root);
    struct stat status;
    cleanup_close int seed = running_seed_open(replacement->rundir, uuid, &status);

    (void)lock;
    if (seed < 0 || running_seed_read_open(seed, &status, &volume, &ignored) < 0 ||
        record_read(root, uuid, &record, &ignored) < 0 || !record.boot.time)
        return;
    update.time = record_time(time(NULL));
    record_boot_add_seed(&update, &volume);
    record_set_update(&record, &update);
    record_write(root, uuid, &record, &ignored);
}

int
replace_seed(const struct context *context, const struct source *source,
             const struct source *running, const struct request *request,
             struct seed *seed, struct failure **failure)
{
    cleanup_close int rundir = rundir_open(context->root, failure);
    const struct replacement replacement = {
        .context = context,
        .domain = source->libvirt,
        .running = &running->domain,
        .request = request,
        .seed = seed,
        .rundir = rundir,
    };

    if (rundir < 0)
        return -1;
    if (flock(rundir, LOCK_EX) < 0)
        return fail_lock(failure);
    if (seed_place_find(&running->domain)->replace(&replacement, failure) < 0)
        return -1;
    record_replacement(&replacement);
    return 0;
}
