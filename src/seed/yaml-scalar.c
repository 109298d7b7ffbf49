/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: as in PyYAML's resolver.py, the first character of plain text decides what
 * it can be: a word, such as yes or null, or a number or date. A tagged value must have the
 * type that it would have without the tag, except for text, bytes, and integers that are
 * tagged as floats.
 */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/part.h"
#include "seed/yaml.h"

#define TAG_PREFIX "tag:yaml.org,2002:"

/* --- integers --------------------------------------------------------------------- */

enum number {
    NUMBER_NONE, /* the text is not a number */
    NUMBER_READ,
    NUMBER_WITHOUT_DIGITS, /* "0x_": it looks like one, and PyYAML fails on it */
    NUMBER_HUGE,
};

static const char *
skip_sign(const char *text)
{
    return text + (*text == '-' || *text == '+');
}

/* Reads all of the text, and ignores underscores. */
static enum number
read_digits(const char *text, unsigned int base, uint64_t *number)
{
    bool any = false, overflow = false;

    *number = 0;
    for (; *text; text++) {
        unsigned int digit;

        if (*text == '_')
            continue;
        if (!isxdigit((unsigned char)*text))
            return NUMBER_NONE;
        digit = isdigit((unsigned char)*text)
                    ? (unsigned int)(*text - '0')
                    : (unsigned int)(tolower((unsigned char)*text) - 'a' + 10);
        if (digit >= base)
            return NUMBER_NONE;
        any = true;
        overflow = overflow || __builtin_mul_overflow(*number, base, number) ||
                   __builtin_add_overflow(*number, digit, number);
    }
    if (!any)
        return NUMBER_WITHOUT_DIGITS;
    return overflow ? NUMBER_HUGE : NUMBER_READ;
}

/* Return: the length of "[0-9][0-9_]*" at the beginning of the text, or 0. */
static size_t
count_decimal(const char *text)
{
    return isdigit((unsigned char)*text) ? strspn(text, "0123456789_") : 0;
}

/* Return: the length of "(:[0-5]?[0-9])+" at the beginning of the text, or 0. */
static size_t
count_sixties(const char *text)
{
    size_t length = 0;

    while (text[length] == ':' && isdigit((unsigned char)text[length + 1])) {
        bool two = text[length + 1] < '6' && isdigit((unsigned char)text[length + 2]);

        length += two ? 3 : 2;
    }
    return length;
}

/* "3:25:45" is 12345. */
static enum number
read_sixties(const char *text, uint64_t *number)
{
    bool overflow = false;
    uint64_t part = 0;

    *number = 0;
    for (;; text++) {
        if (isdigit((unsigned char)*text)) {
            overflow = overflow || __builtin_mul_overflow(part, 10, &part) ||
                       __builtin_add_overflow(part, (uint64_t)(*text - '0'), &part);
        } else if (*text != '_') {
            overflow = overflow || __builtin_mul_overflow(*number, 60, number) ||
                       __builtin_add_overflow(*number, part, number);
            part = 0;
            if (!*text)
                return overflow ? NUMBER_HUGE : NUMBER_READ;
        }
    }
}

static enum number
read_integer(struct yaml_node *node)
{
    const char *text = skip_sign(node->text);
    const size_t length = count_decimal(text);
    uint64_t magnitude = 0;
    enum number result = NUMBER_NONE;

    if (text[0] == '0' && text[1] == 'b' && text[2])
        result = read_digits(text + 2, 2, &magnitude);
    else if (text[0] == '0' && text[1] == 'x' && text[2])
        result = read_digits(text + 2, 16, &magnitude);
    else if (text[0] == '0')
        result = read_digits(text, 8, &magnitude);
    else if (length > 0 && text[length] == ':' &&
             !text[length + count_sixties(text + length)])
        result = read_sixties(text, &magnitude);
    else if (length > 0)
        result = read_digits(text, 10, &magnitude);
    node->huge =
        result == NUMBER_HUGE || (result == NUMBER_READ && magnitude > INT64_MAX);
    if (result == NUMBER_READ && !node->huge)
        node->value.integer =
            *node->text == '-' ? -(int64_t)magnitude : (int64_t)magnitude;
    return result;
}

/* --- floats ----------------------------------------------------------------------- */

static bool
is_decimal_float(const char *text)
{
    const char *digits = skip_sign(text);
    size_t length = count_decimal(digits);

    if (digits[length] != '.')
        return false;
    /* "+.5" is text. */
    if (length == 0 && (digits > text || count_decimal(digits + 1) == 0))
        return false;
    digits += length + 1;
    digits += strspn(digits, "0123456789_");
    if (!*digits)
        return true;
    return (*digits == 'e' || *digits == 'E') && (digits[1] == '-' || digits[1] == '+') &&
           digits[2] && !digits[2 + strspn(digits + 2, "0123456789")];
}

