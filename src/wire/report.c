/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/names.h"
#include "domain/xml.h"
#include "wire/parts.h"

/* libvirt keeps an alias only if it begins with "ua-". */
#define CONTROLLER_ALIAS "ua-virt-seed-serial"

/* A port of the guest's, and the file that its channel writes. */
struct port {
    const char *name;
    const char *suffix;
    const char *alias; /* of the channel */
    const char *what;
};

static const struct port report = {REPORT_PORT, REPORT_SUFFIX, "ua-virt-seed-report",
                                   "report"};
static const struct port guest_log = {LOG_PORT, LOG_SUFFIX, "ua-virt-seed-log", "log"};

/* Return: the path, with "//" and "/./" collapsed to "/", if it is in our directory, or a
 * report or log of another scope, owned by the caller (free); else NULL. A path with ".."
 * after the directory counts as in it. */
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
    if (path_is_kept(path, scope()->reportdir, REPORT_SUFFIX) ||
        path_is_kept(path, scope()->reportdir, LOG_SUFFIX))
        return steal(path);
    return NULL;
}

static bool
is_own(const char *path, const char *uuid)
{
    cleanup_free char *own_report = report_path(uuid, REPORT_SUFFIX);
    cleanup_free char *own_log = report_path(uuid, LOG_SUFFIX);

    return strcmp(path, own_report) == 0 || strcmp(path, own_log) == 0;
}

/* Return: whether the element names a file in our directory that the domain may not use.
 * It may use its own report and log, and these only for a channel. */
static bool
names_foreign_report(const xmlNode *node, const char *uuid)
{
    const bool is_channel_source = xmlStrEqual(node->name, BAD_CAST "source") &&
                                   xmlStrEqual(node->parent->name, BAD_CAST "channel");

    for (const xmlAttr *attribute = node->properties; attribute;
         attribute = attribute->next) {
        const char *name = (const char *)attribute->name;

        if (strcmp(name, "path") == 0 || strcmp(name, "file") == 0) {
            cleanup_free char *path = path_in_reports(node, name);

            if (path && !(is_channel_source && is_own(path, uuid)))
                return true;
        }
    }
    return false;
}

/* Return: the first such element, or NULL. It may be of any device, since QEMU opens logs
 * and disks as well. */
static const xmlNode *
find_foreign_report(const struct domain *domain)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    const xmlNode *node = devices ? xml_next_below(devices, devices) : NULL;

    while (node && !names_foreign_report(node, domain->uuid))
        node = xml_next_below(node, devices);
    return node;
}

