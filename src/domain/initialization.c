/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>

#include "domain/initialization.h"
#include "domain/vocabulary.h"

struct initialization *
initialization_read(const xmlNode *node, struct parts *parts, struct failure **failure)
{
    (void)parts;
    vocabulary_fail(node, failure, FAILURE_REQUEST, "is not built yet", "wait");
    return NULL;
}

void
initialization_free(struct initialization *initialization)
{
    free(initialization);
}
