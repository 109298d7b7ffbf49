/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fnmatch.h>

#include "base/fs.h"
#include "base/names.h"
#include "domain/domain.h"
#include "domain/uuid.h"
#include "domain/xml.h"
#include "host/forbidden-paths.h"
#include "host/label.h"

/* --- SMBIOS ------------------------------------------------------------------------- */

xmlNode *
domain_find_sysinfo(const struct domain *domain)
{
    xmlNode *node = xml_child(domain->root, "sysinfo");

    while (node && !xml_attribute_is(node, "type", "smbios"))
        node = xml_next(node, "sysinfo");
    return node;
}

static xmlNode *
find_system_entry(const struct domain *domain, const char *name)
{
    const xmlNode *system = xml_child(domain_find_sysinfo(domain), "system");
    xmlNode *entry = xml_child(system, "entry");

    while (entry && !xml_attribute_is(entry, "name", name))
        entry = xml_next(entry, "entry");
    return entry;
}

xmlNode *
domain_find_serial(const struct domain *domain)
{
    return find_system_entry(domain, "serial");
}

/* --- the UUID ----------------------------------------------------------------------- */

/* An element without text is none. `name` is what the element is called. */
static int
read_uuid(char uuid[UUID_LENGTH + 1], const xmlNode *node, const char *name,
          struct failure **failure)
{
    cleanup_free char *text = xml_text(node);
    const bool is_uuid = uuid_read(uuid, text);

    if (is_uuid || !*text)
        return 0;
    return failure_set_at(failure, FAILURE_DOMAIN_UUID, xml_line(node),
                          "%s is '%.64s', expected 32 hex digits\n"
                          "fix it, or remove the element: libvirt generates a UUID",
                          name, text);
}

/* Without a <uuid>, libvirt takes that of <sysinfo>; both must be the same
 * (virSysinfoSystemParseXML). */
static int
read_uuids(struct domain *domain, struct failure **failure)
{
    const xmlNode *entry = find_system_entry(domain, "uuid");
    char in_sysinfo[UUID_LENGTH + 1];

    if (read_uuid(domain->uuid, xml_child(domain->root, "uuid"), "<uuid>", failure) < 0 ||
        read_uuid(in_sysinfo, entry, "the uuid in <sysinfo>", failure) < 0)
        return -1;
    if (!*domain->uuid)
        memcpy(domain->uuid, in_sysinfo, sizeof(in_sysinfo));
    if (!*in_sysinfo || strcmp(in_sysinfo, domain->uuid) == 0)
        return 0;
    return failure_set_at(failure, FAILURE_DOMAIN_UUID, xml_line(entry),
                          "the uuid in <sysinfo> is '%s', but <uuid> is '%s'\n"
                          "remove one of them, or make them the same: libvirt refuses "
                          "the domain",
                          in_sysinfo, domain->uuid);
}

/* --- reading ------------------------------------------------------------------------ */

/* Return: what the XML calls the disk's content; owned by the caller (free). */
static char *
read_disk_name(const xmlNode *node, const char *path)
{
    const xmlNode *source = xml_child(node, "source");
    cleanup_free char *type = xml_attribute(node, "type");
    char *name;

    if (path)
        return xstrdup(path);
    name = xml_attribute(source, "volume");
    if (!name)
        name = xml_attribute(source, "name");
    if (name || !source || !type)
        return name;
    /* An empty drive; or a directory, of which QEMU makes a volume with its own label. */
    if (strcmp(type, "file") == 0 || strcmp(type, "block") == 0 ||
        strcmp(type, "dir") == 0)
        return NULL;
    return steal(type);
}

static void
read_disk(struct disk *disk, xmlNode *node)
{
    const xmlNode *target = xml_child(node, "target");
    const xmlNode *source = xml_child(node, "source");
    cleanup_free char *bus = xml_attribute(target, "bus");

    disk->node = node;
    disk->device = xml_attribute(node, "device");
    if (!disk->device)
        disk->device = xstrdup("disk");
    disk->source = xml_attribute(source, "file");
    if (!disk->source)
        disk->source = xml_attribute(source, "dev");
    disk->name = read_disk_name(node, disk->source);
    disk->is_volume = xml_attribute_is(node, "type", "volume");
    disk->format = xml_attribute(xml_child(node, "driver"), "type");
    disk->target = xml_attribute(target, "dev");
    if (!disk->target)
        disk->target = xstrdup("");
    disk->bus = bus ? domain_bus_parse(bus) : target_default_bus(disk->target);
    disk->boot_order = xml_attribute_number(xml_child(node, "boot"), "order", 65535);
    if (disk->boot_order < 0)
        disk->boot_order = 0;
    disk->address = target_address(disk->bus, disk->target, xml_child(node, "address"));
}