int
wire_report_check(const struct domain *domain, struct failure **failure)
{
    const xmlNode *device = find_foreign_report(domain);

    if (!device)
        return 0;
    while (strcmp((const char *)device->parent->name, "devices") != 0)
        device = device->parent;
    return failure_set_at(failure, FAILURE_FOREIGN_REPORT, xml_line(device),
                          "a <%s> uses a file in %s, where a domain may use only its own "
                          "report and log, and only for a channel\n"
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
find_ours(const struct domain *domain, const struct port *port, bool *user_port)
{
    xmlNode *ours = NULL;

    *user_port = false;
    xml_foreach(node, xml_child(domain->root, "devices"), "channel") {
        const xmlNode *target = xml_child(node, "target");

        if (!xml_attribute_is(target, "name", port->name))
            continue;
        if (!is_ours(node))
            *user_port = true;
        else if (!ours && xml_attribute_is(node, "type", "file") &&
                 xml_attribute_is(target, "type", "virtio"))
            ours = node;
    }
    return ours;
}

/* Return: whether the domain has the channel as wire_report() makes it. */
static bool
has_port(const struct domain *domain, const struct port *port, bool *user_port)
{
    cleanup_free char *own = report_path(domain->uuid, port->suffix);
    const xmlNode *source = xml_child(find_ours(domain, port, user_port), "source");

    return xml_attribute_is(source, "path", own) &&
           xml_attribute_is(source, "append", "on");
}

void
wire_report_read(struct wire_facts *facts, const struct domain *domain)
{
    /* That the log's port is the user's does not matter: the report's comes last. */
    facts->logs = has_port(domain, &guest_log, &facts->user_port);
    facts->reports = has_port(domain, &report, &facts->user_port);
    facts->report_of_another = find_foreign_report(domain);
}

static void
add(struct domain *domain, const struct port *port, struct wiring *wiring)
{
    cleanup_free char *path = report_path(domain->uuid, port->suffix);
    xmlNode *channel = wire_add_device(domain, "channel", "console");
    xmlNode *node;

    xml_set_attribute(channel, "type", "file");
    node = xml_add_child(channel, "source");
    xml_set_attribute(node, "path", path);
    xml_set_attribute(node, "append", "on");
    node = xml_add_child(channel, "target");
    xml_set_attribute(node, "type", "virtio");
    xml_set_attribute(node, "name", port->name);
    xml_set_attribute(xml_add_child(channel, "alias"), "name", port->alias);
    wiring_note(wiring, "%s channel added", port->what);
    /* libvirt would add a controller itself, but keep it after the channel is removed. */
    xml_foreach(other, channel->parent, "controller") {
        if (xml_attribute_is(other, "type", "virtio-serial"))
            return;
    }
    node = wire_add_device(domain, "controller", "disk");
    xml_set_attribute(node, "type", "virtio-serial");
    xml_set_attribute(node, "index", "0");
    xml_set_attribute(xml_add_child(node, "alias"), "name", CONTROLLER_ALIAS);
    wire_place_controller(domain, node);
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

/* Either may be NULL. */
static void
remove_channels_except(struct domain *domain, const xmlNode *reports, const xmlNode *logs,
                       struct wiring *wiring)
{
    xml_foreach(node, xml_child(domain->root, "devices"), "channel") {
        const bool is_log = xml_attribute_is(xml_child(node, "target"), "name", LOG_PORT);

        if (node == reports || node == logs || !is_ours(node))
            continue;
        xml_remove(node);
        wiring_note(wiring, "%s channel removed", is_log ? "log" : "report");
    }
}

static void
repair(struct domain *domain, const struct port *port, xmlNode *channel,
       struct wiring *wiring)
{
    cleanup_free char *own = report_path(domain->uuid, port->suffix);
    xmlNode *source = xml_child(channel, "source");

    if (!xml_attribute_is(source, "path", own)) {
        cleanup_free char *path = path_in_reports(source, "path");

        xml_set_attribute(source, "path", own);
        if (path && strcmp(path, own) == 0)
            wiring_note(wiring, "the %s channel's path normalized", port->what);
        else
            wiring_note(wiring,
                        "the %s channel changed from another domain's file to "
                        "this one's",
                        port->what);
    }
    /* Otherwise QEMU would truncate the file when a guest is restored. */
    if (!xml_attribute_is(source, "append", "on")) {
        xml_set_attribute(source, "append", "on");
        wiring_note(wiring, "the %s channel set to append", port->what);
    }
}

void
wire_report(struct domain *domain, const struct request *request,
            const struct wire_options *options, struct wiring *wiring)
{
    bool user_port, user_log_port;
    xmlNode *reports = find_ours(domain, &report, &user_port);
    xmlNode *logs = find_ours(domain, &guest_log, &user_log_port);
    /* The log's alone, if the report is the user's, would be of no use. */
    const bool wants_log = request->log && !user_port;

    if (!request_wants_report(request)) {
        wire_remove_report(domain, wiring);
        return;
    }
    remove_channels_except(domain, reports, wants_log ? logs : NULL, wiring);
    if (reports)
        repair(domain, &report, reports, wiring);
    else if (!user_port)
        add(domain, &report, wiring);
    if (!wants_log)
        return;
    if (logs)
        repair(domain, &guest_log, logs, wiring);
    else if (!user_log_port && (options->add_log || !reports))
        add(domain, &guest_log, wiring);
}

void
wire_remove_report(struct domain *domain, struct wiring *wiring)
{
    xmlNode *controller;

    remove_channels_except(domain, NULL, NULL, wiring);
    controller = wire_find_controller(domain, CONTROLLER_ALIAS);
    if (!controller || controller_is_used(domain))
        return;
    xml_remove(controller);
    wiring_note(wiring, "virtio-serial controller removed");
}