static bool
is_sixties_float(const char *text)
{
    size_t length, sixties;

    text = skip_sign(text);
    length = count_decimal(text);
    sixties = length > 0 ? count_sixties(text + length) : 0;
    text += length + sixties;
    return sixties > 0 && *text == '.' && !text[1 + strspn(text + 1, "0123456789_")];
}

static bool
read_float(struct yaml_node *node)
{
    static const char *const endless[] = {".inf", ".Inf", ".INF"};
    static const char *const none[] = {".nan", ".NaN", ".NAN"};
    const char *text = node->text;
    cleanup_free char *digits = NULL;
    size_t length = 0;
    double base = 1, sum = 0;

    node->type = YAML_FLOAT;
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(text, none[i]) == 0 || strcmp(skip_sign(text), endless[i]) == 0) {
            node->value.real = strcmp(text, none[i]) == 0 ? NAN : INFINITY;
            return true;
        }
    }
    if (!is_decimal_float(text) && !is_sixties_float(text))
        return false;
    digits = xstrdup(skip_sign(text));
    for (const char *at = digits; *at; at++) {
        if (*at != '_')
            digits[length++] = *at;
    }
    digits[length] = '\0';
    /* "190:20:30.15": like PyYAML, adds the last part first, for the same rounding. */
    for (char *colon; (colon = strrchr(digits, ':')); base *= 60) {
        sum += strtod(colon + 1, NULL) * base;
        *colon = '\0';
    }
    sum += strtod(digits, NULL) * base;
    node->value.real = *text == '-' ? -sum : sum;
    return true;
}

/* --- dates ------------------------------------------------------------------------ */

/* Return: the text after a number of so many digits; NULL if there is no such number, or
 * if the text is NULL. */
static const char *
take_digits(const char *text, size_t least, size_t most, int *number)
{
    size_t count = 0;

    *number = 0;
    while (text && count < most && isdigit((unsigned char)text[count]))
        *number = *number * 10 + (text[count++] - '0');
    return text && count >= least ? text + count : NULL;
}

static const char *
take(const char *text, char expected)
{
    return text && *text == expected ? text + 1 : NULL;
}

/* "2001-12-14", or "2001-12-14t21:59:43.10-05:00" in its many forms.
 * Return: whether it is one; `possible` says whether there can be such a date. */
static bool
read_timestamp(const char *text, bool *possible)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day, hour = 0, minute = 0, second = 0, zone_hour = 0,
                          zone_minute = 0;
    const char *at = take(take_digits(text, 4, 4, &year), '-');
    bool leap;

    at = take_digits(take(take_digits(at, 1, 2, &month), '-'), 1, 2, &day);
    if (!at)
        return false;
    if (*at) {
        size_t space = strspn(at, " \t");

        if (space == 0 && *at != 'T' && *at != 't')
            return false;
        at = take(take_digits(at + (space > 0 ? space : 1), 1, 2, &hour), ':');
        at = take_digits(take(take_digits(at, 2, 2, &minute), ':'), 2, 2, &second);
        if (at && *at == '.')
            at += 1 + strspn(at + 1, "0123456789");
        if (!at)
            return false;
        at += strspn(at, " \t");
        if (*at == 'Z') {
            at++;
        } else if (*at == '-' || *at == '+') {
            at = take_digits(at + 1, 1, 2, &zone_hour);
            if (at && *at == ':')
                at = take_digits(at + 1, 2, 2, &zone_minute);
        }
        if (!at || *at)
            return false;
    } else if (strlen(text) != strlen("2001-12-14")) {
        return false;
    }
    leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    *possible = year > 0 && month >= 1 && month <= 12 && day >= 1 &&
                day <= days[month - 1] + (month == 2 && leap) && hour < 24 &&
                minute < 60 && second < 60 && zone_hour * 60 + zone_minute < 24 * 60;
    return true;
}

/* --- plain text ------------------------------------------------------------------- */

