/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: only devices that are known to touch nothing of the host's stay, each as
 * its row says. All others are left out, so that a device that libvirt adds one day cannot
 * write to what belongs to the domain.
 */
#include "config.h"

#include "base/names.h"
#include "cli/rehearsal.h"
#include "domain/xml.h"
#include "wire/wire.h"

static char *
path_of(const struct rehearsal *rehearsal, const char *name)
{
    return xasprintf("%s/%s/%s", scope()->trydir, rehearsal->uuid, name);
}

static void
remove_children(xmlNode *node, const char *name)
{
    xmlNode *child;

    while ((child = xml_child(node, name)))
        xml_remove(child);
}

static void
set_source(xmlNode *device, const char *attribute, const char *value)
{
    remove_children(device, "source");
    xml_set_attribute(xml_add_child(device, "source"), attribute, value);
}

static void
leave_out(struct rehearsal *rehearsal, xmlNode *node)
{
    cleanup_free char *name =
        xasprintf("<%s%s>", node->ns ? "qemu:" : "", (const char *)node->name);

    if (!texts_have(rehearsal->left_out, rehearsal->left_out_count, name))
        texts_add(&rehearsal->left_out, &rehearsal->left_out_count, steal(name));
    xml_remove(node);
}

/* --- disks -------------------------------------------------------------------------- */

static int
fail_disk(const xmlNode *disk, const char *reason, struct failure **failure)
{
    cleanup_free char *target = xml_attribute(xml_child(disk, "target"), "dev");

    return failure_set_at(failure, FAILURE_DOMAIN, xml_line(disk),
                          "disk '%s' %s, so it cannot have an overlay\n"
                          "a rehearsal needs disks in files or on block devices",
                          target ? target : "", reason);
}

static int
rewrite_disk(struct rehearsal *rehearsal, xmlNode *disk, struct failure **failure)
{
    xmlNode *source = xml_child(disk, "source");
    xmlNode *driver = xml_child(disk, "driver");
    cleanup_free char *file = xml_attribute(source, "file");
    cleanup_free char *device = xml_attribute(source, "dev");
    cleanup_free char *format = xml_attribute(driver, "type");
    cleanup_free char *type = xml_attribute(disk, "type");
    struct rehearsal_disk overlay;
    cleanup_free char *path = NULL;

    if (file && seed_path_is(file)) {
        cleanup_free char *seed = path_of(rehearsal, REHEARSAL_SEED);

        set_source(disk, "file", seed);
        return 0;
    }
    if (xml_attribute_is(disk, "device", "lun"))
        return fail_disk(disk, "passes SCSI commands to its device", failure);
    /* Nobody writes to these. */
    if (!source || xml_attribute_is(disk, "device", "cdrom") ||
        xml_child(disk, "readonly"))
        return 0;
    if (xml_attribute_is(disk, "device", "floppy")) {
        remove_children(disk, "source");
        return 0;
    }
    if (xml_child(disk, "encryption") || xml_child(source, "encryption"))
        return fail_disk(disk, "is encrypted", failure);
    if (xml_child(source, "slices"))
        return fail_disk(disk, "is a slice of its file", failure);
    if (xml_child(disk, "shareable"))
        return fail_disk(disk, "is shared with domains that may write to it", failure);
    if (!file && !device) {
        cleanup_free char *reason = xasprintf("has type='%s'", type ? type : "");

        return fail_disk(disk, reason, failure);
    }
    overlay = (struct rehearsal_disk){
        .target = xml_attribute(xml_child(disk, "target"), "dev"),
        .path = file ? steal(file) : steal(device),
        .format = format ? steal(format) : xstrdup("raw"),
        .name = xasprintf("%zu.qcow2", rehearsal->disk_count),
        .base = -1,
    };
    path = path_of(rehearsal, overlay.name);
    *array_add(rehearsal->disks, rehearsal->disk_count) = overlay;
    xml_set_attribute(disk, "type", "file");
    set_source(disk, "file", path);
    xml_set_attribute(driver ? driver : xml_add_child(disk, "driver"), "type", "qcow2");
    remove_children(disk, "backingStore");
    remove_children(disk, "transient");
    return 0;
}

/* --- other devices ------------------------------------------------------------------ */

/*
 * With a port, all that the guest sends ends in this process: the network is there, and
 * nobody else is in it. An interface that is a device of the host's becomes an emulated
 * one; in the domain's own network it is left out.
 */
