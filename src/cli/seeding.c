/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "cli/seeding.h"
#include "domain/request.h"
#include "store/config.h"
#include "store/resolve.h"

static void
put_placeholder(struct part *part)
{
    cleanup_free char *text = NULL;

    if (!part->key)
        part->key = xstrdup(resolve_default_key(part->kind));
    text = xasprintf("<secret %s/%s>\n", part->name, part->key);
    buffer_append_string(&part->data, text);
}

static int
make_part(struct part *part, const struct context *context, const struct config *config,
          const struct domain *domain, struct failure **denied, struct failure **failure)
{
    if (resolve_part(part, context->root, config, domain, failure) == 0)
        return seed_check_part(part, failure);
    if (!denied || (*failure)->code != FAILURE_SECRET_UNREADABLE)
        return -1;
    if (*denied)
        failure_free(*failure);
    else
        *denied = *failure;
    *failure = NULL;
    put_placeholder(part);
    return 0;
}

static int
make_seed(struct seed *seed, const struct context *context, const struct domain *domain,
          struct failure **denied, struct failure **failure)
{
    cleanup_config struct config config = {0};
    cleanup_request struct request request = {0};

    if (domain_require_uuid(domain, failure) < 0 ||
        config_read(&config, context->root, failure) < 0 ||
        request_read(&request, domain, failure) < 0)
        return -1;
    for (enum part_kind kind = PART_USER_DATA; kind < PART_KINDS; kind++) {
        if (make_part(&request.parts[kind], context, &config, domain, denied, failure) <
            0)
            return -1;
    }
    return seed_make(seed, domain, &request, failure);
}

int
seeding_make(struct seed *seed, struct source *source, const struct context *context,
             const struct arguments *arguments, struct failure **denied,
             struct failure **failure)
{
    if (source_load(source, context, arguments, SOURCE_READ, failure) < 0)
        return -1;
    if (make_seed(seed, context, &source->domain, denied, failure) < 0)
        return failure_prefix(failure, "domain '%s'", source->domain.name);
    return 0;
}
