/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How scrubbing works: the request of the running domain becomes one for the identity alone, with
 * the instance-id fixed to the one that its seed has, whatever policy it came from. The seed is
 * made of that, and so is the one that the guest gets when it has been saved and comes back. The
 * definition keeps its request: the next start makes a full seed.
 */
#include "config.h"

#include <sys/file.h>

#include <libvirt/virterror.h>

#include "base/scope.h"
#include "cli/libvirt.h"
#include "cli/running-seed.h"
#include "domain/domain.h"
#include "domain/element.h"
#include "domain/xml.h"
#include "host/record-file.h"
#include "host/rundir.h"
#include "seed/layout.h"
#include "seed/seed.h"
#include "store/delivery.h"
#include "store/record.h"
#include "store/seed-file.h"

int
running_seed_check_caller(const struct context *context, struct failure **failure)
{
    if (strcmp(context->root_path, "/") != 0)
        return failure_set(failure, FAILURE_USAGE,
                           "running guests read their seeds below /, not below '%s'\n"
                           "omit --root",
                           context->root_path);
    if (geteuid() != scope()->owner)
        return failure_set(failure, FAILURE_RUNDIR, "only %s may write to %s\n%s",
                           scope()->owner_name, scope()->rundir, scope_denied_hint());
    return 0;
}

/* --- what libvirt is asked for ---------------------------------------------------- */

