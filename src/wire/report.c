/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "base/names.h"
#include "domain/xml.h"
#include "wire/parts.h"

/* libvirt keeps an alias only if it begins with "ua-". */
#define CHANNEL_ALIAS "ua-virt-seed-report"
#define CONTROLLER_ALIAS "ua-virt-seed-serial"

/* Return: the path, with "//" and "/./" collapsed to "/", if it is in our directory, or a
 * report of another scope,
 * owned by the caller (free); else NULL. A path with ".." after the directory counts as
 * in it. */
static char *
path_in_reports(const xmlNode *node, const char *attribute)
{
    cleanup_free char *path = xml_attribute(node, attribute);
    const char *from = path;
    char *end = path;

    if (!path)
        return NULL;
    while (*from) {
        if (from[0] == '/' && from[1] == '/')
            from++;
        else if (from[0] == '/' && from[1] == '.' && from[2] == '/')
            from += 2;
        else
            *end++ = *from++;
    }
    *end = '\0';
    return path_is_kept(path, scope()->reportdir, REPORT_SUFFIX) ? steal(path) : NULL;
}

/* Return: whether the element names a file in our directory that the domain may not use.
 * It may use its own report, and that only for a channel. */
static bool
names_foreign_report(const xmlNode *node, const char *own)
{
    const bool is_channel_source = xmlStrEqual(node->name, BAD_CAST "source") &&
                                   xmlStrEqual(node->parent->name, BAD_CAST "channel");

    for (const xmlAttr *attribute = node->properties; attribute;
         attribute = attribute->next) {
        const char *name = (const char *)attribute->name;

        if (strcmp(name, "path") == 0 || strcmp(name, "file") == 0) {
            cleanup_free char *path = path_in_reports(node, name);

            if (path && !(is_channel_source && strcmp(path, own) == 0))
                return true;
        }
    }
    return false;
}

/* Return: the first such element, or NULL. It may be of any device, since QEMU opens logs
 * and disks as well. */
static const xmlNode *
find_foreign_report(const struct domain *domain, const char *own)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    const xmlNode *node = devices ? xml_next_below(devices, devices) : NULL;

    while (node && !names_foreign_report(node, own))
        node = xml_next_below(node, devices);
    return node;
}

int
wire_report_check(const struct domain *domain, struct failure **failure)
{
    cleanup_free char *own = report_path(domain->uuid);
    const xmlNode *device = find_foreign_report(domain, own);

    if (!device)
        return 0;
    while (strcmp((const char *)device->parent->name, "devices") != 0)
        device = device->parent;
    return failure_set_at(failure, FAILURE_FOREIGN_REPORT, xml_line(device),
                          "a <%s> uses a file in %s, where a domain may use only its own "
                          "report, and only for a channel\n"
                          "use another file, or remove the device: virsh edit",
                          (const char *)device->name, scope()->reportdir);
}

static bool
is_ours(const xmlNode *channel)
{
    cleanup_free char *path = path_in_reports(xml_child(channel, "source"), "path");

    return path;
}

/* Return: the first of our channels that can stay, a file for the guest's port, or NULL.
 * `user_port` says whether a channel of the user's has the port's name. */
static xmlNode *
find_ours(const struct domain *domain, bool *user_port)
{
    xmlNode *ours = NULL;

    *user_port = false;
    xml_foreach(node, xml_child(domain->root, "devices"), "channel") {
        const xmlNode *target = xml_child(node, "target");

        if (!xml_attribute_is(target, "name", REPORT_PORT))
            continue;
        if (!is_ours(node))
            *user_port = true;
        else if (!ours && xml_attribute_is(node, "type", "file") &&
                 xml_attribute_is(target, "type", "virtio"))
            ours = node;
    }
    return ours;
}

