/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/names.h"
#include "domain/uuid.h"
#include "domain/xml.h"
#include "wire/parts.h"

/* --- the changes -------------------------------------------------------------------- */

void
wiring_note(struct wiring *wiring, const char *format, ...)
{
    va_list arguments;
    char *change;

    va_start(arguments, format);
    change = xvasprintf(format, arguments);
    va_end(arguments);
    utf8_replace_controls(change);
    texts_add(&wiring->changes, &wiring->change_count, change);
}

char *
wiring_describe(const struct wiring *wiring)
{
    cleanup_buffer struct buffer text = {0};

    for (size_t i = 0; i < wiring->change_count; i++)
        buffer_printf(&text, "%s%s", i > 0 ? "; " : "", wiring->changes[i]);
    return steal(text.data);
}

void
wiring_clear(struct wiring *wiring)
{
    texts_free(wiring->changes, wiring->change_count);
    *wiring = (struct wiring){0};
}

/* --- devices ------------------------------------------------------------------------ */

xmlNode *
wire_add_device(struct domain *domain, const char *name, const char *other)
{
    xmlNode *devices = xml_child(domain->root, "devices");
    xmlNode *last = NULL;

    if (!devices)
        devices = xml_add_child(domain->root, "devices");
    xml_foreach(node, devices, other)
        last = node;
    xml_foreach(node, devices, name)
        last = node;
    return last ? xml_add_after(last, name) : xml_add_child(devices, name);
}

xmlNode *
wire_find_controller(const struct domain *domain, const char *alias)
{
    xml_foreach(node, xml_child(domain->root, "devices"), "controller") {
        if (xml_attribute_is(xml_child(node, "alias"), "name", alias))
            return node;
    }
    return NULL;
}

/* Slots of the root bus to which neither libvirt nor QEMU puts a device of a q35 machine
 * unasked. */
enum {
    FIRST_FREE_SLOT = 0x10,
    LAST_FREE_SLOT = 0x17,
};

/* Return: whether a device has an address in that slot of the root bus. */
static bool
is_slot_used(const xmlNode *devices, int slot)
{
    cleanup_free char *place = xasprintf("0000:00:%02x.", (unsigned int)slot);

    xml_foreach_element(device, devices) {
        cleanup_free char *address = device_pci_address(device);

        if (address && strncmp(address, place, strlen(place)) == 0)
            return true;
    }
    return false;
}

void
wire_place_controller(const struct domain *domain, xmlNode *controller)
{
    cleanup_free char *text = NULL;
    int slot = FIRST_FREE_SLOT;
    xmlNode *address;

    if (!domain->machine || !strstr(domain->machine, "q35"))
        return;
    /* libvirt does not see the addresses of <qemu:commandline>. An encrypted guest's devices need
     * iommu='on', which QEMU refuses on the root bus, where virtio devices are transitional. */
    if (xml_child_in(domain->root, QEMU_NAMESPACE, "commandline") ||
        xml_child(domain->root, "launchSecurity"))
        return;
    while (slot <= LAST_FREE_SLOT && is_slot_used(controller->parent, slot))
        slot++;
    if (slot > LAST_FREE_SLOT)
        return;
    text = xasprintf("0x%x", (unsigned int)slot);
    address = xml_add_child(controller, "address");
    xml_set_attribute(address, "type", "pci");
    xml_set_attribute(address, "domain", "0x0000");
    xml_set_attribute(address, "bus", "0x00");
    xml_set_attribute(address, "slot", text);
    xml_set_attribute(address, "function", "0x0");
}

/* --- the emulator shim -------------------------------------------------------------- */

char *
wire_shim_emulator(const struct domain *domain)
{
    cleanup_free char *name = domain_emulator(domain);
    const char *known = strncmp(name, "qemu-", 5) == 0 ? name : "qemu-system-x86_64";

    return xasprintf("%s/" SHIM_PREFIX "%s", VIRT_SEED_BINDIR, known);
}

bool
wire_shim_can(const struct request *request)
{
    return !request->datasource->over_http &&
           (request->bus == DOMAIN_BUS_OTHER || request->bus == DOMAIN_BUS_SCSI);
}

static int
check_shim(const struct request *request, struct failure **failure)
{
    if (wire_shim_can(request))
        return 0;
    /* A URL needs a token that stays, but the shim order is written at each start. */
    if (request->datasource->over_http)
        return failure_set(failure, FAILURE_REQUEST,
                           "datasource=\"%s\", but the <emulator>, virt-seed-qemu, only "
                           "supports a seed on a disk\n"
                           "use datasource=\"nocloud\"; or set QEMU itself as the "
                           "<emulator>, and run 'virt-seed wire'",
                           request->datasource->name);
    return failure_set(failure, FAILURE_BUS,
                       "bus=\"%s\", but the <emulator>, virt-seed-qemu, only supports "
                       "scsi\n"
                       "omit bus=; or set QEMU itself as the <emulator>, and run "
                       "'virt-seed wire'",
                       domain_bus_name(request->bus));
}

