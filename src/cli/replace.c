/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/libvirt.h"
#include "cli/replace.h"
#include "domain/domain.h"
#include "domain/request.h"
#include "store/record.h"
#include "store/rundir.h"

int
replace_check_caller(const struct context *context, struct failure **failure)
{
    if (strcmp(context->root_path, "/") != 0)
        return failure_set(failure, FAILURE_USAGE,
                           "running guests read their seeds below /, not below '%s'\n"
                           "leave --root away",
                           context->root_path);
    if (geteuid() != 0)
        return failure_set(failure, FAILURE_RUNDIR,
                           "root alone may write into %s\nrun the command as root",
                           VIRT_SEED_RUNDIR);
    return 0;
}

/* --- what libvirt is asked for ---------------------------------------------------- */

static bool
has_ended(void *domain)
{
    return libvirt_has_ended(domain);
}

static int
set_request(void *domain, const xmlNode *request, struct failure **failure)
{
    cleanup_free char *text = request_format(request);

    if (virDomainSetMetadata(domain, VIR_DOMAIN_METADATA_ELEMENT, text, "ci",
                             REQUEST_NAMESPACE, VIR_DOMAIN_AFFECT_LIVE) == 0)
        return 0;
    return libvirt_fail(failure,
                        "libvirt did not take the request of the running domain");
}

static int
update_device(void *domain, const char *xml, const char *what, struct failure **failure)
{
    if (virDomainUpdateDeviceFlags(domain, xml,
                                   VIR_DOMAIN_DEVICE_MODIFY_LIVE |
                                       VIR_DOMAIN_DEVICE_MODIFY_FORCE) == 0)
        return 0;
    return libvirt_fail(failure, "libvirt could not %s", what);
}

/* libvirt may take an update for none. */
static int
check_inserted(void *domain, struct failure **failure)
{
    const struct source source = {.libvirt = domain};
    cleanup_source struct source running = {0};

    if (source_load_running(&running, &source, failure) < 0)
        return -1;
    if (seed_path_find_disk(&running.domain))
        return 0;
    return failure_set(failure, FAILURE_LIBVIRT,
                       "libvirt says that it has inserted the new medium, and it is not "
                       "there");
}

/* --- the replacement -------------------------------------------------------------- */

/* For `pending`, when the domain has ended, too. What has been done is not taken back where
 * that cannot be recorded. */
static void
record_replacement(const struct replacement *replacement)
{
    const char *uuid = replacement->running->uuid;
    cleanup_failure struct failure *ignored = NULL;
    cleanup_record struct record record = {0};
    cleanup_record_boot struct record_boot update = {0};
    cleanup_seed struct seed seed = {0};
    cleanup_close int lock = record_lock(replacement->root);
    bool found = false;

    (void)lock;
    if (delivery_read(replacement->root, uuid, &seed, &found, &ignored) < 0 || !found ||
        record_read(replacement->root, uuid, &record, &ignored) < 0 || !record.boot.time)
        return;
    update.time = record_time(time(NULL));
    record_boot_add_seed(&update, &seed);
    record_set_update(&record, &update);
    record_write(replacement->root, uuid, &record, &ignored);
}

int
replace_seed(const struct context *context, const struct source *source,
             const struct source *running, const struct request *request,
             struct seed *seed, struct failure **failure)
{
    cleanup_close int rundir = rundir_open(context->root, failure);
    const struct delivery_guest guest = {
        .data = source->libvirt,
        .has_ended = has_ended,
        .set_request = set_request,
        .update_device = update_device,
        .check_inserted = check_inserted,
    };
    const struct replacement replacement = {
        .root = context->root,
        .guest = &guest,
        .running = &running->domain,
        .request = request,
        .seed = seed,
        .rundir = rundir,
    };

    if (rundir < 0)
        return -1;
    if (flock(rundir, LOCK_EX) < 0)
        return failure_set_errno(failure, FAILURE_RUNDIR, errno,
                                 "could not lock %s\nsee what is there: ls -l %s",
                                 VIRT_SEED_RUNDIR, VIRT_SEED_RUNDIR);
    if (delivery_of_running(&running->domain)->replace(&replacement, failure) < 0)
        return -1;
    record_replacement(&replacement);
    return 0;
}
