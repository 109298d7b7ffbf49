/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a scanner for jinja's tags, like its lexer.py, which looks for what makes
 * jinja refuse the template whatever the guest is: tags that do not end, brackets and
 * quotes without their counterpart, blocks that are unknown or badly nested. It does not
 * know the grammar of expressions.
 */
#include "config.h"

#include "seed/content.h"
#include "seed/yaml.h"

/* Deeper nesting of blocks or brackets is left to the guest. */
#define DEPTH_MAX 64

struct scanner {
    const char *at;
    const char *end;
    int line;
    /* The names of the open blocks. */
    const char *blocks[DEPTH_MAX];
    size_t depth;
    struct template_keys *keys; /* or NULL */
};

/* The content of a tag, without its signs for white space. */
struct tag {
    const char *text;
    size_t length;
    int line;
    bool assigns; /* '=' outside of brackets and strings */
};

static int
fail(int line, const char *problem, const char *hint, struct failure **failure)
{
    return yaml_fail(line, FAILURE_USER_DATA, problem, hint, failure);
}

/* Moves on, and counts lines. */
static void
move(struct scanner *scanner, const char *to)
{
    while ((scanner->at = memchr(scanner->at, '\n', (size_t)(to - scanner->at)))) {
        scanner->line++;
        scanner->at++;
    }
    scanner->at = to;
}

static bool
starts(const struct scanner *scanner, const char *text)
{
    const size_t length = strlen(text);

    return (size_t)(scanner->end - scanner->at) >= length &&
           memcmp(scanner->at, text, length) == 0;
}

/* Return: the end of the string that begins there, or NULL. */
static const char *
string_end(const struct scanner *scanner)
{
    for (const char *at = scanner->at + 1; at < scanner->end; at++) {
        if (*at == *scanner->at)
            return at + 1;
        if (*at == '\\')
            at++;
    }
    return NULL;
}

/* Return: the bracket that closes this one; '\0' if it opens none. */
static char
closing(char bracket)
{
    if (bracket == '(')
        return ')';
    if (bracket == '[')
        return ']';
    return bracket == '{' ? '}' : '\0';
}

static int
read_tag(struct scanner *scanner, const char *end, struct tag *tag,
         struct failure **failure)
{
    char brackets[DEPTH_MAX];
    size_t depth = 0;
    char last = '\0';

    tag->line = scanner->line;
    move(scanner, scanner->at + strlen(end));
    if (starts(scanner, "-") || starts(scanner, "+"))
        scanner->at++;
    tag->text = scanner->at;
    while (scanner->at < scanner->end) {
        const char c = *scanner->at;
        const char *to = scanner->at + 1;

        if (depth == 0 && starts(scanner, end)) {
            tag->length = (size_t)(scanner->at - tag->text);
            if (tag->length > 0 && (last == '-' || last == '+'))
                tag->length--;
            move(scanner, scanner->at + strlen(end));
            return 0;
        }
        if (c == '"' || c == '\'') {
            to = string_end(scanner);
            if (!to)
                return fail(scanner->line, "a quote in a jinja tag does not end",
                            "close it with the same quote", failure);
        } else if (closing(c)) {
            if (depth == DEPTH_MAX)
                return fail(scanner->line, "brackets in a jinja tag are nested too deep",
                            "write it flatter", failure);
            brackets[depth++] = closing(c);
        } else if (strchr(")]}", c) && c) {
            if (depth == 0 || brackets[--depth] != c)
                return fail(scanner->line, "a bracket in a jinja tag closes nothing",
                            "see whether the tag's own end is complete: '}}' or '%}'",
                            failure);
        } else if (strchr("$&?@#`^\\", c) && c) {
            return fail(scanner->line, "a jinja tag has a character that jinja refuses",
                        "put text in quotes, or the lines between '{% raw %}' and '{% "
                        "endraw %}'",
                        failure);
        } else if (c == '=' && depth == 0) {
            tag->assigns = true;
        }
        last = c;
        move(scanner, to);
    }
    return fail(
        tag->line, "a jinja tag does not end",
        "end '{{' with '}}', and '{%' with '%}'; or put the lines between '{% raw "
        "%}' and '{% endraw %}'",
        failure);
}

/* Every jinja template of cloud-init's fails at subtracting from an unknown key. */
static int
check_reference(const struct scanner *scanner, const struct tag *tag,
                struct failure **failure)
{
    static const char prefix[] = "ds.meta_data.";
    const size_t length = strlen(prefix);
    cleanup_free char *text = xstrndup(tag->text, tag->length);
    char *key = text + strspn(text, " \t\r\n");
    size_t end;

    if (!*key)
        return fail(tag->line, "a jinja tag '{{ }}' is empty", "remove it", failure);
    if (!scanner->keys || scanner->depth > 0 || strncmp(key, prefix, length) != 0)
        return 0;
    key += length;
    end = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    /* What follows could decide that it is not evaluated. */
    if (!strchr("|", key[end + strspn(key + end, " \t\r\n")]))
        return 0;
    key[end] = '\0';
    if (!strchr(key, '-') || !template_keys_have(scanner->keys, key))
        return 0;
    failure_set(failure, FAILURE_USER_DATA,
                "jinja reads the '-' in 'ds.meta_data.%.256s' as a minus, "
                "and cloud-init would ignore the template\n"
                "write '_' for each '-' of the key",
                key);
    return failure_in_line(failure, tag->line);
}

