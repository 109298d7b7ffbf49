/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of the wiring, fuzz_wire() of fuzz.h. */
#include "config.h"

#include <string.h>

#include <libxml/c14n.h>

#include "base/memory.h"
#include "domain/domain.h"
#include "domain/xml.h"
#include "fuzz.h"
#include "wire/url.h"
#include "wire/wire.h"

static bool
equal(const struct buffer *one, const struct buffer *other)
{
    return one->size == other->size && memcmp(one->data, other->data, one->size) == 0;
}

static xmlDoc *
parse(const struct buffer *text)
{
    cleanup_failure struct failure *failure = NULL;
    xmlDoc *doc = xml_parse(text->data, text->size, "standard input", &failure);

    fuzz_succeeded(doc ? 0 : -1, &failure);
    return doc;
}

/* Return: the document's canonical form, owned by the caller (free), or NULL. */
static char *
canonical(xmlDoc *doc)
{
    xmlChar *form = NULL;

    return xmlC14NDocDumpMemory(doc, NULL, XML_C14N_1_0, NULL, 1, &form) < 0
               ? NULL
               : (char *)form;
}

/* Return: the document as text, which means the same and is the same if formatted again. */
static struct buffer
format(xmlDoc *doc)
{
    struct buffer text = {0};
    cleanup_free char *formatted = xml_format(doc);
    cleanup_free char *before = canonical(doc);
    cleanup_free char *after = NULL;
    cleanup_free char *again = NULL;
    cleanup_xml xmlDoc *parsed = NULL;

    buffer_append_string(&text, formatted);
    parsed = parse(&text);
    fuzz_require(parsed);
    after = canonical(parsed);
    fuzz_require(!before || (after && strcmp(before, after) == 0));
    again = xml_format(parsed);
    fuzz_require(strcmp(formatted, again) == 0);
    return text;
}

/* Return: 0, or -1 where the domain is refused. */
static int
wire_document(xmlDoc *doc, bool replace, struct wiring *wiring)
{
    const struct wire_options options = {.replace = replace};
    cleanup_domain struct domain domain = {0};
    cleanup_request struct request request = {0};
    cleanup_failure struct failure *failure = NULL;
    int result = domain_read(&domain, doc, &failure);

    if (result == 0)
        result = request_read(&request, &domain, &failure);
    if (result == 0)
        result = wire_domain(&domain, &request, &options, wiring, &failure);
    return fuzz_succeeded(result, &failure) ? 0 : -1;
}

/* Return: whether `wired` is the text with its wiring. */
static bool
wire(const struct buffer *text, bool replace, struct buffer *wired)
{
    cleanup_wiring struct wiring first = {0}, second = {0};
    cleanup_xml xmlDoc *doc = parse(text);
    cleanup_buffer struct buffer again = {0};

    if (!doc)
        return false;
    if (wire_document(doc, replace, &first) < 0)
        return false;
    *wired = format(doc);
    fuzz_require(wire_document(doc, replace, &second) == 0);
    fuzz_require(second.change_count == 0);
    again = format(doc);
    fuzz_require(equal(wired, &again));
    return true;
}

/* Return: the text without its wiring; `changes` is how much of it was there. */
static struct buffer
unwire(const struct buffer *text, size_t *changes)
{
    cleanup_wiring struct wiring wiring = {0};
    cleanup_domain struct domain domain = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_xml xmlDoc *doc = parse(text);
    int result;

    fuzz_require(doc);
    result = domain_read(&domain, doc, &failure);
    fuzz_require(fuzz_succeeded(result, &failure));
    wire_remove(&domain, &wiring);
    *changes = wiring.change_count;
    return format(doc);
}

/*
 * Return: whether nothing is left of the wiring in the text. There must be no <sysinfo>
 * and no mode for it either: wire_remove() removes an empty <sysinfo>, and the mode that
 * is left without it.
 */
static bool
is_untouched(const struct buffer *text)
{
    size_t changes;
    cleanup_buffer struct buffer unwired = unwire(text, &changes);

    return changes == 0 && !strstr(unwired.data, "ua-virt-seed") &&
           !strstr(unwired.data, "smbios-was") && !strstr(unwired.data, "sysinfo");
}

