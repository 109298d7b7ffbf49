/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/names.h"
#include "domain/guest-value.h"
#include "domain/request.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

/* --- <instance-id> ------------------------------------------------------------------ */

/* In the order of the bits of enum request_cover. */
static const char *const covers[] = {"user-data", "network-config", "vendor-data",
                                     "meta-data"};
#define COVERS_EVERYTHING ((1U << ARRAY_SIZE(covers)) - 1)

static int
read_covers(struct request *request, const xmlNode *node, struct failure **failure)
{
    cleanup_free char *text = xml_attribute(node, "covers");
    cleanup_free char *words = xstrdup(text ? text : "");
    bool wrong = false;
    char *rest = NULL;

    request->covers = text ? 0 : COVERS_EVERYTHING;
    for (char *word = strtok_r(words, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        size_t i = 0;

        while (i < ARRAY_SIZE(covers) && strcmp(covers[i], word) != 0)
            i++;
        wrong = wrong || i == ARRAY_SIZE(covers) || (request->covers & (1U << i));
        request->covers |= 1U << i;
    }
    if (!wrong && request->covers != 0)
        return 0;
    return vocabulary_fail_value(node, "covers", text,
                                 "one or more of \"user-data\", \"network-config\", "
                                 "\"vendor-data\" and \"meta-data\", each once",
                                 failure);
}

/* cloud-init names a directory after it, and people type it. */
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

static const char *const policies[] = {
    [INSTANCE_ID_DOMAIN] = "domain", /* the default */
    [INSTANCE_ID_FIXED] = "fixed",
    [INSTANCE_ID_CONTENT] = "content",
};

static int
read_instance_id(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;
    cleanup_free char *word = xml_attribute(node, "policy");
    enum instance_id_policy policy = INSTANCE_ID_DOMAIN;

    while (word && policy < ARRAY_SIZE(policies) && strcmp(policies[policy], word) != 0)
        policy++;
    if (policy == ARRAY_SIZE(policies))
        return vocabulary_fail(
            node, failure, FAILURE_INSTANCE_ID,
            "has policy=\"%.64s\", expected \"domain\", "
            "\"content\" or \"fixed\"\n"
            "use \"domain\" for the same at every start, \"content\" for a "
            "new one when the seed changes, \"fixed\" for the element's text",
            word);
    request->instance_id_policy = policy;
    if (policy != INSTANCE_ID_CONTENT && xmlHasProp(node, (const xmlChar *)"covers"))
        return vocabulary_fail(node, failure, FAILURE_INSTANCE_ID,
                               "has covers=, which belongs to policy=\"content\"\n"
                               "write policy=\"content\", or remove covers=");
    if (policy == INSTANCE_ID_FIXED) {
        request->instance_id = vocabulary_word(node);
        if (is_instance_id(request->instance_id))
            return 0;
        return vocabulary_fail(
            node, failure, FAILURE_INSTANCE_ID,
            "has policy=\"fixed\", but its text is not a valid instance-id\n"
            "write 1 to %d printable ASCII characters without spaces, slashes, "
            "backslashes, semicolons, quotes or a leading dot",
            LIMIT_INSTANCE_ID);
    }
    if (vocabulary_has_text(node))
        return vocabulary_fail(node, failure, FAILURE_INSTANCE_ID,
                               "has text, which belongs to policy=\"fixed\"\n"
                               "write policy=\"fixed\", or remove the text");
    return policy == INSTANCE_ID_CONTENT ? read_covers(request, node, failure) : 0;
}

/* --- the other elements ----------------------------------------------------------- */

static int
read_hostname(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;

    request->hostname = vocabulary_word(node);
    if (hostname_check(request->hostname, failure) < 0)
        return failure_prefix(failure, "<%s>", node->name);
    return 0;
}

/* The attributes of what may be a file or a secret. */
#define REFERENCE "file", "secret", "key"

static int
add_part(struct request *request, enum part_kind kind, const xmlNode *node,
         struct failure **failure)
{
    return parts_add(&request->parts, kind, node, false, failure) ? 0 : -1;
}

static int
read_ssh_key(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;
    char *text;

    if (part_is_reference(node))
        return add_part(request, PART_SSH_KEYS, node, failure);
    if (request->ssh_key_count == LIMIT_SSH_KEYS)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "occurs too many times, at most %d keys\n"
                               "remove some, or put them into a file: <key file=…/>",
                               LIMIT_SSH_KEYS);
    text = vocabulary_word(node);
    texts_add(&request->ssh_keys, &request->ssh_key_count, text);
    return ssh_key_check(text, failure) < 0 ? failure_prefix(failure, "<key>") : 0;
}

