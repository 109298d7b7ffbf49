/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/form.h"
#include "base/inet.h"
#include "base/memory.h"
#include "domain/seed-url.h"
#include "domain/xml.h"

#define PREFIX "ds=nocloud;dsmode=net;s=http://"
#define TOKEN_BYTES (SEED_URL_TOKEN_LENGTH / 2)

/* --- its parts -------------------------------------------------------------------- */

bool
seed_url_is_address(const char *text)
{
    union inet_address address;
    int port;

    return inet_address_read(&address, text, &port) > 0 && port != 0;
}

int
seed_url_make_token(struct seed_url *url)
{
    uint8_t bytes[TOKEN_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return -errno;
    for (size_t i = 0; i < TOKEN_BYTES; i++)
        snprintf(&url->token[2 * i], 3, "%02x", bytes[i]);
    return 0;
}

/* --- the word --------------------------------------------------------------------- */

bool
seed_url_parse(struct seed_url *url, const char *word)
{
    cleanup_free char *copy = NULL;
    const char *address, *uuid, *token;
    char *rest;

    if (strncmp(word, PREFIX, strlen(PREFIX)) != 0)
        return false;
    copy = xstrdup(word + strlen(PREFIX));
    rest = copy;
    address = strsep(&rest, "/");
    uuid = strsep(&rest, "/");
    token = strsep(&rest, "/");
    /* Nothing is behind the last slash. */
    if (!rest || *rest || !seed_url_is_address(address) || !form_is_uuid(uuid) ||
        !form_is_hex(token, SEED_URL_TOKEN_LENGTH))
        return false;
    url->address = xstrdup(address);
    memcpy(url->uuid, uuid, sizeof(url->uuid));
    memcpy(url->token, token, sizeof(url->token));
    return true;
}

char *
seed_url_word(const struct seed_url *url)
{
    return xasprintf(PREFIX "%s/%s/%s/", url->address, url->uuid, url->token);
}

char *
seed_url_describe(const struct seed_url *url)
{
    return xasprintf(PREFIX "%s/%s/…/", url->address, url->uuid);
}

bool
seed_url_find(struct seed_url *url, const struct domain *domain)
{
    const xmlNode *entry = domain_find_serial(domain);
    cleanup_free char *serial = entry ? xml_text(entry) : NULL;
    char *rest = NULL;

    for (char *word = serial ? strtok_r(serial, " \t\r\n", &rest) : NULL; word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        if (seed_url_parse(url, word))
            return true;
    }
    return false;
}

bool
seed_url_find_own(struct seed_url *url, const struct domain *domain)
{
    return seed_url_find(url, domain) && strcmp(url->uuid, domain->uuid) == 0;
}

void
seed_url_clear(struct seed_url *url)
{
    free(url->address);
    *url = (struct seed_url){.address = NULL};
}
