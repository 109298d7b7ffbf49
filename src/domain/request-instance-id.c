/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/request-instance-id.h"
#include "domain/request.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

/* --- policy="content" ------------------------------------------------------------- */

static const struct {
    const char *word;
    enum request_cover cover;
} covers[] = {
    {"user-data", COVER_USER_DATA},
    {"network-config", COVER_NETWORK_CONFIG},
    {"vendor-data", COVER_VENDOR_DATA},
    {"meta-data", COVER_META_DATA},
};

#define COVERS_EVERYTHING "user-data network-config vendor-data meta-data"

/* Return: what the word of covers= means, or 0. */
static unsigned int
find_cover(const char *word)
{
    for (size_t i = 0; i < sizeof(covers) / sizeof(covers[0]); i++) {
        if (strcmp(covers[i].word, word) == 0)
            return covers[i].cover;
    }
    return 0;
}

static int
read_covers(struct request *request, const xmlNode *node, struct failure **failure)
{
    cleanup_free char *text = xml_attribute(node, "covers");
    cleanup_free char *words = xstrdup(text ? text : COVERS_EVERYTHING);
    bool wrong = false;
    char *rest = NULL;

    for (char *word = strtok_r(words, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        unsigned int cover = find_cover(word);

        wrong = wrong || cover == 0 || (request->covers & cover);
        request->covers |= cover;
    }
    if (!wrong && request->covers != 0)
        return 0;
    return vocabulary_fail_value(node, "covers", text,
                                 "one or more of \"user-data\", \"network-config\", "
                                 "\"vendor-data\" and \"meta-data\", each once",
                                 failure);
}

/* --- policy="fixed" ---------------------------------------------------------------- */

/* cloud-init makes it the name of a folder, and people type it. */
static bool
is_instance_id(const char *text)
{
    if (!*text || strlen(text) > LIMIT_INSTANCE_ID || *text == '.')
        return false;
    for (; *text; text++) {
        if (*text <= ' ' || *text >= 0x7f || strchr("/\\;\"'", *text))
            return false;
    }
    return true;
}

static int
read_fixed(struct request *request, const xmlNode *node, struct failure **failure)
{
    cleanup_free char *text = vocabulary_word(node);

    if (!is_instance_id(text))
        return vocabulary_fail(
            node, failure, FAILURE_INSTANCE_ID,
            "has policy=\"fixed\", but its text is no instance-id",
            "write 1 to 128 printable ASCII characters without space, slash, "
            "backslash, semicolon or quote, and no dot in front");
    request->instance_id = steal(text);
    return 0;
}

/* --- the element ------------------------------------------------------------------ */

static const struct {
    const char *word;
    enum instance_id_policy policy;
} policies[] = {
    {"domain", INSTANCE_ID_DOMAIN},
    {"content", INSTANCE_ID_CONTENT},
    {"fixed", INSTANCE_ID_FIXED},
};

static int
read_policy(struct request *request, const xmlNode *node, struct failure **failure)
{
    cleanup_free char *policy = xml_attribute(node, "policy");

    if (!policy)
        return 0;
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        if (strcmp(policies[i].word, policy) != 0)
            continue;
        request->instance_id_policy = policies[i].policy;
        return 0;
    }
    failure_set(
        failure, FAILURE_INSTANCE_ID,
        "<%s> has policy=\"%.64s\", expected \"domain\", \"content\" or \"fixed\"",
        node->name, policy);
    failure_at_line(failure, xml_line(node));
    return failure_hint(failure,
                        "\"domain\" is the same at each start, \"content\" new "
                        "when the seed changes, \"fixed\" is the element's text");
}

int
request_read_instance_id(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;
    enum instance_id_policy policy;

    if (read_policy(request, node, failure) < 0)
        return -1;
    policy = request->instance_id_policy;
    if (policy != INSTANCE_ID_CONTENT && xmlHasProp(node, (const xmlChar *)"covers"))
        return vocabulary_fail(node, failure, FAILURE_INSTANCE_ID,
                               "has covers=, which belongs to policy=\"content\"",
                               "write policy=\"content\", or remove covers=");
    if (policy == INSTANCE_ID_FIXED)
        return read_fixed(request, node, failure);
    if (vocabulary_has_text(node))
        return vocabulary_fail(node, failure, FAILURE_INSTANCE_ID,
                               "has text, which belongs to policy=\"fixed\"",
                               "write policy=\"fixed\", or remove the text");
    return policy == INSTANCE_ID_CONTENT ? read_covers(request, node, failure) : 0;
}
