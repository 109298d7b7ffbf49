/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the seed is made twice, with other words in the place of each secret. What
 * differs then has something of a secret in it, by whatever way it came there.
 */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/texts.h"
#include "cli/secret-documents.h"
#include "domain/request.h"
#include "seed/instance-id.h"
#include "seed/layout.h"
#include "seed/seed.h"

static void
fill(struct part *part, const char *word)
{
    struct buffer *data = &part->data;

    if (part->origin != PART_SECRET && part->origin != PART_GENERATED &&
        !part_is_password(part))
        return;
    part->masked = true;
    if (part_is_whole_secret(part))
        data = part_add_entry(part, part->origin == PART_GENERATED ? PART_HOST_KEY : "*");
    buffer_clear(data);
    buffer_append_string(data, word);
}

/* What stands in files is left out: it is no secret. */
static int
make_seed(struct seed *seed, const struct domain *domain, const char *word,
          struct failure **failure)
{
    cleanup_request struct request request = {0};

    if (request_read(&request, domain, failure) < 0)
        return -1;
    if (request.payload)
        return failure_set(failure, FAILURE_REQUEST, "the seed is oVirt's");
    for (size_t i = 0; i < request.parts.count; i++)
        fill(request.parts.list[i], word);
    return seed_make(seed, &request, failure);
}

/* Return: whether the instance-id is that of the seed, whatever the secrets are. */
static bool
has_open_instance_id(const struct layout *layout, const struct seed *seed)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_identity struct identity identity = {0};

    return layout_read_identity(layout, seed, &identity, &ignored) == 0 &&
           identity.instance_id && strcmp(identity.instance_id, INSTANCE_ID_MASK) != 0;
}

static void
add(struct secret_documents *documents, const char *path)
{
    texts_add(&documents->paths, &documents->count, xstrdup(path));
}

static void
compare(struct secret_documents *documents, const struct seed *one,
        const struct seed *other)
{
    const struct layout *layout = layout_find(one->volume_id);

    documents->instance_id = layout && !has_open_instance_id(layout, one);
    if (documents->instance_id)
        add(documents, layout->documents[0].path);
    for (size_t i = 0; i < one->document_count; i++) {
        const struct document *document = &one->documents[i];
        const struct document *same = seed_find_document(other, document->path);

        if (!same || !document_is_same(document, same))
            add(documents, document->path);
    }
}

void
secret_documents_find(struct secret_documents *documents, const struct domain *domain)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_seed struct seed one = {0};
    cleanup_seed struct seed other = {0};

    *documents = (struct secret_documents){0};
    if (make_seed(&one, domain, "first", &ignored) < 0 ||
        make_seed(&other, domain, "other", &ignored) < 0)
        documents->all = true;
    else
        compare(documents, &one, &other);
}

bool
secret_documents_have(const struct secret_documents *documents, const char *path)
{
    return documents->all || texts_have(documents->paths, documents->count, path);
}

void
secret_documents_clear(struct secret_documents *documents)
{
    texts_free(documents->paths, documents->count);
    *documents = (struct secret_documents){0};
}
