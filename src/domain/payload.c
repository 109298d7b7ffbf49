/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "domain/part.h"
#include "domain/request.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

#define OVIRT_NAMESPACE "http://ovirt.org/vm/1.0"

static xmlNode *
child(const xmlNode *parent, const char *name)
{
    return xml_child_in(parent, OVIRT_NAMESPACE, name);
}

/* VDSM makes an image from a disk's payload; a floppy's is for sysprep. */
xmlNode *
payload_find(const struct domain *domain)
{
    xml_foreach_element(device, child(xml_child(domain->root, "metadata"), "vm")) {
        xmlNode *payload = child(device, "payload");

        if (!xml_is_in(device, OVIRT_NAMESPACE, "device") ||
            xml_attribute_is(device, "name", "fda"))
            continue;
        if (!payload)
            payload = child(child(device, "specParams"), "vmPayload");
        if (payload)
            return payload;
    }
    return NULL;
}

/* Return: whether an image can hold all components, and none is "." or "..". */
static bool
is_path(const char *path)
{
    for (int depth = 0; depth < LIMIT_IMAGE_DEPTH; depth++) {
        size_t length = strcspn(path, "/");

        if (length == 0 || length > LIMIT_FILE_NAME)
            return false;
        if (length <= 2 && strncmp(path, "..", length) == 0)
            return false;
        for (size_t i = 0; i < length; i++) {
            if ((unsigned char)path[i] < ' ' || path[i] == 0x7f || path[i] == '\\')
                return false;
        }
        if (!path[length])
            return true;
        path += length + 1;
    }
    return false;
}

static int
check_path(const struct seed *payload, const xmlNode *node, const char *path,
           struct failure **failure)
{
    if (!path || !is_path(path))
        return vocabulary_fail(
            node, failure, FAILURE_REQUEST,
            "has path=\"%.64s\", expected a relative path\n"
            "write at most %d names separated by '/', none of them '.', "
            "'..', empty or longer than %d bytes",
            path ? path : "", LIMIT_IMAGE_DEPTH, LIMIT_FILE_NAME);
    for (size_t i = 0; i < payload->document_count; i++) {
        const char *other = payload->documents[i].path;
        size_t shorter = strlen(path) < strlen(other) ? strlen(path) : strlen(other);

        const bool is_same = strcmp(path, other) == 0;
        const bool is_below = path[shorter] == '/' || other[shorter] == '/';

        if (strncmp(path, other, shorter) != 0 || (!is_same && !is_below))
            continue;
        return failure_set_at(failure, FAILURE_REQUEST, xml_line(node),
                              "<%s path=\"%s\"> conflicts with \"%s\"\n"
                              "give each file its own path",
                              node->name, path, other);
    }
    return 0;
}

static int
read_file(struct seed *payload, const xmlNode *node, struct failure **failure)
{
    cleanup_free char *path = xml_attribute(node, "path");
    cleanup_free char *text = xml_text(node);
    struct document *file;

    if (payload->document_count == LIMIT_PAYLOAD_FILES)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "occurs too many times, at most %d files\n"
                               "let the guest fetch the others itself",
                               LIMIT_PAYLOAD_FILES);
    if (check_path(payload, node, path, failure) < 0)
        return -1;
    file = seed_add_document(payload, path);
    if (base64_decode(&file->data, text) < 0)
        return vocabulary_fail(node, failure, FAILURE_BASE64,
                               "is not base64\n"
                               "encode the file with 'base64 FILE'");
    if (file->data.size > LIMIT_PART)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "has more than %lu MiB\n"
                               "let the guest fetch large files itself",
                               LIMIT_PART / MIB);
    return 0;
}

/* The volume's label must fit into both trees of the image (ECMA-119, 8.4.6; Joliet has
 * two bytes per character). */
static int
read_label(struct seed *payload, const xmlNode *node, struct failure **failure)
{
    const xmlNode *id = child(node, "volId");
    const char *at;

    if (!id)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has no <volId>\n"
                               "add one: '" SEED_LABEL_CONFIGDRIVE
                               "' or '" SEED_LABEL_NOCLOUD "'");
    at = payload->label = vocabulary_word(id);
    while (*at >= ' ' && *at < 0x7f && *at != '/')
        at++;
    if (!*at && at != payload->label && strlen(payload->label) <= LIMIT_LABEL)
        return 0;
    return vocabulary_fail(id, failure, FAILURE_REQUEST,
                           "is not a valid volume label\n"
                           "write 1 to %d ASCII characters, '" SEED_LABEL_CONFIGDRIVE
                           "' or '" SEED_LABEL_NOCLOUD "'",
                           LIMIT_LABEL);
}

int
payload_read(struct seed *payload, const xmlNode *node, struct failure **failure)
{
    *payload = (struct seed){0};
    if (read_label(payload, node, failure) < 0)
        return -1;
    xml_foreach_element(file, node) {
        if (xml_is_in(file, OVIRT_NAMESPACE, "file") &&
            read_file(payload, file, failure) < 0)
            return -1;
    }
    if (payload->document_count > 0)
        return 0;
    return vocabulary_fail(node, failure, FAILURE_REQUEST,
                           "has no <file>\n"
                           "remove it: an empty payload is not a seed");
}
