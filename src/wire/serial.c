/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the serial is a line of words; cloud-init looks for the one that begins
 * with "ds=nocloud". The user's own serial stays before it, so that inventories still
 * find it.
 *
 * libvirt uses <sysinfo> only if <os> has <smbios mode='sysinfo'/>. If there was another
 * mode, or a <sysinfo> without a mode, which libvirt ignores, the request gets a note,
 * the attribute smbios-was, so that unset can restore it; and likewise if there was a
 * <sysinfo> without content.
 */
#include "config.h"

#include "base/qemu-list.h"
#include "domain/xml.h"
#include "wire/parts.h"

#define DATASOURCE_PREFIX "ds="
#define NOTE REQUEST_SMBIOS_WAS
#define NOTE_EMPTY " empty" /* after the mode: of <sysinfo> */

/* The architectures where QEMU has -smbios and cloud-init reads DMI (cloudinit/dmi.py). */
bool
wire_has_smbios(const struct domain *domain)
{
    static const char *const archs[] = {"x86_64", "i686", "aarch64", "armv7l", NULL};

    return !domain->arch || word_is_in(domain->arch, archs);
}

static void
set_text(xmlNode *node, const char *text)
{
    xmlNodeSetContent(node, NULL);
    xmlNodeAddContent(node, (const xmlChar *)text);
}

/* --- the mode --------------------------------------------------------------------- */

static int
fail_host_mode(const xmlNode *smbios, const struct request *request,
               struct failure **failure)
{
    failure_set_at(
        failure, FAILURE_SMBIOS, xml_line(smbios),
        "<smbios mode='host'/> gives the guest the host's serial, so virt-seed "
        "cannot set it");
    if (request->datasource->over_http)
        return failure_hint(failure, "use <smbios mode='sysinfo'/>, or "
                                     "datasource=\"nocloud\", which uses a disk");
    return failure_hint(failure,
                        "use <smbios mode='sysinfo'/>, or set serial=\"no\" in "
                        "<cloud-init>: the volume's label is enough for most guests");
}

static void
set_mode(struct domain *domain, struct wiring *wiring)
{
    xmlNode *os = xml_child(domain->root, "os");
    xmlNode *smbios = xml_child(os, "smbios");
    xmlNode *request = request_find(domain);
    const xmlNode *sysinfo = domain_find_sysinfo(domain);
    const bool is_empty = sysinfo && !xml_first_element(sysinfo);
    const bool is_set = xml_attribute_is(smbios, "mode", "sysinfo");
    const char *mode = smbios ? "emulate" : "absent";

    if (request && (is_empty || (!is_set && (smbios || sysinfo)))) {
        cleanup_free char *note =
            xasprintf("%s%s", is_set ? "sysinfo" : mode, is_empty ? NOTE_EMPTY : "");

        xml_set_attribute(request, NOTE, note);
    }
    if (is_set)
        return;
    if (!smbios)
        smbios = xml_add_child(os, "smbios");
    xml_set_attribute(smbios, "mode", "sysinfo");
    wiring_note(wiring, "<smbios mode='sysinfo'/> set");
}

/* --- the words -------------------------------------------------------------------- */

/* Return: whether the word names one of our datasources, without a URL. */
static bool
names_datasource(const char *word)
{
    for (const struct datasource *row = datasources; row->name; row++) {
        if (row->serial && strcmp(row->serial, word) == 0)
            return true;
    }
    return false;
}

static int
fail_foreign_word(const xmlNode *entry, const char *foreign, const char *word,
                  struct failure **failure)
{
    cleanup_free char *expected = seed_url_describe(word);
    cleanup_free char *found = seed_url_describe(foreign);

    failure_set_at(failure, FAILURE_SERIAL, xml_line(entry),
                   "the SMBIOS serial has '%.64s', expected '%s'", found, expected);
    if (!names_datasource(word))
        return failure_hint(failure,
                            "remove it, or replace it with 'virt-seed wire --replace'");
    return failure_hint(failure, "remove it, replace it with 'virt-seed wire --replace', "
                                 "or set serial=\"no\" in <cloud-init>");
}

/* The words of a serial. */
struct words {
    char *user;    /* the user's, separated by spaces; see split_serial() */
    char *ours;    /* the first of ours, or NULL */
    size_t count;  /* how many are ours */
    char *foreign; /* the first that names another datasource, or NULL */
};

static void
words_clear(struct words *words)
{
    free(words->user);
    free(words->ours);
    free(words->foreign);
}

#define cleanup_words __attribute__((cleanup(words_clear)))

