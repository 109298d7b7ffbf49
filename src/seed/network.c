/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json.h"
#include "domain/network.h"
#include "seed/content.h"
#include "seed/writers.h"
#include "seed/yaml.h"

int
network_config_check(const char *data, size_t size, struct failure **failure)
{
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root, *version, *config;

    if (yaml_read(&yaml, data, size, YAML_ONE_MAPPING, failure) < 0)
        return -1;
    /* cloud-init ignores everything outside the wrapping. */
    root = yaml_get(yaml.root, "network");
    root = root ? root : yaml.root;
    version = yaml_get(root, "version");
    config = yaml_get(root, "config");
    if (config && strcmp(config->text, "disabled") == 0)
        return 0;
    if (!version || version->kind != YAML_SCALAR)
        return failure_set(failure, FAILURE_NETWORK_CONFIG,
                           "has no version, and cloud-init would ignore it\n"
                           "begin with 'version: 2'");
    if (version->type == YAML_INTEGER &&
        (strcmp(version->text, "1") == 0 || strcmp(version->text, "2") == 0))
        return network_check_structure(root, *version->text == '1', failure);
    if (version->type == YAML_TEXT)
        return failure_set(failure, FAILURE_NETWORK_CONFIG,
                           "has a version that is text, and cloud-init expects a number\n"
                           "write 'version: 2', without quotes");
    return failure_set(failure, FAILURE_NETWORK_CONFIG,
                       "has a version that is neither 1 nor 2\n"
                       "write 'version: 2', without quotes");
}

/* Where in the text the last key or MAC was. */
struct cursor {
    struct buffer *data;
    size_t at;
    int line;
};

static void
find_line(struct cursor *cursor, int line)
{
    struct buffer *data = cursor->data;

    /* What an alias stands for comes earlier; there are few of them. */
    if (line < cursor->line)
        *cursor = (struct cursor){.data = data, .line = 1};
    for (; cursor->line < line && cursor->at < data->size; cursor->line++) {
        char *end = memchr(&data->data[cursor->at], '\n', data->size - cursor->at);

        cursor->at = end ? (size_t)(end - data->data) + 1 : data->size;
    }
}

/* Writes spaces over the key 'network' at the beginning of its line, which leaves a mapping
 * that is indented, comments and all. If that is not the same, such as of
 * "{network: …}", writes JSON. */
static void
unwrap(struct buffer *data, int line)
{
    static const char *const keys[] = {"network:", "\"network\":", "'network':"};
    cleanup_failure struct failure *ignored = NULL;
    cleanup_failure struct failure *ignored_too = NULL;
    cleanup_json json_t *before =
        yaml_load(data->data, data->size, YAML_ONE_MAPPING, &ignored);
    cleanup_json json_t *after = NULL;
    json_t *inner = json_object_get(before, "network");
    cleanup_buffer struct buffer copy = {0};
    struct cursor cursor = {.data = &copy, .line = 1};

    if (!inner)
        return;
    buffer_append(&copy, data->data, data->size);
    find_line(&cursor, line);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        if (strncmp(&copy.data[cursor.at], keys[i], strlen(keys[i])) == 0)
            memset(&copy.data[cursor.at], ' ', strlen(keys[i]));
    }
    after = yaml_load(copy.data, copy.size, YAML_ONE_MAPPING, &ignored_too);
    buffer_clear(data);
    if (json_equal(inner, after))
        *data = steal_buffer(&copy);
    else
        yaml_text_append(data, inner);
}

/* Writes the value of the key, a MAC, in lower case, where it is in the text; nothing if it
 * is not there as it is read, such as with an escape. */
static void
lower_mac(struct cursor *cursor, const char *key, const struct yaml_node *mac)
{
    struct buffer *data = cursor->data;
    char *start, *end, *found;

    if (!mac || mac->length != strlen("00:00:00:00:00:00") ||
        strspn(mac->text, "0123456789abcdefABCDEF:") != mac->length)
        return;
    find_line(cursor, mac->line);
    start = data->data + cursor->at;
    end = memchr(start, '\n', data->size - cursor->at);
    if (!end)
        end = data->data + data->size;
    /* Before it there may be the same text, as the nic's name. */
    found = memmem(start, (size_t)(end - start), key, strlen(key));
    if (found)
        start = found;
    found = memmem(start, (size_t)(end - start), mac->text, mac->length);
    if (!found)
        return;
    for (size_t i = 0; i < mac->length; i++)
        found[i] = (char)tolower((unsigned char)found[i]);
    cursor->at = (size_t)(found - data->data) + mac->length;
}