/* Removes the text between elements, which means nothing in a domain. */
static void
remove_indentation(xmlNode *parent)
{
    for (xmlNode *node = parent->children, *next; node; node = next) {
        next = node->next;
        if (node->type == XML_ELEMENT_NODE) {
            remove_indentation(node);
        } else if (xml_first_element(parent) || xmlIsBlankNode(node)) {
            xmlUnlinkNode(node);
            xmlFreeNode(node);
        }
    }
}

static bool
equal_but_for_indentation(const struct buffer *one, const struct buffer *other)
{
    cleanup_xml xmlDoc *one_doc = parse(one);
    cleanup_xml xmlDoc *other_doc = parse(other);
    cleanup_buffer struct buffer one_text = {0}, other_text = {0};

    remove_indentation(xmlDocGetRootElement(one_doc));
    remove_indentation(xmlDocGetRootElement(other_doc));
    one_text = format(one_doc);
    other_text = format(other_doc);
    return equal(&one_text, &other_text);
}

/* Each new token is another one. The input may have such a URL elsewhere, too. */
static void
forget_token(struct buffer *text)
{
    static const char start[] = ";dsmode=net;s=http://";
    char *url = text->data;

    while ((url = memmem(url, text->size - (size_t)(url - text->data), start,
                         strlen(start)))) {
        size_t length = strcspn(url, " <>'\"");
        char *token = url + length - 1 - SEED_URL_TOKEN_LENGTH;

        if (length > strlen(start) + SEED_URL_TOKEN_LENGTH &&
            strspn(token, "0123456789abcdef") == SEED_URL_TOKEN_LENGTH)
            memset(token, '0', SEED_URL_TOKEN_LENGTH);
        url += length;
    }
}

/* Removes the wiring and adds it again. Return: whether that worked. */
static bool
rewire(const struct buffer *wired, bool replace, struct buffer *rewired)
{
    size_t changes;
    cleanup_buffer struct buffer unwired = unwire(wired, &changes);

    fuzz_require(changes > 0);
    if (!wire(&unwired, replace, rewired))
        return false;
    forget_token(rewired);
    return true;
}

/* Takes the request away as well, after which nothing asks for a seed; libvirt knows one
 * <metadata> only. */
static void
forget(const struct buffer *text)
{
    cleanup_wiring struct wiring wiring = {0};
    cleanup_domain struct domain domain = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_xml xmlDoc *doc = parse(text);
    bool second;
    int result;

    fuzz_require(doc);
    result = domain_read(&domain, doc, &failure);
    fuzz_require(fuzz_succeeded(result, &failure));
    second = xml_next(xml_child(domain.root, "metadata"), "metadata");
    wire_remove(&domain, &wiring);
    wire_remove_request(&domain, &wiring);
    fuzz_require(second || !request_find(&domain));
    fuzz_require(!seed_path_find_disk(&domain));
}

static void
wire_again(const struct buffer *text, bool replace)
{
    cleanup_buffer struct buffer first = {0}, same = {0}, second = {0}, third = {0};
    cleanup_buffer struct buffer rest = {0};
    size_t changes;

    if (!wire(text, replace, &first))
        return;
    fuzz_require(wire(&first, replace, &same));
    fuzz_require(equal(&first, &same));
    forget(&first);
    /* Half a wiring, or one by hand, may be where we would not put it. */
    if (!is_untouched(text))
        return;
    /* The emulator shim needs nothing in the XML. */
    if (equal_but_for_indentation(text, &first))
        return;
    /* A controller that a device of the user's needs stays, and keeps its place. */
    rest = unwire(&first, &changes);
    if (rest.size > 0 && strstr(rest.data, "ua-virt-seed-serial"))
        return;
    forget_token(&first);
    fuzz_require(rewire(&first, replace, &second));
    fuzz_require(equal_but_for_indentation(&first, &second));
    fuzz_require(rewire(&second, replace, &third));
    fuzz_require(equal(&second, &third));
}

void
fuzz_wire(const struct buffer *text)
{
    wire_again(text, false);
    wire_again(text, true);
}
