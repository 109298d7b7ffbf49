/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The URL from which a guest without a seed disk fetches its seed, in a word of the
 * SMBIOS serial. Only this file reads and writes the word; the hook searches for how it
 * begins.
 *
 *   ds=nocloud;dsmode=net;s=http://ADDRESS[:PORT]/UUID/TOKEN/
 *
 * The last slash matters: before 23.1, cloud-init simply appends a document's name.
 */
#pragma once

#include "base/base.h"

struct domain;

#define SEED_URL_TOKEN_LENGTH 32
struct seed_url {
    char *address;              /* "169.254.169.254", "[fd00::1]:8080"; owned */
    char uuid[UUID_LENGTH + 1]; /* of the domain that it was made for */
    char token[SEED_URL_TOKEN_LENGTH + 1]; /* 128 random bits in hex */
};

/* Return: whether the word has that form: virt-seed wrote it, for any domain and address. */
bool seed_url_parse(struct seed_url *url, const char *word);

/* Return: the word, owned by the caller (free). */
char *seed_url_word(const struct seed_url *url);

/* Return: a word of a serial for use in messages, owned by the caller (free): without a
 * token, even if a user has put one into another word. */
char *seed_url_describe(const char *word);

/* Finds the last such word in the domain's serial, which is the one that cloud-init uses
 * (DataSourceNoCloud.load_cmdline_data). Sets `of_another` to true if any such word was
 * made for another domain, as in a clone. Return: whether there is one. */
bool seed_url_find(struct seed_url *url, const struct domain *domain, bool *of_another);

void seed_url_clear(struct seed_url *url);

#define cleanup_seed_url __attribute__((cleanup(seed_url_clear)))

/* --- wiring a domain without a seed disk ------------------------------------------ */

/* Refuses a domain that has no network to fetch its seed over. */
int wire_url_check(const struct domain *domain, struct failure **failure);

/*
 * Makes the word for the serial of the domain with that UUID. `own` is the URL in it that
 * was made for this domain, or NULL; its token is kept. For `imds_address`, see struct
 * wire_options. Return: the word, owned by the caller (free); NULL if there is no
 * randomness.
 */
char *wire_url_word(const char *uuid, const struct seed_url *own,
                    const char *imds_address, struct failure **failure);
