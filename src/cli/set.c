/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: first everything that a setting names is removed, then each setting adds
 * its value; so all values of a setting that is given several times stay. An empty one
 * only removes. Whether the result makes sense is for request_read() to say, in
 * definition_wire().
 */
#include "config.h"

#include "base/fs.h"
#include "base/names.h"
#include "cli/ask.h"
#include "cli/io.h"
#include "cli/set.h"
#include "domain/element.h"
#include "domain/guest-value.h"
#include "domain/request.h"
#include "domain/ssh-key.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "seed/seed.h"

/* --- what the values name ----------------------------------------------------------- */

static bool
is_path(const struct option_value *value)
{
    const char *argument = value->row->argument;

    return argument && strcmp(argument, "FILE") == 0;
}

static bool
is_standard_input(const struct option_value *value)
{
    return is_path(value) && strcmp(value->text, "-") == 0;
}

char *
set_describe_source(const struct option_value *value)
{
    const struct setting *setting = value->row->data;

    if (setting->asks_for)
        return xasprintf("the password of %s", setting->asks_for);
    if (is_standard_input(value))
        return xstrdup("standard input");
    return xasprintf("'%s'", value->text);
}

int
set_read(const struct writing *writing, const struct option_value *value, size_t limit,
         struct buffer *content, struct failure **failure)
{
    const struct setting *setting = value->row->data;
    struct set_content *kept = &writing->contents->list[writing->index];
    int result = 0;

    if (!kept->is_read && setting->asks_for)
        result = ask_password(setting->asks_for, &kept->data, failure);
    else if (!kept->is_read)
        result = io_read(is_standard_input(value) ? NULL : value->text, limit, FILE_HINT,
                         &kept->data, failure);
    if (result < 0)
        return -1;
    kept->is_read = true;
    buffer_append(content, kept->data.data, kept->data.size);
    return 0;
}

void
set_contents_clear(struct set_contents *contents)
{
    for (size_t i = 0; i < ARRAY_SIZE(contents->list); i++)
        buffer_clear(&contents->list[i].data);
}

/* --- the element ------------------------------------------------------------------ */

xmlNode *
set_indent(xmlNode *node)
{
    xmlNode *parent = node->parent;

    xmlUnlinkNode(node);
    return xml_insert_child(parent, node);
}

xmlNode *
set_find_or_add(xmlNode *parent, const char *name)
{
    xmlNode *node = vocabulary_child(parent, name);

    return node ? node : set_indent(element_add(parent, name));
}

void
set_remove_all(xmlNode *parent, const char *name)
{
    for (xmlNode *node = vocabulary_child(parent, name); node;
         node = vocabulary_child(parent, name))
        xml_remove(node);
}

void
set_remove_if_empty(xmlNode *node)
{
    if (node && !xml_first_element(node) && !node->properties)
        xml_remove(node);
}

static int
check_text(const struct option_value *value, const char *text, size_t size,
           struct failure **failure)
{
    if (element_can_hold(text, size))
        return 0;
    return failure_set(failure, FAILURE_REQUEST,
                       "--%s has characters that XML cannot hold\n"
                       "write UTF-8 without control characters",
                       value->row->name);
}

/* --- what an option removes, and adds ----------------------------------------------- */

static void
remove_element(struct writing *writing, const struct setting *setting)
{
    xmlNode *parent = writing->element;

    if (setting->below)
        parent = vocabulary_child(parent, setting->below);
    set_remove_all(parent, setting->element);
    if (setting->below)
        set_remove_if_empty(parent);
}

static int
fail_empty(const struct option_value *value, struct failure **failure)
{
    cleanup_free char *source = set_describe_source(value);

    return failure_set(failure, FAILURE_REQUEST,
                       "--%s: %s is empty\nto remove %s, write --%s=", value->row->name,
                       source, value->row->name, value->row->name);
}

/* The element has the value, or the content of its file. */
static int
add_content(struct writing *writing, const struct option_value *value,
            struct failure **failure)
{
    const struct setting *setting = value->row->data;
    cleanup_buffer struct buffer content = {0};
    xmlNode *parent = writing->element;
    xmlNode *node;

