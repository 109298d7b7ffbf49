/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the stages that the hook goes through at a cold boot are gone through here
 * as well, but a failure becomes a finding and the next stage is tried. To what the hook
 * would refuse come warnings of what would surprise: a file for each subject (rules.h).
 */
#pragma once

#include <stdbool.h>

#include "check/findings.h"
#include "domain/domain.h"

struct check_options {
    int root;    /* the host's "/": configuration, files and secrets are below it */
    bool schema; /* whether an installed cloud-init may check the documents as well */
};

/*
 * Looks for everything that would fail or surprise at the domain's next start. Afterwards
 * `domain` may only be cleared: it was wired on the way, in memory.
 */
void check_domain(struct findings *findings, struct domain *domain,
                  const struct check_options *options);
