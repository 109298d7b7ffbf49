/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wiring of a domain without a seed's disk: the word of its serial that says where its
 * seed is (seed-url.h). */
#pragma once

#include "wire/wire.h"

/* Refuses a domain that could not fetch anything. */
int wire_url_check(const struct domain *domain, struct failure **failure);

/*
 * The word that belongs into the domain's serial. The token is made once: where the serial
 * has one that was made for this domain, it stays.
 * Return: owned by the caller (free); NULL where there are no random bits.
 */
char *wire_url_word(const struct domain *domain, const struct wire_options *options,
                    struct failure **failure);