static const char *const block_names[] = {"if",     "for",  "block",      "macro", "call",
                                          "filter", "with", "autoescape", "set"};
static const char *const single_names[] = {"extends", "include", "import",
                                           "from",    "print",   "do"};

static const char *
find_name(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return names[i];
    }
    return NULL;
}

/* Jinja does not mind if nothing follows. */
static int
skip_raw(struct scanner *scanner, int line, struct failure **failure)
{
    const char *rest = scanner->at;

    while (rest < scanner->end && isspace((unsigned char)*rest))
        rest++;
    if (rest == scanner->end) {
        move(scanner, rest);
        return 0;
    }
    while (scanner->at < scanner->end) {
        const char *next =
            memmem(scanner->at, (size_t)(scanner->end - scanner->at), "{%", 2);

        if (!next)
            break;
        move(scanner, next + 2);
        scanner->at += starts(scanner, "-") || starts(scanner, "+");
        while (scanner->at < scanner->end && isspace((unsigned char)*scanner->at))
            move(scanner, scanner->at + 1);
        if (!starts(scanner, "endraw"))
            continue;
        next = memmem(scanner->at, (size_t)(scanner->end - scanner->at), "%}", 2);
        if (!next)
            break;
        move(scanner, next + 2);
        return 0;
    }
    return fail(line, "'{% raw %}' does not end", "end it with '{% endraw %}'", failure);
}

static int
check_block(struct scanner *scanner, const struct tag *tag, struct failure **failure)
{
    static const char misplaced[] = "a jinja block ends, or goes on, that is not open";
    static const char misplaced_hint[] =
        "end each block, such as 'if', with its own word, such as 'endif'";
    cleanup_free char *text = xstrndup(tag->text, tag->length);
    char *name = text + strspn(text, " \t\r\n");
    const char *innermost = scanner->depth > 0 ? scanner->blocks[scanner->depth - 1] : "";
    const char *known = NULL;

    name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")] = '\0';
    if (strcmp(name, "raw") == 0)
        return skip_raw(scanner, tag->line, failure);
    if (strcmp(name, "elif") == 0 || strcmp(name, "else") == 0) {
        if (strcmp(innermost, "if") == 0 ||
            (name[2] == 's' && strcmp(innermost, "for") == 0))
            return 0;
        return fail(tag->line, misplaced, misplaced_hint, failure);
    }
    if (strncmp(name, "end", 3) == 0)
        known = find_name(block_names, ARRAY_SIZE(block_names), name + 3);
    if (known) {
        if (strcmp(innermost, known) != 0)
            return fail(tag->line, misplaced, misplaced_hint, failure);
        scanner->depth--;
        return 0;
    }
    known = find_name(block_names, ARRAY_SIZE(block_names), name);
    if (!known && !find_name(single_names, ARRAY_SIZE(single_names), name))
        return fail(tag->line, "a jinja tag '{% %}' begins with no word that jinja knows",
                    "use 'if', 'for', 'set' and others of jinja's template designer "
                    "documentation",
                    failure);
    if (!known || (strcmp(known, "set") == 0 && tag->assigns))
        return 0;
    if (scanner->depth == DEPTH_MAX)
        return fail(tag->line, "jinja blocks are nested too deep", "write it flatter",
                    failure);
    scanner->blocks[scanner->depth++] = known;
    return 0;
}

int
template_check(const char *text, size_t size, struct template_keys *keys,
               struct failure **failure)
{
    struct scanner scanner = {.at = text, .end = text + size, .line = 1, .keys = keys};
    const char *next;

    while ((next = memchr(scanner.at, '{', (size_t)(scanner.end - scanner.at)))) {
        struct tag tag = {0};

        move(&scanner, next);
        if (starts(&scanner, "{#")) {
            next =
                memmem(scanner.at + 2, (size_t)(scanner.end - scanner.at) - 2, "#}", 2);
            if (!next)
                return fail(scanner.line, "a jinja comment '{#' does not end",
                            "end it with '#}'", failure);
            move(&scanner, next + 2);
        } else if (starts(&scanner, "{{")) {
            if (read_tag(&scanner, "}}", &tag, failure) < 0 ||
                check_reference(&scanner, &tag, failure) < 0)
                return -1;
        } else if (starts(&scanner, "{%")) {
            if (read_tag(&scanner, "%}", &tag, failure) < 0 ||
                check_block(&scanner, &tag, failure) < 0)
                return -1;
        } else {
            scanner.at++;
        }
    }
    if (scanner.depth == 0)
        return 0;
    return failure_set(failure, FAILURE_USER_DATA,
                       "a jinja block '{%% %s %%}' does not end\n"
                       "end it with '{%% end%s %%}'",
                       scanner.blocks[scanner.depth - 1],
                       scanner.blocks[scanner.depth - 1]);
}
