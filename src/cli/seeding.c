/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "cli/seeding.h"
#include "domain/request.h"
#include "seed/check-part.h"
#include "store/configuration.h"
#include "store/resolve.h"

/* What is made at the first start need not be there yet. */
static bool
is_not_made(const struct part *part, const struct failure *failure)
{
    return part->origin == PART_GENERATED && failure->code == FAILURE_SECRET_MISSING;
}

/* Return: 0, also where the caller has no right to the secret and `denied` says so. */
static int
make_part(struct request *request, struct part *part, const struct context *context,
          const struct config *config, struct failure **denied, struct failure **failure)
{
    if (resolve_part(part, context->root, config, request->domain, failure) == 0)
        return parts_check_size(&request->parts, failure) < 0
                   ? -1
                   : check_part(request, part, failure);
    if (!denied ||
        ((*failure)->code != FAILURE_SECRET_UNREADABLE && !is_not_made(part, *failure)))
        return -1;
    if (*denied || is_not_made(part, *failure))
        failure_free(*failure);
    else
        *denied = *failure;
    *failure = NULL;
    part_mask(part);
    return 0;
}

int
seeding_make_with(struct seed *seed, struct request *request, const struct domain *domain,
                  const struct context *context, bool show_secrets,
                  struct failure **denied, struct failure **failure)
{
    cleanup_config struct config config = {0};
    const bool hides = denied && !show_secrets;

    if (domain_require_uuid(domain, failure) < 0 ||
        config_read(&config, context->root, failure) < 0 ||
        request_read(request, domain, failure) < 0 ||
        resolve_begin(request, context->root, &config, failure) < 0)
        return -1;
    for (size_t i = 0; i < request->parts.count; i++) {
        struct part *part = request->parts.list[i];

        /* Whether it has been generated is not shown, and nobody needs a right for it. */
        if (!(hides && part->origin == PART_GENERATED) &&
            make_part(request, part, context, &config, denied, failure) < 0)
            return -1;
        if (hides)
            part_mask(part);
    }
    return seed_make(seed, request, failure);
}

int
seeding_make_of(struct seed *seed, const struct domain *domain,
                const struct context *context, bool show_secrets, struct failure **denied,
                struct failure **failure)
{
    cleanup_request struct request request = {0};

    return seeding_make_with(seed, &request, domain, context, show_secrets, denied,
                             failure);
}

int
seeding_make(struct seed *seed, struct source *source, const struct context *context,
             bool show_secrets, struct failure **denied, struct failure **failure)
{
    if (source_load(source, context, SOURCE_READ, failure) < 0)
        return -1;
    if (seeding_make_of(seed, &source->domain, context, show_secrets, denied, failure) <
        0)
        return failure_prefix(failure, "domain '%s'", source->domain.name);
    return 0;
}
