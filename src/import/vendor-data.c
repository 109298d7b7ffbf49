/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vendor-data of a seed that virt-seed may have made. What virt-seed adds (the end of
 * seed/combine.c) is left out or becomes the attribute that asks for it, because each new
 * seed gets it again; the rest is the user's.
 */
#include "config.h"

#include "domain/element.h"
#include "domain/part.h"
#include "domain/xml.h"
#include "import/import.h"

/* As seed/combine.c writes them. */
#define MESSAGE "Content-Type: multipart/mixed; boundary=\"==virt-seed-"
#define SCRIPT "#cloud-boothook\n#!/bin/sh\n# virt-seed: "

static bool
begins_with(const char *data, size_t size, const char *text)
{
    return size >= strlen(text) && memcmp(data, text, strlen(text)) == 0;
}

/* Return: whether virt-seed has added the piece. */
static bool
take_own(struct import *import, const char *data, size_t size)
{
    static const char cache[] = "#cloud-config\nmanual_cache_clean: true\n";

    if (begins_with(data, size, SCRIPT "tells the host"))
        return true;
    if (begins_with(data, size, SCRIPT "gives each new instance a machine-id")) {
        xml_set_attribute(import->element, "machine-id", "per-instance");
        return true;
    }
    if (size != strlen(cache) || memcmp(data, cache, size) != 0)
        return false;
    xml_set_attribute(import->element, "cache", "keep");
    return true;
}

/* A part of a message of virt-seed's. Return: whether it could be read. */
static bool
add_part(struct import *import, const char *part, size_t size)
{
    const char *end = memmem(part, size, "\n\n", 2);
    cleanup_free char *header = end ? xstrndup(part, (size_t)(end + 1 - part)) : NULL;
    cleanup_buffer struct buffer data = {0};
    cleanup_free char *text = NULL;

    if (!header)
        return false;
    /* A message of the user's has its own header, and nothing before it. */
    if (strcasestr(header, "mime-version:") || !strstr(header, "; charset=\"utf-8\"\n")) {
        element_add_data(import->element, "vendor-data", part, size - 1);
        return true;
    }
    text = xstrndup(end + 2, size - strlen(header) - 1);
    if (!strstr(header, "Content-Transfer-Encoding: base64\n"))
        buffer_append(&data, text, strlen(text) > 0 ? strlen(text) - 1 : 0);
    else if (base64_decode(&data, text) < 0)
        return false;
    if (take_own(import, buffer_text(&data), data.size))
        return true;
    if (strstr(header, "list(prepend)"))
        import_note(import,
                    "a part of the vendor-data is left out: virt-seed.conf(5) of the "
                    "host that made the seed has added it");
    else
        element_add_data(import->element, "vendor-data", buffer_text(&data), data.size);
    return true;
}

int
import_vendor_data(struct import *import, const char *data, size_t size,
                   struct failure **failure)
{
    const char *boundary = data + strlen(MESSAGE) - strlen("==virt-seed-");
    cleanup_free char *separator = NULL;
    const char *at, *next;
    bool readable;

    if (!begins_with(data, size, MESSAGE)) {
        if (size > 0 && !take_own(import, data, size))
            element_add_data(import->element, "vendor-data", data, size);
        return 0;
    }
    separator = xasprintf("\n--%.*s", (int)strcspn(boundary, "\"\n"), boundary);
    at = memmem(data, size, separator, strlen(separator));
    readable = at != NULL;
    for (; at && readable; at = next) {
        const char *part = at + strlen(separator);
        size_t rest = size - (size_t)(part - data);

        next = memmem(part, rest, separator, strlen(separator));
        if (!next) /* It ends the message. */
            readable = begins_with(part, rest, "--");
        else
            readable = *part == '\n' && add_part(import, part + 1, (size_t)(next - part));
    }
    if (readable)
        return 0;
    return failure_set(failure, FAILURE_REQUEST,
                       "has a damaged part\nread the seed again, or make it again");
}
