/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/fs.h"
#include "base/memory.h"
#include "base/names.h"
#include "cli/definition.h"
#include "cli/guest-signs.h"
#include "domain/xml.h"

/* What libvirt itself looks for. */
#define AGENT_PORT "org.qemu.guest_agent.0"

/* A guest that is booting prints something more often than that. */
#define CONSOLE_SECONDS 60

/* Return: what libvirt knows about the guest's end of the channel; NULL if the XML has no
 * such channel, like the one that the emulator shim adds. */
static const xmlNode *
find_port(const xmlNode *devices, const char *port)
{
    for (const xmlNode *node = xml_child(devices, "channel"); node;
         node = xml_next(node, "channel")) {
        const xmlNode *target = xml_child(node, "target");

        if (target && xml_attribute_is(target, "name", port))
            return target;
    }
    return NULL;
}

/* Return: the file that gets what the guest prints, owned by the caller (free), or NULL:
 * that of the first console or serial port that is written or copied to a file. */
static char *
find_console(const xmlNode *devices)
{
    static const char *const names[] = {"console", "serial"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        for (const xmlNode *node = xml_child(devices, names[i]); node;
             node = xml_next(node, names[i])) {
            const xmlNode *source = xml_child(node, "source");
            const xmlNode *log = xml_child(node, "log");

            if (log)
                return xml_attribute(log, "file");
            if (source && xml_attribute_is(node, "type", "file"))
                return xml_attribute(source, "path");
        }
    }
    return NULL;
}

void
guest_signs_read(struct guest_signs *signs, virDomainPtr domain, int root)
{
    cleanup_domain_view struct domain_view view = {0};
    cleanup_failure struct failure *ignored = NULL;
    cleanup_free char *console = NULL;
    const xmlNode *devices, *port;
    struct stat status;

    *signs = (struct guest_signs){.console_age = -1};
    if (domain_view_load(&view, domain, &ignored) < 0 || !view.active)
        return;
    devices = xml_child(view.domain.root, "devices");
    if (!devices)
        return;
    signs->runs = true;
    port = find_port(devices, REPORT_PORT);
    signs->has_port = port != NULL;
    signs->reports = port && xml_attribute_is(port, "state", "connected");
    port = find_port(devices, AGENT_PORT);
    signs->has_agent = port && xml_attribute_is(port, "state", "connected");
    console = find_console(devices);
    /* Without permission to look, nothing is known. */
    if (!console || console[0] != '/' || fs_stat_in_root(root, console, &status) < 0 ||
        !S_ISREG(status.st_mode))
        return;
    signs->is_silent = status.st_size == 0;
    signs->console_age = time(NULL) - status.st_mtime;
    if (signs->console_age < 0)
        signs->console_age = 0;
}

char *
guest_signs_reason(const struct guest_signs *signs, bool was_heard)
{
    if (!signs->runs)
        return NULL;
    if (was_heard && !signs->has_port)
        return NULL;
    if (was_heard)
        return xstrdup(signs->reports ? "the guest is still connected"
                                      : "the guest has closed its end of the channel");
    if (signs->has_agent)
        return xstrdup("its guest agent runs, so it has booted without cloud-init");
    if (signs->is_silent)
        return xstrdup("its console is empty");
    if (signs->console_age >= 0)
        return xasprintf("its console printed something %ld s ago", signs->console_age);
    return NULL;
}

char *
guest_signs_hint(const struct guest_signs *signs, bool was_heard)
{
    if (!signs->runs)
        return NULL;
    if (was_heard && (signs->reports || !signs->has_port))
        return xstrdup("cloud-init is slow: wait again, with a longer --timeout");
    if (was_heard)
        return xstrdup("see on its console whether it hangs or is booting again");
    if (signs->has_agent)
        return xstrdup(
            "make sure that the image has cloud-init, that it is enabled, and that it "
            "reads vendor-data");
    if (!signs->is_silent && signs->console_age >= 0 &&
        signs->console_age < CONSOLE_SECONDS)
        return xstrdup("it boots, or it has no cloud-init: see its console");
    if (signs->console_age >= 0)
        return xstrdup(
            "see on its console whether it has booted; if it has, its image has "
            "no cloud-init, or does not read vendor-data");
    return NULL;
}