static const struct vocabulary_element ssh_keys_elements[] = {
    {"key", .read = read_ssh_key, .attributes = {REFERENCE}, .flags = VOCABULARY_SEVERAL},
    {0},
};

/* They must come from a secret: every local user may read the domain's XML. */
static int
read_secret_only(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;
    enum part_kind kind =
        vocabulary_is(node, "admin-password") ? PART_ADMIN_PASSWORD : PART_SSH_HOST_KEYS;

    if (!xmlHasProp(node, (const xmlChar *)"secret"))
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has no secret=\n"
                               "store it as a secret on the host, and write "
                               "secret=\"NAME\"");
    return add_part(request, kind, node, failure);
}

static int
read_entry(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;
    cleanup_free char *key = xml_attribute(node, "name");
    cleanup_free char *value = xml_text(node);

    if (!key || !*key || strlen(key) > LIMIT_ENTRY_KEY)
        return vocabulary_fail(node, failure, FAILURE_META_DATA,
                               "needs a name= of 1 to %d characters\n"
                               "write name=\"KEY\"",
                               LIMIT_ENTRY_KEY);
    if (strlen(value) > LIMIT_ENTRY_VALUE)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "has a value of more than %lu KiB\n"
                               "put large values into user-data",
                               LIMIT_ENTRY_VALUE / KIB);
    if (request->meta_data_count == LIMIT_ENTRIES)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "occurs too many times, at most %d entries\n"
                               "put the others into user-data",
                               LIMIT_ENTRIES);
    for (size_t i = 0; i < request->meta_data_count; i++) {
        if (strcmp(request->meta_data[i].key, key) == 0)
            return failure_set_at(failure, FAILURE_META_DATA, xml_line(node),
                                  "duplicate <%s name=\"%s\">\nkeep one of them",
                                  node->name, key);
    }
    *array_add(request->meta_data, request->meta_data_count) =
        (struct meta_data_entry){.key = steal(key), .value = steal(value)};
    return 0;
}

static const struct vocabulary_element meta_data_elements[] = {
    {"entry", .read = read_entry, .attributes = {"name"}, .flags = VOCABULARY_SEVERAL},
    {0},
};

/* Reads <ssh-authorized-keys> and <meta-data>, which may be a file or secret, and have
 * children as well. */
static int
read_list(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;
    const bool keys = vocabulary_is(node, "ssh-authorized-keys");
    const enum part_kind kind = keys ? PART_SSH_KEYS : PART_META_DATA;
    const bool has_part =
        part_is_reference(node) || xmlHasProp(node, (const xmlChar *)"key");

    if (has_part && add_part(request, kind, node, failure) < 0)
        return -1;
    return vocabulary_read_children(node, keys ? ssh_keys_elements : meta_data_elements,
                                    request, failure);
}