    if (setting->below)
        parent = set_find_or_add(parent, setting->below);
    if (!is_path(value))
        node = element_add_text(parent, setting->element, value->text);
    else if (set_read(writing, value, LIMIT_PART, &content, failure) < 0)
        return -1;
    else if (content.size == 0)
        return fail_empty(value, failure);
    else
        node = element_add_data(parent, setting->element, content.data, content.size);
    set_indent(node);
    if (setting->attribute)
        xml_set_attribute(node, setting->attribute, setting->value);
    return 0;
}

/* Of <cloud-init> itself, with the option's name. */
static void
remove_attribute(struct writing *writing, const struct option_value *value)
{
    xmlUnsetProp(writing->element, (const xmlChar *)value->row->name);
}

static int
add_attribute(struct writing *writing, const struct option_value *value,
              struct failure **failure)
{
    /* remove_attribute() has removed the old one. */
    if (xmlHasProp(writing->element, (const xmlChar *)value->row->name))
        return failure_set(failure, FAILURE_USAGE,
                           "--%s was given twice\ngive it once, with the value to use",
                           value->row->name);
    xml_set_attribute(writing->element, value->row->name, value->text);
    return 0;
}

static int
add_instance_id_policy(struct writing *writing, const struct option_value *value,
                       struct failure **failure)
{
    xml_set_attribute(set_indent(element_add(writing->element, "instance-id")), "policy",
                      value->text);
    return 0;
}

/* Only the entry of that key; KEY= removes it. */
static void
remove_entry(struct writing *writing, const struct option_value *value)
{
    xmlNode *parent = vocabulary_child(writing->element, "meta-data");
    cleanup_free char *key = xstrndup(value->text, strcspn(value->text, "="));

    xml_foreach_element(entry, parent) {
        if (xml_attribute_is(entry, "name", key))
            xml_remove(entry);
    }
    set_remove_if_empty(parent);
}

static int
add_entry(struct writing *writing, const struct option_value *value,
          struct failure **failure)
{
    const char *text = value->text;
    size_t length = strcspn(text, "=");
    cleanup_free char *key = xstrndup(text, length);
    xmlNode *parent;

    if (length == 0 || !text[length])
        return failure_set(failure, FAILURE_USAGE,
                           "--meta-data has '%.64s', expected KEY=VALUE\n"
                           "give a key, '=' and its value",
                           text);
    if (!text[length + 1])
        return 0;
    parent = set_find_or_add(writing->element, "meta-data");
    xml_set_attribute(set_indent(element_add_text(parent, "entry", text + length + 1)),
                      "name", key);
    return 0;
}

static int
check_ssh_key(const char *source, const char *key, int number, struct failure **failure)
{
    if (ssh_key_check(key, failure) == 0 && ssh_key_decode(key, failure) == 0)
        return 0;
    return failure_prefix(failure, "%s, line %d", source, number);
}

int
set_add_keys(struct writing *writing, const char *source, char *text,
             struct failure **failure)
{
    xmlNode *parent = set_find_or_add(writing->element, "ssh-authorized-keys");
    int number = 0;
    bool found = false;

    for (char *key; (key = ssh_key_next(&text, &number));) {
        if (check_ssh_key(source, key, number, failure) < 0)
            return -1;
        set_indent(element_add_text(parent, "key", key));
        found = true;
    }
    if (!found)
        return failure_set(failure, FAILURE_SSH_KEY,
                           "%s has no ssh public key\nssh-keygen makes one", source);
    return 0;
}

static int
add_ssh_keys(struct writing *writing, const struct option_value *value,
             struct failure **failure)
{
    cleanup_buffer struct buffer content = {0};
    cleanup_free char *source = set_describe_source(value);

    if (set_read(writing, value, LIMIT_PART, &content, failure) < 0 ||
        check_text(value, content.data, content.size, failure) < 0)
        return -1;
    return set_add_keys(writing, source, content.data, failure);
}

/* --- all of them ------------------------------------------------------------------ */

int
set_write(struct writing *writing, const struct option_values *values,
          struct wiring *wiring, struct failure **failure)
{
    xmlNode *present = request_find(writing->domain);
    xmlNode *before = present ? xmlCopyNode(present, 1) : NULL;
    int result = 0;