/* --- the domain --------------------------------------------------------------------- */

/* Return: whether cloud-init would take a guest with that UUID for an Amazon instance: it
 * begins with "ec2", or, in the other byte order, with "....2.ec" (ds-identify,
 * ec2_identify_platform; since 24.2). */
static bool
looks_like_amazon(const char *uuid)
{
    if (strncmp(uuid, "ec2", 3) == 0)
        return true;
    return uuid[4] == '2' && uuid[6] == 'e' && uuid[7] == 'c';
}

static void
add_uuid(struct domain *domain, struct wiring *wiring)
{
    xmlNode *node = xml_child(domain->root, "uuid");

    do
        uuid_make(domain->uuid);
    while (looks_like_amazon(domain->uuid));
    if (!node)
        node = xml_add_after(xml_child(domain->root, "name"), "uuid");
    xmlNodeSetContent(node, (const xmlChar *)domain->uuid);
    wiring_note(wiring, "UUID generated");
}

int
wire_domain(struct domain *domain, const struct request *request,
            const struct wire_options *options, struct wiring *wiring,
            struct failure **failure)
{
    cleanup_wire_facts struct wire_facts found = {0};
    const struct wire_facts *facts = options->facts ? options->facts : &found;

    if (!options->facts)
        wire_facts_read(&found, domain);
    if (facts->uses_shim) {
        /* The shim adds all of it itself. */
        if (check_shim(request, failure) < 0 ||
            wire_remove_foreign(domain, options, wiring, failure) < 0)
            return -1;
        wire_remove(domain, wiring);
        if (options->replace)
            wire_remove_serial(domain, true, wiring);
        if (!wire_shim_word(domain, request, failure))
            return -1;
        wiring->needed = wiring->change_count > 0;
    } else {
        if (!*domain->uuid)
            add_uuid(domain, wiring);
        if (wire_remove_foreign(domain, options, wiring, failure) < 0 ||
            wire_disk(domain, request, wiring, failure) < 0 ||
            wire_serial(domain, facts, request, options, wiring, failure) < 0)
            return -1;
        wiring->needed = wiring->change_count > 0;
        wire_report(domain, request, options, wiring);
    }
    if (!facts->report_of_another)
        return 0;
    /* Otherwise this guest would write another domain's report. If a device still uses
     * such a file, it is the user's own. */
    wiring->needed = true;
    return wire_report_check(domain, failure);
}

void
wire_remove(struct domain *domain, struct wiring *wiring)
{
    wire_remove_disk(domain, wiring);
    wire_remove_serial(domain, false, wiring);
    wire_remove_report(domain, wiring);
}

void
wire_remove_request(struct domain *domain, struct wiring *wiring)
{
    xmlNode *node = request_find(domain);
    xmlNode *metadata;

    if (!node)
        return;
    metadata = node->parent;
    xml_remove(node);
    if (!xml_first_element(metadata))
        xml_remove(metadata);
    wiring_note(wiring, "request removed from <metadata>");
}

/* --- the facts ---------------------------------------------------------------------- */

void
wire_facts_read(struct wire_facts *facts, const struct domain *domain)
{
    cleanup_free char *own = seed_path(domain->uuid);

    *facts = (struct wire_facts){
        .disk = seed_path_find_disk(domain),
        .uses_shim = domain_uses_shim(domain),
    };
    wire_report_read(facts, domain);
    facts->own_url = seed_url_find(&facts->url, domain, &facts->seed_of_another) &&
                     strcmp(facts->url.uuid, domain->uuid) == 0;
    for (size_t i = 0; i < domain->disk_count; i++) {
        const char *source = domain->disks[i].source;

        if (seed_path_is(source) && strcmp(source, own) != 0)
            facts->seed_of_another = true;
        if (seed_path_is_elsewhere(source))
            facts->elsewhere = source;
    }
    /* If a domain with a payload does not have our disk, VDSM makes its image. */
    facts->wants_seed = request_find(domain) || facts->uses_shim;
    if (facts->disk && payload_find(domain))
        facts->wants_seed = true;
}

bool
wire_facts_are_wired(const struct wire_facts *facts)
{
    return facts->disk || facts->uses_shim || facts->own_url;
}

void
wire_facts_clear(struct wire_facts *facts)
{
    seed_url_clear(&facts->url);
}
