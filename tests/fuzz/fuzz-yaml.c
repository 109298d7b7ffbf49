/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target: the bytes are each kind of document of a seed, our own or another's. */
#include "config.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "seed/layout.h"
#include "seed/network-config.h"
#include "seed/user-data.h"
#include "seed/yaml.h"

static void
read_yaml(const char *data, size_t size, enum yaml_root root)
{
    struct yaml_query queries[] = {
        {.path = {"version"}},
        {.path = {"network", "version"}},
        {.path = {"a", "b"}},
    };
    cleanup_failure struct failure *failure = NULL;
    int result = yaml_read(data, size, root, queries, 3, &failure);

    fuzz_succeeded(result, &failure);
    for (size_t i = 0; i < 3; i++)
        free(queries[i].value);
}

static void
describe(const char *label, const char *data, size_t size)
{
    const struct layout_document *document = layout_find(label)->documents;

    for (; document->path; document++) {
        cleanup_failure struct failure *failure = NULL;
        cleanup_free char *description = layout_describe(document, data, size, &failure);

        fuzz_succeeded(description ? 0 : -1, &failure);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    cleanup_failure struct failure *failure = NULL;

    read_yaml(text, size, YAML_MAPPING);
    read_yaml(text, size, YAML_SEQUENCE);
    fuzz_succeeded(network_config_check(text, size, &failure), &failure);
    fuzz_succeeded(user_data_check(text, size, &failure), &failure);
    describe("cidata", text, size);
    describe("config-2", text, size);
    return 0;
}
