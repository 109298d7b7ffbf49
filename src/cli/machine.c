/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/random.h>

#include "base/child.h"
#include "cli/machine.h"
#include "domain/xml.h"

#define PROGRAM "virt-install"
#define PROGRAM_MEMORY (4096 * MIB)
#define PROGRAM_SECONDS 120

/* --- virt-install ----------------------------------------------------------------------- */

/* Runs it; what it says on standard error is the caller's to read. */
static int
run_program(const char *const *words, struct buffer *output, struct failure **failure)
{
    const struct child child = {
        .words = words,
        .output = LIMIT_DOMAIN_XML,
        .shows_errors = true,
        .memory = PROGRAM_MEMORY,
        .seconds = PROGRAM_SECONDS,
    };
    const int status = child_run(&child, output);

    buffer_append_string(output, "");
    if (status == 0)
        return 0;
    if (status == CHILD_MISSING)
        return failure_set(failure, FAILURE_SYSTEM,
                           "could not run " PROGRAM ", which writes a domain's XML\n"
                           "install it: the package virtinst, or virt-install");
    if (status == CHILD_KILLED)
        return failure_set(failure, FAILURE_SYSTEM,
                           PROGRAM " took longer than %d seconds, or wrote too much\n"
                                   "see whether it works: " PROGRAM " --osinfo list",
                           PROGRAM_SECONDS);
    return failure_set(failure, FAILURE_SYSTEM,
                       PROGRAM
                       " could not write the domain's XML; it says why above\n"
                       "change --memory, --cpus, --network, --osinfo or what follows --");
}

char *
machine_choose_system(const char *given, const char *systems, struct failure **failure)
{
    const char *const words[] = {PROGRAM, "--osinfo", "list", NULL};
    cleanup_buffer struct buffer known = {0};
    cleanup_free char *list = xstrdup(systems);
    char *rest = NULL;

    if (given)
        return xstrdup(given);
    if (run_program(words, &known, failure) < 0)
        return NULL;
    for (const char *system = strtok_r(list, " ,", &rest); system;
         system = strtok_r(NULL, " ,", &rest)) {
        const size_t length = strlen(system);

        for (const char *at = strstr(known.data, system); at;
             at = strstr(at + 1, system)) {
            const bool begins = at == known.data || strchr(" ,\n", at[-1]);

            if (begins && (!at[length] || strchr(" ,\n", at[length])))
                return xstrdup(system);
        }
    }
    return xstrdup("generic");
}

bool
machine_is_given(char *const *more, size_t count, const char *name)
{
    const size_t length = strlen(name);

    for (size_t i = 0; i < count; i++) {
        const char *word = more[i];

        if (strncmp(word, name, length) == 0 && (!word[length] || word[length] == '='))
            return true;
    }
    return false;
}

bool
machine_network_is_libvirts(const char *network)
{
    return !strpbrk(network, "=:,") && strcmp(network, "user") != 0 &&
           strcmp(network, "none") != 0;
}

char *
machine_make(const char *const (*options)[2], size_t count, char *const *more,
             size_t more_count, struct failure **failure)
{
    cleanup_free const char **words = NULL;
    cleanup_buffer struct buffer xml = {0};
    size_t word_count = 0;

    *array_add(words, word_count) = PROGRAM;
    *array_add(words, word_count) = "--quiet";
    *array_add(words, word_count) = "--print-xml";
    for (size_t i = 0; i < count; i++) {
        if (machine_is_given(more, more_count, options[i][0]))
            continue;
        *array_add(words, word_count) = options[i][0];
        *array_add(words, word_count) = options[i][1];
    }
    for (size_t i = 0; i < more_count; i++)
        *array_add(words, word_count) = more[i];
    *array_add(words, word_count) = NULL;
    if (run_program(words, &xml, failure) < 0)
        return NULL;
    return steal(xml.data);
}

/* --- one domain of it ------------------------------------------------------------------- */

static void
set_child_text(xmlNode *parent, const char *name, const char *text)
{
    xmlNode *node = xml_child(parent, name);

    if (!node)
        node = xml_add_child(parent, name);
    xmlNodeSetContent(node, NULL);
    xmlNodeAddContent(node, (const xmlChar *)text);
}

/* QEMU's prefix, and three bytes by chance, as libvirt's. */
static void
renew_macs(const xmlNode *devices)
{
    xml_foreach(interface, devices, "interface") {
        xmlNode *mac = xml_child(interface, "mac");
        unsigned char bytes[3];
        char text[sizeof("52:54:00:00:00:00")];

        if (!mac || getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
            continue;
        snprintf(text, sizeof(text), "52:54:00:%02x:%02x:%02x", bytes[0], bytes[1],
                 bytes[2]);
        xml_set_attribute(mac, "address", text);
    }
}

static bool
has_target(const xmlNode *devices, const char *target)
{
    xml_foreach(disk, devices, "disk") {
        if (xml_attribute_is(xml_child(disk, "target"), "dev", target))
            return true;
    }
    return false;
}

/* Adds it before all others, which makes it the one that the guest boots from. */
static void
add_disk(xmlNode *devices, const char *file, const char *format)
{
    xmlNode *others = xml_child(devices, "disk");
    xmlNode *disk = xml_add_child(devices, "disk");
    xmlNode *node;
    char target[] = "vda";

    while (target[2] < 'z' && has_target(devices, target))
        target[2]++;
    xml_set_attribute(disk, "type", "file");
    xml_set_attribute(disk, "device", "disk");
    node = xml_add_child(disk, "driver");
    xml_set_attribute(node, "name", "qemu");
    xml_set_attribute(node, "type", format);
    xml_set_attribute(node, "discard", "unmap");
    xml_set_attribute(xml_add_child(disk, "source"), "file", file);
    node = xml_add_child(disk, "target");
    xml_set_attribute(node, "dev", target);
    xml_set_attribute(node, "bus", "virtio");
    if (others)
        xmlAddPrevSibling(others, disk);
}

xmlDoc *
machine_name(const char *xml, const char *name, const char uuid[UUID_LENGTH + 1],
             bool is_first, const char *file, const char *format,
             struct failure **failure)
{
    cleanup_xml xmlDoc *doc = xml_parse(xml, strlen(xml), "virt-install", failure);
    xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    xmlNode *devices = xml_child(root, "devices");

    if (!doc)
        return NULL;
    if (!devices) {
        failure_set(failure, FAILURE_DOMAIN,
                    "virt-install has written no domain\n"
                    "run it by hand: virt-install --print-xml …");
        return NULL;
    }
    set_child_text(root, "name", name);
    set_child_text(root, "uuid", uuid);
    if (!is_first)
        renew_macs(devices);
    add_disk(devices, file, format);
    return steal(doc);
}
