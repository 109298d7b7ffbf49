/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's network, as far as the request describes it in elements: <network-config
 * from="interfaces">, or <nic_configurations> of <initialization>. It is rendered for the
 * datasource in seed/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"
#include "domain/address.h"
#include "domain/domain.h"
#include "domain/vocabulary.h"

/* Autoconfiguration (SLAAC); where nothing is said, the guest does what it is used to. */
enum accept_ra {
    ACCEPT_RA_UNSAID,
    ACCEPT_RA_YES,
    ACCEPT_RA_NO,
};

struct route {
    char *to;    /* "198.51.100.0/24"; never "default" */
    char *via;   /* an address */
    long metric; /* -1 where there is none */
};

struct nic {
    char *name; /* as the guest knows it ("eth0"), if that is all that is known */
    char *mac;  /* in lower case; NULL if there is only a name */
    bool dhcp4;
    bool dhcp6;
    enum accept_ra accept_ra;
    bool optional;    /* the boot does not wait for it */
    long mtu;         /* 0 where there is none */
    char **addresses; /* with their prefix, "192.0.2.10/24", "2001:db8::10/64" */
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
    bool eni;           /* for ConfigDrive: interfaces(5) instead of network_data.json */
    bool of_interfaces; /* made of the domain's own: another NIC, another network */
    struct nic *nics;
    size_t nic_count;
};

/*
 * Reads <network-config from="interfaces"> against the domain's own interfaces. An
 * interface that is named there and that the domain lacks is an error.
 * Return: the network, owned by the caller (network_free), or NULL.
 */
struct network *network_read(const xmlNode *node, const struct domain *domain,
                             struct failure **failure);

/* What oVirt's two elements may contain. */
extern const struct vocabulary_element network_nic_configurations_elements[];
extern const struct vocabulary_element network_configuration_elements[];

/*
 * Reads oVirt's <nic_configurations>, or <network_configuration> of the deprecated
 * CloudInit type; the nics are added after those that are there.
 */
int network_read_nic_configurations(struct network *network, const xmlNode *node,
                                    struct failure **failure);

/* oVirt's dns_servers and dns_search, words with white space between them: for every nic
 * that has an address, DHCP or autoconfiguration. NULL for none. It is an error when no nic
 * would have them. */
int network_set_dns(struct network *network, const char *servers, const char *searches,
                    struct failure **failure);

void network_free(struct network *network);

/* Return: whether it has an address of the family (of AF_UNSPEC: any). */
bool nic_has_address(const struct nic *nic, int family);

/* Return: whether it has the name server, or the search domain. */
bool nic_has_dns(const struct nic *nic, const char *text);

/*
 * The rules of one nic, for the readers of both vocabularies. Text is checked and kept in its
 * usual form; `what` is what messages call it: "<address>". They return 0, or -1 with a
 * failure that has no line.
 */

/* "NAME is 'TEXT', expected …". */
int nic_fail_text(struct failure **failure, const char *what, const char *text,
                  const char *expected);
/* Adds an address that no nic of the network has. */
int nic_add_address(const struct network *network, struct nic *nic, const char *what,
                    const struct address *address, struct failure **failure);
/* One of each family. */
int nic_set_gateway(struct nic *nic, const char *what, const char *text,
                    struct failure **failure);
int nic_add_nameserver(struct nic *nic, const char *what, const char *text,
                       struct failure **failure);
int nic_add_search(struct nic *nic, const char *what, const char *text,
                   struct failure **failure);
int nic_add_route(struct nic *nic, const char *to, const char *via, long metric,
                  struct failure **failure);
/* What can be judged only when all of it is known: whether each gateway can be reached,
 * whether search domains have a name server, whether the MTU is enough. Sets accept_ra where
 * it follows from the rest. */
int nic_finish(struct nic *nic, struct failure **failure);