static void
rewrite_interface(struct rehearsal *rehearsal, xmlNode *interface)
{
    static const char *const kept[] = {"mac", "model", "address", "boot", "alias",
                                       "rom", "link",  "acpi",    NULL};
    cleanup_free char *port = xasprintf("%d", rehearsal->port);
    bool is_of_host = xml_attribute_is(interface, "type", "hostdev") ||
                      xml_attribute_is(interface, "type", "vdpa") ||
                      xml_attribute_is(interface, "type", "vhostuser");
    xmlNode *source;

    if (rehearsal->port == 0 && is_of_host) {
        leave_out(rehearsal, interface);
        return;
    }
    if (rehearsal->port == 0) {
        /* A name of a host's device that the domain may still have, and passt's log. */
        remove_children(interface, "target");
        xmlUnsetProp(xml_child(interface, "backend"), (const xmlChar *)"logFile");
        return;
    }
    xml_foreach_element(child, interface) {
        if (!word_is_in((const char *)child->name, kept))
            xml_remove(child);
    }
    xml_set_attribute(interface, "type", "client");
    source = xml_add_child(interface, "source");
    xml_set_attribute(source, "address", "127.0.0.1");
    xml_set_attribute(source, "port", port);
}

/* The first serial port becomes a file, which is shown if the rehearsal fails. */
static void
rewrite_serial(struct rehearsal *rehearsal, xmlNode *serial)
{
    cleanup_free char *path = path_of(rehearsal, REHEARSAL_CONSOLE);
    bool first = serial == xml_child(serial->parent, "serial");

    remove_children(serial, "source");
    remove_children(serial, "protocol");
    xml_set_attribute(serial, "type", first ? "file" : "null");
    if (first)
        set_source(serial, "path", path);
}

/* Only the report's stays, which may be one that the user made for another program. */
static void
rewrite_channel(struct rehearsal *rehearsal, xmlNode *channel)
{
    cleanup_free char *path = report_path(rehearsal->uuid, REPORT_SUFFIX);

    if (xml_attribute_is(xml_child(channel, "target"), "name", REPORT_PORT)) {
        remove_children(channel, "protocol");
        xml_set_attribute(channel, "type", "file");
        set_source(channel, "path", path);
        xml_set_attribute(xml_child(channel, "source"), "append", "on");
    } else {
        xml_remove(channel);
    }
}

/* libvirt's action "dump" writes the guest's memory to a file. */
static void
rewrite_watchdog(struct rehearsal *rehearsal, xmlNode *watchdog)
{
    if (xml_attribute_is(watchdog, "action", "dump"))
        xml_set_attribute(watchdog, "action", "none");
}

/* Its state goes with the rehearsal. */
static void
rewrite_tpm(struct rehearsal *rehearsal, xmlNode *tpm)
{
    xmlUnsetProp(xml_child(tpm, "backend"), (const xmlChar *)"persistent_state");
}

/* What the domain's own process would use: other devices stay if they are only emulated. */
static bool
is_emulated(const xmlNode *device)
{
    const xmlNode *backend = xml_child(device, "backend");

    if (strcmp((const char *)device->name, "input") == 0)
        return !xml_attribute_is(device, "type", "passthrough") &&
               !xml_attribute_is(device, "type", "evdev");
    if (strcmp((const char *)device->name, "rng") == 0)
        return xml_attribute_is(backend, "model", "random") ||
               xml_attribute_is(backend, "model", "builtin");
    if (strcmp((const char *)device->name, "tpm") == 0)
        return xml_attribute_is(backend, "type", "emulator") &&
               !xml_child(backend, "source");
    return true;
}

static const struct {
    const char *name;
    void (*rewrite)(struct rehearsal *rehearsal, xmlNode *device); /* NULL: it stays */
    bool needless; /* not needed by a guest that nobody looks at: left out, not told */
} devices[] = {
    {"interface", rewrite_interface, false},
    {"serial", rewrite_serial, false},
    {"channel", rewrite_channel, false},
    {"emulator", NULL, false},
    {"controller", NULL, false},
    {"input", NULL, false},
    {"video", NULL, false},
    {"rng", NULL, false},
    {"memballoon", NULL, false},
    {"watchdog", rewrite_watchdog, false},
    {"panic", NULL, false},
    {"iommu", NULL, false},
    {"tpm", rewrite_tpm, false},
    {"console", NULL, true},
    {"parallel", NULL, true},
    {"graphics", NULL, true},
    {"sound", NULL, true},
    {"audio", NULL, true},
    {"redirdev", NULL, true},
    {"redirfilter", NULL, true},
    {"smartcard", NULL, true},
};

static void
rewrite_device(struct rehearsal *rehearsal, xmlNode *device)
{
    for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
        if (strcmp((const char *)device->name, devices[i].name) != 0)
            continue;
        if (devices[i].needless) {
            xml_remove(device);
            return;
        }
        if (!is_emulated(device))
            break;
        remove_children(device, "log");
        if (devices[i].rewrite)
            devices[i].rewrite(rehearsal, device);
        return;
    }
    leave_out(rehearsal, device);
}

/* --- the machine -------------------------------------------------------------------- */

