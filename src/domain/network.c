/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules for a nic, which both vocabularies share, and for the nics together. */
#include "config.h"

#include "domain/guest-value.h"
#include "domain/network.h"

int
nic_fail_text(struct failure **failure, const char *what, const char *text,
              const char *expected)
{
    return failure_set(failure, FAILURE_NETWORK_CONFIG,
                       "%s is '%.64s', expected %s\n"
                       "correct it; virt-seed-xml(5) has an example",
                       what, text, expected);
}

static int
fail_twice(struct failure **failure, const char *what, const char *text)
{
    return failure_set(failure, FAILURE_NETWORK_CONFIG,
                       "duplicate %s '%s'\nkeep one of them", what, text);
}

static int
check_limit(size_t count, size_t limit, const char *what, struct failure **failure)
{
    if (count < limit)
        return 0;
    return failure_set(failure, FAILURE_LIMIT,
                       "too many %s, at most %zu per nic\nremove some", what, limit);
}

static int
add_text(char ***texts, size_t *count, size_t limit, const char *what, const char *text,
         struct failure **failure)
{
    if (texts_have(*texts, *count, text))
        return fail_twice(failure, what, text);
    if (check_limit(*count, limit, what, failure) < 0)
        return -1;
    texts_add(texts, count, xstrdup(text));
    return 0;
}

/* --- what a nic has ----------------------------------------------------------------- */

/* Return: whether the nic has the address, with any prefix. */
static bool
has_host(const struct nic *nic, const char *host)
{
    size_t length = strlen(host);

    for (size_t i = 0; i < nic->address_count; i++) {
        if (strncmp(nic->addresses[i], host, length) == 0 &&
            nic->addresses[i][length] == '/')
            return true;
    }
    return false;
}

int
nic_add_address(const struct network *network, struct nic *nic, const char *what,
                const struct address *address, struct failure **failure)
{
    cleanup_free char *text = address_format_with_prefix(address);
    cleanup_free char *host = address_format(address);

    if (!address_is_host(address))
        return nic_fail_text(failure, what, text, "the address of one host");
    for (size_t i = 0; i < network->nic_count; i++) {
        if (has_host(&network->nics[i], host))
            return fail_twice(failure, what, host);
    }
    return add_text(&nic->addresses, &nic->address_count, LIMIT_NIC_ADDRESSES, what, text,
                    failure);
}

int
nic_set_gateway(struct nic *nic, const char *what, const char *text,
                struct failure **failure)
{
    struct address address;
    char **gateway;

    if (!address_parse(&address, text) || !address_is_host(&address))
        return nic_fail_text(failure, what, text, "the address of one host");
    gateway = address.family == AF_INET ? &nic->gateway4 : &nic->gateway6;
    if (*gateway)
        return failure_set(failure, FAILURE_NETWORK_CONFIG,
                           "%s is '%.64s', but the nic already has '%s'\n"
                           "keep one for IPv4 and one for IPv6",
                           what, text, *gateway);
    *gateway = address_format(&address);
    return 0;
}

int
nic_add_nameserver(struct nic *nic, const char *what, const char *text,
                   struct failure **failure)
{
    struct address address;
    cleanup_free char *usual = NULL;

    if (!address_parse(&address, text) || !address_is_unicast(&address))
        return nic_fail_text(failure, what, text, "the IPv4 or IPv6 address of a server");
    usual = address_format(&address);
    return add_text(&nic->nameservers, &nic->nameserver_count, LIMIT_NIC_NAMESERVERS,
                    what, usual, failure);
}

int
nic_add_search(struct nic *nic, const char *what, const char *text,
               struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;

    if (hostname_check(text, &reason) < 0)
        return nic_fail_text(failure, what, text,
                             "a domain's name such as 'example.org'");
    return add_text(&nic->searches, &nic->search_count, LIMIT_NIC_SEARCHES, what, text,
                    failure);
}

