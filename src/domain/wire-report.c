/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/report-name.h"
#include "domain/wire-report.h"
#include "domain/xml.h"

/* What a user tags begins with "ua-", too. */
#define CHANNEL_ALIAS "ua-virt-seed-report"
#define CONTROLLER_ALIAS "ua-virt-seed-serial"

char *
wire_report_path(const char *uuid)
{
    return xasprintf("%s/%s" REPORT_SUFFIX, VIRT_SEED_REPORTDIR, uuid);
}

/* Return: the path of the channel's file in our directory, owned by the caller (free); NULL
 * where it leads elsewhere. */
static char *
path_of(const xmlNode *channel)
{
    static const char directory[] = VIRT_SEED_REPORTDIR "/";
    const xmlNode *source = xml_child(channel, "source");
    cleanup_free char *path = source ? xml_attribute(source, "path") : NULL;

    if (!path || strncmp(path, directory, strlen(directory)) != 0)
        return NULL;
    return steal(path);
}

static bool
has_port(const xmlNode *channel)
{
    const xmlNode *target = xml_child(channel, "target");

    return target && xml_attribute_is(target, "name", REPORT_PORT);
}

static xmlNode *
first_channel(const struct domain *domain)
{
    return xml_child(xml_child(domain->root, "devices"), "channel");
}

/* Return: the first channel of ours, or NULL. */
static xmlNode *
find_ours(const struct domain *domain)
{
    for (xmlNode *node = first_channel(domain); node; node = xml_next(node, "channel")) {
        cleanup_free char *path = path_of(node);

        if (path)
            return node;
    }
    return NULL;
}

bool
wire_report_is_by_user(const struct domain *domain)
{
    for (xmlNode *node = first_channel(domain); node; node = xml_next(node, "channel")) {
        cleanup_free char *path = path_of(node);

        if (!path && has_port(node))
            return true;
    }
    return false;
}

bool
wire_report_is_there(const struct domain *domain)
{
    const xmlNode *node = find_ours(domain);
    cleanup_free char *path = node ? path_of(node) : NULL;
    cleanup_free char *own = wire_report_path(domain->uuid);

    return path && strcmp(path, own) == 0;
}

bool
wire_report_is_of_another(const struct domain *domain)
{
    cleanup_free char *own = wire_report_path(domain->uuid);

    for (xmlNode *node = first_channel(domain); node; node = xml_next(node, "channel")) {
        cleanup_free char *path = path_of(node);

        if (path && strcmp(path, own) != 0)
            return true;
    }
    return false;
}

/* --- adding ----------------------------------------------------------------------- */

static xmlNode *
last_of(const xmlNode *devices, const char *name)
{
    xmlNode *last = NULL;

    for (xmlNode *node = xml_child(devices, name); node; node = xml_next(node, name))
        last = node;
    return last;
}

static bool
is_serial(const xmlNode *controller)
{
    return xml_attribute_is(controller, "type", "virtio-serial");
}

/* libvirt would add one by itself, and leave it there when the channel goes. */
static void
add_controller(xmlNode *devices, struct wiring *wiring)
{
    xmlNode *last = last_of(devices, "controller");
    xmlNode *node;

    for (node = xml_child(devices, "controller"); node;
         node = xml_next(node, "controller")) {
        if (is_serial(node))
            return;
    }
    last = last ? last : last_of(devices, "disk");
    node =
        last ? xml_add_after(last, "controller") : xml_add_child(devices, "controller");
    xml_set_attribute(node, "type", "virtio-serial");
    xml_set_attribute(node, "index", "0");
    xml_set_attribute(xml_add_child(node, "alias"), "name", CONTROLLER_ALIAS);
    wiring_note(wiring, "virtio-serial controller 0 added");
}

