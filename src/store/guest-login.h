/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to log in to a guest, as it reports: a member of its lines and of a record's result,
 *
 *   "login": {"user": NAME, "host-keys": ["ALGORITHM BASE64", …],
 *             "addresses": [{"nic": NAME, "mac": MAC, "address": ADDRESS}, …]}
 *
 * It is the guest's claim. Values that are not what they should be are left out, so that
 * each that is kept can be a word of a command line or of a configuration file.
 */
#pragma once

#include <netinet/in.h>

#include "base/base.h"

#define MAC_PATTERN "xx:xx:xx:xx:xx:xx"

struct guest_address {
    char nic[LIMIT_NIC_NAME + 1]; /* its name in the guest, which can be shown */
    char mac[sizeof(MAC_PATTERN)];
    char address[INET6_ADDRSTRLEN];
};

struct guest_login {
    char *user; /* that the image has for logins; NULL if the guest does not say */
    char **host_keys;
    size_t host_key_count;
    struct guest_address *addresses;
    size_t address_count;
};

struct json_t;

/* Reads the member "login" of an object, which may be missing, into an empty login. */
void guest_login_read(struct guest_login *login, const struct json_t *object);

/* Adds it, as far as the guest has said it. */
void guest_login_write(const struct guest_login *login, struct json_t *object);

void guest_login_clear(struct guest_login *login);

/* Reads an IPv4 or IPv6 address at which another machine may reach the guest: not one of a
 * loopback interface, of a link alone, or of many. Return: whether it is one, whose usual
 * form `usual` then gets. */
bool login_address_read(char usual[INET6_ADDRSTRLEN], const char *text);
