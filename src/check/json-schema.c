/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: validate() adds errors to the current list. A branch of 'oneOf', 'anyOf' or
 * 'not' gets a list of its own, and is valid if that stays empty.
 */
#include "config.h"

#include <regex.h>

#include "base/json.h"
#include "check/json-schema.h"

/* Where a value is in the document. */
struct place {
    const struct place *parent; /* NULL for the whole document */
    const char *key;            /* NULL for an item of a list */
    size_t index;
    size_t depth;
};

struct pattern {
    const char *text; /* the schema's own, by which it is found */
    regex_t compiled;
};

struct validation {
    const json_t *root; /* of the schema */
    struct schema_errors *errors;
    struct pattern *patterns;
    size_t pattern_count;
    size_t steps;
};

static void validate(struct validation *validation, const json_t *schema,
                     const json_t *value, const struct place *place);

/* --- errors ------------------------------------------------------------------------- */

/* Takes ownership of the message. Return: the error, for the caller to add to; a spare one
 * if there are too many. */
static struct schema_error *
add_error(struct validation *validation, const struct place *place, char *message)
{
    static struct schema_error spare;
    struct schema_errors *errors = validation->errors;
    struct schema_error *error;

    if (errors->count >= LIMIT_FINDINGS) {
        free(message);
        return &spare;
    }
    error = array_add(errors->list, errors->count);
    error->message = message;
    error->path = json_array();
    for (; place->parent; place = place->parent) {
        json_t *step =
            place->key ? json_string(place->key) : json_integer((json_int_t)place->index);

        json_must(json_array_insert_new(error->path, 0, step));
    }
    return error;
}

void
schema_errors_clear(struct schema_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        json_decref(errors->list[i].path);
        free(errors->list[i].message);
    }
    free(errors->list);
    *errors = (struct schema_errors){0};
}

/* --- any value ---------------------------------------------------------------------- */

#define NUMBERS (1U << JSON_INTEGER | 1U << JSON_REAL)

static const struct {
    const char *name;
    const char *words;
    unsigned int values; /* bits by jansson's types */
} types[] = {
    {"object", "a mapping", 1U << JSON_OBJECT},
    {"array", "a list", 1U << JSON_ARRAY},
    {"string", "text", 1U << JSON_STRING},
    {"number", "a number", NUMBERS},
    {"integer", "an integer", 1U << JSON_INTEGER},
    {"boolean", "true or false", 1U << JSON_TRUE | 1U << JSON_FALSE},
    {"null", "empty", 1U << JSON_NULL},
};

/* Return: the message on such a value, owned by the caller (free). */
static char *
describe_type(const json_t *value, unsigned int allowed)
{
    cleanup_buffer struct buffer text = {0};
    const char *found = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        if (types[i].values & 1U << json_typeof(value))
            found = types[i].words;
        if (types[i].values & ~allowed)
            continue;
        allowed &= ~types[i].values;
        buffer_printf(&text, "%s%s", text.size > 0 ? " or " : "", types[i].words);
    }
    return xasprintf("is %s, but must be %s", found, buffer_text(&text));
}

static bool
check_type(struct validation *validation, const json_t *rule, const json_t *value,
           const struct place *place)
{
    unsigned int allowed = 0;

    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        const json_t *one = rule;

        for (size_t j = 0; one; one = json_array_get(rule, j++)) {
            const char *name = json_string_value(one);

            if (name && strcmp(name, types[i].name) == 0)
                allowed |= types[i].values;
        }
    }
    if (allowed & 1U << json_typeof(value))
        return true;
    add_error(validation, place, describe_type(value, allowed))->allowed = allowed;
    return false;
}

/* Like Python, takes 1 and 1.0 for the same. */
static bool
is_same(const json_t *one, const json_t *other)
{
    if (json_is_number(one) && json_is_number(other))
        return json_number_value(one) == json_number_value(other);
    return json_equal(one, other);
}

static void
check_enum(struct validation *validation, const json_t *rule, const json_t *value,
           const struct place *place)
{
    cleanup_free char *allowed = NULL;
    const json_t *one;
    size_t i;

    json_array_foreach(rule, i, one) {
        if (is_same(one, value))
            return;
    }
    allowed = xchecked(json_dumps(rule, 0));
    add_error(validation, place, xasprintf("must be one of %.200s", allowed))
        ->other_kind = json_array_size(rule) == 1;
}

/* Return: what keywords compare: how many items, keys or characters the value has, or the
 * number that it is. */
static double
measure(const json_t *value)
{
    double length = 0;

    if (json_is_number(value))
        return json_number_value(value);
    if (!json_is_string(value))
        return (double)(json_array_size(value) + json_object_size(value));
    for (const char *at = json_string_value(value); *at; at++)
        length += ((unsigned char)*at & 0xc0) != 0x80;
    return length;
}

