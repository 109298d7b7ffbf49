/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: all guests use the same address, which is on the host's loopback
 * interface. Guests on a bridge reach it through their gateway. QEMU's user networking
 * (SLIRP), a process on the host, connects to it on the guest's behalf.
 */
#include "config.h"

#include <sys/random.h>

#include <nettle/base16.h>

#include "base/inet.h"
#include "domain/address.h"
#include "domain/domain.h"
#include "domain/xml.h"
#include "wire/url.h"

#define PREFIX "ds=nocloud;dsmode=net;s=http://"
#define TOKEN_BYTES (SEED_URL_TOKEN_LENGTH / 2)

static_assert(UUID_LENGTH == 36 && SEED_URL_TOKEN_LENGTH == 32, "as in seed_url_parse()");

/* --- the word --------------------------------------------------------------------- */

bool
seed_url_parse(struct seed_url *url, const char *word)
{
    cleanup_seed_url struct seed_url found = {.address = NULL};
    union inet_address inet;
    int length = 0;
    int port;

    /* Nothing may follow the last slash. */
    if (sscanf(word, PREFIX "%m[^/]/%36[^/]/%32[^/]/%n", &found.address, found.uuid,
               found.token, &length) != 3 ||
        word[length])
        return false;
    if (inet_address_read(&inet, found.address, &port) == 0 || port == 0)
        return false;
    if (!text_is_uuid(found.uuid) || !text_is_hex(found.token, SEED_URL_TOKEN_LENGTH))
        return false;
    *url = found;
    found.address = NULL;
    return true;
}

char *
seed_url_word(const struct seed_url *url)
{
    return xasprintf(PREFIX "%s/%s/%s/", url->address, url->uuid, url->token);
}

char *
seed_url_describe(const char *word)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    cleanup_buffer struct buffer text = {0};

    buffer_append_string(&text, "");
    while (*word) {
        size_t other = strcspn(word, hex);
        size_t digits = strspn(word + other, hex);

        buffer_append(&text, word, other);
        if (digits < SEED_URL_TOKEN_LENGTH)
            buffer_append(&text, word + other, digits);
        else
            buffer_append_string(&text, "…");
        word += other + digits;
    }
    return steal(text.data);
}

bool
seed_url_find(struct seed_url *url, const struct domain *domain, bool *of_another)
{
    const xmlNode *entry = domain_find_serial(domain);
    cleanup_free char *serial = xml_text(entry);
    char *rest = serial;
    bool found = false;

    seed_url_clear(url);
    for (char *word = strsep(&rest, " \t\r\n"); word; word = strsep(&rest, " \t\r\n")) {
        struct seed_url next = {.address = NULL};

        if (!seed_url_parse(&next, word))
            continue;
        seed_url_clear(url);
        *url = next;
        found = true;
        if (strcmp(url->uuid, domain->uuid) != 0)
            *of_another = true;
    }
    return found;
}

void
seed_url_clear(struct seed_url *url)
{
    free(url->address);
    *url = (struct seed_url){.address = NULL};
}

/* --- the wiring ------------------------------------------------------------------- */

int
wire_url_check(const struct domain *domain, struct failure **failure)
{
    const xmlNode *devices = xml_child(domain->root, "devices");

    /* A host device that is passed through may be a NIC. */
    if (xml_child(devices, "interface") || xml_child(devices, "hostdev"))
        return 0;
    return failure_set(failure, FAILURE_NO_NETWORK,
                       "asks for datasource=\"nocloud-net\", but has no <interface> to "
                       "fetch its seed over\n"
                       "add an <interface>, or use datasource=\"nocloud\", "
                       "which uses a disk");
}

char *
wire_url_word(const char *uuid, const struct seed_url *own, const char *imds_address,
              struct failure **failure)
{
    /* If the address is not known, an existing one stays. */
    const char *known = own ? own->address : VIRT_SEED_IMDS_ADDRESS;
    /* The address is borrowed. */
    struct seed_url url = {.address = (char *)(imds_address ? imds_address : known)};
    uint8_t bytes[TOKEN_BYTES];

    memcpy(url.uuid, uuid, sizeof(url.uuid));
    if (own) {
        memcpy(url.token, own->token, sizeof(url.token));
    } else if (getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes)) {
        base16_encode_update(url.token, sizeof(bytes), bytes);
    } else {
        failure_set_errno(failure, FAILURE_SYSTEM, errno,
                          "could not generate a random token");
        return NULL;
    }
    return seed_url_word(&url);
}