int
nic_add_route(struct nic *nic, const char *to, const char *via, long metric,
              struct failure **failure)
{
    struct address network, gateway;
    const char *expected = "the IPv4 address of a gateway";
    cleanup_free char *usual_to = NULL;

    if (!address_parse_with_prefix(&network, to))
        return failure_set(failure, FAILURE_NETWORK_CONFIG,
                           "to= of <route> is '%.64s', expected a network such as "
                           "'198.51.100.0/24'\n"
                           "write the default route as <gateway>, or as '0.0.0.0/0' or "
                           "'::/0'",
                           to);
    if (!address_is_network(&network)) {
        const struct address base = address_network(&network);
        cleanup_free char *text = address_format_with_prefix(&base);
        cleanup_free char *itself = xasprintf("the network itself, '%s'", text);

        return nic_fail_text(failure, "to= of <route>", to, itself);
    }
    if (network.family == AF_INET6)
        expected = "the IPv6 address of a gateway";
    if (!address_parse(&gateway, via) || !address_is_host(&gateway) ||
        gateway.family != network.family)
        return nic_fail_text(failure, "via= of <route>", via, expected);
    usual_to = address_format_with_prefix(&network);
    for (size_t i = 0; i < nic->route_count; i++) {
        if (strcmp(nic->routes[i].to, usual_to) == 0 && nic->routes[i].metric == metric)
            return fail_twice(failure, "<route> to", usual_to);
    }
    if (check_limit(nic->route_count, LIMIT_NIC_ROUTES, "<route>", failure) < 0)
        return -1;
    *array_add(nic->routes, nic->route_count) = (struct route){
        .to = steal(usual_to), .via = address_format(&gateway), .metric = metric};
    return 0;
}

/* --- the whole nic ------------------------------------------------------------------ */

bool
nic_has_address(const struct nic *nic, int family)
{
    for (size_t i = 0; i < nic->address_count; i++) {
        int found = strchr(nic->addresses[i], ':') ? AF_INET6 : AF_INET;

        if (family == AF_UNSPEC || family == found)
            return true;
    }
    return false;
}

/* Return: whether the nic gets an address that is not known here. */
static bool
is_dynamic(const struct nic *nic, int family)
{
    return family == AF_INET ? nic->dhcp4 : nic->dhcp6 || nic->accept_ra == ACCEPT_RA_YES;
}

bool
nic_is_outside(const struct nic *nic, const char *text)
{
    struct address gateway, address;

    if (!address_parse(&gateway, text) || is_dynamic(nic, gateway.family) ||
        address_is_link_local6(&gateway))
        return false;
    for (size_t i = 0; i < nic->address_count; i++) {
        if (address_parse_with_prefix(&address, nic->addresses[i]) &&
            address_covers(&address, &gateway))
            return false;
    }
    return true;
}

/* The guest's kernel rejects a route whose gateway is in none of the nic's networks, but
 * the default gateway may be declared to be on its link (seed/network.c). */
static int
check_reach(const struct nic *nic, const char *what, const char *text, bool is_default,
            struct failure **failure)
{
    struct address gateway;
    bool is_in_reach = false;

    address_parse(&gateway, text);
    if (has_host(nic, text))
        return nic_fail_text(failure, what, text, "another address than the nic's own");
    if (nic_has_address(nic, gateway.family))
        is_in_reach = is_default || !nic_is_outside(nic, text);
    else if (is_dynamic(nic, gateway.family))
        is_in_reach = !is_default || address_is_link_local6(&gateway);
    if (is_in_reach)
        return 0;
    return failure_set(
        failure, FAILURE_NETWORK_CONFIG,
        "%s is '%s', which is not in the network of any of the nic's addresses\n"
        "give the nic an <address> in the gateway's network, with the "
        "right prefix; DHCP provides its own gateway",
        what, text);
}

/* From network config version 2, only cloud-init's netplan renderer sets search domains
 * without a name server; the others ignore them, and those of the nics after them. */