/* The words that name another datasource are among the user's unless `replace`. */
static struct words
split_serial(const char *serial, bool replace)
{
    cleanup_free char *copy = xstrdup(serial);
    struct words words = {.user = xcalloc(1, strlen(serial) + 1)};
    char *end = words.user;
    char *rest = NULL;

    for (char *word = strtok_r(copy, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        cleanup_seed_url struct seed_url url = {.address = NULL};
        bool foreign;

        /* Words that any version of the wiring wrote are ours. */
        if (names_datasource(word) || seed_url_parse(&url, word)) {
            if (words.count++ == 0)
                words.ours = xstrdup(word);
            continue;
        }
        foreign = strncasecmp(word, DATASOURCE_PREFIX, strlen(DATASOURCE_PREFIX)) == 0;
        if (foreign && !words.foreign)
            words.foreign = xstrdup(word);
        if (!foreign || !replace) {
            end = stpcpy(end, end > words.user ? " " : "");
            end = stpcpy(end, word);
        }
    }
    return words;
}

static int
check_length(const xmlNode *entry, const char *serial, struct failure **failure)
{
    if (strlen(serial) <= LIMIT_SERIAL)
        return 0;
    return failure_set_at(
        failure, FAILURE_SERIAL, xml_line(entry),
        "the SMBIOS serial would have %zu characters, expected at most %d\n"
        "shorten your own serial",
        strlen(serial), LIMIT_SERIAL);
}

/* Return: the serial that QEMU's argument sets, if it is the value of -smbios; owned by the
 * caller (free); or NULL. */
static char *
read_argument(const char *value)
{
    cleanup_free char *type = qemu_list_value(value, "type", NULL);

    if (!type || strtoul(type, NULL, 0) != 1)
        return NULL;
    return qemu_list_value(value, "serial", NULL);
}

static int
fail_argument(const xmlNode *argument, const char *serial, const char *word,
              struct failure **failure)
{
    cleanup_free char *expected = seed_url_describe(word);
    cleanup_free char *found = seed_url_describe(serial);

    return failure_set_at(
        failure, FAILURE_SERIAL, xml_line(argument),
        "-smbios in <qemu:commandline> sets the SMBIOS serial to '%.64s', expected '%s'\n"
        "remove serial= from this argument, or the argument and the '-smbios' before it: "
        "it replaces the serial in <sysinfo>",
        found, expected);
}

/* Fails if an argument in <qemu:commandline> takes away the word: QEMU prefers it to what
 * libvirt makes of <sysinfo>. With a disk, a serial that names no datasource will do, for
 * the guest knows the disk by its label. */
static int
check_arguments(const struct domain *domain, const struct request *request,
                const char *word, struct failure **failure)
{
    const xmlNode *line = xml_child_in(domain->root, QEMU_NAMESPACE, "commandline");
    bool is_smbios = false;

    xml_foreach_element(node, line) {
        cleanup_free char *value = xml_attribute(node, "value");
        cleanup_free char *serial = value && is_smbios ? read_argument(value) : NULL;
        cleanup_words struct words words = {.user = NULL};
        const char *named;

        is_smbios =
            value && (strcmp(value, "-smbios") == 0 || strcmp(value, "--smbios") == 0);
        if (!serial)
            continue;
        words = split_serial(serial, false);
        named = words.foreign ? words.foreign : words.ours;
        if (named ? strcmp(named, word) != 0 : request->datasource->over_http)
            return fail_argument(node, serial, word, failure);
    }
    return 0;
}

/* Reads the words of the serial, to which `word` is to be added. */
static int
read_words(struct words *words, const struct domain *domain,
           const struct request *request, const char *word, bool replace,
           struct failure **failure)
{
    const xmlNode *smbios = xml_child(xml_child(domain->root, "os"), "smbios");
    const xmlNode *entry = domain_find_serial(domain);
    cleanup_free char *serial = xml_text(entry);

    if (xml_attribute_is(smbios, "mode", "host"))
        return fail_host_mode(smbios, request, failure);
    if (check_length(entry, serial, failure) < 0)
        return -1;
    *words = split_serial(serial, replace);
    if (words->foreign && !replace)
        return fail_foreign_word(entry, words->foreign, word, failure);
    return check_arguments(domain, request, word, failure);
}

/* `word` may be NULL. */
static void
note_removed(const char *word, struct wiring *wiring)
{
    cleanup_free char *removed = word ? seed_url_describe(word) : NULL;

    if (removed)
        wiring_note(wiring, "'%s' removed from the SMBIOS serial", removed);
}

static void
note_words(const struct words *before, const char *word, struct wiring *wiring)
{
    cleanup_free char *now = seed_url_describe(word);
    cleanup_free char *ours = before->ours ? seed_url_describe(before->ours) : NULL;

    note_removed(before->foreign, wiring);
    if (ours && strcmp(ours, now) != 0)
        wiring_note(wiring, "'%s' in the SMBIOS serial changed to '%s'", ours, now);
    else
        wiring_note(wiring, "'%s' added to the SMBIOS serial", now);
}

/* Makes `word` the only one of ours, after the user's. */
static int
write_words(struct domain *domain, const struct words *words, const char *word,
            struct wiring *wiring, struct failure **failure)
{
    xmlNode *entry = domain_find_serial(domain);
    cleanup_free char *whole = NULL;

    if (words->count == 1 && strcmp(words->ours, word) == 0 && !words->foreign)
        return 0;
    whole = *words->user ? xasprintf("%s %s", words->user, word) : xstrdup(word);
    if (check_length(entry, whole, failure) < 0)
        return -1;
    if (!entry) {
        xmlNode *sysinfo = domain_find_sysinfo(domain);
        xmlNode *system;

        if (!sysinfo) {
            sysinfo = xml_add_after(xml_child(domain->root, "os"), "sysinfo");
            xml_set_attribute(sysinfo, "type", "smbios");
        }
        system = xml_child(sysinfo, "system");
        if (!system)
            system = xml_add_child(sysinfo, "system");
        entry = xml_add_child(system, "entry");
        xml_set_attribute(entry, "name", "serial");
    }
    set_text(entry, whole);
    note_words(words, word, wiring);
    return 0;
}

int
wire_serial(struct domain *domain, const struct wire_facts *facts,
            const struct request *request, const struct wire_options *options,
            struct wiring *wiring, struct failure **failure)
{
    const bool over_http = request->datasource->over_http;
    const char *serial = request_serial(request);
    cleanup_words struct words words = {.user = NULL};
    cleanup_free char *word = NULL;

    if (!serial) {
        wire_remove_serial(domain, false, wiring);
        return 0;
    }
    if (!over_http && !(request->serial && wire_has_smbios(domain))) {
        /* A URL left by an earlier datasource would make the guest ignore its disk. */
        if (facts->url.address)
            wire_remove_serial(domain, false, wiring);
        return 0;
    }
    if (over_http && wire_url_check(domain, failure) < 0)
        return -1;
    if (!wire_has_smbios(domain))
        return failure_set(failure, FAILURE_SMBIOS,
                           "datasource=\"%s\" needs the SMBIOS serial, but '%s' does not "
                           "have one\n"
                           "use datasource=\"nocloud\": the guest finds its disk by the "
                           "label",
                           request->datasource->name, domain->arch);
    if (!xml_child(domain->root, "os"))
        return failure_set(failure, FAILURE_DOMAIN,
                           "the domain has no <os>\n"
                           "use the output of 'virsh dumpxml DOMAIN'");
    if (over_http)
        word = wire_url_word(domain->uuid, facts->own_url ? &facts->url : NULL,
                             options->imds_address, failure);
    else
        word = xstrdup(serial);
    if (!word || read_words(&words, domain, request, word, options->replace, failure) < 0)
        return -1;
    /* The mode first: it notes whether there was a <sysinfo> before ours. */
    set_mode(domain, wiring);
    return write_words(domain, &words, word, wiring, failure);
}

/* --- for the emulator shim -------------------------------------------------------- */

const char *
wire_shim_word(const struct domain *domain, const struct request *request,
               struct failure **failure)
{
    const char *word = request_serial(request);
    cleanup_words struct words words = {.user = NULL};

    if (!word || !request->serial || !wire_has_smbios(domain))
        return "";
    if (read_words(&words, domain, request, word, false, failure) < 0)
        return NULL;
    return words.ours ? "" : word;
}

/* --- removing --------------------------------------------------------------------- */

/* Removes a <sysinfo> that the wiring has left empty, and restores the previous mode.
 * Without a <sysinfo> the mode cannot stay: libvirt would refuse to start the domain. */
static void
restore_mode(struct domain *domain)
{
    xmlNode *request = request_find(domain);
    xmlNode *sysinfo = domain_find_sysinfo(domain);
    xmlNode *smbios = xml_child(xml_child(domain->root, "os"), "smbios");
    cleanup_free char *note = xml_attribute(request, NOTE);
    char *empty = note ? strstr(note, NOTE_EMPTY) : NULL;

    if (note)
        xmlUnsetProp(request, (const xmlChar *)NOTE);
    if (empty)
        *empty = '\0';
    else if (sysinfo && !xml_first_element(sysinfo))
        xml_remove(steal(sysinfo));
    if (!smbios)
        return;
    if (note && strcmp(note, "emulate") == 0)
        xml_set_attribute(smbios, "mode", "emulate");
    else if ((note && strcmp(note, "absent") == 0) || !sysinfo)
        xml_remove(smbios);
}

void
wire_remove_serial(struct domain *domain, bool replace, struct wiring *wiring)
{
    xmlNode *entry = domain_find_serial(domain);
    cleanup_free char *serial = xml_text(entry);
    cleanup_words struct words words = split_serial(serial, replace);

    if (!words.ours && !(replace && words.foreign))
        return;
    if (*words.user) {
        set_text(entry, words.user);
    } else {
        xmlNode *system = entry->parent;

        xml_remove(entry);
        if (!xml_first_element(system))
            xml_remove(system);
    }
    restore_mode(domain);
    note_removed(words.ours, wiring);
    note_removed(replace ? words.foreign : NULL, wiring);
}
