/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: of plain text few shapes can make safe_load raise, and each has its test
 * here. Under an explicit tag any text may stand, and a regular expression says which of
 * it Python's int(), float() and datetime take.
 */
#include "config.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/memory.h"
#include "seed/yaml-scalar.h"

#define PREFIX "tag:yaml.org,2002:"

/* What Python's int() and float() skip. */
#define SPACE "[ \t\n\v\f\r]"
#define NUMBER SPACE "*[-+]?[0-9]+" SPACE "*"

/* One sign is safe_load's, a second one int()'s; what begins with 0 is octal. */
#define INT                                                                              \
    "^[-+]?("                                                                            \
    "0b" SPACE "*[-+]?(0[bB])?[01]+" SPACE "*|"                                          \
    "0x" SPACE "*[-+]?(0[xX])?[0-9a-fA-F]+" SPACE "*|"                                   \
    "0([oO]?[0-7]+)?" SPACE "*|"                                                         \
    "(" SPACE "+[-+]?[0-9]+|[-+][0-9]+|[1-9][0-9]*)" SPACE "*(:" NUMBER ")*)$"

#define DECIMAL                                                                          \
    SPACE "*[-+]?(([0-9]+[.]?[0-9]*|[.][0-9]+)(e[-+]?[0-9]+)?|inf|infinity|nan)" SPACE "*"
#define FLOAT "^[-+]?([.]inf|[.]nan|" DECIMAL "(:" DECIMAL ")*)$"

#define TIMESTAMP                                                                        \
    "^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"                                              \
    "(([Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})([.][0-9]*)?"                       \
    "([ \t]*(Z|[-+]([0-9]{1,2})(:([0-9]{2}))?))?)?$"

enum timestamp_group {
    YEAR = 1,
    MONTH = 2,
    DAY = 3,
    TIME = 4,
    HOUR = 6,
    MINUTE = 7,
    SECOND = 8,
    ZONE_HOUR = 12,
    ZONE_MINUTE = 14,
    GROUPS = 15,
};

struct pattern {
    const char *text;
    regex_t regex; /* compiled on first use, kept to the end */
    bool is_compiled;
};

static struct pattern int_pattern = {.text = INT};
static struct pattern float_pattern = {.text = FLOAT};
static struct pattern timestamp_pattern = {.text = TIMESTAMP};

static bool
matches(struct pattern *pattern, const char *text, size_t count, regmatch_t *groups)
{
    if (!pattern->is_compiled &&
        regcomp(&pattern->regex, pattern->text, REG_EXTENDED) != 0)
        abort();
    pattern->is_compiled = true;
    return regexec(&pattern->regex, text, count, groups, 0) == 0;
}

/* --- dates ------------------------------------------------------------------------- */

/* Return: the group's number, of four digits at most; 0 where it did not match. */
static int
group_number(const char *text, const regmatch_t *group)
{
    int number = 0;

    for (regoff_t i = group->rm_so; i < group->rm_eo; i++)
        number = number * 10 + (text[i] - '0');
    return number;
}

static int
days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && leap ? 29 : days[month - 1];
}

/* Return: whether Python's date or datetime takes those numbers. */
static bool
is_possible_time(const char *text, const regmatch_t *groups)
{
    int year = group_number(text, &groups[YEAR]);
    int month = group_number(text, &groups[MONTH]);
    int day = group_number(text, &groups[DAY]);
    int zone = group_number(text, &groups[ZONE_HOUR]) * 60 +
               group_number(text, &groups[ZONE_MINUTE]);

    return year > 0 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days_of_month(year, month) && group_number(text, &groups[HOUR]) < 24 &&
           group_number(text, &groups[MINUTE]) < 60 &&
           group_number(text, &groups[SECOND]) < 60 && zone < 24 * 60;
}

static bool
is_timestamp(const char *text)
{
    regmatch_t groups[GROUPS];

    return matches(&timestamp_pattern, text, GROUPS, groups) &&
           is_possible_time(text, groups);
}

/* Plain text is a date only with two digits for month and day. */
static bool
is_impossible_date(const char *text)
{
    regmatch_t groups[GROUPS];

    return strspn(text, "0123456789") == 4 && text[4] == '-' &&
           matches(&timestamp_pattern, text, GROUPS, groups) &&
           (groups[TIME].rm_so >= 0 || strlen(text) == 10) &&
           !is_possible_time(text, groups);
}

/* --- numbers ----------------------------------------------------------------------- */

static char *
without_underscores(const char *text)
{
    char *copy = xstrdup(text), *end = copy;

    for (; *text; text++) {
        if (*text != '_')
            *end++ = *text;
    }
    *end = '\0';
    return copy;
}

static bool
is_int(const char *text)
{
    cleanup_free char *digits = without_underscores(text);

    return matches(&int_pattern, digits, 0, NULL);
}