    writing->element = present;
    if (!present) {
        cleanup_xml xmlDoc *doc = request_new();

        writing->element = request_insert(writing->domain, xmlDocGetRootElement(doc));
        wiring_note(wiring, "<cloud-init> added to <metadata>");
    }
    for (size_t i = 0; i < values->count; i++) {
        const struct setting *setting = values->list[i].row->data;

        if (setting->remove)
            setting->remove(writing, &values->list[i]);
        else
            remove_element(writing, setting);
    }
    for (size_t i = 0; result == 0 && i < values->count; i++) {
        const struct option_value *value = &values->list[i];
        const struct setting *setting = value->row->data;

        if (!is_path(value))
            result = check_text(value, value->text, strlen(value->text), failure);
        writing->index = i;
        if (result == 0 && *value->text)
            result = setting->add(writing, value, failure);
    }
    if (result == 0 && !request_is_same(before, writing->element)) {
        for (size_t i = 0; i < values->count; i++)
            wiring_note(wiring, "--%s %s", values->list[i].row->name,
                        *values->list[i].text ? "written" : "removed");
    }
    xmlFreeNode(before);
    return result;
}

/* Return: owned by the caller (free). */
static char *
describe_value(const struct option_value *value)
{
    const struct setting *setting = value->row->data;
    const char *name = value->row->name;
    const char *text = value->text;

    if (!*text)
        return xasprintf("no %s", name);
    if (!value->row->argument)
        return xstrdup(name);
    if (is_standard_input(value))
        return xasprintf("%s of standard input", name);
    if (is_path(value))
        return xasprintf("%s %s", name, fs_base_name(text));
    if (setting->add == add_entry)
        return xasprintf("%s %.*s", name, (int)strcspn(text, "="), text);
    return xasprintf("%s %s", name, text);
}

char *
set_describe(const struct option_values *values)
{
    cleanup_buffer struct buffer list = {0};

    for (size_t i = 0; i < values->count; i++) {
        cleanup_free char *text = describe_value(&values->list[i]);

        buffer_printf(&list, "%s%s", i > 0 ? ", " : "", text);
    }
    return xstrdup(buffer_text(&list));
}

int
set_check_values(const struct context *context, const struct option_values *values,
                 bool *reads_input, struct failure **failure)
{
    const struct option_value *first = NULL;

    for (size_t i = 0; i < values->count; i++) {
        const struct option_value *value = &values->list[i];

        if (context->json && strcmp(value->row->name, "password-generate") == 0)
            return failure_set(failure, FAILURE_USAGE,
                               "--password-generate and --json cannot be combined\n"
                               "use --quiet to get the password alone");
        if (is_standard_input(value)) {
            if (first)
                return failure_set(failure, FAILURE_USAGE,
                                   "--%s and --%s cannot both read standard input\n"
                                   "give one of them a file",
                                   first->row->name, value->row->name);
            first = value;
        } else if (is_path(value) && *value->text && access(value->text, R_OK) < 0) {
            return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                     "could not read '%s'\n" FILE_HINT, value->text);
        }
    }
    *reads_input = first != NULL;
    return 0;
}

int
set_check_sharing(const struct option_values *values, bool is_several,
                  struct failure **failure)
{
    for (size_t i = 0; is_several && i < values->count; i++) {
        const char *name = values->list[i].row->name;
        const char *text = values->list[i].text;
        const bool is_address = strcmp(name, "ip") == 0 && strncmp(text, "dhcp", 4) != 0;

        if (*text && (is_address || strcmp(name, "hostname") == 0))
            return failure_set(failure, FAILURE_USAGE,
                               "several guests cannot all have --%s='%.64s'\n"
                               "name one guest in each command, or omit --%s",
                               name, text, name);
    }
    return 0;
}

