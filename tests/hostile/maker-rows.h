/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a maker says that was taken over (host/exchange.h): rows of fields are its messages.
 * Each breaks one rule, or none, at the limits. tests/unit/test-hostile-maker.c has them
 * read, tests/functional/hostile-maker.c says them in whole starts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "../unit/exchange-readers.h"
#include "base/buffer.h"

enum field_kind {
    FIELD_NONE, /* after the last */
    FIELD_NUMBER,
    FIELD_NO_TEXT,
    FIELD_BYTES,    /* `number` bytes of the text, and their length before them */
    FIELD_REPEATED, /* `number` times the character of the text, and the length */
    FIELD_LINE,     /* a line of `number` bytes, and the length */
    FIELD_RAW,      /* the text, without a length */
    FIELD_HERE,     /* the path of the text next to the running program */
    /* `number`, and so many valid ones. */
    FIELD_NEEDS,
    FIELD_NOTES,
    FIELD_MACS,
    FIELD_DOCUMENTS,
};

struct field {
    enum field_kind kind;
    size_t number;
    const char *text;
};

void field_put(const struct field *field, struct buffer *message);

#define MOST_FIELDS 24

struct maker_row {
    const char *what;
    struct field fields[MOST_FIELDS];
    struct exchange_given given;
};

enum maker_reader {
    READER_OF_NEEDS,
    READER_OF_WIRING_NEEDS, /* from a maker that wires a definition */
    READER_OF_VERDICT,
    READER_OF_RESULT,
    READER_OF_WIRED,
};

struct maker_rows {
    enum maker_reader reader;
    bool is_taken;
    const struct maker_row *rows;
    size_t count;
};

extern const struct maker_rows maker_rows[];
extern const size_t maker_rows_count;

/* --- fields ------------------------------------------------------------------------- */

/* clang-format off */
#define N(value) {FIELD_NUMBER, (value), NULL}
#define NO_TEXT {FIELD_NO_TEXT, 0, NULL}
/* A literal, which may contain a NUL. */
#define T(literal) {FIELD_BYTES, sizeof(literal) - 1, (literal)}
#define REPEATED(character, count) {FIELD_REPEATED, (count), (character)}
#define LINE(count) {FIELD_LINE, (count), "a"}
#define RAW(literal) {FIELD_RAW, 0, (literal)}
#define HERE(literal) {FIELD_HERE, 0, (literal)}
#define NEEDS(count) {FIELD_NEEDS, (count), NULL}
#define NOTES(count) {FIELD_NOTES, (count), NULL}
#define MACS(count) {FIELD_MACS, (count), NULL}
#define DOCUMENTS(count) {FIELD_DOCUMENTS, (count), NULL}
/* clang-format on */

/* Of needs. */
#define NO_KEYS NO_TEXT, NO_TEXT, NO_TEXT
#define ONE_KEY T("userdata"), NO_TEXT, NO_TEXT

/* Of verdicts. */
#define EXCHANGE_TOKEN "0123456789abcdef0123456789abcdef"
#define NO_HINT NO_TEXT
#define REFUSAL N(1), N(FAILURE_FILE), N(0), T("refused"), NO_TEXT
#define SEED N(VERDICT_SEED), NOTES(0), N(0), NO_HINT
/* Publications. */
#define NO_SHIM N(SHIM_ORDER_NONE)
#define UNSERVED N(REPORT_BY_NOBODY), N(0), NO_SHIM, NO_TEXT
#define IMAGE N(REPORT_BY_NOBODY), N(1), NO_SHIM, NO_TEXT
#define SERVED N(REPORT_BY_NOBODY), N(0), NO_SHIM, T(EXCHANGE_TOKEN)
/* What follows them. */
#define NO_KEY T(""), NO_TEXT
#define NO_DIGEST NO_TEXT
#define NO_RECORD T("")
#define REST NO_KEY, NO_DIGEST, NO_RECORD
