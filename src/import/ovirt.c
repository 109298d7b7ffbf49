/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: elements that our own <initialization> has (domain/initialization.h) are
 * copied. copy() says what becomes of the few others that oVirt's REST API has; anything
 * else is refused. What oVirt's engine means by an element and ours does not is
 * settled after that.
 */
#include "config.h"

#include "base/json.h"
#include "domain/initialization.h"
#include "domain/request.h"
#include "domain/xml.h"
#include "import/import.h"
#include "seed/content.h"
#include "seed/yaml.h"

/* --- failures --------------------------------------------------------------------- */

/* Sets a failure with the element's path ("/vm/initialization/timezone") in front. */
static int
fail(const xmlNode *node, const char *message, const char *hint, struct failure **failure)
{
    cleanup_free char *path = (char *)xmlGetNodePath(node);

    return failure_set_at(failure, FAILURE_REQUEST, xml_line(node), "%s %s\n%s", path,
                          message, hint);
}

/* Notes "PATH MESSAGE". A path counts the element's siblings, so it is not made before it is
 * needed. */
static void
note(struct import *import, const xmlNode *node, const char *message)
{
    cleanup_free char *path = (char *)xmlGetNodePath(node);

    import_note(import, "%s %s", path, message);
}

/* Links in the REST API's replies mean nothing to the guest. */
static int
check_attributes(const xmlNode *node, struct failure **failure)
{
    for (const xmlAttr *attribute = node->properties; attribute;
         attribute = attribute->next) {
        if (!xmlStrEqual(attribute->name, (const xmlChar *)"href") &&
            !xmlStrEqual(attribute->name, (const xmlChar *)"id"))
            return fail((const xmlNode *)attribute,
                        "is not an attribute that can be imported", "remove it", failure);
    }
    return 0;
}

static int
check_no_text(const xmlNode *node, struct failure **failure)
{
    if (vocabulary_has_text(node))
        return fail(node, "has text next to its elements", "put it in one of them",
                    failure);
    return 0;
}

/* --- text ------------------------------------------------------------------------- */

