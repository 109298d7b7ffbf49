/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "host/documents.h"

struct document *
seed_add_document(struct seed *seed, const char *path)
{
    struct document *document = array_add(seed->documents, seed->document_count);

    *document = (struct document){.path = xstrdup(path)};
    return document;
}

const struct document *
seed_find_document(const struct seed *seed, const char *path)
{
    for (size_t i = 0; i < seed->document_count; i++) {
        if (strcmp(seed->documents[i].path, path) == 0)
            return &seed->documents[i];
    }
    return NULL;
}

void
seed_clear(struct seed *seed)
{
    for (size_t i = 0; i < seed->document_count; i++) {
        free(seed->documents[i].path);
        buffer_clear(&seed->documents[i].data);
    }
    free(seed->documents);
    free(seed->label);
    *seed = (struct seed){0};
}
