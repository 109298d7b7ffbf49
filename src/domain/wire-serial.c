/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the serial is a line of words; cloud-init takes the one that begins
 * with "ds=nocloud". A serial of the user's stays in front of it, so that inventories
 * find it where it was.
 *
 * libvirt passes <sysinfo> on only when <os> has <smbios mode='sysinfo'/>. Where there was
 * another mode, or a <sysinfo> lay idle without one, unset could not tell afterwards what
 * was there before, so the request gets a note: the attribute smbios-was.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/wire-serial.h"
#include "domain/wire-shim.h"
#include "domain/xml.h"

/* A bare ds=nocloud would mean dsmode=local: user-data before the network. */
#define NOCLOUD_WORD "ds=nocloud;dsmode=net"
#define DATASOURCE_PREFIX "ds="
#define NOTE "smbios-was"

/* Where QEMU knows -smbios and cloud-init reads DMI (cloudinit/dmi.py). */
static bool
has_smbios(const struct domain *domain)
{
    static const char *const archs[] = {"x86_64", "i686", "aarch64", "armv7l"};

    if (!domain->arch)
        return true;
    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        if (strcmp(domain->arch, archs[i]) == 0)
            return true;
    }
    return false;
}

/* --- sysinfo ---------------------------------------------------------------------- */

static xmlNode *
find_entry(const struct domain *domain)
{
    const xmlNode *system = xml_child(domain_find_sysinfo(domain), "system");
    xmlNode *entry = xml_child(system, "entry");

    while (entry && !xml_attribute_is(entry, "name", "serial"))
        entry = xml_next(entry, "entry");
    return entry;
}

static xmlNode *
make_entry(struct domain *domain)
{
    xmlNode *sysinfo = domain_find_sysinfo(domain);
    xmlNode *system, *entry;

    if (!sysinfo) {
        sysinfo = xml_add_after(xml_child(domain->root, "os"), "sysinfo");
        xml_set_attribute(sysinfo, "type", "smbios");
    }
    system = xml_child(sysinfo, "system");
    if (!system)
        system = xml_add_child(sysinfo, "system");
    entry = xml_add_child(system, "entry");
    xml_set_attribute(entry, "name", "serial");
    return entry;
}

static void
set_text(xmlNode *node, const char *text)
{
    xmlNodeSetContent(node, NULL);
    xmlNodeAddContent(node, (const xmlChar *)text);
}

/* --- the mode --------------------------------------------------------------------- */

static int
fail_host_mode(const xmlNode *smbios, struct failure **failure)
{
    failure_set(
        failure, FAILURE_SMBIOS,
        "<smbios mode='host'/> shows the host's serial to the guest, so ours cannot "
        "be set");
    failure_at_line(failure, xml_line(smbios));
    return failure_hint(failure,
                        "use <smbios mode='sysinfo'/>, or write serial=\"no\" into "
                        "<cloud-init>: the volume's label is enough for most guests");
}

static void
set_mode(struct domain *domain, struct wiring *wiring)
{
    xmlNode *os = xml_child(domain->root, "os");
    xmlNode *smbios = xml_child(os, "smbios");
    xmlNode *request = request_find(domain);

    if (smbios && xml_attribute_is(smbios, "mode", "sysinfo"))
        return;
    if (request && (smbios || domain_find_sysinfo(domain)))
        xml_set_attribute(request, NOTE, (smbios ? "emulate" : "absent"));
    if (!smbios)
        smbios = xml_add_child(os, "smbios");
    xml_set_attribute(smbios, "mode", "sysinfo");
    wiring_note(wiring, "<smbios mode='sysinfo'/> set");
}

/* --- the words -------------------------------------------------------------------- */

static int
fail_foreign_word(const xmlNode *entry, const char *word, struct failure **failure)
{
    failure_set(failure, FAILURE_SERIAL,
                "the SMBIOS serial has '%.64s', expected '" NOCLOUD_WORD "'", word);
    failure_at_line(failure, xml_line(entry));
    return failure_hint(failure,
                        "remove it, let 'virt-seed wire --replace' put ours in its "
                        "place, or write serial=\"no\" into <cloud-init>");
}

static bool
is_our_word(const char *word)
{
    return strcmp(word, NOCLOUD_WORD) == 0;
}

/*
 * Splits the serial into the user's words and the datasource's.
 * Return: the user's, owned by the caller (free); `ours` says whether our word is there
 * and `foreign`, owned as well, is the first word of another datasource, or NULL.
 */