static void
mark_root_disk(struct domain *domain)
{
    struct disk *root = NULL;
    long first = LONG_MAX;

    for (size_t i = 0; i < domain->disk_count; i++) {
        struct disk *disk = &domain->disks[i];
        /* An order comes before none. */
        const long order = disk->boot_order ? disk->boot_order : LONG_MAX;

        if (strcmp(disk->device, "disk") != 0 && strcmp(disk->device, "lun") != 0)
            continue;
        if (root && order >= first)
            continue;
        root = disk;
        first = order;
    }
    if (root)
        root->is_root = true;
}

int
domain_read(struct domain *domain, xmlDoc *doc, struct failure **failure)
{
    xmlNode *root = xmlDocGetRootElement(doc);
    static const char *const counted[] = {"controller", "hostdev", "disk"};
    cleanup_free char *type = xml_attribute(root, "type");
    const xmlNode *os_type, *devices;
    size_t count = 0;

    *domain = (struct domain){.root = root};
    if (root->ns && root->ns->href && strcmp((const char *)root->name, "domain") == 0)
        return failure_set_at(failure, FAILURE_DOMAIN, xml_line(root),
                              "<domain> is in the namespace '%.64s', expected none\n"
                              "remove its xmlns",
                              (const char *)root->ns->href);
    if (root->ns || strcmp((const char *)root->name, "domain") != 0)
        return failure_set_at(failure, FAILURE_DOMAIN, xml_line(root),
                              "the root element is <%s>, expected <domain>\n"
                              "use the output of 'virsh dumpxml DOMAIN'",
                              root->name);
    if (!type)
        return failure_set_at(failure, FAILURE_DOMAIN, xml_line(root),
                              "<domain> has no type\nuse type='kvm' or type='qemu'");
    if (strcmp(type, "kvm") != 0 && strcmp(type, "qemu") != 0 && strcmp(type, "hvf") != 0)
        return failure_set_at(failure, FAILURE_DOMAIN, xml_line(root),
                              "<domain type='%s'> is not a QEMU domain\n"
                              "use type='kvm' or type='qemu'",
                              type);
    if (read_uuids(domain, failure) < 0)
        return -1;
    domain->name = xml_text(xml_child(root, "name"));
    if (!*domain->name)
        return failure_set(failure, FAILURE_DOMAIN,
                           "the domain has no <name>\nadd <name>…</name>");
    os_type = xml_child(xml_child(root, "os"), "type");
    domain->arch = xml_attribute(os_type, "arch");
    domain->machine = xml_attribute(os_type, "machine");
    devices = xml_child(root, "devices");
    for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
        count = 0;
        xml_foreach(node, devices, counted[i])
            count++;
        if (count > LIMIT_DEVICES)
            return failure_set(failure, FAILURE_LIMIT,
                               "the domain has %zu <%s> elements, at most %d\n"
                               "remove some: QEMU would not have room for them either",
                               count, counted[i], LIMIT_DEVICES);
    }
    /* The disks were counted last. */
    domain->disks = xcalloc(count, sizeof(*domain->disks));
    xml_foreach(node, devices, "disk")
        read_disk(&domain->disks[domain->disk_count++], node);
    mark_root_disk(domain);
    return 0;
}

int
domain_require_uuid(const struct domain *domain, struct failure **failure)
{
    if (*domain->uuid)
        return 0;
    return failure_set(failure, FAILURE_DOMAIN_UUID,
                       "the domain has no <uuid>\n"
                       "add one, or run 'virt-seed wire' or 'virsh define', which do");
}

char *
domain_emulator(const struct domain *domain)
{
    const xmlNode *devices = xml_child(domain->root, "devices");
    cleanup_free char *path = xml_text(xml_child(devices, "emulator"));

    return xstrdup(fs_base_name(path));
}

