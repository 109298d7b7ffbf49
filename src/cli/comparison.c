/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a seed is made from the definition, as the hook does. Its documents are
 * compared by digest with the record of the last boot, which outlives the domain and a
 * restart of the host. The seed of a running domain also has the text, and stands for the
 * boot, without a time, if there is no record.
 *
 * What the next start is for cloud-init depends on the instance-id of the new seed and on
 * that of the seed that the guest has read. The latter is the recorded one, unless
 * `update` has replaced it and the guest was rebooted since, which the host does not
 * know.
 */
#include "config.h"

#include "base/json.h"
#include "base/names.h"
#include "cli/change.h"
#include "cli/comparison.h"
#include "domain/request.h"
#include "seed/seed.h"
#include "store/delivery.h"
#include "store/seed-file.h"

/* Keeps the reason why not all is compared; the first one is enough. */
static void
deny(struct comparison *comparison, struct failure **failure)
{
    if (!comparison->denied)
        comparison->denied = steal(*failure);
}

/* Reads what the last boot had. If some of it may not be read, that is reported at the
 * end. */
static void
read_past(struct comparison *comparison, const struct context *context)
{
    const char *uuid = comparison->source.domain.uuid;
    cleanup_failure struct failure *no_record = NULL;
    cleanup_failure struct failure *no_seed = NULL;

    record_read(context->root, uuid, &comparison->record, &no_record);
    storage_read(context->root, uuid, &comparison->storage, &comparison->current,
                 &no_seed);
    /* One of both is enough. */
    comparison->past_is_denied =
        no_seed ? !comparison->record.boot.time : no_record && !comparison->storage;
    deny(comparison, &no_record);
    if (!comparison->record.boot.time)
        deny(comparison, &no_seed);
    if (comparison->storage)
        record_boot_add_seed(&comparison->current_boot, comparison->storage,
                             &comparison->current);
}

/* The newest report counts; the record has that of a guest that has ended. */
static void
read_claim(struct comparison *comparison, const struct context *context)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    cleanup_failure struct failure *ignored = NULL;
    struct guest_claim *claim = &comparison->record.result.claim;
    const char *claimed = comparison->record.result.time;
    cleanup_free char *reported = NULL;
    time_t written = 0;

    if (comparison->running.doc &&
        report_read(context->root, comparison->source.domain.uuid, &report, &written,
                    &ignored) == 0 &&
        report.claim.instance_id) {
        claim = &report.claim;
        claimed = reported = record_time(written);
    }
    comparison->claim = *claim;
    *claim = (struct guest_claim){0};
    comparison->last = &comparison->current_boot;
    if (comparison->record.boot.time)
        comparison->last =
            consumption_find_read(&comparison->record, &comparison->claim, claimed);
    comparison->consumption = consumption_find(&comparison->record, &comparison->claim,
                                               claimed, &comparison->reason);
}

/* Makes the seed with the word instead of each secret, and without the content of files,
 * which is not secret. */
static int
make_masked(struct seed *seed, const struct domain *domain, const char *word,
            struct failure **failure)
{
    cleanup_request struct request request = {0};

    if (request_read(&request, domain, failure) < 0)
        return -1;
    if (request.payload)
        return failure_set(failure, FAILURE_REQUEST, "the seed is oVirt's");
    for (size_t i = 0; i < request.parts.count; i++) {
        struct part *part = request.parts.list[i];
        bool generated = part->origin == PART_GENERATED;
        struct buffer *data = &part->data;

        if (part->origin != PART_SECRET && !generated && !part_is_password(part))
            continue;
        part->masked = true;
        if (part_is_whole_secret(part))
            data = part_add_entry(part, generated ? HOST_KEY_NAME : "*");
        buffer_clear(data);
        buffer_append_string(data, word);
    }
    return seed_make(seed, &request, failure);
}

/*
 * Finds the documents of a domain's seed that contain something secret, and so are not shown
 * unless asked for: from a secret of the host, a password in the request, or oVirt's engine.
 * The seed is made twice, with a different word instead of each secret. A document that differs
 * contains a secret, however it got there. No secret is read. `of_instance_id`: whether the
 * instance-id depends on a secret. Return: a set of their paths, owned by the caller
 * (cleanup_json), or NULL: any may be one.
 */
