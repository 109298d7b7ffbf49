/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schema-verdicts SCHEMA: reads documents, JSON on a line each, and prints for each whether
 * it is valid (1 or 0), and what is wrong with it. */
#include "config.h"

#include <err.h>
#include <stdio.h>

#include "base/json.h"
#include "check/json-schema.h"

int
main(int argc, char **argv)
{
    cleanup_json json_t *schema = argc == 2 ? json_load_file(argv[1], 0, NULL) : NULL;
    cleanup_free char *line = NULL;
    size_t size = 0;

    if (!schema)
        errx(1, "cannot read the schema");
    while (getline(&line, &size, stdin) > 0) {
        cleanup_json json_t *document =
            json_loads(line, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        cleanup_schema_errors struct schema_errors errors = {0};

        if (!document || !schema_validate(schema, document, &errors))
            errx(1, "cannot check the document '%s'", line);
        printf("%d", errors.count == 0);
        for (size_t i = 0; i < errors.count; i++) {
            cleanup_free char *path = xchecked(json_dumps(errors.list[i].path, 0));

            printf(" %s %s;", path, errors.list[i].message);
        }
        putchar('\n');
    }
    return 0;
}