static const struct word {
    const char *text;
    enum yaml_type type;
    bool boolean;
} words[] = {
    {"", YAML_NULL, false},         {"~", YAML_NULL, false},
    {"null", YAML_NULL, false},     {"Null", YAML_NULL, false},
    {"NULL", YAML_NULL, false},     {"yes", YAML_BOOLEAN, true},
    {"Yes", YAML_BOOLEAN, true},    {"YES", YAML_BOOLEAN, true},
    {"true", YAML_BOOLEAN, true},   {"True", YAML_BOOLEAN, true},
    {"TRUE", YAML_BOOLEAN, true},   {"on", YAML_BOOLEAN, true},
    {"On", YAML_BOOLEAN, true},     {"ON", YAML_BOOLEAN, true},
    {"no", YAML_BOOLEAN, false},    {"No", YAML_BOOLEAN, false},
    {"NO", YAML_BOOLEAN, false},    {"false", YAML_BOOLEAN, false},
    {"False", YAML_BOOLEAN, false}, {"FALSE", YAML_BOOLEAN, false},
    {"off", YAML_BOOLEAN, false},   {"Off", YAML_BOOLEAN, false},
    {"OFF", YAML_BOOLEAN, false},
};

static const char *
resolve_number(struct yaml_node *node)
{
    bool possible;

    switch (read_integer(node)) {
    case NUMBER_READ:
    case NUMBER_HUGE:
        node->type = YAML_INTEGER;
        return node->length > LIMIT_YAML_NUMBER ? "a number has too many digits" : NULL;
    case NUMBER_WITHOUT_DIGITS:
        return "a number has no digits";
    case NUMBER_NONE:
        break;
    }
    if (read_float(node))
        return NULL;
    node->type = YAML_TEXT;
    if (!read_timestamp(node->text, &possible))
        return NULL;
    node->type = YAML_TIMESTAMP;
    return possible ? NULL : "a date or time does not exist";
}

static const char *
resolve_plain(struct yaml_node *node, bool is_key)
{
    const char *text = node->text;

    if (isdigit((unsigned char)*text) || *text == '-' || *text == '+' || *text == '.')
        return resolve_number(node);
    if (node->length <= strlen("false") && strchr("~nNyYtTfFoO", *text)) {
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
            if (*words[i].text != *text || strcmp(words[i].text, text) != 0)
                continue;
            node->type = words[i].type;
            node->value.boolean = words[i].boolean;
        }
    } else if (node->length == 2 && memcmp(text, "<<", 2) == 0) {
        node->type = YAML_MERGE;
        return is_key ? NULL : "'<<' is used as a value";
    } else if (node->length == 1 && *text == '=' && !is_key) {
        return "'=' is used as a value";
    }
    return NULL;
}

/* --- tags ------------------------------------------------------------------------- */

static const struct tag {
    const char *name;
    enum yaml_kind kind;
    enum yaml_type type;
} tags[] = {
    {"str", YAML_SCALAR, YAML_TEXT},      {"null", YAML_SCALAR, YAML_NULL},
    {"bool", YAML_SCALAR, YAML_BOOLEAN},  {"int", YAML_SCALAR, YAML_INTEGER},
    {"float", YAML_SCALAR, YAML_FLOAT},   {"timestamp", YAML_SCALAR, YAML_TIMESTAMP},
    {"binary", YAML_SCALAR, YAML_BINARY}, {"seq", YAML_SEQUENCE, YAML_TEXT},
    {"map", YAML_MAPPING, YAML_TEXT},
};

static const char *
resolve_tagged(struct yaml_node *node, const struct tag *tag)
{
    const char *problem = "a value is not what its tag ('!!…') says";
    const char *digits = skip_sign(node->text);

    if (tag->kind != node->kind)
        return problem;
    if (tag->type == YAML_TEXT)
        return NULL;
    if (strlen(node->text) != node->length)
        return problem;
    if (tag->type == YAML_BINARY) {
        cleanup_buffer struct buffer bytes = {0};

        node->type = YAML_BINARY;
        return base64_append(&bytes, node->text) < 0 ? problem : NULL;
    }
    if (resolve_plain(node, false))
        return problem;
    if (tag->type == YAML_FLOAT && node->type == YAML_INTEGER &&
        count_decimal(digits) > 0 && !digits[strspn(digits, "0123456789")]) {
        node->type = YAML_FLOAT;
        node->value.real = strtod(node->text, NULL);
    }
    return node->type == tag->type ? NULL : problem;
}

const char *
yaml_resolve(struct yaml_node *node, const char *tag, bool plain, bool is_key)
{
    /* Of itself '!' says no more than the kind. */
    if (!tag || strcmp(tag, "!") == 0)
        return node->kind == YAML_SCALAR && (plain || tag) ? resolve_plain(node, is_key)
                                                           : NULL;
    for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
        if (strncmp(tag, TAG_PREFIX, strlen(TAG_PREFIX)) == 0 &&
            strcmp(tag + strlen(TAG_PREFIX), tags[i].name) == 0)
            return resolve_tagged(node, &tags[i]);
    }
    return "has a tag ('!…') that is not one of YAML's plain values";
}