/* Reads <user-data>, of which there may be several, and <vendor-data>. */
static int
read_document(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;
    enum part_kind kind =
        vocabulary_is(node, "user-data") ? PART_USER_DATA : PART_VENDOR_DATA;
    cleanup_free char *format = xml_attribute(node, "format");
    struct part *part;
    int count = 0;

    parts_foreach(other, &request->parts, kind)
        count++;
    if (format && strcmp(format, "raw") != 0)
        return vocabulary_fail_value(node, "format", format, "\"raw\"", failure);
    if (count == LIMIT_USER_DATA)
        return vocabulary_fail(node, failure, FAILURE_LIMIT,
                               "occurs too many times, at most %d\n"
                               "combine them into a MIME message or a "
                               "#cloud-config-archive",
                               LIMIT_USER_DATA);
    part = parts_add(&request->parts, kind, node, false, failure);
    if (part && format)
        part->raw = request->raw = true;
    return part ? 0 : -1;
}

static int
read_network_config(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;
    cleanup_free char *from = xml_attribute(node, "from");

    if (!from) {
        if (vocabulary_check_no_children(node, failure) < 0)
            return -1;
        return add_part(request, PART_NETWORK_CONFIG, node, failure);
    }
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
                           "needs a text of 1 to %d characters\n"
                           "write the type's name, or remove the element",
                           LIMIT_ENTRY_KEY);
}

static int
read_initialization(void *data, const xmlNode *node, struct failure **failure)
{
    struct request *request = data;

    request->initialization = initialization_read(node, &request->parts, failure);
    return request->initialization ? 0 : -1;
}

static const struct vocabulary_element elements[] = {
    {"hostname", .read = read_hostname},
    {"instance-id", read_instance_id, .attributes = {"policy", "covers"}},
    {"instance-type", .read = read_instance_type},
    {"admin-password", read_secret_only, .attributes = {"secret", "key"}},
    {"ssh-authorized-keys", read_list, .attributes = {REFERENCE},
     .flags = VOCABULARY_ANYTHING},
    {"ssh-host-keys", read_secret_only, .attributes = {"secret"}},
    {"meta-data", read_list, .attributes = {REFERENCE}, .flags = VOCABULARY_ANYTHING},
    {"user-data", read_document, .attributes = {REFERENCE, "encoding", "format"},
     .flags = VOCABULARY_SEVERAL},
    {"vendor-data", read_document, .attributes = {REFERENCE, "encoding"}},
    {"network-config", read_network_config, .attributes = {REFERENCE, "encoding", "from"},
     .flags = VOCABULARY_ANYTHING},
    {"initialization", .read = read_initialization, .flags = VOCABULARY_ANYTHING},
    {.name = NULL},
};

/* --- <cloud-init> itself ------------------------------------------------------------ */