static char *
split_serial(const char *serial, bool *ours, char **foreign)
{
    cleanup_free char *copy = xstrdup(serial);
    char *user = xcalloc(1, strlen(serial) + 1);
    char *end = user;
    char *rest = NULL;

    *ours = false;
    *foreign = NULL;
    for (char *word = strtok_r(copy, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        if (is_our_word(word)) {
            *ours = true;
        } else if (strncasecmp(word, DATASOURCE_PREFIX, strlen(DATASOURCE_PREFIX)) == 0) {
            if (!*foreign)
                *foreign = xstrdup(word);
        } else {
            end = stpcpy(end, end > user ? " " : "");
            end = stpcpy(end, word);
        }
    }
    return user;
}

static int
check_length(const xmlNode *entry, const char *serial, struct failure **failure)
{
    if (strlen(serial) <= LIMIT_SERIAL)
        return 0;
    failure_set(failure, FAILURE_SERIAL,
                "the SMBIOS serial would have %zu characters, at most %d", strlen(serial),
                LIMIT_SERIAL);
    failure_at_line(failure, xml_line(entry));
    return failure_hint(failure, "shorten your own serial");
}

static int
set_serial(xmlNode *entry, const char *user, struct failure **failure)
{
    cleanup_free char *serial =
        *user ? xasprintf("%s %s", user, NOCLOUD_WORD) : xstrdup(NOCLOUD_WORD);

    if (check_length(entry, serial, failure) < 0)
        return -1;
    set_text(entry, serial);
    return 0;
}

static int
wire_entry(struct domain *domain, const struct wire_options *options,
           struct wiring *wiring, struct failure **failure)
{
    xmlNode *entry = find_entry(domain);
    cleanup_free char *serial = entry ? xml_text(entry) : xstrdup("");
    cleanup_free char *foreign = NULL;
    cleanup_free char *user = NULL;
    bool ours;

    if (check_length(entry, serial, failure) < 0)
        return -1;
    user = split_serial(serial, &ours, &foreign);
    if (foreign && !options->replace)
        return fail_foreign_word(entry, foreign, failure);
    if (ours && !foreign)
        return 0;
    if (!entry)
        entry = make_entry(domain);
    if (set_serial(entry, user, failure) < 0)
        return -1;
    if (foreign)
        wiring_note(wiring, "'%s' removed from the SMBIOS serial", foreign);
    wiring_note(wiring, "'%s' added to the SMBIOS serial", NOCLOUD_WORD);
    return 0;
}

int
wire_serial(struct domain *domain, const struct request *request,
            const struct wire_options *options, struct wiring *wiring,
            struct failure **failure)
{
    const xmlNode *os = xml_child(domain->root, "os");
    const xmlNode *smbios = xml_child(os, "smbios");

    if (request_is_by_label(request)) {
        wire_remove_serial(domain, wiring);
        return 0;
    }
    if (!request->serial || !has_smbios(domain))
        return 0;
    if (!os) {
        failure_set(failure, FAILURE_DOMAIN, "the domain has no <os>");
        return failure_hint(failure, "give what 'virsh dumpxml DOMAIN' prints");
    }
    if (smbios && xml_attribute_is(smbios, "mode", "host"))
        return fail_host_mode(smbios, failure);
    /* First the mode: it notes whether there was a <sysinfo> before ours. */
    set_mode(domain, wiring);
    return wire_entry(domain, options, wiring, failure);
}

/* --- for the emulator shim -------------------------------------------------------- */

const char *
wire_shim_serial(const struct domain *domain, const struct request *request,
                 struct failure **failure)
{
    const xmlNode *smbios = xml_child(xml_child(domain->root, "os"), "smbios");
    const xmlNode *entry = find_entry(domain);
    cleanup_free char *serial = entry ? xml_text(entry) : xstrdup("");
    cleanup_free char *foreign = NULL;
    bool ours;

    if (request_is_by_label(request) || !request->serial || !has_smbios(domain))
        return "";
    if (smbios && xml_attribute_is(smbios, "mode", "host")) {
        fail_host_mode(smbios, failure);
        return NULL;
    }
    if (check_length(entry, serial, failure) < 0)
        return NULL;
    free(split_serial(serial, &ours, &foreign));
    if (foreign) {
        fail_foreign_word(entry, foreign, failure);
        return NULL;
    }
    return ours ? "" : NOCLOUD_WORD;
}

/* --- removing --------------------------------------------------------------------- */

static void
remove_if_empty(xmlNode *node)
{
    if (node && !xml_first_element(node))
        xml_remove(node);
}

/* The mode as it was before; it cannot stay without a <sysinfo>: libvirt would not
 * start. */
static void
restore_mode(struct domain *domain)
{
    xmlNode *request = request_find(domain);
    xmlNode *smbios = xml_child(xml_child(domain->root, "os"), "smbios");
    cleanup_free char *note = request ? xml_attribute(request, NOTE) : NULL;

    if (note)
        xmlUnsetProp(request, (const xmlChar *)NOTE);
    if (!smbios)
        return;
    if (note && strcmp(note, "emulate") == 0)
        xml_set_attribute(smbios, "mode", "emulate");
    else if (note || !domain_find_sysinfo(domain))
        xml_remove(smbios);
}

void
wire_remove_serial(struct domain *domain, struct wiring *wiring)
{
    xmlNode *entry = find_entry(domain);
    cleanup_free char *serial = entry ? xml_text(entry) : NULL;
    cleanup_free char *foreign = NULL;
    cleanup_free char *user = NULL;
    bool ours;

    if (!serial)
        return;
    user = split_serial(serial, &ours, &foreign);
    if (!ours)
        return;
    if (*user) {
        set_text(entry, user);
    } else {
        xmlNode *system = entry->parent;
        xmlNode *sysinfo = system->parent;

        xml_remove(entry);
        remove_if_empty(system);
        remove_if_empty(sysinfo);
    }
    restore_mode(domain);
    wiring_note(wiring, "'%s' removed from the SMBIOS serial", NOCLOUD_WORD);
}
