/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a guest without a seed's disk fetches its seed: the word of the SMBIOS serial that
 * says it, the one place that knows its form.
 *
 *   ds=nocloud;dsmode=net;s=http://ADDRESS[:PORT]/UUID/TOKEN/
 *
 * The last slash matters: before 23.1, cloud-init appends a document's name to it as it is.
 */
#pragma once

#include <stdbool.h>

#include "base/failure.h"
#include "base/text.h"

struct domain;

#define SEED_URL_TOKEN_LENGTH 32
/* Where the address has none. */
#define SEED_URL_PORT 80

struct seed_url {
    char *address;              /* "169.254.169.254", "[fd00::1]:8080"; owned */
    char uuid[UUID_LENGTH + 1]; /* of the domain it was made for */
    char token[SEED_URL_TOKEN_LENGTH + 1]; /* 128 random bits in hex */
};

/* Return: whether the word has that form. Whatever domain or address it names, we wrote it. */
bool seed_url_parse(struct seed_url *url, const char *word);

/* Return: the word, owned by the caller (free). */
char *seed_url_word(const struct seed_url *url);

/* Return: a word of a serial for messages, owned by the caller (free): without a token, also
 * if somebody has put one into a word of their own. */
char *seed_url_describe(const char *word);

/* Finds the last such word in the domain's serial, by which cloud-init goes
 * (DataSourceNoCloud.load_cmdline_data). Return: whether there is one. `of_another`, if not
 * NULL, becomes true if any such word was made for another domain. */
bool seed_url_find(struct seed_url *url, const struct domain *domain, bool *of_another);
/* The same; whether it was made for this domain. A clone has its original's. */
bool seed_url_find_own(struct seed_url *url, const struct domain *domain);

/*
 * Reads where guests are to find the server: an IPv4 address, or an IPv6 one in brackets, and
 * perhaps a port; one that a host can have and a guest can reach, so no loopback, which would be
 * the guest's own, and none that needs a scope. No name: who would resolve it for a guest that
 * boots?
 * Return: its usual form, without the port of HTTP, owned by the caller (free); or NULL.
 */
char *seed_url_read_address(const char *text);

void seed_url_clear(struct seed_url *url);

#define cleanup_seed_url __attribute__((cleanup(seed_url_clear)))

/* --- the wiring of a domain without a seed's disk --------------------------------- */

/* Refuses a domain that could not fetch anything. */
int wire_url_check(const struct domain *domain, struct failure **failure);

/*
 * The word that belongs in the domain's serial. The token is made once: if the serial
 * has one that was made for this domain, it stays. `imds_address`: see struct wire_options.
 * Return: owned by the caller (free); NULL if there are no random bits.
 */
char *wire_url_word(const struct domain *domain, const char *imds_address,
                    struct failure **failure);