static int
check_dns(const struct nic *nic, struct failure **failure)
{
    if (nic->search_count == 0 || nic->nameserver_count > 0)
        return 0;
    return failure_set(failure, FAILURE_NETWORK_CONFIG,
                       "search domain '%s' without a name server: guests without netplan "
                       "would ignore it\n"
                       "add a name server; if the guest has netplan, you can also write "
                       "<network-config> as text",
                       nic->searches[0]);
}

int
nic_finish(struct nic *nic, struct failure **failure)
{
    const bool has6 = nic_has_address(nic, AF_INET6);
    const char *const gateways[] = {nic->gateway4, nic->gateway6};

    for (size_t i = 0; i < ARRAY_SIZE(gateways); i++) {
        if (gateways[i] &&
            check_reach(nic, "the gateway", gateways[i], true, failure) < 0)
            return -1;
    }
    for (size_t i = 0; i < nic->route_count; i++) {
        const struct route *route = &nic->routes[i];
        const char *gateway = NULL;

        if (strcmp(route->to, "0.0.0.0/0") == 0)
            gateway = nic->gateway4;
        else if (strcmp(route->to, "::/0") == 0)
            gateway = nic->gateway6;
        if (gateway && route->metric < 0)
            return fail_twice(failure, "default route", route->to);
        if (check_reach(nic, "via= of <route>", route->via, false, failure) < 0)
            return -1;
    }
    if (check_dns(nic, failure) < 0)
        return -1;
    if (has6 && !nic->dhcp6 && nic->accept_ra == ACCEPT_RA_UNSAID)
        nic->accept_ra = ACCEPT_RA_NO;
    if (nic->mtu == 0 || nic->mtu >= LIMIT_MTU_MIN_IPV6)
        return 0;
    if (!has6 && !is_dynamic(nic, AF_INET6))
        return 0;
    return failure_set(failure, FAILURE_NETWORK_CONFIG,
                       "mtu=\"%ld\" is too small for IPv6, expected at least %d\n"
                       "increase it, or remove the IPv6 addresses: the guest's kernel "
                       "would turn IPv6 off",
                       nic->mtu, LIMIT_MTU_MIN_IPV6);
}

/* --- all nics ----------------------------------------------------------------------- */

typedef int adder(struct nic *nic, const char *what, const char *text,
                  struct failure **failure);

static int
add_words(struct nic *nic, adder *add, const char *what, const char *words,
          struct failure **failure)
{
    cleanup_free char *copy = xstrdup(words ? words : "");
    char *rest = copy;

    for (const char *word = strtok_r(copy, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        if (add(nic, what, word, failure) < 0)
            return -1;
    }
    return 0;
}

int
network_set_dns(struct network *network, const char *servers, const char *searches,
                struct failure **failure)
{
    for (size_t i = 0; i < network->nic_count; i++) {
        struct nic *nic = &network->nics[i];

        const bool gets_addresses =
            nic->dhcp4 || nic->dhcp6 || nic->accept_ra == ACCEPT_RA_YES;

        if (!gets_addresses && !nic_has_address(nic, AF_UNSPEC))
            continue;
        if (add_words(nic, nic_add_nameserver, "<dns_servers>", servers, failure) < 0 ||
            add_words(nic, nic_add_search, "<dns_search>", searches, failure) < 0 ||
            check_dns(nic, failure) < 0)
            return -1;
    }
    return 0;
}

void
network_free(struct network *network)
{
    for (size_t i = 0; network && i < network->nic_count; i++) {
        struct nic *nic = &network->nics[i];

        free(nic->name);
        free(nic->mac);
        free(nic->gateway4);
        free(nic->gateway6);
        texts_free(nic->addresses, nic->address_count);
        texts_free(nic->nameservers, nic->nameserver_count);
        texts_free(nic->searches, nic->search_count);
        for (size_t route = 0; route < nic->route_count; route++) {
            free(nic->routes[route].to);
            free(nic->routes[route].via);
        }
        free(nic->routes);
    }
    if (network)
        free(network->nics);
    free(network);
}