static int
read_attributes(struct request *request, const xmlNode *node, struct failure **failure)
{
    static const char *const buses[] = {"auto", "scsi",   "sata", "ide",
                                        "usb",  "virtio", NULL};
    static const char *const yes_no[] = {"yes", "no", NULL};
    static const char *const boots[] = {"always", "until-done", NULL};
    static const char *const host_keys[] = {"generate", NULL};
    static const char *const caches[] = {"auto", "keep", NULL};
    static const char *const machine_ids[] = {"keep", "per-instance", NULL};
    static const char *const stored[] = {"stored", NULL};
    const char *names[DATASOURCE_COUNT + 1];
    int datasource = 0, bus = 0, serial = 0, boot = 0, report = 0, cache = 0;
    int log = 0, machine_id = 0, generate = -1, password = -1, root_password = -1;
    /* The words of each, and the position of the one that is chosen. */
    const struct {
        const char *name;
        const char *const *words;
        int *choice;
    } attributes[] = {
        {"datasource", names, &datasource},
        {"bus", buses, &bus},
        {"serial", yes_no, &serial},
        {"boots", boots, &boot},
        {"report", yes_no, &report},
        {"ssh-host-keys", host_keys, &generate},
        {"cache", caches, &cache},
        {"machine-id", machine_ids, &machine_id},
        {"log", yes_no, &log},
        {PASSWORD_NAME, stored, &password},
        {ROOT_PASSWORD_NAME, stored, &root_password},
    };
    const char *known[ARRAY_SIZE(attributes) + 3] = {REQUEST_NOTES};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        names[i] = datasources[i].name;
    for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
        known[i + 2] = attributes[i].name;
    if (vocabulary_check_attributes(node, known, failure) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
        if (vocabulary_read_choice(node, attributes[i].name, attributes[i].words,
                                   attributes[i].choice, failure) < 0)
            return -1;
    }
    request->serial = serial == 0;
    request->until_done = boot == 1;
    request->report = report == 0;
    request->log = log == 0;
    request->cache = cache == 1;
    request->new_machine_id = machine_id == 1;
    if (generate == 0)
        parts_add_kept(&request->parts, PART_SSH_HOST_KEYS, PART_GENERATED,
                       "ssh-host-keys", node);
    if (password == 0)
        parts_add_kept(&request->parts, PART_PASSWORD, PART_STORED, PASSWORD_NAME, node);
    if (root_password == 0)
        parts_add_kept(&request->parts, PART_ROOT_PASSWORD, PART_STORED,
                       ROOT_PASSWORD_NAME, node);
    request->datasource = &datasources[datasource];
    request->bus = domain_bus_parse(buses[bus]);
    if (request->datasource->over_http && !scope()->imds_tree)
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has datasource=\"%s\", but the metadata server has no "
                               "seeds of domains %s\n"
                               "use datasource=\"nocloud\"",
                               request->datasource->name, scope()->place);
    if (request->datasource->over_http && request->bus != DOMAIN_BUS_OTHER)
        return vocabulary_fail(node, failure, FAILURE_BUS,
                               "has bus=, but datasource=\"%s\" has no disk\n"
                               "omit bus=, or use datasource=\"nocloud\"",
                               request->datasource->name);
    if (request->datasource->over_http && !request->serial)
        return vocabulary_fail(
            node, failure, FAILURE_SERIAL,
            "has serial=\"no\", but datasource=\"%s\" needs the serial "
            "for its address\n"
            "omit serial=, or use datasource=\"nocloud\"",
            request->datasource->name);
    return 0;
}

/* Whatever cloud-init alone would read would be lost, or would be next to the document. */
static int
check_raw(const struct request *request, const xmlNode *node, struct failure **failure)
{
    const char *other = NULL;

    if (request->initialization)
        other = "<initialization>";
    if (request->cache)
        other = "cache=\"keep\"";
    if (request->new_machine_id)
        other = "machine-id=\"per-instance\"";
    for (size_t i = 0; i < request->parts.count; i++) {
        const struct part *part = request->parts.list[i];

        if (part->kind == PART_USER_DATA &&
            part != parts_find(&request->parts, PART_USER_DATA))
            other = "another <user-data>";
        else if (part->kind == PART_VENDOR_DATA)
            other = "<vendor-data>";
        else if (part->kind == PART_SSH_HOST_KEYS)
            other = "ssh host keys";
        else if (part->kind == PART_PASSWORD || part->kind == PART_ROOT_PASSWORD)
            other = "a stored password";
    }
    if (!request->raw || !other)
        return 0;
    return vocabulary_fail(
        node, failure, FAILURE_REQUEST,
        "has <user-data format=\"raw\"> and %s, but such user-data is "
        "given to the guest alone\n"
        "keep one of them; remove format= if the guest runs cloud-init",
        other);
}

