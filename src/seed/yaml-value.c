/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "seed/yaml-value.h"

#define STANDARD_TAGS "tag:yaml.org,2002:"

static json_t *
fail_at(const yaml_event_t *event, const char *problem, const char *hint,
        struct failure **failure)
{
    failure_set(failure, FAILURE_YAML, "line %zu: %s", event->start_mark.line + 1,
                problem);
    failure_hint(failure, "%s", hint);
    return NULL;
}

static json_t *
own(json_t *value)
{
    if (!value)
        abort();
    return value;
}

/* --- words ------------------------------------------------------------------------ */

static bool
is_one_of(const char *text, const char *const *words)
{
    while (*words && strcmp(text, *words) != 0)
        words++;
    return *words != NULL;
}

static bool
is_null(const char *text)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};

    return is_one_of(text, words);
}

/* Return: 1 or 0 for the words of a boolean, -1 for any other text. */
static int
read_boolean(const char *text)
{
    static const char *const yes[] = {"yes",  "Yes", "YES", "true", "True",
                                      "TRUE", "on",  "On",  "ON",   NULL};
    static const char *const no[] = {"no",    "No",  "NO",  "false", "False",
                                     "FALSE", "off", "Off", "OFF",   NULL};

    if (is_one_of(text, yes))
        return 1;
    return is_one_of(text, no) ? 0 : -1;
}

/* --- integers --------------------------------------------------------------------- */

enum number {
    NUMBER_NONE, /* the text is no number */
    NUMBER_READ,
    NUMBER_UNREADABLE, /* "0x_": it looks like one, and PyYAML raises on it */
    NUMBER_OUT_OF_RANGE,
};

static const char *
skip_sign(const char *text)
{
    return text + (*text == '-' || *text == '+');
}

/* Reads `text` up to its end; underscores do not count. */
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
        return NUMBER_UNREADABLE;
    return overflow ? NUMBER_OUT_OF_RANGE : NUMBER_READ;
}

/* Return: how long "[0-9][0-9_]*" is at the begin of the text; 0 for none. */
static size_t
count_decimal(const char *text)
{
    return isdigit((unsigned char)*text) ? strspn(text, "0123456789_") : 0;
}

/* Return: how long "(:[0-5]?[0-9])+" is at the begin of the text; 0 for none. */
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
                return overflow ? NUMBER_OUT_OF_RANGE : NUMBER_READ;
        }
    }
}

static enum number
read_magnitude(const char *text, uint64_t *number)
{
    size_t length = count_decimal(text);

    if (text[0] == '0' && text[1] == 'b' && text[2])
        return read_digits(text + 2, 2, number);
    if (text[0] == '0' && text[1] == 'x' && text[2])
        return read_digits(text + 2, 16, number);
    if (text[0] == '0')
        return read_digits(text, 8, number);
    if (length > 0 && text[length] == ':' && !text[length + count_sixties(text + length)])
        return read_sixties(text, number);
    return length > 0 ? read_digits(text, 10, number) : NUMBER_NONE;
}

static enum number
read_integer(const char *text, json_int_t *integer)
{
    uint64_t magnitude;
    enum number result = read_magnitude(skip_sign(text), &magnitude);

    if (result != NUMBER_READ)
        return result;
    if (magnitude > (uint64_t)INT64_MAX)
        return NUMBER_OUT_OF_RANGE;
    *integer = *text == '-' ? -(json_int_t)magnitude : (json_int_t)magnitude;
    return NUMBER_READ;
}

/* --- floats ----------------------------------------------------------------------- */

/* Return: whether the text is "", or an exponent with its sign: "e+3". */
static bool
is_exponent(const char *text)
{
    if (!*text)
        return true;
    if ((*text != 'e' && *text != 'E') || (text[1] != '-' && text[1] != '+'))
        return false;
    return text[2] && !text[2 + strspn(text + 2, "0123456789")];
}

