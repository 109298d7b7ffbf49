/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `check` finds in a definition, as commands print it. */
#pragma once

#include "check/check.h"
#include "cli/cli.h"
#include "cli/definition.h"

/* Checks a copy of the definition, as `check` does on this host. */
int findings_read(struct findings *findings, const struct definition *definition,
                  const struct context *context, struct failure **failure);

/* Sets a failure if a start would fail; `what` is named in it, such as "user-data". */
int findings_refuse(const struct findings *findings, const struct domain *domain,
                    const char *what, struct failure **failure);

/* Prints them on standard error; warnings not with --quiet. */
void findings_print(const struct findings *findings, const struct domain *domain,
                    const struct context *context);

/* Sets the members "findings" and "schema" of what --json prints. */
void findings_set_json(const struct findings *findings, json_t *object);