bool
domain_uses_shim(const struct domain *domain)
{
    cleanup_free char *name = domain_emulator(domain);

    return strncmp(name, SHIM_NAME, strlen(SHIM_NAME)) == 0;
}

bool
domain_is_windows(const struct domain *domain)
{
    return domain_is_os(domain, "microsoft.com/");
}

bool
domain_is_os(const struct domain *domain, const char *text)
{
    const xmlNode *metadata = xml_child(domain->root, "metadata");

    xml_foreach_element(node, metadata) {
        if (strcmp((const char *)node->name, "libosinfo") != 0)
            continue;
        xml_foreach_element(os, node) {
            cleanup_free char *id = xml_attribute(os, "id");

            if (id && strstr(id, text))
                return true;
        }
    }
    return false;
}

static void
disk_clear(struct disk *disk)
{
    free(disk->device);
    free(disk->source);
    free(disk->name);
    free(disk->format);
    free(disk->target);
}

void
domain_remove_disk(struct domain *domain, size_t index)
{
    xml_remove(domain->disks[index].node);
    disk_clear(&domain->disks[index]);
    domain->disk_count--;
    memmove(&domain->disks[index], &domain->disks[index + 1],
            (domain->disk_count - index) * sizeof(*domain->disks));
}

int
domain_check_paths(const struct domain *domain, int root, struct failure **failure)
{
    cleanup_buffer struct buffer xml = xml_format_as_libvirt(domain->root);

    return forbidden_paths_check(root, &xml, domain->uuid, failure);
}

void
domain_clear(struct domain *domain)
{
    for (size_t i = 0; i < domain->disk_count; i++)
        disk_clear(&domain->disks[i]);
    free(domain->disks);
    free(domain->name);
    free(domain->arch);
    free(domain->machine);
    *domain = (struct domain){0};
}

/* --- the seed's disk ------------------------------------------------------------------ */

/* Return: whether the path is that of a domain's file in any scope's directory of seeds or
 * reports: it has the name UUID and the suffix there. */
static bool
is_in_any_scope(const char *path, const char *suffix)
{
    static const char *const directories[] = {
        VIRT_SEED_RUNDIR,
        VIRT_SEED_REPORTDIR,
        (VIRT_SEED_RUNSTATEDIR "/user/*/libvirt/virt-seed"),
        "/*/.cache/libvirt/virt-seed",
        "/*/.local/state/virt-seed",
    };
    const char *name = fs_base_name(path);
    cleanup_free char *uuid = xstrndup(name, strnlen(name, UUID_LENGTH));
    cleanup_free char *directory = xstrndup(path, (size_t)(name - path));

    if (!text_is_uuid(uuid) || strcmp(name + UUID_LENGTH, suffix) != 0)
        return false;
    if (*directory)
        directory[strlen(directory) - 1] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
        if (fnmatch(directories[i], directory, 0) == 0)
            return true;
    }
    return false;
}

bool
path_is_kept(const char *path, const char *directory, const char *suffix)
{
    return fs_is_below(path, directory) || is_in_any_scope(path, suffix);
}

bool
seed_path_is(const char *path)
{
    return path && path_is_kept(path, scope()->rundir, SEED_SUFFIX);
}

bool
seed_path_is_elsewhere(const char *path)
{
    return seed_path_is(path) && !fs_is_below(path, scope()->rundir);
}

bool
disk_may_have_label(const struct disk *disk)
{
    if (!disk->source || disk->label || seed_path_is(disk->source))
        return false;
    if (disk->source[0] != '/' || strlen(disk->source) >= PATH_MAX)
        return false;
    return !disk->format || strcmp(disk->format, "raw") == 0 ||
           strcmp(disk->format, "qcow2") == 0;
}

void
domain_read_labels(struct domain *domain)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        struct disk *disk = &domain->disks[i];

        if (disk_may_have_label(disk))
            disk->label = label_find(disk->source);
    }
}

const struct disk *
seed_path_find_disk(const struct domain *domain)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        if (seed_path_is(domain->disks[i].source))
            return &domain->disks[i];
    }
    return NULL;
}
