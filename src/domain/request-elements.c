/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/texts.h"
#include "domain/hostname.h"
#include "domain/request-elements.h"
#include "domain/ssh-key.h"
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

static int
read_instance_id(void *data, const xmlNode *node, struct failure **failure)
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

/* --- the other elements ------------------------------------------------------------- */

static int
read_hostname(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;

    request->hostname = vocabulary_word(node);
    if (hostname_check(request->hostname, failure) == 0)
        return 0;
    failure_prefix(failure, "<%s>", node->name);
    return failure_at_line(failure, xml_line(node));
}

static bool
is_reference(const xmlNode *node)
{
    return xmlHasProp(node, (const xmlChar *)"secret") ||
           xmlHasProp(node, (const xmlChar *)"file");
}

static int
read_ssh_key(struct request *request, const xmlNode *node, struct failure **failure)
{
    const char *const attributes[] = {"file", "secret", "key", NULL};
    char *text;

    if (vocabulary_check_attributes(node, attributes, failure) < 0 ||
        vocabulary_check_no_children(node, failure) < 0)
        return -1;
    if (is_reference(node))
        return parts_add(&request->parts, PART_SSH_KEYS, node, failure) ? 0 : -1;
    if (request->ssh_key_count == LIMIT_SSH_KEYS)
        return vocabulary_fail(node, failure, FAILURE_LIMIT, "is one of too many",
                               "at most 256 keys");
    text = vocabulary_word(node);
    texts_add(&request->ssh_keys, &request->ssh_key_count, text);
    if (ssh_key_check(text, failure) < 0)
        return failure_at_line(failure, xml_line(node));
    return 0;
}

/* The attributes of an element that has children as well: <meta-data secret="web1">. */
static int
read_own_reference(struct request *request, enum part_kind kind, const xmlNode *node,
                   struct failure **failure)
{
    if (vocabulary_check_no_text(node, failure) < 0)
        return -1;
    if (!is_reference(node) && !xmlHasProp(node, (const xmlChar *)"key"))
        return 0;
    return parts_add(&request->parts, kind, node, failure) ? 0 : -1;
}

static int
read_ssh_keys(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;

    if (read_own_reference(request, PART_SSH_KEYS, node, failure) < 0)
        return -1;
    for (const xmlNode *key = xml_first_element(node); key; key = xml_next_element(key)) {
        if (!vocabulary_is(key, "key"))
            return vocabulary_fail_unknown(node, key, failure);
        if (read_ssh_key(request, key, failure) < 0)
            return -1;
    }
    return 0;
}

/* Only from a secret: whoever reads the domain's XML would read it. */
static int
read_secret_only(struct request *request, enum part_kind kind, const xmlNode *node,
                 struct failure **failure)
{
    if (!xmlHasProp(node, (const xmlChar *)"secret"))
        return vocabulary_fail(node, failure, FAILURE_REQUEST, "has no secret=",
                               "put it into a secret of the host and write "
                               "secret=\"NAME\"");
    return parts_add(&request->parts, kind, node, failure) ? 0 : -1;
}

static int
read_ssh_host_keys(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;

    return read_secret_only(request, PART_SSH_HOST_KEYS, node, failure);
}

static int
read_admin_password(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;

    return read_secret_only(request, PART_ADMIN_PASSWORD, node, failure);
}

/* Return: 0, or -1 when the key is none or there already. */
static int
check_entry(const struct request *request, const xmlNode *node, const char *key,
            const char *value, struct failure **failure)
{
    if (!key || !*key || strlen(key) > LIMIT_ENTRY_KEY)
        return vocabulary_fail(node, failure, FAILURE_META_DATA,
                               "has no name= of 1 to 256 characters",
                               "write name=\"KEY\"");
    if (strlen(value) > LIMIT_ENTRY_VALUE)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "has a value of more than 64 KiB",
                               "put large values into user-data");
    if (request->meta_data_count == LIMIT_ENTRIES)
        return vocabulary_fail(node, failure, FAILURE_LIMIT, "is one of too many",
                               "at most 256 entries");
    for (size_t i = 0; i < request->meta_data_count; i++) {
        if (strcmp(request->meta_data[i].key, key) != 0)
            continue;
        failure_set(failure, FAILURE_META_DATA, "<%s name=\"%s\"> is there twice",
                    node->name, key);
        failure_at_line(failure, xml_line(node));
        return failure_hint(failure, "keep one of them");
    }
    return 0;
}