static json_t *
find_secrets(const struct domain *domain, bool *of_instance_id)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_seed struct seed one = {0};
    cleanup_seed struct seed other = {0};
    cleanup_identity struct identity identity = {0};
    const struct layout *layout;
    json_t *paths;

    *of_instance_id = false;
    if (make_masked(&one, domain, "first", &ignored) < 0 ||
        make_masked(&other, domain, "other", &ignored) < 0)
        return NULL;
    paths = json_object();
    layout = layout_find(one.label);
    if (layout && layout_read_identity(layout, &one, &identity, &ignored) < 0)
        *of_instance_id = true;
    else if (layout)
        *of_instance_id =
            !identity.instance_id || strcmp(identity.instance_id, INSTANCE_ID_MASK) == 0;
    if (*of_instance_id)
        json_set(paths, layout->documents[0].path, json_null());
    for (size_t i = 0; i < one.document_count; i++) {
        const struct document *document = &one.documents[i];
        const struct document *same = seed_find_document(&other, document->path);

        if (!same || !buffer_is_same(&document->data, &same->data))
            json_set(paths, document->path, json_null());
    }
    return paths;
}

static bool
is_secret(const json_t *paths, const char *path)
{
    return !paths || json_object_get(paths, path);
}

/* Return: whether what the guest has, or had at its end, is not what it was booted with. */
static bool
is_replaced(const struct comparison *comparison)
{
    const struct record_boot *boot = comparison->last;
    const struct record_boot *update = &comparison->record.update;

    if (!boot->time)
        return false;
    if (comparison->storage && !record_boot_is_same(boot, &comparison->current_boot))
        return true;
    return update->time && !record_boot_is_same(update, boot);
}

static enum next_boot
judge_boot(const struct comparison *comparison, bool instance_id_denied)
{
    bool has_past = comparison->record.boot.time || comparison->storage;
    const char *last = comparison->last_instance_id;
    const char *next = comparison->identity.instance_id;
    const char *update = comparison->record.update.instance_id;
    bool is_same;

    if (comparison->past_is_denied)
        return NEXT_BOOT_UNKNOWN;
    if (comparison->is_kept)
        return NEXT_BOOT_KEPT;
    if (!has_past)
        return NEXT_BOOT_UNRECORDED;
    if (instance_id_denied || !last || !next)
        return NEXT_BOOT_UNKNOWN;
    is_same = strcmp(last, next) == 0;
    /* The guest may have read the seed that has replaced the last boot's. */
    if (update && !comparison->claim.instance_id &&
        (strcmp(update, next) == 0) != is_same)
        return NEXT_BOOT_UNKNOWN;
    return is_same ? NEXT_BOOT_SAME_INSTANCE : NEXT_BOOT_NEW_INSTANCE;
}

static bool
is_same_document(const struct record_document *one, const struct record_document *other)
{
    return one && other && strcmp(one->digest, other->digest) == 0;
}

static void
add_document(struct comparison *comparison, const char *path, bool secret, bool is_denied)
{
    const struct record_document *last = record_find_document(comparison->last, path);
    const bool is_current =
        is_same_document(last, record_find_document(&comparison->current_boot, path));
    const struct document *next = seed_find_document(&comparison->next, path);
    enum document_state state = DOCUMENT_CHANGED;

    if (is_denied || comparison->past_is_denied)
        state = DOCUMENT_UNKNOWN;
    else if (!last)
        state = DOCUMENT_NEW;
    else if (!next)
        state = DOCUMENT_GONE;
    else if (is_same_document(last, record_find_document(&comparison->next_boot, path)))
        state = DOCUMENT_UNCHANGED;
    comparison->has_changes = comparison->has_changes || state != DOCUMENT_UNCHANGED;
    *array_add(comparison->documents, comparison->document_count) =
        (struct compared_document){
            .path = path,
            .state = state,
            .secret = secret,
            /* As the last boot had it, if it is still there. */
            .before = is_current ? seed_find_document(&comparison->current, path) : NULL,
            .next = next,
        };
}

/* `request` is the one that the next seed was made of. */
static int
compare(struct comparison *comparison, const struct request *request,
        struct failure **failure)
{
    bool has_secret_id, ignored_id;
    cleanup_json json_t *next = find_secrets(&comparison->source.domain, &has_secret_id);
    cleanup_json json_t *before = NULL;
    const struct layout *layout = layout_find(comparison->next.label);
    cleanup_request struct request running = {0};
    cleanup_failure struct failure *ignored = NULL;
    const bool is_denied = comparison->secrets_are_denied;
    const struct record_boot *last = comparison->last;
    const char *claimed = last->time ? comparison->claim.instance_id : NULL;

