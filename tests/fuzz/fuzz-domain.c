/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target: the bytes are the domain's XML on the hook's standard input. */
#include "config.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_buffer struct buffer text = {0};
    cleanup_seed struct seed seed = {0};

    buffer_append(&text, data, size);
    fuzz_make_seed(&text, &seed);
    fuzz_wire(&text);
    return 0;
}
