/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target: the bytes are each kind of document of a seed, our own or another's. */
#include "config.h"

#include "base/json.h"
#include "base/memory.h"
#include "fuzz.h"
#include "seed/content.h"
#include "seed/layout.h"
#include "seed/yaml.h"

static void
read_yaml(const char *data, size_t size, enum yaml_shape shape)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_yaml struct yaml yaml = {0};

    fuzz_succeeded(yaml_read(&yaml, data, size, shape, &failure), &failure);
    yaml_get(yaml_get(yaml.root, "a"), "b");
}

static void
load_json(const char *data, size_t size)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_json json_t *json = yaml_load(data, size, YAML_STREAM, &failure);

    fuzz_succeeded(json ? 0 : -1, &failure);
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

    read_yaml(text, size, YAML_ONE_MAPPING);
    read_yaml(text, size, YAML_ONE_SEQUENCE);
    load_json(text, size);
    fuzz_succeeded(network_config_check(text, size, &failure), &failure);
    fuzz_succeeded(user_data_check(text, size, true, NULL, &failure), &failure);
    describe("cidata", text, size);
    describe("config-2", text, size);
    return 0;
}