static void
add(struct domain *domain, const char *path, struct wiring *wiring)
{
    xmlNode *devices = xml_child(domain->root, "devices");
    xmlNode *last = last_of(devices, "channel");
    xmlNode *channel, *node;

    last = last ? last : last_of(devices, "console");
    channel = last ? xml_add_after(last, "channel") : xml_add_child(devices, "channel");
    xml_set_attribute(channel, "type", "file");
    node = xml_add_child(channel, "source");
    xml_set_attribute(node, "path", path);
    xml_set_attribute(node, "append", "on");
    node = xml_add_child(channel, "target");
    xml_set_attribute(node, "type", "virtio");
    xml_set_attribute(node, "name", REPORT_PORT);
    xml_set_attribute(xml_add_child(channel, "alias"), "name", CHANNEL_ALIAS);
    wiring_note(wiring, "report channel added");
    add_controller(devices, wiring);
}

/* --- what is there ---------------------------------------------------------------- */

/* A libvirt that has written the addresses knows best which devices are on it; whatever
 * else is for a virtio-serial controller is enough to keep ours. */
static bool
controller_is_used(const xmlNode *devices)
{
    static const char *const kinds[] = {"channel", "console", "smartcard"};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        for (xmlNode *node = xml_child(devices, kinds[i]); node;
             node = xml_next(node, kinds[i])) {
            const xmlNode *address = xml_child(node, "address");
            const xmlNode *target = xml_child(node, "target");

            if ((address && xml_attribute_is(address, "type", "virtio-serial")) ||
                (target && xml_attribute_is(target, "type", "virtio")))
                return true;
        }
    }
    return false;
}

static void
remove_controller(xmlNode *devices, struct wiring *wiring)
{
    xmlNode *next;

    for (xmlNode *node = xml_child(devices, "controller"); node; node = next) {
        const xmlNode *alias = xml_child(node, "alias");

        next = xml_next(node, "controller");
        if (!is_serial(node) || !alias ||
            !xml_attribute_is(alias, "name", CONTROLLER_ALIAS) ||
            controller_is_used(devices))
            continue;
        xml_remove(node);
        wiring_note(wiring, "virtio-serial controller removed");
    }
}

/* Removes our channels behind `keep`; all of them for NULL. */
static void
remove_behind(struct domain *domain, const xmlNode *keep, struct wiring *wiring)
{
    xmlNode *next;

    for (xmlNode *node = keep ? xml_next(keep, "channel") : first_channel(domain); node;
         node = next) {
        cleanup_free char *path = path_of(node);

        next = xml_next(node, "channel");
        if (!path)
            continue;
        xml_remove(node);
        wiring_note(wiring, "report channel removed");
    }
}

/* Another's report would be written by this guest, and would be taken for the other's. */
static void
mend(xmlNode *channel, const char *path, struct wiring *wiring)
{
    xmlNode *source = xml_child(channel, "source");

    if (!xml_attribute_is(source, "path", path)) {
        xml_set_attribute(source, "path", path);
        wiring_note(wiring, "the report channel had another domain's file and has this "
                            "one's now");
        wiring->needed = true;
    }
    /* Without it a guest that is restored would empty what it has said. */
    if (!xml_attribute_is(source, "append", "on")) {
        xml_set_attribute(source, "append", "on");
        wiring_note(wiring, "the report channel made to append");
    }
}

void
wire_report(struct domain *domain, const struct request *request, struct wiring *wiring)
{
    cleanup_free char *path = wire_report_path(domain->uuid);
    xmlNode *ours = find_ours(domain);

    if (!request_wants_report(request)) {
        wire_remove_report(domain, wiring);
    } else if (ours) {
        remove_behind(domain, ours, wiring);
        mend(ours, path, wiring);
    } else if (!wire_report_is_by_user(domain)) {
        add(domain, path, wiring);
    }
}

void
wire_remove_report(struct domain *domain, struct wiring *wiring)
{
    xmlNode *devices = xml_child(domain->root, "devices");

    remove_behind(domain, NULL, wiring);
    if (devices)
        remove_controller(devices, wiring);
}
