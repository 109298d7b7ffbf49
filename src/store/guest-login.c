/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <arpa/inet.h>

#include "base/json.h"
#include "domain/guest-value.h"
#include "seed/ssh-host-keys.h"
#include "store/guest-login.h"

/* --- addresses -------------------------------------------------------------------- */

/* Return: whether it is not of 0/8, 127/8, 169.254/16, nor of the classes D and E. */
static bool
is_usable_ipv4(const struct in_addr *address)
{
    const uint32_t number = ntohl(address->s_addr);
    const uint32_t network = number >> 24;

    if (network == 0 || network == IN_LOOPBACKNET || network >= 224)
        return false;
    return number >> 16 != 0xa9fe;
}

static bool
is_usable_ipv6(const struct in6_addr *address)
{
    if (IN6_IS_ADDR_UNSPECIFIED(address) || IN6_IS_ADDR_LOOPBACK(address))
        return false;
    if (IN6_IS_ADDR_V4MAPPED(address) || IN6_IS_ADDR_V4COMPAT(address))
        return false;
    return !IN6_IS_ADDR_LINKLOCAL(address) && !IN6_IS_ADDR_MULTICAST(address);
}

bool
login_address_read(char usual[INET6_ADDRSTRLEN], const char *text)
{
    struct in_addr ipv4;
    struct in6_addr ipv6;

    if (inet_pton(AF_INET, text, &ipv4) == 1)
        return is_usable_ipv4(&ipv4) &&
               inet_ntop(AF_INET, &ipv4, usual, INET6_ADDRSTRLEN);
    if (inet_pton(AF_INET6, text, &ipv6) == 1)
        return is_usable_ipv6(&ipv6) &&
               inet_ntop(AF_INET6, &ipv6, usual, INET6_ADDRSTRLEN);
    return false;
}

/* --- what the guest says ------------------------------------------------------------ */

/* Return: whether it can be a NIC's name in a Linux guest, and can be shown. */
static bool
is_nic_name(const char *name)
{
    static const char fit[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789._-";
    const size_t length = strlen(name);

    return length > 0 && length <= LIMIT_NIC_NAME && strspn(name, fit) == length;
}

/* Return: the value's text; "" for any other value. */
static const char *
text_of(const json_t *value)
{
    const char *text = json_string_value(value);

    return text && strlen(text) == json_string_length(value) ? text : "";
}

static void
read_address(struct guest_login *login, const json_t *object)
{
    const char *nic = text_of(json_object_get(object, "nic"));
    const char *mac = text_of(json_object_get(object, "mac"));
    const char *text = text_of(json_object_get(object, "address"));
    struct guest_address address = {0};

    if (!is_nic_name(nic) || !text_matches(mac, MAC_PATTERN) ||
        !login_address_read(address.address, text))
        return;
    snprintf(address.nic, sizeof(address.nic), "%s", nic);
    snprintf(address.mac, sizeof(address.mac), "%s", mac);
    *array_add(login->addresses, login->address_count) = address;
}

static void
read_host_key(struct guest_login *login, const json_t *value)
{
    const char *key = text_of(value);

    if (ssh_host_key_is_public(key) &&
        !texts_have(login->host_keys, login->host_key_count, key))
        texts_add(&login->host_keys, &login->host_key_count, xstrdup(key));
}

void
guest_login_read(struct guest_login *login, const json_t *object)
{
    const json_t *said = json_object_get(object, "login");
    const char *user = text_of(json_object_get(said, "user"));
    const json_t *value;
    size_t i;

    if (guest_value_is_user_name(user))
        login->user = xstrdup(user);
    json_array_foreach(json_object_get(said, "host-keys"), i, value) {
        if (i < LIMIT_REPORT_HOST_KEYS)
            read_host_key(login, value);
    }
    json_array_foreach(json_object_get(said, "addresses"), i, value) {
        if (i < LIMIT_REPORT_ADDRESSES)
            read_address(login, value);
    }
}

void
guest_login_write(const struct guest_login *login, json_t *object)
{
    cleanup_json json_t *said = json_object();
    cleanup_json json_t *addresses = json_array();

    if (login->user)
        json_set_string(said, "user", login->user);
    json_set_texts(said, "host-keys", login->host_keys, login->host_key_count);
    for (size_t i = 0; i < login->address_count; i++) {
        const struct guest_address *address = &login->addresses[i];

        json_add(addresses, json_pack("{s:s, s:s, s:s}", "nic", address->nic, "mac",
                                      address->mac, "address", address->address));
    }
    if (login->address_count > 0)
        json_must(json_object_set(said, "addresses", addresses));
    if (json_object_size(said) > 0)
        json_must(json_object_set(object, "login", said));
}

void
guest_login_clear(struct guest_login *login)
{
    free(login->user);
    texts_free(login->host_keys, login->host_key_count);
    free(login->addresses);
    *login = (struct guest_login){0};
}