static const struct {
    const char *keyword;
    unsigned int values; /* that it applies to: bits by jansson's types */
    bool least;
    const char *problem;
} bounds[] = {
    {"minItems", 1U << JSON_ARRAY, true, "has fewer entries than"},
    {"maxItems", 1U << JSON_ARRAY, false, "has more entries than"},
    {"minProperties", 1U << JSON_OBJECT, true, "has fewer keys than"},
    {"maxLength", 1U << JSON_STRING, false, "has more characters than"},
    {"minimum", NUMBERS, true, "is less than"},
    {"maximum", NUMBERS, false, "is more than"},
};

static void
check_bounds(struct validation *validation, const json_t *schema, const json_t *value,
             const struct place *place)
{
    for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
        const json_t *rule = json_object_get(schema, bounds[i].keyword);
        const double limit = json_number_value(rule);
        double found;

        if (!rule || !(bounds[i].values & 1U << json_typeof(value)))
            continue;
        found = measure(value);
        if (bounds[i].least ? found < limit : found > limit)
            add_error(validation, place, xasprintf("%s %g", bounds[i].problem, limit));
    }
}

static bool
matches(struct validation *validation, const char *expression, const char *text)
{
    struct pattern *pattern = NULL;

    for (size_t i = 0; i < validation->pattern_count && !pattern; i++) {
        if (validation->patterns[i].text == expression)
            pattern = &validation->patterns[i];
    }
    if (!pattern) {
        pattern = array_add(validation->patterns, validation->pattern_count);
        pattern->text = expression;
        if (regcomp(&pattern->compiled, expression, REG_EXTENDED | REG_NOSUB) != 0)
            abort();
    }
    return regexec(&pattern->compiled, text, 0, NULL, 0) == 0;
}

/* --- lists and mappings ------------------------------------------------------------- */

static void
check_items(struct validation *validation, const json_t *schema, const json_t *value,
            const struct place *place)
{
    const json_t *rule = json_object_get(schema, "items");
    const bool unique = json_is_true(json_object_get(schema, "uniqueItems"));
    cleanup_json json_t *seen = json_object();
    bool repeats = false;
    const json_t *item;
    size_t i;

    json_array_foreach(value, i, item) {
        const struct place own = {place, NULL, i, place->depth + 1};

        if (rule)
            validate(validation, rule, item, &own);
        if (unique) {
            cleanup_free char *text =
                xchecked(json_dumps(item, JSON_ENCODE_ANY | JSON_SORT_KEYS));

            repeats |= json_object_get(seen, text) != NULL;
            json_set(seen, text, json_null());
        }
    }
    if (repeats)
        add_error(validation, place, xstrdup("has an item more than once"));
}

#define NAME_LENGTH 40

/* Return: how many characters of the one must be added, removed or replaced, or swapped
 * with their neighbour, to get the other; both are shorter than NAME_LENGTH. */
static size_t
name_distance(const char *one, const char *other)
{
    size_t rows[NAME_LENGTH][NAME_LENGTH];

    for (size_t i = 0; i <= strlen(one); i++) {
        for (size_t j = 0; j <= strlen(other); j++) {
            size_t best = i + j;

            if (i > 0 && j > 0) {
                best = rows[i - 1][j - 1] + (one[i - 1] != other[j - 1]);
                if (best > rows[i - 1][j] + 1)
                    best = rows[i - 1][j] + 1;
                if (best > rows[i][j - 1] + 1)
                    best = rows[i][j - 1] + 1;
            }
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] &&
                one[i - 2] == other[j - 1] && best > rows[i - 2][j - 2] + 1)
                best = rows[i - 2][j - 2] + 1;
            rows[i][j] = best;
        }
    }
    return rows[strlen(one)][strlen(other)];
}

static void
refuse_key(struct validation *validation, const json_t *properties,
           const struct place *place)
{
    size_t best = strlen(place->key) < 5 ? 2 : 3;
    cleanup_free char *hint = NULL;
    const char *name;
    json_t *ignored;

    validation->steps += json_object_size(properties);
    json_object_foreach((json_t *)properties, name, ignored) {
        size_t distance;

        if (strlen(name) >= NAME_LENGTH || strlen(place->key) >= NAME_LENGTH)
            continue;
        distance = name_distance(place->key, name);
        if (distance >= best)
            continue;
        best = distance;
        free(hint);
        hint = xasprintf(" (did you mean '%s'?)", name);
    }
    add_error(validation, place, xasprintf("is an unknown key%s", hint ? hint : ""))
        ->is_similar = hint != NULL;
}

