/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/guest-value.h"
#include "domain/initialization-files.h"
#include "domain/vocabulary.h"

struct files_reading {
    struct initialization *initialization;
    struct parts *parts;
};

/* The type may stand behind the content. */
struct file_reading {
    char *path;
    const xmlNode *content;
    bool base64;
};

static int
read_file_name(void *data, const xmlNode *node, struct failure **failure)
{
    struct file_reading *file = data;

    return vocabulary_read_word(&file->path, node, guest_value_is_path,
                                "an absolute path without '.', '..' and empty parts",
                                failure);
}

static int
read_file_content(void *data, const xmlNode *node, struct failure **failure)
{
    struct file_reading *file = data;

    (void)failure;
    file->content = node;
    return 0;
}

static int
read_file_type(void *data, const xmlNode *node, struct failure **failure)
{
    struct file_reading *file = data;
    cleanup_free char *word = vocabulary_word(node);

    file->base64 = strcasecmp(word, "BASE64") == 0;
    if (!*word || file->base64 || strcasecmp(word, "PLAINTEXT") == 0)
        return 0;
    return vocabulary_fail_text(node, word, "PLAINTEXT or BASE64", failure);
}

/* Return: the part, or NULL. */
static struct part *
add_content(struct parts *parts, const struct file_reading *file,
            struct failure **failure)
{
    const xmlNode *node = file->content;

    if (!file->base64)
        return parts_add(parts, PART_VALUE, node, failure);
    if (!xmlHasProp(node, (const xmlChar *)"file") &&
        !xmlHasProp(node, (const xmlChar *)"secret"))
        return parts_add_base64(parts, PART_VALUE, node, failure);
    vocabulary_fail(node, failure, FAILURE_REQUEST,
                    "is of type BASE64, which is for text in the element",
                    "remove <type>: files and secrets are taken as they are");
    return NULL;
}

static int
add_file(struct files_reading *files, const xmlNode *node, struct file_reading *file,
         struct failure **failure)
{
    struct initialization *initialization = files->initialization;
    struct initialization_file *added;
    struct part *content;

    if (!file->path || !file->content)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               file->path ? "has no <content>" : "has no <name>",
                               "write <name>PATH</name><content>TEXT</content>");
    if (initialization->file_count == LIMIT_FILES)
        return vocabulary_fail(node, failure, FAILURE_LIMIT, "is one of too many",
                               "at most 64 files");
    content = add_content(files->parts, file, failure);
    if (!content)
        return -1;
    initialization->files =
        xreallocarray(initialization->files, initialization->file_count + 1,
                      sizeof(*initialization->files));
    added = &initialization->files[initialization->file_count++];
    added->path = steal(file->path);
    added->content = content;
    return 0;
}

static int
read_file(void *data, const xmlNode *node, struct failure **failure)
{
    static const struct vocabulary_element elements[] = {
        {"name", read_file_name, {NULL}, 0},
        {"content", read_file_content, {"encoding", "file", "secret", "key", NULL}, 0},
        {"type", read_file_type, {NULL}, 0},
        {0},
    };
    struct file_reading file = {0};
    int result = vocabulary_read_children(node, elements, &file, failure);

    if (result == 0)
        result = add_file(data, node, &file, failure);
    free(file.path);
    return result;
}

int
initialization_read_files(struct initialization *initialization, const xmlNode *node,
                          struct parts *parts, struct failure **failure)
{
    static const struct vocabulary_element elements[] = {
        {"file", read_file, {NULL}, VOCABULARY_CHILDREN | VOCABULARY_SEVERAL},
        {0},
    };
    struct files_reading files = {.initialization = initialization, .parts = parts};

    return vocabulary_read_children(node, elements, &files, failure);
}
