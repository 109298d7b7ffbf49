/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/memory.h"
#include "cli/seeding.h"
#include "store/pipeline.h"

int
seeding_make_with(struct seed *seed, struct request *request, const struct domain *domain,
                  const struct context *context, bool show_secrets,
                  struct failure **denied, struct failure **failure)
{
    cleanup_config struct config config = {0};
    const struct pipeline pipeline = {
        .policy = denied ? PIPELINE_MASK : PIPELINE_STRICT,
        .root = context->root,
        .config = &config,
        .hides = denied && !show_secrets,
        .denied = denied,
    };

    if (domain_require_uuid(domain, failure) < 0 ||
        config_read(&config, context->root, failure) < 0)
        return -1;
    return pipeline_run(&pipeline, domain, request, seed, failure);
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
