/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <crypt.h>
#include <sys/random.h>

#include "base/names.h"
#include "cli/io.h"
#include "cli/set.h"
#include "domain/element.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "host/secret.h"
#include "store/secret-write.h"

/* --- addresses: ADDRESS/PREFIX,gw=…,dns=…,search=…,mac=… ------------------------------ */

#define IP_HINT                                                                          \
    "write ADDRESS/PREFIX[,gw=ADDRESS][,dns=ADDRESS]...[,search=DOMAIN]...[,mac=MAC or " \
    ",network=NAME], or dhcp[,mac=MAC or ,network=NAME]"

/* Return: what the value says for that key, owned by the caller (free), or NULL. */
static char *
find_word(const char *value, const char *key)
{
    cleanup_free char *before = xasprintf(",%s=", key);
    const char *found = strstr(value, before);

    if (!found)
        return NULL;
    found += strlen(before);
    return xstrndup(found, strcspn(found, ","));
}

static bool
is_in_network(const struct interface *interface, const char *network)
{
    return xml_attribute_is(xml_child(interface->node, "source"), "network", network);
}

/* Return: the domain's only interface, or its only one in that network, or NULL. */
static const struct interface *
find_only(const struct interfaces *interfaces, const char *network,
          struct failure **failure)
{
    cleanup_free char *place =
        network ? xasprintf(" in the network '%.64s'", network) : xstrdup("");
    const struct interface *found = NULL;
    size_t count = 0;

    for (size_t i = 0; i < interfaces->count; i++) {
        const struct interface *interface = &interfaces->items[i];

        if (network && !is_in_network(interface, network))
            continue;
        found = interface;
        count++;
    }
    if (count == 1 && found->mac)
        return found;
    if (count == 0)
        failure_set(failure, FAILURE_DOMAIN,
                    "the domain has no interface%s, and --ip needs one\n%s", place,
                    *place ? "name one by its MAC: ',mac=MAC'" : "add one to its XML");
    else if (count == 1)
        failure_set(failure, FAILURE_DOMAIN,
                    "the domain's interface%s has no MAC yet\n"
                    "write <mac address=\"...\"/> into it, or define the domain first",
                    place);
    else
        failure_set(failure, FAILURE_DOMAIN,
                    "the domain has %zu interfaces%s, and --ip needs one\n"
                    "name it: add ',mac=MAC', or ',network=NAME' if only one is in that "
                    "network",
                    count, place);
    return NULL;
}

/* Return: the MAC of the interface that the value names, or of the domain's only one, owned
 * by the caller (free), or NULL. */
static char *
find_mac(const struct writing *writing, const char *value, struct failure **failure)
{
    cleanup_interfaces struct interfaces interfaces = {0};
    cleanup_free char *text = find_word(value, "mac");
    cleanup_free char *network = find_word(value, "network");
    char *mac = text ? interface_normalize_mac(text) : NULL;
    const struct interface *only;

    if (text && !mac)
        failure_set(failure, FAILURE_USAGE,
                    "--ip has mac=%.64s, which is not a MAC\n" IP_HINT, text);
    if (mac && network) {
        free(steal(mac));
        failure_set(failure, FAILURE_USAGE,
                    "--ip has both mac= and network=\nname the interface by one of them");
    }
    if (text || interfaces_read(&interfaces, writing->domain, failure) < 0)
        return mac;
    only = find_only(&interfaces, network, failure);
    return only ? xstrdup(only->mac) : NULL;
}

static xmlNode *
find_interface(const xmlNode *config, const char *mac)
{
    xml_foreach_element(node, config) {
        cleanup_free char *text = xml_attribute(node, "mac");
        cleanup_free char *other = text ? interface_normalize_mac(text) : NULL;

        if (other && strcmp(other, mac) == 0)
            return node;
    }
    return NULL;
}

void
set_remove_ip(struct writing *writing, const struct option_value *value)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_free char *mac = NULL;
    xmlNode *node = vocabulary_child(writing->element, "network-config");

    /* Any other <network-config> is a document, which says everything itself. */
    if (node && *value->text && xml_attribute_is(node, "from", "interfaces")) {
        mac = find_mac(writing, value->text, &ignored);
        node = mac ? find_interface(node, mac) : NULL;
    }
    if (node)
        xml_remove(node);
}

int
set_add_ip(struct writing *writing, const struct option_value *value,
           struct failure **failure)
{
    static const struct {
        const char *key, *element;
    } keys[] = {{"gw", "gateway"}, {"dns", "nameserver"}, {"search", "search"}};
    cleanup_free char *mac = find_mac(writing, value->text, failure);
    cleanup_free char *words = xstrdup(value->text);
    xmlNode *config, *node;
    char *rest = words;
    const char *address = strsep(&rest, ",");
    bool dhcp = strcmp(address, "dhcp") == 0;

