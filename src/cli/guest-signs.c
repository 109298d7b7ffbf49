/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/stat.h>
#include <time.h>

#include "base/fs.h"
#include "base/memory.h"
#include "base/names.h"
#include "cli/definition.h"
#include "cli/waiting.h"
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
    xml_foreach(node, devices, "channel") {
        const xmlNode *target = xml_child(node, "target");

        if (xml_attribute_is(target, "name", port))
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
        xml_foreach(node, devices, names[i]) {
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

/* Return: whether the guest has opened its end of the channel. */
static bool
is_open(const xmlNode *port)
{
    return xml_attribute_is(port, "state", "connected");
}

/* Return: for how many seconds nothing was printed there; -1 if that is not known, as
 * without the permission to look. `is_empty` says that nothing ever was. */
static long
find_silence(int root, const char *console, bool *is_empty)
{
    struct stat status;
    long age;

    if (!console || console[0] != '/')
        return -1;
    if (fs_stat_in_root(root, console, &status) < 0 || !S_ISREG(status.st_mode))
        return -1;
    *is_empty = status.st_size == 0;
    age = time(NULL) - status.st_mtime;
    return age < 0 ? 0 : age;
}

void
guest_signs_read(struct guest_signs *signs, virDomainPtr domain, int root, bool was_heard)
{
    cleanup_domain_view struct domain_view view = {0};
    cleanup_failure struct failure *ignored = NULL;
    cleanup_free char *console = NULL;
    const xmlNode *devices, *port;
    bool is_empty = false;
    long silence;

    *signs = (struct guest_signs){0};
    if (domain_view_load(&view, domain, &ignored) < 0 || !view.active)
        return;
    devices = xml_child(view.domain.root, "devices");
    port = find_port(devices, REPORT_PORT);
    console = find_console(devices);
    silence = find_silence(root, console, &is_empty);
    if (was_heard && port && !is_open(port)) {
        signs->reason = xstrdup("the guest has closed its end of the channel");
        signs->hint = "see on its console whether it hangs or is booting again";
    } else if (was_heard) {
        signs->reason = port ? xstrdup("the guest is still connected") : NULL;
        signs->hint = "cloud-init is slow: wait again, with a longer --timeout";
    } else if (is_open(find_port(devices, AGENT_PORT))) {
        signs->reason =
            xstrdup("its guest agent runs, so it has booted without cloud-init");
        signs->hint = "make sure that the image has cloud-init, that it is enabled, and "
                      "that it reads vendor-data";
    } else if (silence >= 0) {
        signs->hint = "see on its console whether it has booted; if it has, its image "
                      "has no cloud-init, or does not read vendor-data";
        if (is_empty)
            signs->reason = xstrdup("its console is empty");
        else
            signs->reason = xasprintf("its console printed something %ld s ago", silence);
        if (!is_empty && silence < CONSOLE_SECONDS)
            signs->hint = "it boots, or it has no cloud-init: see its console";
    }
}