void
wire_report_read(struct wire_facts *facts, const struct domain *domain)
{
    cleanup_free char *own = report_path(domain->uuid);
    const xmlNode *ours = find_ours(domain, &facts->user_port);
    const xmlNode *source = xml_child(ours, "source");

    facts->reports =
        xml_attribute_is(source, "path", own) && xml_attribute_is(source, "append", "on");
    facts->report_of_another = find_foreign_report(domain, own);
}

static void
add(struct domain *domain, const char *path, struct wiring *wiring)
{
    xmlNode *channel = wire_add_device(domain, "channel", "console");
    xmlNode *node;

    xml_set_attribute(channel, "type", "file");
    node = xml_add_child(channel, "source");
    xml_set_attribute(node, "path", path);
    xml_set_attribute(node, "append", "on");
    node = xml_add_child(channel, "target");
    xml_set_attribute(node, "type", "virtio");
    xml_set_attribute(node, "name", REPORT_PORT);
    xml_set_attribute(xml_add_child(channel, "alias"), "name", CHANNEL_ALIAS);
    wiring_note(wiring, "report channel added");
    /* libvirt would add a controller itself, but keep it after the channel is removed. */
    xml_foreach(other, channel->parent, "controller") {
        if (xml_attribute_is(other, "type", "virtio-serial"))
            return;
    }
    node = wire_add_device(domain, "controller", "disk");
    xml_set_attribute(node, "type", "virtio-serial");
    xml_set_attribute(node, "index", "0");
    xml_set_attribute(xml_add_child(node, "alias"), "name", CONTROLLER_ALIAS);
    wiring_note(wiring, "virtio-serial controller 0 added");
}

/* Any device that is on a virtio-serial controller, by its address, or that needs one, is
 * reason enough to keep ours. */
static bool
controller_is_used(const struct domain *domain)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    static const char *const kinds[] = {"channel", "console", "smartcard"};

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        xml_foreach(node, devices, kinds[i]) {
            if (xml_attribute_is(xml_child(node, "address"), "type", "virtio-serial") ||
                xml_attribute_is(xml_child(node, "target"), "type", "virtio"))
                return true;
        }
    }
    return false;
}

static void
remove_channels_except(struct domain *domain, const xmlNode *keep, struct wiring *wiring)
{
    xml_foreach(node, xml_child(domain->root, "devices"), "channel") {
        if (node != keep && is_ours(node)) {
            xml_remove(node);
            wiring_note(wiring, "report channel removed");
        }
    }
}

void
wire_report(struct domain *domain, const struct request *request, struct wiring *wiring)
{
    cleanup_free char *own = report_path(domain->uuid);
    bool user_port;
    xmlNode *ours = find_ours(domain, &user_port);
    xmlNode *source;

    if (!request_wants_report(request)) {
        wire_remove_report(domain, wiring);
        return;
    }
    remove_channels_except(domain, ours, wiring);
    if (!ours) {
        if (!user_port)
            add(domain, own, wiring);
        return;
    }
    source = xml_child(ours, "source");
    if (!xml_attribute_is(source, "path", own)) {
        cleanup_free char *path = path_in_reports(source, "path");

        xml_set_attribute(source, "path", own);
        if (path && strcmp(path, own) == 0)
            wiring_note(wiring, "the report channel's path normalized");
        else
            wiring_note(wiring, "the report channel changed from another domain's file "
                                "to this one's");
    }
    /* Otherwise QEMU would truncate the report when a guest is restored. */
    if (!xml_attribute_is(source, "append", "on")) {
        xml_set_attribute(source, "append", "on");
        wiring_note(wiring, "the report channel set to append");
    }
}

void
wire_remove_report(struct domain *domain, struct wiring *wiring)
{
    xmlNode *controller;

    remove_channels_except(domain, NULL, wiring);
    controller = wire_find_controller(domain, CONTROLLER_ALIAS);
    if (!controller || controller_is_used(domain))
        return;
    xml_remove(controller);
    wiring_note(wiring, "virtio-serial controller removed");
}