/* Only QEMU itself can show the guest another UUID than libvirt's. */
static void
add_smbios_uuid(xmlNode *root, const char *uuid)
{
    cleanup_free char *value = xasprintf("type=1,uuid=%s", uuid);
    xmlNs *ns = xmlNewNs(root, (const xmlChar *)QEMU_NAMESPACE, (const xmlChar *)"qemu");
    xmlNode *line = xml_add_child(root, "commandline");
    const char *const words[] = {"-smbios", value};

    ns = ns ? ns : xmlSearchNsByHref(root->doc, root, (const xmlChar *)QEMU_NAMESPACE);
    xmlSetNs(line, ns);
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        xmlNode *argument = xml_add_child(line, "arg");

        xmlSetNs(argument, ns);
        xml_set_attribute(argument, "value", words[i]);
    }
}

static void
rewrite_identity(struct rehearsal *rehearsal, const struct domain *domain)
{
    xmlNode *root = domain->root;
    xmlNode *system = xml_child(xml_child(root, "sysinfo"), "system");

    if (wire_has_smbios(domain))
        add_smbios_uuid(root, domain->uuid);
    xmlNodeSetContent(xml_child(root, "uuid"), (const xmlChar *)rehearsal->uuid);
    /* It may have "&", which xmlNodeSetContent() takes for an entity. */
    xmlNodeSetContent(xml_child(root, "name"), NULL);
    xmlNodeAddContent(xml_child(root, "name"), (const xmlChar *)rehearsal->name);
    /* libvirt requires it to be the <uuid>. */
    xml_foreach(entry, system, "entry") {
        if (xml_attribute_is(entry, "name", "uuid"))
            xml_remove(entry);
    }
}

static int
rewrite_firmware(struct rehearsal *rehearsal, xmlNode *root, struct failure **failure)
{
    xmlNode *os = xml_child(root, "os");
    xmlNode *loader = xml_child(os, "loader");
    xmlNode *nvram = xml_child(os, "nvram");
    xmlNode *source = xml_child(nvram, "source");
    cleanup_free char *path = path_of(rehearsal, REHEARSAL_NVRAM);
    cleanup_free char *firmware = loader ? xml_text(loader) : NULL;
    const bool is_flash = xml_attribute_is(loader, "type", "pflash");
    const bool has_variables = is_flash || xml_attribute_is(os, "firmware", "efi");
    /* QEMU writes to such a file unless libvirt is told that it must not. */
    const bool is_flash_file = is_flash && firmware && *firmware;

    if (xml_attribute_is(loader, "readonly", "no") ||
        (is_flash_file && !xml_attribute_is(loader, "readonly", "yes")))
        return failure_set_at(failure, FAILURE_DOMAIN, xml_line(os),
                              "its guest may write to the firmware itself\n"
                              "a rehearsal needs <loader readonly='yes'>");
    /* Otherwise, libvirt would choose a file of the rehearsal's name, and keep it. */
    if (!nvram && has_variables && !xml_attribute_is(loader, "stateless", "yes"))
        xmlNodeSetContent(xml_add_child(os, "nvram"), (const xmlChar *)path);
    if (!nvram)
        return 0;
    rehearsal->nvram = source ? xml_attribute(source, "file") : xml_text(nvram);
    if (!rehearsal->nvram)
        return failure_set_at(failure, FAILURE_DOMAIN, xml_line(nvram),
                              "the firmware's variables are not in a file\n"
                              "a rehearsal needs an <nvram> that is one");
    if (source)
        xml_set_attribute(source, "file", path);
    else
        xmlNodeSetContent(nvram, (const xmlChar *)path);
    return 0;
}

int
rehearsal_rewrite(struct rehearsal *rehearsal, struct domain *domain,
                  struct failure **failure)
{
    xmlNode *root = domain->root;

    xml_foreach_element(child, xml_child(root, "devices")) {
        if (strcmp((const char *)child->name, "disk") != 0)
            rewrite_device(rehearsal, child);
        else if (rewrite_disk(rehearsal, child, failure) < 0)
            return -1;
    }
    xml_foreach_element(child, root) {
        if (child->ns)
            leave_out(rehearsal, child);
    }
    /* The request too: the seed is made already. */
    remove_children(root, "metadata");
    /* No core file either; a crash ends the rehearsal. */
    remove_children(root, "on_crash");
    rewrite_identity(rehearsal, domain);
    return rewrite_firmware(rehearsal, root, failure);
}

void
rehearsal_clear(struct rehearsal *rehearsal)
{
    for (size_t i = 0; i < rehearsal->disk_count; i++) {
        free(rehearsal->disks[i].target);
        free(rehearsal->disks[i].path);
        free(rehearsal->disks[i].format);
        free(rehearsal->disks[i].name);
        close_pointer(&rehearsal->disks[i].base);
    }
    free(rehearsal->disks);
    free(rehearsal->name);
    free(rehearsal->nvram);
    texts_free(rehearsal->left_out, rehearsal->left_out_count);
    close_pointer(&rehearsal->lock);
    close_pointer(&rehearsal->directory);
    close_pointer(&rehearsal->parent);
    *rehearsal = REHEARSAL_NONE;
}
