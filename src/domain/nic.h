/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of one nic (domain/network.h), which both vocabularies share. Text is checked
 * and kept in its usual form; `what` is what messages call it: "<address>".
 *
 * The functions return 0, or -1 with a failure that has no line.
 */
#pragma once

#include "base/failure.h"
#include "domain/address.h"
#include "domain/network.h"

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

/* Return: whether it has an address of the family (of AF_UNSPEC: any). */
bool nic_has_address(const struct nic *nic, int family);

/* Return: whether it has the name server, or the search domain. */
bool nic_has_dns(const struct nic *nic, const char *text);

/* What can be judged only when all of it is known: whether each gateway can be reached,
 * whether the MTU is enough. Sets accept_ra where it follows from the rest. */
int nic_finish(struct nic *nic, struct failure **failure);

/* Search domains need a name server beside them: from version 2, cloud-init's renderers but
 * netplan's make nothing of them else, and nothing of the nics behind. */
int nic_check_dns(const struct nic *nic, struct failure **failure);

void nic_clear(struct nic *nic);
