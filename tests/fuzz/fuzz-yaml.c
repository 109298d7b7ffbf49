/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target: the bytes are a network-config, and a user-data. */
#include "config.h"

#include "base/cleanup.h"
#include "fuzz.h"
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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    cleanup_failure struct failure *failure = NULL;

    read_yaml(text, size, YAML_MAPPING);
    read_yaml(text, size, YAML_SEQUENCE);
    fuzz_succeeded(network_config_check(text, size, &failure), &failure);
    fuzz_succeeded(user_data_check(text, size, &failure), &failure);
    return 0;
}
