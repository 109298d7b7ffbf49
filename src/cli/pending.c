/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the definition goes the hook's way to a seed. Its documents are compared by
 * digest with the record of the last boot, which outlives the domain and the host; the seed
 * that a running domain has, has the text, too, and counts where there is no record.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "cli/changes.h"
#include "cli/pending.h"
#include "cli/seeding.h"
#include "seed/digest.h"
#include "store/delivery.h"

/* --- reading ------------------------------------------------------------------------ */

static void
deny(struct pending *pending, struct failure **failure)
{
    if (pending->denied)
        failure_free(*failure);
    else
        pending->denied = *failure;
    *failure = NULL;
}

static int
read_domain(struct pending *pending, const struct context *context,
            const struct arguments *arguments, struct failure **failure)
{
    struct source *source = &pending->source;

    if (source_load(source, context, arguments, SOURCE_READ, failure) < 0)
        return -1;
    if (!source_is_domain(source))
        return 0;
    pending->is_saved = virDomainHasManagedSaveImage(source->libvirt, 0) == 1;
    if (virDomainIsActive(source->libvirt) != 1)
        return 0;
    return source_load_running(&pending->running, source, failure);
}

/* What is compared with: what of it may not be read is said at the end. */
static void
read_past(struct pending *pending, const struct context *context)
{
    const char *uuid = pending->source.domain.uuid;
    struct failure *failure = NULL;

    if (record_read(context->root, uuid, &pending->record, &failure) < 0) {
        deny(pending, &failure);
        pending->past_is_denied = true;
    }
    if (delivery_read(context->root, uuid, &pending->current, &pending->has_current,
                      &failure) == 0) {
        /* It tells enough where there is no record. */
        pending->past_is_denied = pending->past_is_denied && !pending->has_current;
        return;
    }
    pending->has_current = false;
    if (pending->record.boot.time) {
        failure_free(failure);
        return;
    }
    deny(pending, &failure);
    pending->past_is_denied = true;
}

static int
make_next(struct pending *pending, const struct context *context,
          struct failure **failure)
{
    /* The true content: what of it is shown is decided later. */
    const struct arguments arguments = {.show_secrets = true};
    struct failure *denied = NULL;

    if (seeding_make_of(&pending->next, &pending->source.domain, context, &arguments,
                        &denied, failure) < 0) {
        failure_free(denied);
        return -1;
    }
    pending->secrets_are_denied = denied != NULL;
    if (denied)
        deny(pending, &denied);
    return 0;
}

/* Whether the guest that runs was told so; without a record nobody knows better. */
static bool
is_told_to_keep(const struct pending *pending)
{
    cleanup_request struct request request = {0};
    cleanup_failure struct failure *ignored = NULL;

    return pending->running.doc &&
           request_read(&request, &pending->running.domain, &ignored) == 0 &&
           request.cache;
}

static int
read_request(struct pending *pending, struct failure **failure)
{
    cleanup_request struct request request = {0};

    if (request_read(&request, &pending->source.domain, failure) < 0)
        return -1;
    pending->is_done = request.until_done && pending->record.done;
    pending->is_kept = pending->record.boot.time ? pending->record.boot.cache_keep
                                                 : is_told_to_keep(pending);
    return 0;
}

/* On a copy: the wiring changes the document. */
static int
find_wiring(struct pending *pending, const struct context *context,
            const struct arguments *arguments, struct failure **failure)
{
    cleanup_source struct source copy = {.doc = xmlCopyDoc(pending->source.doc, 1)};

    if (!copy.doc)
        abort();
    if (domain_read(&copy.domain, copy.doc, failure) < 0)
        return -1;
    return changes_wire(&copy, context, arguments, &pending->wiring, failure);
}

/* --- documents ---------------------------------------------------------------------- */

static const char *
digest_before(const struct pending *pending, const char *path)
{
    const struct record_document *document =
        record_find_document(&pending->record.boot, path);

    return document ? document->digest : NULL;
}

static bool
has_digest(const struct document *document, const char *digest)
{
    cleanup_free char *own = digest_make(&document->data);

    return strcmp(own, digest) == 0;
}

/* Return: the document as the last boot had it, where it is still there. */
static const struct document *
find_before(const struct pending *pending, const char *path)
{
    const struct document *document =
        pending->has_current ? seed_find_document(&pending->current, path) : NULL;
    const char *digest;

    if (!document || !pending->record.boot.time)
        return document;
    digest = digest_before(pending, path);
    return digest && has_digest(document, digest) ? document : NULL;
}

