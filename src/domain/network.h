/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's network as the request describes it in elements: <network-config
 * from="interfaces">, or <nic_configurations> of <initialization>. seed/ renders it for
 * the datasource.
 */
#pragma once

#include "domain/address.h"
#include "domain/domain.h"
#include "domain/vocabulary.h"

/* IPv6 autoconfiguration (SLAAC); if unsaid, the guest follows its own default. */
enum accept_ra {
    ACCEPT_RA_UNSAID,
    ACCEPT_RA_YES,
    ACCEPT_RA_NO,
};

struct route {
    char *to;    /* "198.51.100.0/24"; never "default" */
    char *via;   /* an address */
    long metric; /* -1 if there is none */
};

struct nic {
    char *name; /* the guest's name for it ("eth0"), if the MAC is not known */
    char *mac;  /* in lower case; NULL if there is only a name */
    bool dhcp4;
    bool dhcp6;
    enum accept_ra accept_ra;
    bool optional;    /* the boot does not wait for it */
    long mtu;         /* 0 if there is none */
    char **addresses; /* with prefix: "192.0.2.10/24", "2001:db8::10/64" */
    size_t address_count;
    char *gateway4;
    char *gateway6;
    char **nameservers;
    size_t nameserver_count;
    char **searches;
    size_t search_count;
    struct route *routes;
    size_t route_count;
};

struct network {
    bool of_interfaces; /* made from the domain's interfaces, and changes with them */
    struct nic *nics;
    size_t nic_count;
};

/*
 * Reads <network-config from="interfaces"> against the domain's own interfaces. Naming an
 * interface that the domain does not have is an error.
 * Return: the network, owned by the caller (network_free), or NULL.
 */
struct network *network_read(const xmlNode *node, const struct domain *domain,
                             struct failure **failure);

/* The elements that oVirt's <nic_configurations> may contain, and <network_configuration> of
 * the deprecated CloudInit type; they append nics to the network of a struct
 * initialization. */
extern const struct vocabulary_element network_nic_configurations_elements[];
extern const struct vocabulary_element network_configuration_elements[];

/* Sets oVirt's dns_servers and dns_search, words separated by white space, on every nic
 * with an address, DHCP or autoconfiguration; without such a nic, they have no effect, as
 * with oVirt. Either may be NULL. */
int network_set_dns(struct network *network, const char *servers, const char *searches,
                    struct failure **failure);

void network_free(struct network *network);

/* Return: whether it has an address of the family (AF_UNSPEC: of any). */
bool nic_has_address(const struct nic *nic, int family);

/*
 * The rules for one nic, for the readers of both vocabularies. Text is checked and stored
 * in its usual form; `what` is its name in messages: "<address>". They return 0, or -1
 * with a failure that has no line.
 */

/* "NAME is 'TEXT', expected …". */
int nic_fail_text(struct failure **failure, const char *what, const char *text,
                  const char *expected);
/* Adds an address, which no nic of the network may have yet. */
int nic_add_address(const struct network *network, struct nic *nic, const char *what,
                    const struct address *address, struct failure **failure);
/* A nic may have one gateway of each family. */
int nic_set_gateway(struct nic *nic, const char *what, const char *text,
                    struct failure **failure);
int nic_add_nameserver(struct nic *nic, const char *what, const char *text,
                       struct failure **failure);
int nic_add_search(struct nic *nic, const char *what, const char *text,
                   struct failure **failure);
int nic_add_route(struct nic *nic, const char *to, const char *via, long metric,
                  struct failure **failure);
/* Return: whether the address is certainly in none of the nic's networks. */
bool nic_is_outside(const struct nic *nic, const char *text);
/* Checks what depends on the whole nic: whether gateways can be reached, search domains
 * have a name server, and the MTU is large enough. Sets accept_ra if it follows from the
 * rest. */
int nic_finish(struct nic *nic, struct failure **failure);