/* Return: the text as the word wants it, owned by the caller (free). */
static char *
read_text(const xmlNode *node, unsigned int flags)
{
    char *text = flags & VOCABULARY_VERBATIM ? xml_text(node) : vocabulary_word(node);

    /* White space alone does not count as text. */
    if (!text[strspn(text, " \t\r\n")])
        *text = '\0';
    for (char *at = text; flags & VOCABULARY_KEYWORD && *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return text;
}

static int
add_text(struct import *import, const xmlNode *node,
         const struct vocabulary_element *word, xmlNode *target, struct failure **failure)
{
    cleanup_free char *text = read_text(node, word->flags);

    if (xml_first_element(node))
        return fail(xml_first_element(node), "is an element, expected text", "remove it",
                    failure);
    if (!*text)
        return 0;
    /* The engine splits the keys there, too. */
    for (char *at = text; strcmp(word->name, "authorized_ssh_keys") == 0 && *at; at++)
        *at = *at == '\r' ? '\n' : *at;
    if (word->flags & VOCABULARY_SECRET && text[strspn(text, "*")] == '\0')
        return fail(node, "is masked: oVirt does not reveal passwords",
                    "write the password, or remove the element", failure);
    if (word->flags & VOCABULARY_UNUSED)
        note(import, node, "is for sysprep: a Linux guest does not use it");
    else if (word->flags & VOCABULARY_SECRET)
        note(import, node,
             "is a password, which every local user can read in the domain's XML: put it "
             "in a secret, see virt-seed-xml(5)");
    element_add_text(target, word->name, text);
    return 0;
}

/* --- elements --------------------------------------------------------------------- */

static const struct vocabulary_element *
find_word(const struct vocabulary_element *words, const char *name)
{
    while (name && words->name && strcmp(words->name, name) != 0)
        words++;
    return name && words->name ? words : NULL;
}

static bool
is_called(const xmlNode *node, const char *name)
{
    return !node->ns && xmlStrEqual(node->name, (const xmlChar *)name);
}

/* Return: the name of our element for it; NULL if its children take its place. */
static const char *
translate(const xmlNode *node)
{
    if (is_called(node, "host"))
        return NULL;
    if (is_called(node, "address") && is_called(node->parent, "host"))
        return "host_name";
    return (const char *)node->name;
}

static int copy_children(struct import *import, const xmlNode *node,
                         const struct vocabulary_element *words, xmlNode *target,
                         struct failure **failure);

/* `words` are those of the target. */
static int
copy(struct import *import, const xmlNode *node, const struct vocabulary_element *words,
     xmlNode *target, struct failure **failure) /* NOLINT(misc-no-recursion) */
{
    const struct vocabulary_element *word = find_word(words, translate(node));
    const xmlNode *other = xmlPreviousElementSibling((xmlNode *)node);

    for (; other && !(word && word->flags & VOCABULARY_SEVERAL);
         other = xmlPreviousElementSibling((xmlNode *)other)) {
        if (xmlStrEqual(other->name, node->name))
            return fail(node, "is a duplicate", "keep one of them", failure);
    }
    if (is_called(node, "configuration") || is_called(node, "regenerate_ids")) {
        note(import, node, "is ignored: it is not for the guest");
        return 0;
    }
    if (check_attributes(node, failure) < 0)
        return -1;
    if (word && !(word->flags & VOCABULARY_SEVERAL) &&
        vocabulary_child(target, word->name)) {
        cleanup_free char *message = xasprintf("duplicates <%s>", word->name);

        return fail(node, message, "keep one of them", failure);
    }
    if (word && !word->children)
        return add_text(import, node, word, target, failure);
    if (check_no_text(node, failure) < 0)
        return -1;
    return copy_children(import, node, word ? word->children : words,
                         word ? element_add(target, word->name) : target, failure);
}

static int
copy_children(struct import *import, const xmlNode *node,
              const struct vocabulary_element *words, xmlNode *target,
              struct failure **failure) /* NOLINT(misc-no-recursion) */
{
    size_t count = 0;

    xml_foreach_element(child, node) {
        const char *name = translate(child);
        const bool is_known =
            name ? find_word(words, name) != NULL : words == initialization_elements;

        if (++count > LIMIT_FOREIGN_ELEMENTS)
            return fail(node,
                        "has more than " DECIMAL(LIMIT_FOREIGN_ELEMENTS) " elements",
                        "remove some", failure);
        if (child->ns || !is_known)
            return fail(child, "is not an element that can be imported",
                        "fix its name or remove it: see virt-seed-xml(5) for the "
                        "elements of <initialization>",
                        failure);
        if (copy(import, child, words, target, failure) < 0)
            return -1;
    }
    return 0;
}

/* --- documents -------------------------------------------------------------------- */

/* cloud-init's "password" is for the default user, whatever the image calls it. */
static int
add_password_script(struct import *import, xmlNode *target, const char *password,
                    struct failure **failure)
{
    xmlNode *custom = vocabulary_child(target, "custom_script");
    cleanup_free char *rest = xml_text(custom);
    cleanup_json json_t *value = json_string(password);
    cleanup_free char *quoted = json_dumps(value, JSON_ENCODE_ANY);
    cleanup_free char *script = xasprintf("password: %s\n"
                                          "chpasswd: {expire: false}\n"
                                          "ssh_pwauth: true\n"
                                          "%s",
                                          quoted, rest);

    if (vocabulary_child(target, "users") ||
        yaml_check(script, strlen(script), YAML_ONE_MAPPING, failure) < 0) {
        failure_free(steal(*failure));
        return failure_set(failure, FAILURE_REQUEST,
                           "<root_password> is the default user's, but it cannot be set "
                           "together with <users> or this <custom_script>\n"
                           "name the user in <user_name>; 'root' is possible, too");
    }
    if (custom)
        xml_remove(custom);
    element_add_text(target, "custom_script", script);
    import_note(import, "root_password is the default user's, as in oVirt: it is in "
                        "<custom_script>, because no <user_name> names that user");
    return 0;
}

/* The engine makes <root_password> the password of the default user, who is root only if
 * <user_name> says so (CloudInitHandler). Ours is root's. */
static int
move_password(struct import *import, xmlNode *target, struct failure **failure)
{
    xmlNode *node = vocabulary_child(target, "root_password");
    xmlNode *user_name = vocabulary_child(target, "user_name");
    cleanup_free char *password = node ? xml_text(node) : NULL;
    cleanup_free char *name = user_name ? xml_text(user_name) : NULL;
    xmlNode *user;

    if (!password || (name && strcmp(name, "root") == 0))
        return 0;
    xml_remove(node);
    if (!name)
        return add_password_script(import, target, password, failure);
    user = element_add(element_ensure(target, "users"), "user");
    element_add_text(user, "user_name", name);
    element_add_text(user, "password", password);
    import_note(import, "root_password is that of the default user '%s', as in oVirt",
                name);
    return 0;
}

/* The engine leaves out a netmask that is not set, and cloud-init has a default. */
static void
add_netmasks(struct import *import, xmlNode *target)
{
    xml_foreach_element(one, vocabulary_child(target, "nic_configurations")) {
        xml_foreach_element(ip, one) {
            const char *prefix = vocabulary_is(ip, "ipv6") ? "64" : "24";
            const xmlNode *address = vocabulary_child(ip, "address");
            cleanup_free char *text = xml_text(address);

            if (!address || vocabulary_child(ip, "netmask"))
                continue;
            element_add_text(ip, "netmask", prefix);
            import_note(import, "address %s has no netmask, and gets cloud-init's /%s",
                        text, prefix);
        }
    }
}

/* The engine completes such a script itself (IgnitionHandler). */
static int
check_ignition(const xmlNode *script, const xmlNode *node, struct failure **failure)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_free char *text = xml_text(script);
    cleanup_yaml struct yaml yaml = {0};

    if (user_data_kind(text, strlen(text)) != USER_DATA_UNKNOWN ||
        yaml_read(&yaml, text, strlen(text), YAML_CLOUD_CONFIG, &ignored) < 0 ||
        !yaml_get(yaml.root, "ignition"))
        return 0;
    return fail(
        xml_child(node, "custom_script"),
        "is a configuration for Ignition, which the engine completes with the host "
        "name, the user and the keys",
        "write the complete configuration, and give it to the guest as it is: "
        "virt-seed set DOMAIN --datasource=configdrive --user-data-raw=FILE",
        failure);
}

