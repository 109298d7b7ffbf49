/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets share. A target is one file, fuzz-NAME.c, with the function that
 * libFuzzer calls with bytes of its invention, and replay.c with those of the corpus. It
 * aborts where a rule of ours does not hold; the sanitizers see to the rest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "domain/domain.h"
#include "domain/request.h"
#include "host/documents.h"
#include "seed/seed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts, and says which rule, where it does not hold. */
#define fuzz_require(rule) ((rule) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #rule))
void fuzz_broken(const char *file, int line, const char *rule) __attribute__((noreturn));

/*
 * The rules of base/failure.h: there is a failure if and only if the call failed, it has
 * a message, and all of it is UTF-8 and not too long. Takes the failure. Return: whether
 * the call succeeded.
 */
bool fuzz_succeeded(int result, struct failure **failure);

/* Return: the descriptor of an empty directory, the same at each call; it is removed when
 * the program ends. */
int fuzz_root(void);
/* Puts the content into the file at the absolute `path` below that root, mode 0600. */
void fuzz_write_file(const char *path, const void *content, size_t size);

/*
 * What the hook makes of the text of a domain: the request with its parts, checked, and
 * the seed. There is one secret for it, "web1", and one file, "base.yaml".
 * Return: whether a seed came of it.
 */
bool fuzz_make_seed(const struct buffer *text, struct seed *seed);

/*
 * The rules of wire/wire.h for the text of a domain: what is wired stays as it is, and
 * what is unwired and wired again is the same as before.
 */
void fuzz_wire(const struct buffer *text);