static void
check_keys(struct validation *validation, const json_t *schema, const json_t *value,
           const struct place *place)
{
    const json_t *properties = json_object_get(schema, "properties");
    json_t *patterns = json_object_get(schema, "patternProperties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    const json_t *required;
    const char *key;
    json_t *member;
    size_t i;

    json_object_foreach((json_t *)value, key, member) {
        const struct place own = {place, key, 0, place->depth + 1};
        const json_t *rule = json_object_get(properties, key);
        const char *expression;
        json_t *by_pattern;
        bool known = rule != NULL;

        if (rule)
            validate(validation, rule, member, &own);
        json_object_foreach(patterns, expression, by_pattern) {
            if (!matches(validation, expression, key))
                continue;
            validate(validation, by_pattern, member, &own);
            known = true;
        }
        if (!known && json_is_false(others))
            refuse_key(validation, properties, &own);
        else if (!known && json_is_object(others))
            validate(validation, others, member, &own);
    }
    json_array_foreach(json_object_get(schema, "required"), i, required) {
        key = json_string_value(required);
        if (!json_object_get(value, key))
            add_error(validation, place, xasprintf("lacks the key '%s'", key));
    }
}

/* --- combinations ------------------------------------------------------------------- */

/* Return: what is wrong by that schema; nothing if the value is valid. */
static struct schema_errors
try_branch(struct validation *validation, const json_t *branch, const json_t *value,
           const struct place *place)
{
    struct schema_errors *outer = validation->errors;
    struct schema_errors own = {0};

    validation->errors = &own;
    validate(validation, branch, value, place);
    validation->errors = outer;
    return own;
}

#define OTHER_KIND (5UL * LIMIT_FINDINGS + 1)
#define WRONG_TYPE (2UL * OTHER_KIND)

/* Return: how far the value is from a branch: worst is another type, then another kind
 * ('type: bridge'), then the number of errors. One within the value is better than one of
 * its own, and a key that is almost a known one is half an error. */
static size_t
branch_distance(const struct schema_errors *errors, const struct place *place)
{
    size_t distance = 0;

    for (size_t i = 0; i < errors->count; i++) {
        const struct schema_error *error = &errors->list[i];
        const size_t depth = json_array_size(error->path);

        if (error->allowed && depth == place->depth)
            return WRONG_TYPE;
        if (error->other_kind && depth == place->depth + 1)
            return OTHER_KIND + i;
        distance += error->is_similar ? 2 : 4;
        distance += depth == place->depth;
    }
    return distance;
}

static void
check_branches(struct validation *validation, const json_t *branches, bool only_one,
               const json_t *value, const struct place *place)
{
    cleanup_schema_errors struct schema_errors best = {0};
    struct schema_errors *errors = validation->errors;
    unsigned int allowed = 0;
    size_t valid = 0;
    const json_t *branch;
    size_t i;

    json_array_foreach(branches, i, branch) {
        cleanup_schema_errors struct schema_errors own =
            try_branch(validation, branch, value, place);
        const struct schema_errors last = best;

        valid += own.count == 0;
        allowed |= own.count > 0 ? own.list[0].allowed : 0;
        if (own.count == 0)
            continue;
        if (best.count == 0 ||
            branch_distance(&own, place) < branch_distance(&best, place)) {
            best = own;
            own = last;
        }
    }
    if (only_one && valid > 1)
        add_error(validation, place, xstrdup("fits more than one of its possible forms"));
    if (valid > 0 || best.count == 0)
        return;
    if (branch_distance(&best, place) == WRONG_TYPE) {
        add_error(validation, place, describe_type(value, allowed))->allowed = allowed;
        return;
    }
    for (i = 0; i < best.count && errors->count < LIMIT_FINDINGS; i++) {
        *array_add(errors->list, errors->count) = best.list[i];
        best.list[i] = (struct schema_error){0};
    }
}

static void
validate(struct validation *validation, const json_t *schema, const json_t *value,
         const struct place *place) /* NOLINT(misc-no-recursion) */
{
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    const char *expression = json_string_value(json_object_get(schema, "pattern"));
    const json_t *rule = json_object_get(schema, "type");
    size_t i;

    if (validation->steps++ >= LIMIT_SCHEMA_STEPS)
        return;
    /* Nothing else that is said of such a value helps. */
    if (rule && !check_type(validation, rule, value, place))
        return;
    if (reference)
        validate(validation,
                 json_object_get(json_object_get(validation->root, "$defs"),
                                 reference + strlen("#/$defs/")),
                 value, place);
    rule = json_object_get(schema, "enum");
    if (rule)
        check_enum(validation, rule, value, place);
    check_bounds(validation, schema, value, place);
    if (expression && json_is_string(value) &&
        !matches(validation, expression, json_string_value(value)))
        add_error(validation, place, xstrdup("does not have the expected form"));
    if (json_is_array(value))
        check_items(validation, schema, value, place);
    if (json_is_object(value))
        check_keys(validation, schema, value, place);
    json_array_foreach(json_object_get(schema, "allOf"), i, rule) {
        validate(validation, rule, value, place);
    }
    check_branches(validation, json_object_get(schema, "oneOf"), true, value, place);
    check_branches(validation, json_object_get(schema, "anyOf"), false, value, place);
    rule = json_object_get(schema, "not");
    if (rule) {
        cleanup_schema_errors struct schema_errors own =
            try_branch(validation, rule, value, place);

        if (own.count == 0)
            add_error(validation, place, xstrdup("has keys that exclude each other"));
    }
}

bool
schema_validate(const json_t *schema, const json_t *value, struct schema_errors *errors)
{
    const struct place place = {.parent = NULL};
    struct validation validation = {.root = schema, .errors = errors};

    validate(&validation, schema, value, &place);
    for (size_t i = 0; i < validation.pattern_count; i++)
        regfree(&validation.patterns[i].compiled);
    free(validation.patterns);
    return validation.steps < LIMIT_SCHEMA_STEPS;
}