    comparison->is_done = request->until_done && comparison->record.done;
    /* Without a record, the request of the running domain says what its guest was
     * told. */
    comparison->is_kept = comparison->record.cache_keep;
    if (!comparison->record.boot.time && comparison->running.doc) {
        if (request_read(&running, &comparison->running.domain, &ignored) == 0)
            comparison->is_kept = comparison->is_kept || running.cache;
    }
    /* For a file, what the running domain asked for is not known. */
    if (comparison->running.doc)
        before = find_secrets(&comparison->running.domain, &ignored_id);
    else if (!comparison->storage)
        before = json_object();
    if (layout && layout_read_identity(layout, &comparison->next, &comparison->identity,
                                       failure) < 0)
        return -1;
    comparison->last_instance_id = claimed ? claimed : last->instance_id;
    comparison->boot = judge_boot(comparison, is_denied && has_secret_id);
    comparison->is_replaced = is_replaced(comparison);
    comparison->is_as_replaced =
        comparison->is_replaced && !is_denied &&
        record_boot_is_same(&comparison->record.update, &comparison->next_boot);
    for (size_t i = 0; i < comparison->next.document_count; i++) {
        const char *path = comparison->next.documents[i].path;

        add_document(comparison, path, is_secret(next, path) || is_secret(before, path),
                     is_denied && is_secret(next, path));
    }
    for (size_t i = 0; i < last->document_count; i++) {
        const char *path = last->documents[i].path;

        if (!seed_find_document(&comparison->next, path))
            add_document(comparison, path, is_secret(before, path), false);
    }
    return 0;
}

/* `comparison` has its source. */
static int
compare_source(struct comparison *comparison, const struct context *context,
               struct failure **failure)
{
    struct definition *source = &comparison->source;
    cleanup_request struct request request = {0};

    if (source->libvirt)
        comparison->is_saved = virDomainHasManagedSaveImage(source->libvirt, 0) == 1;
    if (source->libvirt && virDomainIsActive(source->libvirt) == 1 &&
        definition_load_running(&comparison->running, source->libvirt, failure) < 0)
        return -1;
    /* The secrets first: if they are denied, that is the reason to report. Their content
     * is compared; whether it is shown is decided later. */
    if (definition_make_seed(&comparison->next, &request, &source->domain, context, true,
                             &comparison->denied, failure) < 0)
        return failure_prefix(failure, "domain '%s'", source->domain.name);
    comparison->next_storage =
        delivery_for(&request, domain_uses_shim(&source->domain))->storage;
    record_boot_add_seed(&comparison->next_boot, comparison->next_storage,
                         &comparison->next);
    comparison->secrets_are_denied = comparison->denied != NULL;
    read_past(comparison, context);
    read_claim(comparison, context);
    if (compare(comparison, &request, failure) < 0)
        return failure_prefix(failure, "domain '%s'", source->domain.name);
    /* At the end, since it changes the document. */
    return definition_wire(source, context, (struct wire_options){0}, &comparison->wiring,
                           failure);
}

int
comparison_read(struct comparison *comparison, const struct context *context,
                struct failure **failure)
{
    *comparison = (struct comparison){0};
    if (definition_load(&comparison->source, context, DEFINITION_READ, failure) < 0)
        return -1;
    return compare_source(comparison, context, failure);
}

int
comparison_read_changed(struct comparison *comparison,
                        const struct definition *definition,
                        const struct context *context, struct failure **failure)
{
    struct definition *source = &comparison->source;

    *comparison = (struct comparison){0};
    source->name = definition->name;
    source->doc = xchecked(xmlCopyDoc(definition->doc, 1));
    source->libvirt = definition->libvirt;
    if (source->libvirt)
        virDomainRef(source->libvirt);
    if (domain_read(&source->domain, source->doc, failure) < 0)
        return -1;
    return compare_source(comparison, context, failure);
}

void
comparison_clear(struct comparison *comparison)
{
    definition_clear(&comparison->source);
    definition_clear(&comparison->running);
    seed_clear(&comparison->next);
    seed_clear(&comparison->current);
    record_boot_clear(&comparison->next_boot);
    record_boot_clear(&comparison->current_boot);
    record_clear(&comparison->record);
    guest_claim_clear(&comparison->claim);
    identity_clear(&comparison->identity);
    free(comparison->documents);
    wiring_clear(&comparison->wiring);
    failure_free(comparison->denied);
    *comparison = (struct comparison){0};
}
