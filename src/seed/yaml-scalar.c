/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: as in PyYAML's resolver.py, the first character of plain text decides what
 * it can be: a word, such as yes or null, or a number or date. A tagged value must have the
 * type that it would have without the tag, except for text, bytes, and integers that are
 * tagged as floats.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "domain/part.h"
#include "seed/yaml.h"

#define TAG_PREFIX "tag:yaml.org,2002:"

#define DIGITS "0123456789"

/* --- numbers ---------------------------------------------------------------------- */

static const char *
skip_sign(const char *text)
{
    return text + (*text == '-' || *text == '+');
}

/* Return: the length of "[0-9][0-9_]*" at the beginning of the text, or 0. */
static size_t
count_decimal(const char *text)
{
    return isdigit((unsigned char)*text) ? strspn(text, DIGITS "_") : 0;
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

/* Return: the text without them, owned by the caller (free). */
static char *
remove_underscores(const char *text)
{
    char *copy = xstrdup(text);
    char *end = copy;

    for (; *text; text++) {
        if (*text != '_')
            *end++ = *text;
    }
    *end = '\0';
    return copy;
}

/* "1_000", "0x1F", "0b11", "017", and "3:25:45", which is 12345. Return: whether it is an
 * integer; PyYAML has a problem with some. */
static bool
read_integer(struct yaml_node *node, const char **problem)
{
    const char *text = skip_sign(node->text);
    const char *allowed = DIGITS "_";
    cleanup_free char *digits = NULL;
    bool overflow = false;
    uint64_t number = 0;
    int base = 10;
    size_t length;
    char *rest;

    if (text[0] == '0' && text[1] == 'b' && text[2]) {
        base = 2;
        allowed = "01_";
        text += 2;
    } else if (text[0] == '0' && text[1] == 'x' && text[2]) {
        base = 16;
        allowed = DIGITS "abcdefABCDEF_";
        text += 2;
    } else if (text[0] == '0') {
        base = 8;
        allowed = "01234567_";
    } else if (!isdigit((unsigned char)*text)) {
        return false;
    }
    length = strspn(text, allowed);
    if (text[length + (base == 10 ? count_sixties(text + length) : 0)])
        return false;
    node->type = YAML_INTEGER;
    rest = digits = remove_underscores(text);
    if (!*digits)
        *problem = "a number has no digits";
    else if (node->length > LIMIT_YAML_NUMBER)
        *problem = "a number has too many digits";
    errno = 0;
    for (;; rest++) {
        overflow = __builtin_mul_overflow(number, 60, &number) || overflow;
        overflow = __builtin_add_overflow(number, strtoull(rest, &rest, base), &number) ||
                   overflow;
        if (!*rest)
            break;
    }
    node->huge = overflow || errno != 0 || number > INT64_MAX;
    if (!node->huge)
        node->value.integer = *node->text == '-' ? -(int64_t)number : (int64_t)number;
    return true;
}

/* "1.5", ".5" but not "+.5", "1.5e+3" but not "1.5e3", "190:20:30.15". */
static bool
is_decimal_float(const char *text)
{
    const char *at = skip_sign(text);
    const size_t whole = count_decimal(at);
    const size_t sixties = whole > 0 ? count_sixties(at + whole) : 0;

    if (at[whole + sixties] != '.' ||
        (whole == 0 && (at > text || count_decimal(at + 1) == 0)))
        return false;
    at += whole + sixties + 1;
    at += strspn(at, DIGITS "_");
    if (sixties == 0 && (*at == 'e' || *at == 'E') && (at[1] == '-' || at[1] == '+') &&
        at[2])
        at += 2 + strspn(at + 2, DIGITS);
    return !*at;
}

static bool
read_float(struct yaml_node *node)
{
    static const char *const endless[] = {".inf", ".Inf", ".INF"};
    static const char *const none[] = {".nan", ".NaN", ".NAN"};
    const char *text = node->text;
    cleanup_free char *digits = NULL;
    double base = 1, sum = 0;

    for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
        if (strcmp(skip_sign(text), endless[i]) == 0)
            sum = INFINITY;
        else if (strcmp(text, none[i]) == 0)
            sum = NAN;
    }
    if (sum == 0 && !is_decimal_float(text))
        return false;
    node->type = YAML_FLOAT;
    digits = remove_underscores(skip_sign(text));
    /* Like PyYAML, adds the last part of "190:20:30.15" first, for the same rounding. */
    for (size_t i = strlen(digits); i > 0; i--) {
        if (digits[i - 1] != ':')
            continue;
        sum += strtod(&digits[i], NULL) * base;
        digits[i - 1] = '\0';
        base *= 60;
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

/* "2001-12-14", or "2001-12-14t21:59:43.10-05:00" in its many forms. Return: whether it is
 * one; Python has a problem with one that does not exist. */
static bool
read_timestamp(struct yaml_node *node, const char **problem)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day, hour = 0, minute = 0, second = 0, zone_hour = 0,
                          zone_minute = 0;
    const char *at = take(take_digits(node->text, 4, 4, &year), '-');
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
            at += 1 + strspn(at + 1, DIGITS);
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
    } else if (node->length != strlen("2001-12-14")) {
        return false;
    }
    leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year == 0 || month < 1 || month > 12 || day < 1 ||
        day > days[month - 1] + (month == 2 && leap) || hour >= 24 || minute >= 60 ||
        second >= 60 || zone_hour * 60 + zone_minute >= 24 * 60)
        *problem = "a date or time does not exist";
    node->type = YAML_TIMESTAMP;
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
resolve_plain(struct yaml_node *node, bool is_key)
{
    const char *text = node->text;
    const char *problem = NULL;

    if (isdigit((unsigned char)*text) || *text == '-' || *text == '+' || *text == '.') {
        if (!read_integer(node, &problem) && !read_float(node))
            read_timestamp(node, &problem);
    } else if (node->length <= strlen("false") && strchr("~nNyYtTfFoO", *text)) {
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
    return problem;
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
        return base64_decode(&bytes, node->text) < 0 ? problem : NULL;
    }
    if (resolve_plain(node, false))
        return problem;
    if (tag->type == YAML_FLOAT && node->type == YAML_INTEGER &&
        count_decimal(digits) > 0 && !digits[strspn(digits, DIGITS)]) {
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