int
set_check_documents(const struct domain *domain, struct failure **failure)
{
    cleanup_request struct request request = {0};

    if (request_read(&request, domain, failure) < 0)
        return -1;
    for (size_t i = 0; i < request.parts.count; i++) {
        const struct part *part = request.parts.list[i];
        bool is_document = part->kind == PART_USER_DATA ||
                           part->kind == PART_VENDOR_DATA ||
                           part->kind == PART_NETWORK_CONFIG;

        if (is_document && part->origin == PART_INLINE &&
            seed_check_part(&request, part, failure) < 0)
            return failure_prefix(failure, "domain '%s'", domain->name);
    }
    if (seed_check_meta_data(&request, failure) < 0)
        return failure_prefix(failure, "domain '%s'", domain->name);
    return 0;
}

#define SETTING(NAME, ARGUMENT, HELP, ...)                                               \
    OPTION_OF(struct settings, 0, NAME, ARGUMENT, values, HELP,                          \
              .data = &(const struct setting){__VA_ARGS__})

const struct option_row set_rows[] = {
    SETTING("user-data", "FILE", "a document for cloud-init *", .element = "user-data",
            .add = add_content),
    SETTING("user-data-raw", "FILE",
            "a document for a guest without cloud-init, given alone",
            .element = "user-data", .add = add_content, .attribute = "format",
            .value = "raw"),
    SETTING("vendor-data", "FILE", "a document with defaults, which user-data overrides",
            .element = "vendor-data", .add = add_content),
    SETTING("network-config", "FILE", "version 1 or 2, or network_data.json",
            .element = "network-config", .add = add_content),
    SETTING("meta-data", "KEY=VALUE", "an entry of the metadata *",
            .element = "meta-data", .remove = remove_entry, .add = add_entry),
    SETTING("ssh-key", "FILE", "the public keys of the default user *",
            .below = "ssh-authorized-keys", .element = "key", .add = add_ssh_keys),
    SETTING("ssh-host-keys", "generate", "a host key that known-hosts prints",
            .remove = remove_attribute, .add = add_attribute),
    SETTING("machine-id", "per-instance", "a machine-id of its own for each instance",
            .remove = remove_attribute, .add = add_attribute),
    SETTING("hostname", "NAME", "instead of the domain's name", .element = "hostname",
            .add = add_content),
    SETTING("instance-id", "ID", "instead of the domain's UUID", .element = "instance-id",
            .add = add_content, .attribute = "policy", .value = "fixed"),
    SETTING("instance-id-policy", "content|domain",
            "content: a new one whenever the seed changes", .element = "instance-id",
            .add = add_instance_id_policy),
    SETTING("user", "NAME", "the default user's name", .below = "initialization",
            .element = "user_name", .add = add_content),
    SETTING("timezone", "ZONE", "such as Europe/Berlin", .below = "initialization",
            .element = "timezone", .add = add_content),
    SETTING(
        "ip", "ADDRESS/PREFIX,gw=ADDRESS,dns=ADDRESS,search=DOMAIN,mac=MAC|dhcp",
        "the address of an interface, by its mac= or network=; all but the address is optional *",
        .remove = set_remove_ip, .add = set_add_ip),
    SETTING(
        "password-file", "FILE", "the default user's password; this host stores its hash",
        .element = PASSWORD_NAME, .remove = set_remove_password, .add = set_add_password),
    SETTING("password", NULL, "the same, asked for on the terminal",
            .element = PASSWORD_NAME, .remove = set_remove_password,
            .add = set_add_password, .asks_for = "the default user"),
    SETTING("password-generate", NULL, "the same, made now and printed once",
            .element = PASSWORD_NAME, .remove = set_remove_password,
            .add = set_generate_password),
    SETTING("root-password-file", "FILE", "root's password; this host stores its hash",
            .element = ROOT_PASSWORD_NAME, .remove = set_remove_password,
            .add = set_add_password),
    SETTING("root-password", NULL, "the same, asked for on the terminal",
            .element = ROOT_PASSWORD_NAME, .remove = set_remove_password,
            .add = set_add_password, .asks_for = "root"),
    SETTING(
        "secret", "PART=NAME[/KEY]",
        "take user-data, vendor-data, network-config, meta-data, ssh-authorized-keys, ssh-host-keys or admin-password from a secret of the host *",
        .remove = set_remove_secret, .add = set_add_secret),
    SETTING("datasource", "nocloud|configdrive|nocloud-net",
            "the datasource that the seed is for", .remove = remove_attribute,
            .add = add_attribute),
    OPTION_END,
};
