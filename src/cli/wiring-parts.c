/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "cli/wiring-parts.h"
#include "domain/xml.h"

void
wiring_parts_read(struct wiring_parts *parts, const struct definition *definition)
{
    cleanup_domain struct domain domain = {0};
    cleanup_wire_facts struct wire_facts facts = {0};
    cleanup_failure struct failure *ignored = NULL;
    cleanup_free char *serial = NULL;

    *parts = (struct wiring_parts){0};
    /* Disks of definition->domain may be gone after wiring. */
    if (domain_read(&domain, definition->doc, &ignored) < 0)
        return;
    wire_facts_read(&facts, &domain);
    if (domain_find_serial(&domain))
        serial = xml_text(domain_find_serial(&domain));
    if (facts.disk)
        parts->disk = xasprintf("%s %s", facts.disk->device, facts.disk->target);
    parts->serial = serial && strstr(serial, "ds=");
    parts->report = facts.reports;
    parts->shim = facts.uses_shim;
    parts->request = request_find(&domain) != NULL;
}

void
wiring_parts_clear(struct wiring_parts *parts)
{
    free(parts->disk);
    *parts = (struct wiring_parts){0};
}

char *
wiring_parts_describe(const struct wiring_parts *parts,
                      const struct wiring_parts *without)
{
    const char *const words[] = {
        parts->disk && !without->disk ? parts->disk : NULL,
        parts->serial && !without->serial ? "serial" : NULL,
        parts->report && !without->report ? "report channel" : NULL,
        parts->shim && !without->shim ? "by its emulator" : NULL,
        parts->request && !without->request ? "<cloud-init>" : NULL,
    };
    struct buffer text = {0};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (!words[i])
            continue;
        buffer_append_string(&text, text.size > 0 ? ", " : " (");
        buffer_append_string(&text, words[i]);
    }
    buffer_append_string(&text, text.size > 0 ? ")" : "");
    return text.data;
}