static int
read_meta_data(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;
    const char *const attributes[] = {"name", NULL};

    if (read_own_reference(request, PART_META_DATA, node, failure) < 0)
        return -1;
    for (const xmlNode *entry = xml_first_element(node); entry;
         entry = xml_next_element(entry)) {
        cleanup_free char *key = xml_attribute(entry, "name");
        cleanup_free char *value = xml_text(entry);

        if (!vocabulary_is(entry, "entry"))
            return vocabulary_fail_unknown(node, entry, failure);
        if (vocabulary_check_attributes(entry, attributes, failure) < 0 ||
            vocabulary_check_no_children(entry, failure) < 0 ||
            check_entry(request, entry, key, value, failure) < 0)
            return -1;
        request->meta_data =
            xreallocarray(request->meta_data, request->meta_data_count + 1,
                          sizeof(*request->meta_data));
        request->meta_data[request->meta_data_count++] =
            (struct meta_data_entry){.key = steal(key), .value = steal(value)};
    }
    return 0;
}

static int
read_user_data(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;
    int count = 0;

    for (const struct part *part = parts_find(&request->parts, PART_USER_DATA); part;
         part = parts_next(&request->parts, part))
        count++;
    if (count == LIMIT_USER_DATA)
        return vocabulary_fail(node, failure, FAILURE_LIMIT, "is one of too many",
                               "at most 16; write one MIME message or one "
                               "#cloud-config-archive");
    return parts_add(&request->parts, PART_USER_DATA, node, failure) ? 0 : -1;
}

static int
read_vendor_data(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;

    return parts_add(&request->parts, PART_VENDOR_DATA, node, failure) ? 0 : -1;
}

static int
read_network_config(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;
    cleanup_free char *from = xml_attribute(node, "from");

    if (!from)
        return vocabulary_check_no_children(node, failure) < 0 ||
                       !parts_add(&request->parts, PART_NETWORK_CONFIG, node, failure)
                   ? -1
                   : 0;
    if (strcmp(from, "interfaces") != 0)
        return vocabulary_fail_value(node, "from", from, "\"interfaces\"", failure);
    request->network = network_read(node, request->domain, failure);
    return request->network ? 0 : -1;
}

static int
read_instance_type(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;

    request->instance_type = vocabulary_word(node);
    if (*request->instance_type && strlen(request->instance_type) <= LIMIT_ENTRY_KEY)
        return 0;
    return vocabulary_fail(node, failure, FAILURE_META_DATA,
                           "has no text of 1 to 256 characters",
                           "write the type's name, or remove the element");
}

static int
read_initialization(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;

    request->initialization = initialization_read(node, &request->parts, failure);
    return request->initialization ? 0 : -1;
}

#define REFERENCE "file", "secret", "key"

static const struct vocabulary_element elements[] = {
    {"hostname", read_hostname, {NULL}, 0},
    {"instance-id", read_instance_id, {"policy", "covers", NULL}, 0},
    {"instance-type", read_instance_type, {NULL}, 0},
    {"admin-password", read_admin_password, {"secret", "key", NULL}, 0},
    {"ssh-authorized-keys", read_ssh_keys, {REFERENCE, NULL}, VOCABULARY_CHILDREN},
    {"ssh-host-keys", read_ssh_host_keys, {"secret", NULL}, 0},
    {"meta-data", read_meta_data, {REFERENCE, NULL}, VOCABULARY_CHILDREN},
    {"user-data", read_user_data, {REFERENCE, "encoding", NULL}, VOCABULARY_SEVERAL},
    {"vendor-data", read_vendor_data, {REFERENCE, "encoding", NULL}, 0},
    {"network-config",
     read_network_config,
     {REFERENCE, "encoding", "from", NULL},
     VOCABULARY_CHILDREN},
    {"initialization", read_initialization, {NULL}, VOCABULARY_CHILDREN},
    {.name = NULL},
};

int
request_read_elements(struct request *request, const xmlNode *node,
                      struct failure **failure)
{
    return vocabulary_read_children(node, elements, request, failure);
}