/* The keys lead to each MAC of the collection's members; the first may be NULL. */
static void
lower_macs(struct buffer *data, const struct yaml_node *nics, const char *above,
           const char *key)
{
    struct cursor cursor = {.data = data, .line = 1};

    yaml_foreach(nic, nics) {
        const struct yaml_node *node = above ? yaml_get(nic->value, above) : nic->value;

        lower_mac(&cursor, key, yaml_get(node, key));
    }
}

void
network_config_normalize(struct buffer *data)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root, *wrapped;

    if (yaml_read(&yaml, data->data, data->size, YAML_ONE_MAPPING, &ignored) < 0 ||
        !yaml.root)
        return;
    wrapped = yaml_get(yaml.root, "network");
    root = wrapped ? wrapped : yaml.root;
    lower_macs(data, yaml_get(root, "ethernets"), "match", "macaddress");
    lower_macs(data, yaml_get(root, "config"), NULL, "mac_address");
    if (wrapped && wrapped->kind == YAML_MAPPING && !yaml.root->items->next)
        unwrap(data, yaml.root->items->key->line);
}

static void
add_route(json_t *routes, const char *to, const char *via, bool on_link, long metric)
{
    json_add(routes, json_pack("{s:s, s:s, s:o*, s:o*}", "to", to, "via", via, "on-link",
                               on_link ? json_true() : NULL, "metric",
                               metric >= 0 ? json_integer(metric) : NULL));
}

static json_t *
ethernet(const struct nic *nic, bool of_interfaces)
{
    json_t *object = json_object();
    cleanup_json json_t *routes = json_array();
    cleanup_json json_t *nameservers = json_object();

    /* With set-name, the guest would wait for the nic and fail if it is missing. */
    if (nic->mac)
        json_set(object, "match", json_pack("{s:s}", "macaddress", nic->mac));
    json_set(object, "dhcp4", json_boolean(nic->dhcp4));
    /* A clone has its own MAC. systemd-networkd's default identifier depends on
     * /etc/machine-id, which a cloned disk has from its original. */
    if (of_interfaces && nic->mac && nic->dhcp4)
        json_set_string(object, "dhcp-identifier", "mac");
    json_set(object, "dhcp6", json_boolean(nic->dhcp6));
    if (nic->accept_ra != ACCEPT_RA_UNSAID)
        json_set(object, "accept-ra", json_boolean(nic->accept_ra == ACCEPT_RA_YES));
    if (nic->optional)
        json_set(object, "optional", json_true());
    if (nic->mtu > 0)
        json_set(object, "mtu", json_integer(nic->mtu));
    json_set_texts(object, "addresses", nic->addresses, nic->address_count);
    /* Except with netplan, "default" makes cloud-init before 25.3 fail. netplan needs
     * on-link for a gateway of another network, NetworkManager does not, and the other
     * renderers ignore it. */
    if (nic->gateway4)
        add_route(routes, "0.0.0.0/0", nic->gateway4, nic_is_outside(nic, nic->gateway4),
                  -1);
    if (nic->gateway6)
        add_route(routes, "::/0", nic->gateway6, nic_is_outside(nic, nic->gateway6), -1);
    for (size_t i = 0; i < nic->route_count; i++)
        add_route(routes, nic->routes[i].to, nic->routes[i].via, false,
                  nic->routes[i].metric);
    if (json_array_size(routes) > 0)
        json_set(object, "routes", json_incref(routes));
    json_set_texts(nameservers, "addresses", nic->nameservers, nic->nameserver_count);
    json_set_texts(nameservers, "search", nic->searches, nic->search_count);
    if (json_object_size(nameservers) > 0)
        json_set(object, "nameservers", json_incref(nameservers));
    return object;
}

int
network_write_v2(struct buffer *buffer, const struct network *network,
                 struct failure **failure)
{
    cleanup_json json_t *object = json_pack("{s:i}", "version", 2);
    json_t *ethernets = json_object();

    for (size_t i = 0; i < network->nic_count; i++) {
        const struct nic *nic = &network->nics[i];
        cleanup_free char *id = nic->name ? xstrdup(nic->name) : xasprintf("nic%zu", i);

        json_set(ethernets, id, ethernet(nic, network->of_interfaces));
    }
    json_set(object, "ethernets", ethernets);
    json_append(buffer, object);
    return 0;
}

int
network_add(struct seed *seed, const char *path, struct request *request,
            network_writer *write, struct instance_id *id, struct failure **failure)
{
    struct part *part = parts_find(&request->parts, PART_NETWORK_CONFIG);
    const struct network *network = request->network;
    struct document *document;
    int result = 0;

    if (!network && (!part || part->data.size == 0))
        return 0;
    document = seed_add_document(seed, path);
    if (network)
        result = write(&document->data, network, failure);
    else
        document->data = steal_buffer(&part->data);
    instance_id_add(id, COVER_NETWORK_CONFIG, document->path, &document->data);
    return result;
}
