/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translates interfaces(5), the form of a ConfigDrive's network that cloud-init reads if
 * there is no network_data.json (eni.py, _parse_deb_config_data), to the elements that oVirt
 * has for the same. What these cannot say is an error.
 */
#include "config.h"

#include "domain/vocabulary.h"
#include "import/import.h"

struct reading {
    xmlNode *initialization;
    bool in_interface; /* since the last line "iface" */
    xmlNode *ip;       /* of that line, which has a static address; NULL if it has none */
    struct buffer *servers;
    struct buffer *searches;
};

static int
fail_word(const char *what, const char *word, struct failure **failure)
{
    return failure_set(failure, FAILURE_NETWORK_CONFIG,
                       "%s '%.64s' is nothing that an element can express\n"
                       "give the documents yourself, with the network as "
                       "network_data.json: 'virt-seed set --network-config'",
                       what, word);
}

struct method {
    const char *family;
    const char *name;
    const char *protocol; /* oVirt's word */
};

static const struct method methods[] = {
    {"inet", "static", "static"}, {"inet", "dhcp", "dhcp"},
    {"inet", "manual", "none"},   {"inet6", "static", "static"},
    {"inet6", "dhcp", "dhcp"},    {"inet6", "auto", "autoconf"},
    {"inet6", "manual", "none"},
};

static const struct method *
find_method(const char *family, const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
        if (strcmp(methods[i].family, family) == 0 && strcmp(methods[i].name, name) == 0)
            return &methods[i];
    }
    return NULL;
}

/* Return: the <nic_configuration> of that name, added if it was not there. */
static xmlNode *
find_nic(struct reading *reading, const char *name)
{
    xmlNode *nics = element_ensure(reading->initialization, "nic_configurations");
    xmlNode *nic;

    for (nic = xmlFirstElementChild(nics); nic; nic = xmlNextElementSibling(nic)) {
        cleanup_free char *other = vocabulary_child_word(nic, "name");

        if (other && strcmp(other, name) == 0)
            return nic;
    }
    nic = element_add(nics, "nic_configuration");
    element_add_text(nic, "name", name);
    return nic;
}

static int
read_interface(struct reading *reading, char **rest, struct failure **failure)
{
    const char *name = strtok_r(NULL, " \t", rest);
    const char *family = strtok_r(NULL, " \t", rest);
    const char *word = strtok_r(NULL, " \t", rest);
    const struct method *method;
    const char *element;
    bool is4;
    xmlNode *nic;

    if (!name || !family || !word)
        return fail_word("a line without a name, a family and a method:", "iface",
                         failure);
    if (!element_can_hold(name, strlen(name)))
        return fail_word("the name", name, failure);
    reading->in_interface = true;
    reading->ip = NULL;
    /* Each guest has it. */
    if (strcmp(word, "loopback") == 0)
        return 0;
    method = find_method(family, word);
    if (!method)
        return fail_word("the method", word, failure);
    is4 = strcmp(family, "inet") == 0;
    element = is4 ? "boot_protocol" : "ipv6_boot_protocol";
    nic = find_nic(reading, name);
    if (vocabulary_child(nic, element))
        return fail_word("a second address of", name, failure);
    element_add_text(nic, element, method->protocol);
    if (strcmp(method->protocol, "static") == 0)
        reading->ip = element_add(nic, is4 ? "ip" : "ipv6");
    return 0;
}

/* "192.0.2.1/24" is an address and a netmask. */
static int
add_to_ip(const struct reading *reading, const char *option, char *value,
          struct failure **failure)
{
    char *prefix = strcmp(option, "address") == 0 ? strchr(value, '/') : NULL;

    if (!reading->ip || vocabulary_child(reading->ip, option))
        return fail_word("the option", option, failure);
    if (prefix)
        *prefix++ = '\0';
    element_add_text(reading->ip, option, value);
    if (prefix)
        element_add_text(reading->ip, "netmask", prefix);
    return 0;
}

/* As a resolver's, they are for the whole guest. Underscores are an old spelling. */
static struct buffer *
find_list(struct reading *reading, const char *option)
{
    if (strcmp(option, "dns-nameservers") == 0 || strcmp(option, "dns_nameservers") == 0)
        return reading->servers;
    if (strcmp(option, "dns-search") == 0 || strcmp(option, "dns_search") == 0)
        return reading->searches;
    return NULL;
}

static int
read_option(struct reading *reading, const char *option, char **rest,
            struct failure **failure)
{
    static const char *const ip_options[] = {"address", "netmask", "gateway", NULL};
    struct buffer *list = find_list(reading, option);
    char *value = strtok_r(NULL, " \t", rest);
    const bool is_known = list || word_is_in(option, ip_options);

    if (!reading->in_interface || !value || !is_known)
        return fail_word("the option", option, failure);
    for (; value; value = strtok_r(NULL, " \t", rest)) {
        if (!element_can_hold(value, strlen(value)))
            return fail_word("the value", value, failure);
        if (list)
            buffer_printf(list, "%s%s", list->size > 0 ? " " : "", value);
        else if (add_to_ip(reading, option, value, failure) < 0)
            return -1;
    }
    return 0;
}

static int
read_line(struct reading *reading, char *line, struct failure **failure)
{
    char *rest;
    const char *word = strtok_r(line, " \t\r", &rest);

    if (!word || *word == '#')
        return 0;
    if (strcmp(word, "iface") == 0)
        return read_interface(reading, &rest, failure);
    /* cloud-init starts each interface that is configured. */
    if (strcmp(word, "auto") == 0 || strcmp(word, "allow-hotplug") == 0) {
        reading->in_interface = false;
        return 0;
    }
    return read_option(reading, word, &rest, failure);
}

int
import_interfaces(xmlNode *initialization, const struct buffer *data,
                  struct failure **failure)
{
    cleanup_buffer struct buffer servers = {0};
    cleanup_buffer struct buffer searches = {0};
    struct reading reading = {
        .initialization = initialization,
        .servers = &servers,
        .searches = &searches,
    };
    cleanup_free char *text = xstrndup(data->data, data->size);
    char *rest = text;
    int status = 0;
    int number = 0;

    for (char *line; status == 0 && (line = strsep(&rest, "\n"));) {
        number++;
        status = read_line(&reading, line, failure);
    }
    if (status < 0)
        return failure_prefix(failure, "line %d", number);
    if (servers.size > 0)
        element_add_text(initialization, "dns_servers", buffer_text(&servers));
    if (searches.size > 0)
        element_add_text(initialization, "dns_search", buffer_text(&searches));
    return 0;
}
