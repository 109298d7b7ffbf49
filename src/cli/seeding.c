/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cli/seeding.h"
#include "domain/request.h"
#include "store/config.h"
#include "store/resolve.h"

int
seeding_make(struct seed *seed, struct source *source, const struct context *context,
             const char *argument, bool is_domain, struct failure **failure)
{
    cleanup_config struct config config = {0};
    cleanup_request struct request request = {0};

    if (source_load(source, context, argument, is_domain, SOURCE_READ, failure) < 0)
        return -1;
    if (domain_require_uuid(&source->domain, failure) < 0 ||
        config_read(&config, context->root, failure) < 0 ||
        request_read(&request, &source->domain, failure) < 0 ||
        resolve_request(&request, context->root, &config, &source->domain, failure) < 0 ||
        seed_check(&request, failure) < 0 ||
        seed_make(seed, &source->domain, &request, failure) < 0)
        return failure_prefix(failure, "domain '%s'", source->domain.name);
    return 0;
}