static int
settle(struct request *request, const xmlNode *node, struct failure **failure)
{
    struct initialization *initialization = request->initialization;
    const struct part *host_keys = parts_find(&request->parts, PART_SSH_HOST_KEYS);
    bool hostname_twice, network_twice;

    if (!request->datasource->has_admin_password &&
        parts_find(&request->parts, PART_ADMIN_PASSWORD))
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has <admin-password>, which datasource=\"%s\" does not "
                               "support\n"
                               "use datasource=\"configdrive\", or set it in user-data",
                               request->datasource->name);
    if (request->new_machine_id && domain_is_windows(request->domain))
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has machine-id=\"per-instance\", but Windows has no "
                               "machine-id\n"
                               "omit machine-id=, and use sysprep to prepare the disk");
    if (request->until_done && request->instance_id_policy == INSTANCE_ID_CONTENT)
        return vocabulary_fail(
            node, failure, FAILURE_INSTANCE_ID,
            "has boots=\"until-done\" and <instance-id policy=\"content\">, which would "
            "make the guest a new instance once it is done and its seed is reduced\n"
            "use policy=\"domain\", or boots=\"always\"");
    if (host_keys && parts_next(&request->parts, host_keys))
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has both ssh-host-keys=\"generate\" and <ssh-host-keys>\n"
                               "keep one of them");
    if (check_raw(request, node, failure) < 0)
        return -1;
    if (!initialization)
        return 0;
    if (initialization->root_password && parts_find(&request->parts, PART_ROOT_PASSWORD))
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has " ROOT_PASSWORD_NAME "=\"stored\", and "
                               "<initialization> gives 'root' a second password\n"
                               "keep one of them");
    hostname_twice = initialization->host_name && request->hostname;
    network_twice = request->network || parts_find(&request->parts, PART_NETWORK_CONFIG);
    network_twice = network_twice && initialization->network;
    if (hostname_twice || network_twice)
        return failure_set_at(failure, FAILURE_REQUEST, xml_line(node),
                              "<%s> conflicts with <%s> in <initialization>\n"
                              "keep one of them",
                              hostname_twice ? "hostname" : "network-config",
                              hostname_twice ? "host_name" : "nic_configurations");
    if (initialization->host_name)
        request->hostname = steal(initialization->host_name);
    if (initialization->network)
        request->network = steal(initialization->network);
    for (size_t i = 0; i < initialization->ssh_key_count; i++)
        texts_add(&request->ssh_keys, &request->ssh_key_count,
                  steal(initialization->ssh_keys[i]));
    return 0;
}

/* A <cloud-init> in another namespace is likely to be a mistake. */
static int
fail_missing(const struct domain *domain, struct failure **failure)
{
    cleanup_free char *name = xshellquote(domain->file ? domain->file : domain->name);

    xml_foreach_element(other, xml_child(domain->root, "metadata")) {
        if (strcmp((const char *)other->name, "cloud-init") == 0)
            return failure_set(failure, FAILURE_REQUEST_MISSING,
                               "does not ask for cloud-init: the namespace of the "
                               "<cloud-init> in its <metadata> is not virt-seed's\n"
                               "write xmlns:ci=\"%s\"; see virt-seed-xml(5)",
                               REQUEST_NAMESPACE);
    }
    return failure_set(failure, FAILURE_REQUEST_MISSING,
                       "does not ask for cloud-init: its <metadata> has no <cloud-init>\n"
                       "give it a request: virt-seed set %s --ssh-key=FILE "
                       "--user-data=FILE; see virt-seed-xml(5)",
                       name);
}

int
request_read(struct request *request, const struct domain *domain,
             struct failure **failure)
{
    const xmlNode *node = request_find(domain);
    const xmlNode *payload = node ? NULL : payload_find(domain);

    *request = (struct request){.domain = domain,
                                .datasource = &datasources[0],
                                .serial = true,
                                .report = true,
                                .log = true};
    if (!node && !payload && domain_uses_shim(domain))
        return 0;
    if (!node && !payload)
        return fail_missing(domain, failure);
    request->line = xml_line(node ? node : payload);
    if (payload) {
        request->datasource = &datasource_payload;
        request->payload = xcalloc(1, sizeof(*request->payload));
        return payload_read(request->payload, payload, failure);
    }
    xml_foreach_element(other, node->parent) {
        if (other != node && vocabulary_is_ours(other))
            return vocabulary_fail(
                other, failure, FAILURE_REQUEST,
                "is a second virt-seed element in <metadata>\n"
                "keep only <cloud-init>: libvirt keeps only the first");
    }
    if (read_attributes(request, node, failure) < 0 ||
        vocabulary_read_children(node, elements, request, failure) < 0)
        return -1;
    return settle(request, node, failure);
}
