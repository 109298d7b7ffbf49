/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "seed/network-config.h"
#include "seed/yaml.h"

static bool
is_one_of(const char *value, const char *first, const char *second)
{
    return value && (strcmp(value, first) == 0 || (second && strcmp(value, second) == 0));
}

static int
check_version(const char *version, const char *config, struct failure **failure)
{
    if (is_one_of(version, "1", "2") || is_one_of(config, "disabled", NULL))
        return 0;
    if (version)
        failure_set(failure, FAILURE_NETWORK_CONFIG,
                    "has a version that is neither 1 nor 2");
    else
        failure_set(failure, FAILURE_NETWORK_CONFIG,
                    "has no version, and cloud-init would ignore it");
    return failure_hint(failure, "begin with 'version: 2'");
}

int
network_config_check(const char *data, size_t size, struct failure **failure)
{
    struct yaml_query queries[] = {
        {.path = {"version"}},
        {.path = {"network", "version"}},
        {.path = {"config"}},
        {.path = {"network", "config"}},
    };
    int result = yaml_read(data, size, YAML_MAPPING, queries, 4, failure);
    cleanup_free char *version = queries[0].value;
    cleanup_free char *wrapped_version = queries[1].value;
    cleanup_free char *config = queries[2].value;
    cleanup_free char *wrapped_config = queries[3].value;

    if (result < 0)
        return -1;
    return check_version(wrapped_version ? wrapped_version : version,
                         wrapped_config ? wrapped_config : config, failure);
}
