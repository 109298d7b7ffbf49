/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: as in PyYAML's resolver.py, the first character of plain text decides what
 * it can be: a word, such as yes or null, or a number or date.
 */
#include "config.h"

#include <math.h>
#include <regex.h>

#include "domain/part.h"
#include "domain/vocabulary.h"
#include "seed/yaml.h"

#define TAG_TEXT "tag:yaml.org,2002:str"
#define TAG_BINARY "tag:yaml.org,2002:binary"

#define DIGITS "0123456789"

static const char *
skip_sign(const char *text)
{
    return text + (*text == '-' || *text == '+');
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

/* One of PyYAML's regular expressions (resolver.py). */
struct pattern {
    const char *text;
    bool is_compiled;
    regex_t compiled;
};

static bool
matches(struct pattern *pattern, const char *text)
{
    if (!pattern->is_compiled &&
        regcomp(&pattern->compiled, pattern->text, REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    pattern->is_compiled = true;
    return regexec(&pattern->compiled, text, 0, NULL, 0) == 0;
}

/* "1.5", ".5" but not "+.5", "1.5e+3" but not "1.5e3", "190:20:30.15". */
static bool
read_float(struct yaml_node *node)
{
    static struct pattern pattern = {.text =
                                         "^[-+]?[0-9][0-9_]*\\.[0-9_]*([eE][-+][0-9]+)?$|"
                                         "^\\.[0-9][0-9_]*([eE][-+][0-9]+)?$|"
                                         "^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\\.[0-9_]*$|"
                                         "^[-+]?\\.(inf|Inf|INF)$|"
                                         "^\\.(nan|NaN|NAN)$"};
    const char *text = node->text;
    cleanup_free char *digits = NULL;
    double base = 1, sum = 0;

    /* Compiling a pattern takes long; most of these texts are addresses with a prefix. */
    if (text[strspn(text, DIGITS "_.:+-eEinfINFaA")] || !matches(&pattern, text))
        return false;
    node->type = YAML_FLOAT;
    digits = remove_underscores(skip_sign(text));
    if (strcasecmp(digits, ".inf") == 0)
        sum = INFINITY;
    else if (strcasecmp(digits, ".nan") == 0)
        sum = NAN;
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

/* "2001-12-14", or "2001-12-14t21:59:43.10-05:00" in its many forms. Return: whether it is
 * one; Python has a problem with one that does not exist. */
static bool
read_timestamp(struct yaml_node *node, const char **problem)
{
    static struct pattern pattern = {.text =
                                         "^[0-9]{4}-[0-9]{2}-[0-9]{2}$|"
                                         "^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)"
                                         "[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\\.[0-9]*)?"
                                         "([ \t]*(Z|[-+][0-9]{1,2}(:[0-9]{2})?))?$"};
    struct tm written = {0}, real;
    const char *rest, *zone;
    bool exists;

    if (strspn(node->text, DIGITS) != 4 || !matches(&pattern, node->text))
        return false;
    node->type = YAML_TIMESTAMP;
    rest = strptime(node->text, "%Y-%m-%d", &written);
    if (rest && *rest)
        rest = strptime(rest + strspn(rest, "Tt \t"), "%H:%M:%S", &written);
    real = written;
    timegm(&real);
    exists = rest && written.tm_year != -1900;
    if (exists)
        exists = written.tm_sec == real.tm_sec && written.tm_mday == real.tm_mday;
    /* The offset from UTC is less than a day. */
    zone = strchr(node->text, ':');
    zone = zone ? strpbrk(zone, "+-") : NULL;
    if (exists && zone) {
        char *end;
        const long hours = strtol(zone + 1, &end, 10);
        const long minutes = *end == ':' ? strtol(end + 1, NULL, 10) : 0;

        exists = hours * 60 + minutes < 24 * 60L;
    }
    if (!exists)
        *problem = "a date or time does not exist";
    return true;
}

static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
static const char *const trues[] = {"yes",  "Yes", "YES", "true", "True",
                                    "TRUE", "on",  "On",  "ON",   NULL};
static const char *const falses[] = {"no",    "No",  "NO",  "false", "False",
                                     "FALSE", "off", "Off", "OFF",   NULL};

static const char *
resolve_plain(struct yaml_node *node, bool is_key)
{
    const char *text = node->text;
    const char *problem = NULL;

    if (*text && strchr(DIGITS "-+.", *text)) {
        if (!read_integer(node, &problem) && !read_float(node))
            read_timestamp(node, &problem);
    } else if (node->length <= strlen("false") && strchr("~nNyYtTfFoO", *text)) {
        node->value.boolean = word_is_in(text, trues);
        if (node->value.boolean || word_is_in(text, falses))
            node->type = YAML_BOOLEAN;
        else if (word_is_in(text, nulls))
            node->type = YAML_NULL;
    } else if (node->length == 2 && memcmp(text, "<<", 2) == 0) {
        node->type = YAML_MERGE;
        return is_key ? NULL : "'<<' is used as a value";
    } else if (node->length == 1 && *text == '=' && !is_key) {
        return "'=' is used as a value";
    }
    return problem;
}

const char *
yaml_resolve(struct yaml_node *node, const char *tag, bool plain, bool is_key)
{
    cleanup_buffer struct buffer bytes = {0};

    if (!tag && node->kind == YAML_SCALAR && plain)
        return resolve_plain(node, is_key);
    if (!tag)
        return NULL;
    if (node->kind != YAML_SCALAR)
        return "a list or mapping has a tag ('!…')";
    if (strcmp(tag, TAG_TEXT) == 0)
        return NULL;
    if (strcmp(tag, TAG_BINARY) != 0)
        return "a tag ('!…') is neither '!!str' nor '!!binary'";
    node->type = YAML_BINARY;
    if (strlen(node->text) != node->length || base64_decode(&bytes, node->text) < 0)
        return "a '!!binary' is not base64";
    return NULL;
}
