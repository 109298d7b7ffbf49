/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A validator for JSON Schema, draft 4, with the keywords that cloud-init's schemas have, as
 * cloud-init has them applied: keywords next to '$ref' count, 'format' does not. 'pattern'
 * is POSIX's extended regular expression (scripts/refresh-schema translates Python's).
 * The schema is trusted, the document is not.
 */
#pragma once

#include <jansson.h>

#include "base/base.h"

struct schema_error {
    json_t *path;         /* keys and indexes that lead to the value */
    char *message;        /* follows the path; without any of the document */
    unsigned int allowed; /* of a wrong type: a bit for each type of jansson's; else 0 */
    bool is_similar;      /* an unknown key, almost a known one */
    bool other_kind;      /* it has to be a certain value, such as 'type: bridge' */
};

struct schema_errors {
    struct schema_error *list;
    size_t count;
};

/*
 * Adds what is wrong with the value, at most LIMIT_FINDINGS errors. Of the branches of
 * 'oneOf' and 'anyOf', it takes the one that the value comes closest to.
 * Return: false if it has given up after LIMIT_SCHEMA_STEPS.
 */
bool schema_validate(const json_t *schema, const json_t *value,
                     struct schema_errors *errors);

void schema_errors_clear(struct schema_errors *errors);

#define cleanup_schema_errors __attribute__((cleanup(schema_errors_clear)))
