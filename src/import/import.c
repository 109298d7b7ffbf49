/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "domain/request.h"
#include "domain/xml.h"
#include "import/import.h"
#include "seed/content.h"

int
import_check(const struct import *import, struct failure **failure)
{
    cleanup_free char *element = element_format(import->doc);
    cleanup_free char *text = xasprintf("<domain type='kvm'><name>x</name>"
                                        "<metadata>%s</metadata></domain>",
                                        element);
    cleanup_xml xmlDoc *doc = xml_parse(text, strlen(text), "the element", failure);
    cleanup_domain struct domain domain = {0};
    cleanup_request struct request request = {0};

    if (!doc || domain_read(&domain, doc, failure) < 0 ||
        request_read(&request, &domain, failure) < 0)
        return failure_prefix(failure, "the resulting request is invalid");
    return 0;
}

void
import_mark_raw(struct import *import, xmlNode *node, const char *data, size_t size)
{
    if (user_data_kind(data, size) != USER_DATA_UNKNOWN)
        return;
    xml_set_attribute(node, "format", "raw");
    import_note(import,
                "the user-data has no header that cloud-init knows: it is for another "
                "program, and given as it is (format=\"raw\"); the guest will not "
                "report. If it runs cloud-init, fix the first line instead");
}

void
import_add_data(struct import *import, const char *element, const char *data, size_t size)
{
    xmlNode *node = element_add_data(import->element, element, data, size);

    if (strcmp(element, "user-data") == 0)
        import_mark_raw(import, node, data, size);
}

void
import_note(struct import *import, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    texts_add(&import->notes, &import->note_count, xvasprintf(format, arguments));
    va_end(arguments);
}

struct import_secret *
import_add_secret(struct import *import, const char *name)
{
    struct import_secret *secret;

    for (size_t i = 0; i < import->secret_count; i++) {
        if (strcmp(import->secrets[i].name, name) == 0)
            return &import->secrets[i];
    }
    secret = array_add(import->secrets, import->secret_count);
    secret->name = xstrdup(name);
    return secret;
}

void
import_clear(struct import *import)
{
    texts_free(import->notes, import->note_count);
    for (size_t i = 0; i < import->secret_count; i++) {
        struct import_secret *secret = &import->secrets[i];

        for (size_t key = 0; key < secret->key_count; key++) {
            free(secret->keys[key].name);
            buffer_clear(&secret->keys[key].content);
        }
        free(secret->keys);
        free(secret->name);
    }
    free(import->secrets);
    xmlFreeDoc(import->doc);
    *import = (struct import){0};
}