static bool
is_float(const char *text)
{
    cleanup_free char *digits = without_underscores(text);

    for (char *letter = digits; *letter; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    return matches(&float_pattern, digits, 0, NULL);
}

/* Plain text that is taken for an int and is none: "0x_", and more digits than Python
 * (sys.int_info) converts. */
static bool
is_impossible_int(const char *text)
{
    text += *text == '-' || *text == '+';
    if (strncmp(text, "0b_", 3) == 0 || strncmp(text, "0x_", 3) == 0)
        return !text[2 + strspn(text + 2, "_")];
    return *text >= '1' && *text <= '9' && strlen(text) > LIMIT_YAML_NUMBER &&
           !text[strspn(text, "0123456789_:")];
}

/* --- the tags ---------------------------------------------------------------------- */

static bool
is_bool(const char *text)
{
    static const char *const words[] = {"yes", "no", "true", "false", "on", "off"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(text, words[i]) == 0)
            return true;
    }
    return false;
}

/* As Python's binascii.a2b_base64(), which skips what it does not know. */
static bool
is_base64(const char *text)
{
    int filled = 0, padding = 0;

    for (; *text; text++) {
        if ((unsigned char)*text >= 0x80)
            return false;
        if (*text == '=' && filled >= 2 && filled + ++padding >= 4)
            return true;
        if (isalnum((unsigned char)*text) || *text == '+' || *text == '/') {
            padding = 0;
            filled = (filled + 1) % 4;
        }
    }
    return filled == 0;
}

static const struct tag {
    const char *name;
    enum yaml_kind kind;
    bool (*takes)(const char *text); /* NULL: any */
} tags[] = {
    {"null", YAML_KIND_SCALAR, NULL},
    {"bool", YAML_KIND_SCALAR, is_bool},
    {"int", YAML_KIND_SCALAR, is_int},
    {"float", YAML_KIND_SCALAR, is_float},
    {"binary", YAML_KIND_SCALAR, is_base64},
    {"timestamp", YAML_KIND_SCALAR, is_timestamp},
    {"str", YAML_KIND_SCALAR, NULL},
    {"python/unicode", YAML_KIND_SCALAR, NULL},
    {"seq", YAML_KIND_MAPPINGS, NULL},
    {"map", YAML_KIND_MAPPING, NULL},
    {"set", YAML_KIND_MAPPING, NULL},
};

static const struct tag *
find_tag(const char *tag)
{
    if (strncmp(tag, PREFIX, strlen(PREFIX)) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        if (strcmp(tag + strlen(PREFIX), tags[i].name) == 0)
            return &tags[i];
    }
    return NULL;
}

const char *
yaml_tag_problem(const char *tag, enum yaml_kind kind)
{
    const struct tag *found = find_tag(tag);

    /* Of itself '!' says no more than the kind. */
    if (strcmp(tag, "!") == 0)
        return NULL;
    if (!found)
        return "has a tag ('!…') that cloud-init lacks";
    return found->kind == kind ? NULL : "has a tag ('!…') of another kind";
}

/* --- all of it --------------------------------------------------------------------- */

static const char *
plain_problem(const struct yaml_scalar *scalar)
{
    if (!scalar->key && strcmp(scalar->text, "=") == 0)
        return "'=' stands alone as a value, which cloud-init cannot read";
    if (!scalar->key && strcmp(scalar->text, "<<") == 0)
        return "'<<' stands as a value, which cloud-init cannot read";
    if (is_impossible_date(scalar->text))
        return "a date or time that there cannot be";
    return is_impossible_int(scalar->text) ? "a number that there cannot be" : NULL;
}

static const char *
tagged_problem(const struct tag *tag, const struct yaml_scalar *scalar)
{
    if (!tag || !tag->takes)
        return NULL;
    if (tag->takes != is_base64 &&
        (strlen(scalar->text) != scalar->length || scalar->length > LIMIT_YAML_NUMBER))
        return "a value that its tag ('!!…') cannot mean";
    return tag->takes(scalar->text) ? NULL : "a value that its tag ('!!…') cannot mean";
}

bool
yaml_scalar_is_merge(const struct yaml_scalar *scalar)
{
    return scalar->key && scalar->plain && strcmp(scalar->text, "<<") == 0;
}

const char *
yaml_scalar_problem(const struct yaml_scalar *scalar)
{
    /* PyYAML takes it for the mark of a key there (scan_plain). */
    if (scalar->unquoted && scalar->flow && strchr(scalar->text, '?'))
        return "'?' stands in text between brackets or braces";
    if (scalar->tag)
        return tagged_problem(find_tag(scalar->tag), scalar);
    return scalar->plain ? plain_problem(scalar) : NULL;
}