static int
read_initialization(struct import *import, const xmlNode *node, struct failure **failure)
{
    xmlNode *target;

    xml_set_attribute(import->element, "datasource", "configdrive");
    target = element_add(import->element, "initialization");
    if (check_attributes(node, failure) < 0 || check_no_text(node, failure) < 0 ||
        copy_children(import, node, initialization_elements, target, failure) < 0)
        return -1;
    if (!target->children)
        return fail(node, "has no content", "add content: there is nothing to import",
                    failure);
    if (check_ignition(vocabulary_child(target, "custom_script"), node, failure) < 0)
        return -1;
    add_netmasks(import, target);
    return move_password(import, target, failure);
}

/* `parent` has the <vm>s as children. */
static int
read_vms(struct import *import, const xmlNode *parent, const char *name,
         struct failure **failure)
{
    const xmlNode *chosen = NULL, *node;

    xml_foreach(vm, parent, "vm") {
        cleanup_free char *text = xml_text(xml_child(vm, "name"));

        if (name && strcmp(text, name) != 0)
            continue;
        if (chosen)
            return fail(parent, "has more than one such <vm>",
                        "choose one with --name=NAME", failure);
        chosen = vm;
    }
    if (!chosen)
        return fail(parent, "has no such <vm>",
                    "use a <vm>; --name=NAME matches its <name>", failure);
    node = xml_child(chosen, "initialization");
    if (!node)
        return fail(chosen, "has no <initialization>",
                    "there is nothing to import; send the header 'All-Content: true' to "
                    "the REST API to get it",
                    failure);
    if (xml_next(node, "initialization"))
        return fail(node, "is a duplicate", "keep one of them", failure);
    return read_initialization(import, node, failure);
}

/* The payload that the engine puts into a domain's <metadata>. */
static int
read_payload(struct import *import, xmlDoc *doc, struct failure **failure)
{
    cleanup_seed struct seed payload = {0};
    cleanup_domain struct domain domain = {0};
    const xmlNode *node;

    if (domain_read(&domain, doc, failure) < 0)
        return -1;
    node = payload_find(&domain);
    if (!node)
        return failure_set_at(failure, FAILURE_REQUEST, xml_line(domain.root),
                              "the domain has no oVirt payload in its <metadata>\n"
                              "there is nothing to import");
    if (payload_read(&payload, node, failure) < 0)
        return -1;
    if (import_seed(import, &payload, "payload", failure) < 0)
        return failure_hint(failure, "remove it, or keep the payload in the domain: "
                                     "virt-seed makes a seed from it unchanged");
    return 0;
}

#define INPUT_HINT "use a reply of oVirt's REST API, or a domain's XML from its engine"

int
import_ovirt(struct import *import, const char *data, size_t size, const char *name,
             struct failure **failure)
{
    cleanup_xml xmlDoc *doc = xml_parse(data, size, "the input", failure);
    const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    const char *is = root && !root->ns ? (const char *)root->name : "";

    if (!doc) {
        free(steal((*failure)->hint));
        return failure_hint(failure, INPUT_HINT);
    }
    if (strcmp(is, "vms") == 0 || strcmp(is, "action") == 0)
        return read_vms(import, root, name, failure);
    if (strcmp(is, "vm") == 0)
        return read_vms(import, (const xmlNode *)doc, name, failure);
    if (strcmp(is, "domain") == 0)
        return read_payload(import, doc, failure);
    if (strcmp(is, "initialization") == 0)
        return read_initialization(import, root, failure);
    return fail(root, "is neither <vm>, <initialization> nor <domain>", INPUT_HINT,
                failure);
}