static enum pending_state
compare_by_record(const struct pending *pending, const struct pending_document *document)
{
    const char *digest = digest_before(pending, document->path);

    if (!digest)
        return PENDING_NEW;
    if (!document->next)
        return PENDING_GONE;
    return has_digest(document->next, digest) ? PENDING_UNCHANGED : PENDING_CHANGED;
}

static enum pending_state
compare_with_current(const struct pending_document *document)
{
    if (!document->before)
        return PENDING_NEW;
    if (!document->next)
        return PENDING_GONE;
    return document_is_same(document->before, document->next) ? PENDING_UNCHANGED
                                                              : PENDING_CHANGED;
}

static void
add_document(struct pending *pending, const char *path, bool secret, bool is_denied)
{
    struct pending_document *document;

    pending->documents = xreallocarray(pending->documents, pending->document_count + 1,
                                       sizeof(*pending->documents));
    document = &pending->documents[pending->document_count++];
    *document = (struct pending_document){
        .path = path,
        .secret = secret,
        .before = find_before(pending, path),
        .next = seed_find_document(&pending->next, path),
    };
    if (is_denied || pending->past_is_denied)
        document->state = PENDING_UNKNOWN;
    else
        document->state = pending->record.boot.time ? compare_by_record(pending, document)
                                                    : compare_with_current(document);
    pending->has_changes = pending->has_changes || document->state != PENDING_UNCHANGED;
}

/* Return: the paths of the last boot's documents, in order, or NULL behind the last. */
static const char *
path_before(const struct pending *pending, size_t index)
{
    const struct record_boot *boot = &pending->record.boot;

    if (boot->time)
        return index < boot->document_count ? boot->documents[index].path : NULL;
    return pending->has_current && index < pending->current.document_count
               ? pending->current.documents[index].path
               : NULL;
}

static void
compare_documents(struct pending *pending, const struct secret_documents *next,
                  const struct secret_documents *before)
{
    const char *path;

    for (size_t i = 0; i < pending->next.document_count; i++) {
        path = pending->next.documents[i].path;
        add_document(pending, path,
                     secret_documents_have(next, path) ||
                         secret_documents_have(before, path),
                     pending->secrets_are_denied && secret_documents_have(next, path));
    }
    for (size_t i = 0; (path = path_before(pending, i)); i++) {
        if (!seed_find_document(&pending->next, path))
            add_document(pending, path, secret_documents_have(before, path), false);
    }
}

/* --- all of it ---------------------------------------------------------------------- */

/* Of a file it is not known what the running domain asked for. */
static void
find_secrets_before(struct secret_documents *secrets, const struct pending *pending)
{
    if (pending->running.doc)
        secret_documents_find(secrets, &pending->running.domain);
    else
        secrets->all = pending->has_current;
}

static int
compare(struct pending *pending, struct failure **failure)
{
    cleanup_secret_documents struct secret_documents next = {0};
    cleanup_secret_documents struct secret_documents before = {0};
    const struct layout *layout = layout_find(pending->next.volume_id);

    secret_documents_find(&next, &pending->source.domain);
    find_secrets_before(&before, pending);
    if ((layout &&
         layout_read_identity(layout, &pending->next, &pending->identity, failure) < 0) ||
        pending_judge(pending, pending->secrets_are_denied && next.instance_id, failure) <
            0)
        return -1;
    compare_documents(pending, &next, &before);
    return 0;
}

int
pending_read(struct pending *pending, const struct context *context,
             const struct arguments *arguments, struct failure **failure)
{
    *pending = (struct pending){0};
    if (read_domain(pending, context, arguments, failure) < 0)
        return -1;
    /* The secrets first: what they keep from us is the reason that is said. */
    if (make_next(pending, context, failure) < 0)
        return failure_prefix(failure, "domain '%s'", pending->source.domain.name);
    read_past(pending, context);
    if (read_request(pending, failure) < 0 || compare(pending, failure) < 0)
        return failure_prefix(failure, "domain '%s'", pending->source.domain.name);
    return find_wiring(pending, context, arguments, failure);
}

const char *
pending_state_name(enum pending_state state)
{
    static const char *const names[] = {
        [PENDING_UNCHANGED] = "unchanged",
        [PENDING_CHANGED] = "changed",
        [PENDING_NEW] = "new",
        [PENDING_GONE] = "gone",
        [PENDING_UNKNOWN] = "unknown",
    };

    return names[state];
}

void
pending_clear(struct pending *pending)
{
    source_clear(&pending->source);
    source_clear(&pending->running);
    seed_clear(&pending->next);
    seed_clear(&pending->current);
    record_clear(&pending->record);
    identity_clear(&pending->identity);
    free(pending->last_instance_id);
    free(pending->documents);
    wiring_clear(&pending->wiring);
    failure_free(pending->denied);
    *pending = (struct pending){0};
}