static bool
is_decimal_float(const char *text)
{
    size_t length;

    if (*text == '.')
        return count_decimal(text + 1) > 0 &&
               is_exponent(text + 1 + count_decimal(text + 1));
    text = skip_sign(text);
    length = count_decimal(text);
    if (length == 0 || text[length] != '.')
        return false;
    length++;
    return is_exponent(text + length + strspn(text + length, "0123456789_"));
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
is_endless(const char *text)
{
    static const char *const words[] = {".inf", ".Inf", ".INF", NULL};
    static const char *const none[] = {".nan", ".NaN", ".NAN", NULL};

    return is_one_of(skip_sign(text), words) || is_one_of(text, none);
}

/* "190:20:30.15"; the last part is added first, as PyYAML does, for the same rounding. */
static double
sum_sixties(char *text)
{
    double sum = 0, base = 1;
    char *colon;

    while ((colon = strrchr(text, ':'))) {
        sum += strtod(colon + 1, NULL) * base;
        base *= 60;
        *colon = '\0';
    }
    return sum + strtod(text, NULL) * base;
}

static enum number
read_float(const char *text, double *number)
{
    cleanup_free char *digits = NULL;
    size_t length = 0;

    if (is_endless(text))
        return NUMBER_OUT_OF_RANGE;
    if (!is_decimal_float(text) && !is_sixties_float(text))
        return NUMBER_NONE;
    digits = xstrdup(text);
    for (const char *at = skip_sign(text); *at; at++) {
        if (*at != '_')
            digits[length++] = *at;
    }
    digits[length] = '\0';
    *number = strchr(digits, ':') ? sum_sixties(digits) : strtod(digits, NULL);
    if (*text == '-')
        *number = -*number;
    return isfinite(*number) ? NUMBER_READ : NUMBER_OUT_OF_RANGE;
}

/* --- values ----------------------------------------------------------------------- */

static json_t *
number_value(const yaml_event_t *event, const char *text, struct failure **failure)
{
    json_int_t integer = 0;
    double real = 0;
    enum number result = read_integer(text, &integer);

    if (result == NUMBER_READ)
        return own(json_integer(integer));
    if (result == NUMBER_NONE) {
        result = read_float(text, &real);
        if (result == NUMBER_READ)
            return own(json_real(real));
    }
    if (result == NUMBER_OUT_OF_RANGE)
        return fail_at(event, "a number is too large, or none (.nan)",
                       "quote it if it is text", failure);
    if (result == NUMBER_UNREADABLE)
        return fail_at(event, "a number has no digits", "quote it if it is text",
                       failure);
    return own(json_stringn(text, strlen(text)));
}

static json_t *
plain_value(const yaml_event_t *event, const char *text, struct failure **failure)
{
    int boolean = read_boolean(text);

    if (boolean >= 0)
        return own(json_boolean(boolean));
    if (is_null(text))
        return own(json_null());
    if (strcmp(text, "<<") == 0 || strcmp(text, "=") == 0)
        return fail_at(event, "'<<' or '=' stands where a value is expected", "quote it",
                       failure);
    return strchr("+-.0123456789", *text) ? number_value(event, text, failure)
                                          : own(json_string(text));
}

static json_t *
float_value(const char *text)
{
    const char *digits = skip_sign(text);
    double real = 0;

    if (*digits && !digits[strspn(digits, "0123456789")])
        real = strtod(text, NULL);
    else if (read_float(text, &real) != NUMBER_READ)
        return NULL;
    return isfinite(real) ? own(json_real(real)) : NULL;
}

static json_t *
tagged_value(const yaml_event_t *event, const char *tag, const char *text,
             struct failure **failure)
{
    static const char *const texts[] = {"str", "timestamp", "python/unicode", NULL};
    json_int_t integer;
    json_t *value = NULL;

    if (is_one_of(tag, texts))
        return own(json_string(text));
    if (strcmp(tag, "null") == 0)
        return own(json_null());
    if (strcmp(tag, "bool") == 0 && read_boolean(text) >= 0)
        value = own(json_boolean(read_boolean(text)));
    else if (strcmp(tag, "int") == 0 && read_integer(text, &integer) == NUMBER_READ)
        value = own(json_integer(integer));
    else if (strcmp(tag, "float") == 0)
        value = float_value(text);
    return value ? value
                 : fail_at(event,
                           "a value is not what its tag ('!!…') says, or nothing "
                           "that JSON can hold",
                           "remove the tag", failure);
}

json_t *
yaml_scalar_value(const yaml_event_t *event, struct failure **failure)
{
    const char *text = (const char *)event->data.scalar.value;
    const char *tag = (const char *)event->data.scalar.tag;

    if (strlen(text) != event->data.scalar.length)
        return fail_at(event, "a text has a NUL character", "remove it", failure);
    if (event->data.scalar.plain_implicit)
        return plain_value(event, text, failure);
    if (event->data.scalar.quoted_implicit)
        return own(json_string(text));
    if (tag && strncmp(tag, STANDARD_TAGS, strlen(STANDARD_TAGS)) == 0)
        return tagged_value(event, tag + strlen(STANDARD_TAGS), text, failure);
    return fail_at(event, "has a tag ('!…') that cloud-init lacks", "remove the tag",
                   failure);
}