    if (!mac)
        return -1;
    if (!dhcp && !strchr(address, '/'))
        return failure_set(failure, FAILURE_USAGE,
                           "--ip has '%.64s', which lacks its prefix\n" IP_HINT, address);
    /* An address of its own is compared with the interfaces when it is read. */
    if (dhcp && interface_mac_is_missing(writing->domain, mac))
        return failure_set(failure, FAILURE_DOMAIN,
                           "--ip has mac=%s, but the domain has no such interface\n"
                           "use the MAC of an <interface>",
                           mac);
    config = set_find_or_add(writing->element, "network-config");
    xml_set_attribute(config, "from", "interfaces");
    node = find_interface(config, mac);
    /* An interface that is not mentioned uses DHCP. */
    if (!node && !dhcp) {
        node = set_indent(element_add(config, "interface"));
        xml_set_attribute(node, "mac", mac);
    }
    if (!dhcp)
        set_indent(element_add_text(node, "address", address));
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
        char *text = strchr(word, '=');
        size_t i = 0;

        if (text)
            *text++ = '\0';
        while (text && i < ARRAY_SIZE(keys) && strcmp(keys[i].key, word) != 0)
            i++;
        if (text && (strcmp(word, "mac") == 0 || strcmp(word, "network") == 0))
            continue;
        if (!text || dhcp || i == ARRAY_SIZE(keys))
            return failure_set(failure, FAILURE_USAGE,
                               "--ip=%s does not take '%.64s'\n" IP_HINT,
                               dhcp ? "dhcp" : "ADDRESS", word);
        set_indent(element_add_text(node, keys[i].element, text));
    }
    return 0;
}

/* --- passwords --------------------------------------------------------------------- */

/* Of a password that is made: 20 characters of 5 bits each, without those that look alike
 * (0 and o, 1 and l). */
#define GENERATED_LENGTH 20
static const char generated_characters[] = "abcdefghijkmnpqrstuvwxyz23456789";
static_assert(sizeof(generated_characters) - 1 == 32, "each has 5 bits");

/* Return: the hash of the password, owned by the caller (free), or NULL. */
static char *
hash_password(const char *password, struct failure **failure)
{
    struct crypt_data *data = xcalloc(1, sizeof(*data));
    char salt[CRYPT_GENSALT_OUTPUT_SIZE];
    const char *hash = NULL;
    char *copy;

    /* SHA-512: cloud-init before 23.1 takes a hash that begins with $y$ for a
     * password. */
    if (crypt_gensalt_rn("$6$", 0, NULL, 0, salt, sizeof(salt)))
        hash = crypt_rn(password, salt, data, sizeof(*data));
    if (!hash)
        failure_set_errno(failure, FAILURE_SYSTEM, errno, "could not hash the password");
    copy = hash ? xstrdup(hash) : NULL;
    explicit_bzero(data, sizeof(*data));
    free(data);
    return copy;
}

/* Return: whether the file's content, without its line's end, is what people can type. */
static bool
is_password(struct buffer *content)
{
    size_t end = content->size;

    while (end > 0 && strchr("\r\n", content->data[end - 1]))
        end--;
    for (size_t i = 0; i < end; i++) {
        unsigned char c = (unsigned char)content->data[i];

        if (c < ' ' || c == 0x7f)
            return false;
    }
    if (end == 0 || end >= CRYPT_MAX_PASSPHRASE_SIZE)
        return false;
    content->data[end] = '\0';
    return true;
}

void
set_remove_password(struct writing *writing, const struct option_value *value)
{
    const struct setting *setting = value->row->data;
    xmlNode *initialization = vocabulary_child(writing->element, "initialization");

    xmlUnsetProp(writing->element, (const xmlChar *)setting->element);
    if (initialization && strcmp(setting->element, ROOT_PASSWORD_NAME) == 0) {
        set_remove_all(initialization, "root_password");
        set_remove_if_empty(initialization);
    }
}

static int
store_password(struct writing *writing, const struct option_value *value,
               const char *password, struct failure **failure)
{
    const struct setting *setting = value->row->data;
    const bool is_root = strcmp(setting->element, ROOT_PASSWORD_NAME) == 0;
    char **hash =
        &writing->passwords->hashes[is_root ? PASSWORD_OF_ROOT : PASSWORD_OF_USER];

    if (*hash)
        return failure_set(failure, FAILURE_USAGE,
                           "--%s sets a password that was given already\n"
                           "set each password once, by one option",
                           value->row->name);
    *hash = hash_password(password, failure);
    if (!*hash)
        return -1;
    xml_set_attribute(writing->element, setting->element, "stored");
    return 0;
}