/* A transient domain is unknown once it has ended. */
static bool
has_ended(void *domain)
{
    int active = virDomainIsActive(domain);

    return active == 0 || (active < 0 && virGetLastErrorCode() == VIR_ERR_NO_DOMAIN);
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

/* libvirt may report success without a change. */
static int
check_medium(void *domain, struct failure **failure)
{
    cleanup_definition struct definition running = {0};

    if (definition_load_running(&running, domain, failure) < 0)
        return -1;
    if (seed_path_find_disk(&running.domain))
        return 0;
    return failure_set(failure, FAILURE_LIBVIRT,
                       "libvirt says that it has inserted the new medium, but it is not "
                       "there");
}

/* --- the replacement -------------------------------------------------------------- */

/* For `pending`, also after the domain has ended. The replacement stays even if it cannot
 * be recorded. */
static void
record_replacement(const struct replacement *replacement)
{
    const char *uuid = replacement->running->uuid;
    cleanup_failure struct failure *ignored = NULL;
    cleanup_record struct record record = {0};
    cleanup_record_boot struct record_boot update = {0};
    cleanup_seed struct seed seed = {0};
    cleanup_close int lock = record_lock(replacement->root);
    const struct storage *storage;

    (void)lock;
    if (storage_read(replacement->root, uuid, &storage, &seed, &ignored) < 0 || !storage)
        return;
    if (record_read(replacement->root, uuid, &record, &ignored) < 0 || !record.boot.time)
        return;
    update.time = record_time(time(NULL));
    record_boot_add_seed(&update, storage, &seed);
    record_set_update(&record, &update);
    record_write(replacement->root, uuid, &record, &ignored);
}

/* Longer than another command replaces a seed, even if the guest keeps the tray shut. */
#define LOCK_SECONDS 60

/* Locks the seeds of running domains while the descriptor is open: what is read before may be
 * replaced meanwhile. Return: a descriptor, owned by the caller, or -1. */
static int
lock_seeds(const struct context *context, struct failure **failure)
{
    const struct timespec pause = {.tv_nsec = 100 * 1000000L};
    cleanup_close int rundir = rundir_open(context->root, failure);

    if (rundir < 0)
        return -1;
    for (int i = 0; i < 10 * LOCK_SECONDS; i++) {
        if (flock(rundir, LOCK_EX | LOCK_NB) == 0)
            return steal_fd(rundir);
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        nanosleep(&pause, NULL);
    }
    return failure_set_errno(
        failure, FAILURE_RUNDIR, errno,
        "could not lock %s\nsee whether another virt-seed update, apply "
        "or wait --scrub hangs: fuser -v %s",
        scope()->rundir, scope()->rundir);
}

/* Replaces the seed of the running domain, and writes the request that it was made of into its
 * XML: when the guest is saved and comes back, its seed is made again of what is there. On
 * failure the domain has its old seed, or the message says what it has. */
static int
replace(const struct context *context, int lock, const struct definition *source,
        const struct definition *running, const struct request *request,
        struct seed *seed, struct failure **failure)
{
    const struct delivery_guest guest = {
        .data = source->libvirt,
        .has_ended = has_ended,
        .set_request = set_request,
        .update_device = update_device,
        .check_medium = check_medium,
    };
    const struct replacement replacement = {
        .root = context->root,
        .guest = &guest,
        .running = &running->domain,
        .request = request,
        .seed = seed,
        .rundir = lock,
    };

    if (delivery_replace(&replacement, failure) < 0)
        return -1;
    record_replacement(&replacement);
    return 0;
}

/* --- that of the definition ---------------------------------------------------------- */

/* The guest looks for the seed where it was when it was started, and by its label. */
static int
check_datasource(const struct delivery *delivery, const struct delivery *next,
                 const struct seed *old, const struct seed *seed,
                 struct failure **failure)
{
    if (delivery->storage != next->storage)
        failure_set(failure, FAILURE_DOMAIN,
                    "runs with a seed %s, and the new one is one %s: the guest would not "
                    "find it",
                    storage_kind(delivery->storage), storage_kind(next->storage));
    else if (old->label && strcmp(old->label, seed->label) != 0)
        failure_set(
            failure, FAILURE_DOMAIN,
            "runs with a seed that has the label '%s', and the new one has '%s': the guest "
            "would not find it",
            old->label, seed->label);
    else
        return 0;
    return failure_hint(failure, "shut it down and start it again, which changes the "
                                 "datasource");
}

/* Return: what the new seed means for the guest. */
static enum update_outcome
judge(const struct context *context, const char *uuid, const struct seed *old,
      const struct seed *seed)
{
    cleanup_record struct record record = {0};
    cleanup_failure struct failure *ignored = NULL;
    cleanup_identity struct identity old_identity = {0};
    cleanup_identity struct identity identity = {0};
    const struct layout *layout = layout_find(seed->label);

    if (record_read(context->root, uuid, &record, &ignored) == 0 && record.cache_keep)
        return UPDATE_KEPT;
    failure_free(steal(ignored));
    if (!layout || layout_read_identity(layout, old, &old_identity, &ignored) < 0 ||
        layout_read_identity(layout, seed, &identity, &ignored) < 0)
        return UPDATE_NEW_INSTANCE;
    if (!identity_is_same(&old_identity, &identity))
        return UPDATE_NEW_INSTANCE;
    return UPDATE_SAME_INSTANCE;
}

/* The hook ends a guest whose seed is another one when its start is finished. */
static int
check_started(virDomainPtr domain, struct failure **failure)
{
    int state, reason;

    if (virDomainGetState(domain, &state, &reason, 0) < 0)
        return libvirt_fail(failure, "could not find out whether the domain runs");
    if (state != VIR_DOMAIN_PAUSED || reason != VIR_DOMAIN_PAUSED_STARTING_UP)
        return 0;
    return failure_set(failure, FAILURE_SYSTEM,
                       "the domain is being started\n"
                       "run the command again when it runs");
}

int
running_seed_update(const struct context *context, const struct definition *source,
                    const char **where, struct failure **failure)
{
    cleanup_definition struct definition running = {0};
    cleanup_request struct request request = {0};
    cleanup_seed struct seed old = {0};
    cleanup_seed struct seed seed = {0};
    const struct delivery *delivery, *next;
    const struct storage *storage;
    cleanup_close int lock = -1;
    bool has_seed;

    if (virDomainIsActive(source->libvirt) == 0)
        return UPDATE_NOT_RUNNING;
    if (check_started(source->libvirt, failure) < 0)
        return -1;
    if (running_seed_check_caller(context, failure) < 0)
        return -1;
    /* Another update may change the running domain, too, until the lock is held. */
    if (!context->dry_run) {
        lock = lock_seeds(context, failure);
        if (lock < 0)
            return -1;
    }
    if (definition_load_running(&running, source->libvirt, failure) < 0)
        return -1;
    delivery = delivery_of_running(&running.domain);
    *where = storage_location(delivery->storage);
    if (delivery->check_replace(&running.domain, failure) < 0 ||
        definition_make_seed(&seed, &request, &source->domain, context, false, NULL,
                             failure) < 0 ||
        storage_read(context->root, running.domain.uuid, &storage, &old, failure) < 0)
        return -1;
    next = delivery_for(&request, domain_uses_shim(&source->domain));
    if (check_datasource(delivery, next, &old, &seed, failure) < 0)
        return -1;
    has_seed = storage && seed_is_same(&old, &seed) &&
               delivery->is_readable(context->root, &running.domain);
    if (has_seed &&
        request_is_same(request_find(&running.domain), request_find(&source->domain)))
        return UPDATE_UP_TO_DATE;
    if (!context->dry_run &&
        replace(context, lock, source, &running, &request, &seed, failure) < 0)
        return -1;
    return judge(context, running.domain.uuid, &old, &seed);
}

/* --- a seed without content --------------------------------------------------------- */

/* Reduces the request of the running domain to its identity, keeps its attributes (they
 * select the datasource), and makes the seed of that. */
static int
make_scrubbed(struct seed *seed, struct request *request, struct domain *running,
              const struct identity *old, struct failure **failure)
{
    xmlNode *before = request_find(running);
    cleanup_identity struct identity identity = {0};
    xmlNode *element, *child;

    if (!before || !old->instance_id)
        return failure_set(failure, FAILURE_REQUEST_MISSING,
                           "its seed was not made from a <cloud-init> element\n"
                           "what oVirt's engine has made stays as it is");
    element = request_insert(running, before);
    xml_remove(before);
    while ((child = element->children)) {
        xmlUnlinkNode(child);
        xmlFreeNode(child);
    }
    if (old->hostname)
        element_add_text(element, "hostname", old->hostname);
    child = element_add_text(element, "instance-id", old->instance_id);
    xml_set_attribute(child, "policy", "fixed");
    if (request_read(request, running, failure) < 0)
        return -1;
    /* What attributes ask for is content, too. */
    request_keep_identity(request);
    if (seed_make(seed, request, failure) < 0 ||
        layout_read_identity(layout_find(seed->label), seed, &identity, failure) < 0)
        return -1;
    /* cloud-init must see the same instance. */
    if (strcmp(identity.instance_id, old->instance_id) == 0)
        return 0;
    return failure_set(failure, FAILURE_INSTANCE_ID,
                       "a seed without content would have the instance-id '%s', not "
                       "'%s'\n"
                       "its seed is left as it is",
                       identity.instance_id, old->instance_id);
}

static int
scrub_domain(const struct context *context, const struct definition *source,
             struct failure **failure)
{
    cleanup_definition struct definition running = {0};
    cleanup_definition struct definition scrubbed = {0};
    cleanup_identity struct identity identity = {0};
    cleanup_record struct record record = {0};
    cleanup_request struct request request = {0};
    cleanup_seed struct seed old = {0};
    cleanup_seed struct seed seed = {0};
    const struct delivery *delivery;
    const struct layout *layout;
    const struct storage *storage;
    const char *uuid, *booted;
    cleanup_close int lock = -1;

    if (running_seed_check_caller(context, failure) < 0)
        return -1;
    lock = lock_seeds(context, failure);
    if (lock < 0 || definition_load_running(&running, source->libvirt, failure) < 0)
        return -1;
    uuid = running.domain.uuid;
    delivery = delivery_of_running(&running.domain);
    if (delivery->check_replace(&running.domain, failure) < 0 ||
        storage_read(context->root, uuid, &storage, &old, failure) < 0)
        return -1;
    layout = storage ? layout_find(old.label) : NULL;
    if (!layout)
        return failure_set(failure, FAILURE_RUNDIR,
                           "%s contains no seed for it\n"
                           "put one there first: virt-seed update %s",
                           scope()->rundir, uuid);
    if (layout_read_identity(layout, &old, &identity, failure) < 0 ||
        record_read(context->root, uuid, &record, failure) < 0)
        return -1;
    /* A seed that `update` has put there for another instance must be read by the guest first:
     * without its content that instance would never be set up. */
    booted = record.boot.instance_id;
    if (booted && identity.instance_id && strcmp(booted, identity.instance_id) != 0)
        return failure_set(failure, FAILURE_INSTANCE_ID,
                           "the seed %s is for the instance '%s', but the domain was "
                           "started as '%s'\n"
                           "its content stays until the domain is started again",
                           storage_location(delivery->storage), identity.instance_id,
                           booted);
    if (definition_load_running(&scrubbed, source->libvirt, failure) < 0 ||
        make_scrubbed(&seed, &request, &scrubbed.domain, &identity, failure) < 0)
        return -1;
    if (seed_is_same(&old, &seed) &&
        delivery->is_readable(context->root, &running.domain))
        return 0;
    return replace(context, lock, source, &running, &request, &seed, failure);
}

int
running_seed_scrub(const struct context *context, const char *uuid,
                   struct failure **failure)
{
    cleanup_definition struct definition source = {0};
    unsigned int left;
    int result;

    if (definition_load_domain(&source, context, uuid, DEFINITION_DEVICE, failure) < 0)
        return -1;
    /* The alarm of --timeout does not end it halfway. */
    left = alarm(0);
    result = scrub_domain(context, &source, failure);
    alarm(left);
    return result < 0 ? failure_prefix(failure, "domain '%s'", source.domain.name) : 0;
}
