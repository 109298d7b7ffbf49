/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the bytes are a document of oVirt's. What is imported from it can be
 * written and read back, and its <initialization> is imported as it is.
 */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "domain/vocabulary.h"
#include "fuzz.h"
#include "import/import.h"

/* Return: the element as text, owned by the caller (free), or NULL if the document is
 * refused; `import` holds it. */
static char *
import_text(struct import *import, const struct buffer *document)
{
    cleanup_failure struct failure *failure = NULL;
    int result;

    import->doc = request_new();
    import->element = xmlDocGetRootElement(import->doc);
    result = import_ovirt(import, document->data, document->size, NULL, &failure);
    return fuzz_succeeded(result, &failure) ? element_format(import->doc) : NULL;
}

static void
remove_namespace(xmlNode *node)
{
    xmlSetNs(node, NULL);
    for (xmlNode *child = node->children; child; child = child->next) {
        if (child->type == XML_ELEMENT_NODE)
            remove_namespace(child);
    }
}

static void
import_again(const struct import *first, const char *text)
{
    cleanup_import struct import again = {0};
    cleanup_xml xmlDoc *doc = xmlNewDoc((const xmlChar *)"1.0");
    xmlNode *initialization = vocabulary_child(first->element, "initialization");
    cleanup_buffer struct buffer document = {0};
    cleanup_free char *same = NULL, *copy = NULL;

    /* A payload has none. */
    if (!initialization)
        return;
    xmlDocSetRootElement(doc, xmlDocCopyNode(initialization, doc, 1));
    remove_namespace(xmlDocGetRootElement(doc));
    copy = element_format(doc);
    buffer_append_string(&document, copy);
    same = import_text(&again, &document);
    fuzz_require(same && strcmp(same, text) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_import struct import import = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_buffer struct buffer document = {0}, domain = {0};
    cleanup_seed struct seed seed = {0};
    cleanup_free char *text = NULL;
    int result;

    buffer_append(&document, data, size);
    text = import_text(&import, &document);
    /* replay.c counts descriptors, and what is refused needs no root. */
    fuzz_root();
    if (!text)
        return 0;
    for (size_t i = 0; i < import.note_count; i++)
        fuzz_require(xmlCheckUTF8((const xmlChar *)import.notes[i]));
    import_again(&import, text);
    result = import_check(&import, &failure);
    if (!fuzz_succeeded(result, &failure))
        return 0;
    buffer_append_string(&domain, "<domain type='kvm'><name>web1</name>"
                                  "<uuid>4dea22b3-1d52-d8f3-2516-782e98ab3fa0</uuid>"
                                  "<metadata>");
    buffer_append_string(&domain, text);
    buffer_append_string(&domain, "</metadata></domain>");
    fuzz_make_seed(&domain, &seed);
    return 0;
}
