/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "base/names.h"
#include "domain/xml.h"
#include "wire/report.h"

/* What a user tags begins with "ua-", too. */
#define CHANNEL_ALIAS "ua-virt-seed-report"
#define CONTROLLER_ALIAS "ua-virt-seed-serial"

char *
wire_report_path(const char *uuid)
{
    return xasprintf("%s/%s" REPORT_SUFFIX, VIRT_SEED_REPORTDIR, uuid);
}

/* --- what leads into our directory -------------------------------------------------- */

/* Takes away what the kernel does not see: "//" is "/", and so is "/./". */
static void
collapse(char *path)
{
    char *end = path;

    while (*path) {
        if (path[0] == '/' && path[1] == '/')
            path++;
        else if (path[0] == '/' && path[1] == '.' && path[2] == '/')
            path += 2;
        else
            *end++ = *path++;
    }
    *end = '\0';
}

/* Return: the collapsed path where it is in our directory, owned by the caller (free); NULL
 * where it leads elsewhere. One with ".." behind the directory is in it. */
static char *
path_of(const xmlNode *node, const char *attribute)
{
    static const char directory[] = VIRT_SEED_REPORTDIR "/";
    cleanup_free char *path = xml_attribute(node, attribute);

    if (path)
        collapse(path);
    if (!path || strncmp(path, directory, strlen(directory)) != 0)
        return NULL;
    return steal(path);
}

/* Return: whether the element names something in our directory that the domain may not have:
 * it may have its own report, at the end of a channel. */
static bool
is_of_another(const xmlNode *node, const char *attribute, const char *own)
{
    cleanup_free char *path = path_of(node, attribute);
    bool by_channel = xmlStrEqual(node->name, BAD_CAST "source") &&
                      xmlStrEqual(node->parent->name, BAD_CAST "channel");

    return path && !(by_channel && strcmp(path, own) == 0);
}

/* The same of all its attributes; most elements have neither of these. */
static bool
has_of_another(const xmlNode *node, const char *own)
{
    const xmlAttr *attribute = node->properties;

    for (; attribute; attribute = attribute->next) {
        const char *name = (const char *)attribute->name;

        if ((strcmp(name, "path") == 0 || strcmp(name, "file") == 0) &&
            is_of_another(node, name, own))
            return true;
    }
    return false;
}

/* Return: the element behind `node` in the document, below `top`; or NULL. */
static const xmlNode *
next_below(const xmlNode *node, const xmlNode *top)
{
    const xmlNode *next = xml_first_element(node);

    while (!next && node != top) {
        next = xml_next_element(node);
        node = node->parent;
    }
    return next;
}

/* Return: the first element of a device that names what it may not, or NULL. A log, a disk and
 * whatever else QEMU opens count, not channels alone. */
static const xmlNode *
find_of_another(const struct domain *domain)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    const xmlNode *node = devices ? next_below(devices, devices) : NULL;
    cleanup_free char *own = wire_report_path(domain->uuid);

    while (node && !has_of_another(node, own))
        node = next_below(node, devices);
    return node;
}

bool
wire_report_is_of_another(const struct domain *domain)
{
    return find_of_another(domain);
}

int
wire_report_check(const struct domain *domain, struct failure **failure)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    const xmlNode *device = find_of_another(domain);

    if (!device)
        return 0;
    while (device->parent != devices)
        device = device->parent;
    return failure_set_at(failure, FAILURE_FOREIGN_REPORT, xml_line(device),
                          "a <%s> leads into %s, where a domain may have its own report "
                          "alone, at the end of a channel\n"
                          "give it another file, or take it away: virsh edit",
                          (const char *)device->name, VIRT_SEED_REPORTDIR);
}

/* --- the channel -------------------------------------------------------------------- */

static xmlNode *
first_channel(const struct domain *domain)
{
    return xml_child(xml_child(domain->root, "devices"), "channel");
}

static bool
is_ours(const xmlNode *channel)
{
    const xmlNode *source = xml_child(channel, "source");
    cleanup_free char *path = source ? path_of(source, "path") : NULL;

    return path;
}

static bool
has_port(const xmlNode *channel)
{
    const xmlNode *target = xml_child(channel, "target");

    return target && xml_attribute_is(target, "name", REPORT_PORT);
}

/* Return: whether it is the guest's port and a file, as far as that is not the file itself. */
static bool
is_file_of_port(const xmlNode *channel)
{
    return xml_attribute_is(channel, "type", "file") && has_port(channel) &&
           xml_attribute_is(xml_child(channel, "target"), "type", "virtio");
}

/* Return: the first channel of ours that can stay, or NULL. */
static xmlNode *
find_ours(const struct domain *domain)
{
    for (xmlNode *node = first_channel(domain); node; node = xml_next(node, "channel")) {
        if (is_ours(node) && is_file_of_port(node))
            return node;
    }
    return NULL;
}

bool
wire_report_is_by_user(const struct domain *domain)
{
    for (xmlNode *node = first_channel(domain); node; node = xml_next(node, "channel")) {
        if (!is_ours(node) && has_port(node))
            return true;
    }
    return false;
}

bool
wire_report_is_there(const struct domain *domain)
{
    const xmlNode *node = find_ours(domain);
    const xmlNode *source = node ? xml_child(node, "source") : NULL;
    cleanup_free char *own = wire_report_path(domain->uuid);

    return source && xml_attribute_is(source, "path", own) &&
           xml_attribute_is(source, "append", "on");
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

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
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

/* Removes our channels but `keep`; all of them for NULL. */
static void
remove_but(struct domain *domain, const xmlNode *keep, struct wiring *wiring)
{
    xmlNode *next;

    for (xmlNode *node = first_channel(domain); node; node = next) {
        bool stays = node == keep || !is_ours(node);

        next = xml_next(node, "channel");
        if (stays)
            continue;
        xml_remove(node);
        wiring_note(wiring, "report channel removed");
    }
}

static void
mend(xmlNode *channel, const char *own, struct wiring *wiring)
{
    xmlNode *source = xml_child(channel, "source");
    bool of_another = is_of_another(source, "path", own);

    if (!xml_attribute_is(source, "path", own)) {
        xml_set_attribute(source, "path", own);
        wiring_note(wiring, of_another
                                ? "the report channel had another domain's file and "
                                  "has this one's now"
                                : "the path of the report channel spelled anew");
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
        return;
    }
    remove_but(domain, ours, wiring);
    if (ours)
        mend(ours, path, wiring);
    else if (!wire_report_is_by_user(domain))
        add(domain, path, wiring);
}

void
wire_remove_report(struct domain *domain, struct wiring *wiring)
{
    xmlNode *devices = xml_child(domain->root, "devices");

    remove_but(domain, NULL, wiring);
    if (devices)
        remove_controller(devices, wiring);
}