int
set_add_password(struct writing *writing, const struct option_value *value,
                 struct failure **failure)
{
    cleanup_buffer struct buffer content = {0};
    cleanup_free char *source = NULL;

    if (set_read(writing, value, LIMIT_PASSWORD + 1, &content, failure) < 0)
        return -1;
    if (is_password(&content))
        return store_password(writing, value, content.data, failure);
    source = set_describe_source(value);
    return failure_set(failure, FAILURE_REQUEST,
                       "%s must contain one line of 1 to %d bytes, without tabs and "
                       "other control characters\n"
                       "put only the password in it",
                       source, CRYPT_MAX_PASSPHRASE_SIZE - 1);
}

int
set_generate_password(struct writing *writing, const struct option_value *value,
                      struct failure **failure)
{
    unsigned char random[GENERATED_LENGTH];
    char password[GENERATED_LENGTH + 1] = "";

    if (getrandom(random, sizeof(random), 0) != sizeof(random))
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not make a password");
    for (size_t i = 0; i < sizeof(random); i++)
        password[i] =
            generated_characters[random[i] % (sizeof(generated_characters) - 1)];
    if (store_password(writing, value, password, failure) < 0)
        return -1;
    writing->generated = xstrdup(password);
    return 0;
}

void
set_forget_password(char **password)
{
    if (*password)
        explicit_bzero(*password, strlen(*password));
    free(*password);
}

void
set_print_password(const struct context *context, const char *name, const char *password)
{
    if (context->quiet)
        print_outside_line(stdout, "%s", password);
    else
        print_outside_line(stdout, "%s: password %s", name, password);
}

/* --- --secret PART=NAME[/KEY] ----------------------------------------------------- */

static const struct secret_part {
    const char *name;
    bool has_children; /* in addition to what comes from the secret */
} secret_parts[] = {
    {"user-data", false},      {"vendor-data", false},   {"network-config", false},
    {"meta-data", true},       {"ssh-host-keys", false}, {"ssh-authorized-keys", true},
    {"admin-password", false},
};

/* Return: the part that the value begins with, or NULL. */
static const struct secret_part *
find_secret_part(const char *value)
{
    size_t length = strcspn(value, "=");

    for (size_t i = 0; i < ARRAY_SIZE(secret_parts) && value[length]; i++) {
        if (strlen(secret_parts[i].name) == length &&
            strncmp(secret_parts[i].name, value, length) == 0)
            return &secret_parts[i];
    }
    return NULL;
}

void
set_remove_secret(struct writing *writing, const struct option_value *value)
{
    const struct secret_part *part = find_secret_part(value->text);
    xmlNode *node = part ? vocabulary_child(writing->element, part->name) : NULL;

    if (part && !part->has_children) {
        set_remove_all(writing->element, part->name);
    } else if (node) {
        xmlUnsetProp(node, (const xmlChar *)"secret");
        xmlUnsetProp(node, (const xmlChar *)"key");
        xmlUnsetProp(node, (const xmlChar *)"file");
        set_remove_if_empty(node);
    }
}

int
set_add_secret(struct writing *writing, const struct option_value *value,
               struct failure **failure)
{
    const struct secret_part *part = find_secret_part(value->text);
    const char *secret = part ? strchr(value->text, '=') + 1 : "";
    size_t length;
    cleanup_free char *name = NULL;
    xmlNode *node;

    if (!part)
        return failure_set(
            failure, FAILURE_USAGE,
            "--secret has '%.64s', expected PART=NAME[/KEY]\n"
            "use one of these as PART: user-data, vendor-data, network-config, "
            "meta-data, ssh-authorized-keys, ssh-host-keys or admin-password",
            value->text);
    if (!*secret)
        return 0;
    length = strcspn(secret, "/");
    name = xstrndup(secret, length);
    if (secret_check_name("NAME", name, failure) < 0 ||
        (secret[length] && secret_check_key(secret + length + 1, failure) < 0))
        return failure_prefix(failure, "--secret");
    if (part->has_children)
        node = set_find_or_add(writing->element, part->name);
    else
        node = set_indent(element_add(writing->element, part->name));
    xml_set_attribute(node, "secret", name);
    if (secret[length])
        xml_set_attribute(node, "key", secret + length + 1);
    return 0;
}
