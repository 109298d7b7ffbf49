/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the document is a string, so no byte of it may be NUL. Each function takes
 * a piece of it from `at`, which the names on the stack point into. Only values are copied.
 *
 * libxml2 writes what is in <metadata>, with CDATA sections, comments and both kinds of
 * quotes. Its real end is the first "</metadata>" unless the same bytes are in one of
 * those; then what follows is read as libvirt's, which ends with a failure. An end tag
 * that is spelled otherwise, which neither of them writes, is a failure, too, so that the
 * first one is never after the real end.
 */
#include "config.h"

#include "host/domain-text.h"

#define BLANK " \t\r\n"

bool
text_part_is(struct text_part part, const char *text)
{
    return strlen(text) == part.length && memcmp(part.start, text, part.length) == 0;
}

static bool
is_same(struct text_part one, struct text_part other)
{
    return one.length == other.length && memcmp(one.start, other.start, one.length) == 0;
}

int
domain_text_line(const struct domain_text *text, const char *at)
{
    const struct buffer *xml = text->xml;
    int line = 1;

    for (size_t i = 0; i < xml->size && xml->data + i < at && line < INT_MAX; i++)
        line += xml->data[i] == '\n';
    return line;
}

/* Fails because of what is at `at`. */
static int
refuse(const struct domain_text *text, const char *what, struct failure **failure)
{
    const int line = domain_text_line(text, text->at);

    failure_set_at(failure, FAILURE_XML, line,
                   "its XML is not as libvirt writes it: line %d: %s", line, what);
    if (text->after_metadata && strstr(text->after_metadata, "</metadata"))
        failure_hint(failure, "in <metadata>, write &lt;/metadata> if that is in a text, "
                              "and give elements of that name a prefix");
    else
        failure_hint(failure, "look at this line, and remove what libvirt does not know; "
                              "if libvirt wrote it, report a bug");
    return -1;
}

/* --- the smallest pieces ------------------------------------------------------------- */

/* Return: whether the word follows; takes it if so. */
static bool
take(struct domain_text *text, const char *word)
{
    const size_t length = strlen(word);

    if (strncmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

static bool
is_blank(char character)
{
    return character && strchr(BLANK, character);
}

/* The bytes that a name may contain, at the beginning of it or of what follows its prefix,
 * and after that. */
#define NAME_FIRST 1
#define NAME_LATER 2
static const unsigned char name_bytes[256] = {
    ['a' ... 'z'] = NAME_FIRST | NAME_LATER,
    ['A' ... 'Z'] = NAME_FIRST | NAME_LATER,
    [0x80 ... 0xff] = NAME_FIRST | NAME_LATER,
    ['_'] = NAME_FIRST | NAME_LATER,
    ['0' ... '9'] = NAME_LATER,
    ['-' ... '.'] = NAME_LATER,
    [':'] = NAME_LATER,
};

/* Takes a name, which is empty if there is none. */
static struct text_part
take_name(struct domain_text *text)
{
    struct text_part name = {.start = text->at};
    unsigned char allowed = NAME_FIRST;
    const char *end = text->at;

    for (; name_bytes[(unsigned char)*end] & allowed; end++)
        allowed = *end == ':' ? NAME_FIRST : NAME_LATER;
    if (allowed == NAME_LATER)
        name.length = (size_t)(end - name.start);
    text->at = end;
    return name;
}

/* Takes "='VALUE'", with one of the quotes, and sets the value as it is written. */
static int
take_quoted(struct domain_text *text, const char *quotes, struct text_part *value,
            struct failure **failure)
{
    char quote;
    const char *end;

    if (*text->at != '=')
        return refuse(text, "an attribute has no value", failure);
    quote = *++text->at;
    if (!quote || !strchr(quotes, quote))
        return refuse(text, "a value is not in quotes", failure);
    value->start = text->at + 1;
    end = value->start;
    while (*end && *end != '<' && *end != quote)
        end++;
    if (*end != quote)
        return refuse(text, "a value contains '<', or does not end", failure);
    value->length = (size_t)(end - value->start);
    text->at = end + 1;
    return 0;
}

/* Return: the character that the entity stands for, and its length; NUL if it is not one
 * of XML's own. */
static char
find_entity(const char *at, size_t *length)
{
    static const struct {
        const char *name;
        char character;
    } entities[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''},
    };

    for (size_t i = 0; i < ARRAY_SIZE(entities); i++) {
        *length = strlen(entities[i].name);
        if (strncmp(at, entities[i].name, *length) == 0)
            return entities[i].character;
    }
    return '\0';
}

/* Copies the value. Neither '<' nor a quote, which end it, is in an entity. */
static int
unescape(struct domain_text *text, struct text_part value, struct failure **failure)
{
    const char *from = value.start;
    const char *end = value.start + value.length;
    char *to;

    text->value.size = 0;
    to = buffer_reserve(&text->value, value.length);
    while (from < end) {
        size_t length = 1;
        const char character = *from == '&' ? find_entity(from, &length) : *from;

        if (!character) {
            text->at = from;
            return refuse(text, "an entity is none of the five that XML has", failure);
        }
        *to++ = character;
        from += length;
    }
    *to = '\0';
    text->value.size = (size_t)(to - text->value.data);
    return 0;
}

/* --- the values ---------------------------------------------------------------------- */

/* Return: the name on the stack below `above` others, or an empty one. */
static struct text_part
name_at(const struct domain_text *text, size_t above)
{
    if (above >= text->depth)
        return (struct text_part){.start = "", .length = 0};
    return text->names[text->depth - 1 - above];
}

/* Sets the value of the innermost element. Return: 1 or -1. */
static int
set_value(struct domain_text *text, struct text_part written, struct domain_value *value,
          struct failure **failure)
{
    size_t device = 1;

    if (unescape(text, written, failure) < 0)
        return -1;
    if (text->depth > 2 && text_part_is(text->names[1], "devices"))
        device = 2;
    if (text->depth == 1)
        device = 0;
    value->text = text->value.data;
    value->element = name_at(text, 0);
    value->parent = name_at(text, 1);
    value->device = text->names[device];
    value->has_prefix = memchr(value->element.start, ':', value->element.length);
    return 1;
}

/* Takes white space in a start tag, and the end of the tag. Return: '>', '/' of an element
 * without content, or NUL if an attribute follows. */
static char
take_tag_end(struct domain_text *text)
{
    while (is_blank(*text->at))
        text->at++;
    if (*text->at == '>') {
        text->at++;
        return '>';
    }
    return take(text, "/>") ? '/' : '\0';
}

/* After take_tag_end(). */
static int
take_attribute(struct domain_text *text, const char *quotes, struct text_part *name,
               struct text_part *value, struct failure **failure)
{
    const bool is_apart = is_blank(text->at[-1]);

    *name = take_name(text);
    if (!is_apart || name->length == 0)
        return refuse(text, "a tag has more than attributes, or does not end", failure);
    /* In it, elements without a prefix would have a namespace. */
    if (text_part_is(*name, "xmlns"))
        return refuse(text, "an element declares a namespace without a prefix", failure);
    return take_quoted(text, quotes, value, failure);
}

/* Takes an attribute, or the end of the start tag. Return: 1 if that was a value, 0 if not,
 * or -1. */
static int
read_attribute(struct domain_text *text, struct domain_value *value,
               struct failure **failure)
{
    static const char declaration[] = "xmlns:";
    const char end = take_tag_end(text);
    struct text_part name = {0}, written = {.start = text->at};

    if (end) {
        text->in_tag = false;
        text->is_leaf = end == '>';
        if (end == '/')
            text->depth--;
        return 0;
    }
    if (take_attribute(text, "'", &name, &written, failure) < 0)
        return -1;
    if (strncmp(name.start, declaration, strlen(declaration)) == 0)
        return 0;
    return set_value(text, written, value, failure);
}

/* Return: what follows the next "</", or NULL. strstr(3) with AddressSanitizer looks at the
 * whole rest each time. */
static const char *
find_end_tag(const char *at)
{
    for (at = strchr(at, '<'); at; at = strchr(at + 1, '<')) {
        if (at[1] == '/')
            return at + strlen("</");
    }
    return NULL;
}

/* Skips the rest of the element, whose start tag has begun. libxml2 may have written it. */
static int
skip_element(struct domain_text *text, struct text_part name, struct failure **failure)
{
    struct text_part attribute, value;
    char tag_end;

    while (!(tag_end = take_tag_end(text))) {
        if (take_attribute(text, "'\"", &attribute, &value, failure) < 0)
            return -1;
    }
    while (tag_end == '>') {
        const char *name_in_end = find_end_tag(text->at);

        if (!name_in_end)
            return refuse(text, "an element does not end", failure);
        text->at = name_in_end;
        if (!is_same(take_name(text), name))
            continue;
        if (!take(text, ">"))
            return refuse(text, "an end tag has more than a name", failure);
        break;
    }
    if (text_part_is(name, "metadata"))
        text->after_metadata = text->at;
    return 0;
}

/* Return: whether the child of <domain> has a text for people, or for other programs. */
static bool
is_for_others(struct text_part name)
{
    return text_part_is(name, "metadata") || text_part_is(name, "title") ||
           text_part_is(name, "description");
}

/* Takes the name of an element, after its '<'. */
static int
read_start_tag(struct domain_text *text, struct failure **failure)
{
    const struct text_part name = take_name(text);

    if (name.length == 0)
        return refuse(text,
                      "there is a comment, a CDATA section or something else that does "
                      "not belong there",
                      failure);
    if (text->depth == ARRAY_SIZE(text->names))
        return refuse(text, "too many elements are in each other", failure);
    if (text->depth == 0 && !text_part_is(name, "domain"))
        return refuse(text, "it does not begin with <domain>", failure);
    text->has_root = true;
    text->is_leaf = false;
    if (text->depth == 1 && is_for_others(name))
        return skip_element(text, name, failure);
    text->names[text->depth++] = name;
    text->in_tag = true;
    return 0;
}

/* Takes the name of the innermost element, after "</", and its text before, if that is a
 * value. Return: as read_attribute(). */
static int
read_end_tag(struct domain_text *text, struct text_part content,
             struct domain_value *value, struct failure **failure)
{
    int result = 0;

    if (!is_same(take_name(text), name_at(text, 0)))
        return refuse(text, "an end tag has another name than its element", failure);
    if (!take(text, ">"))
        return refuse(text, "an end tag has more than a name", failure);
    if (text->is_leaf && content.length > 0)
        result = set_value(text, content, value, failure);
    text->is_leaf = false;
    text->depth--;
    return result;
}

/* Takes a text and the tag after it. Return: as read_attribute(). */
static int
read_content(struct domain_text *text, struct domain_value *value,
             struct failure **failure)
{
    const struct text_part content = {text->at, strcspn(text->at, "<")};

    text->at += content.length;
    if (!*text->at)
        return refuse(text, "it ends before its elements", failure);
    if (text->depth > 0 && take(text, "</"))
        return read_end_tag(text, content, value, failure);
    if (strspn(content.start, BLANK) < content.length)
        return refuse(text, "a text is between elements", failure);
    text->at++;
    return read_start_tag(text, failure);
}

static int
read_end(struct domain_text *text, struct failure **failure)
{
    text->at += strspn(text->at, BLANK);
    return *text->at ? refuse(text, "something follows <domain>", failure) : 0;
}

int
domain_text_begin(struct domain_text *text, const struct buffer *xml,
                  struct failure **failure)
{
    text->xml = xml;
    text->at = buffer_text(xml);
    if (strlen(text->at) == xml->size)
        return 0;
    text->at += strlen(text->at);
    return refuse(text, "it contains a NUL", failure);
}

int
domain_text_next(struct domain_text *text, struct domain_value *value,
                 struct failure **failure)
{
    int result = 0;

    while (result == 0) {
        if (text->in_tag)
            result = read_attribute(text, value, failure);
        else if (text->depth > 0 || !text->has_root)
            result = read_content(text, value, failure);
        else
            return read_end(text, failure);
    }
    return result;
}

void
domain_text_clear(struct domain_text *text)
{
    buffer_clear(&text->value);
    *text = (struct domain_text){0};
}

/* --- whose domain it is -------------------------------------------------------------- */

/* Takes <domain type='…' …>. */
static int
read_root(struct domain_text *text, struct failure **failure)
{
    struct domain_value value;

    if (strncmp(text->at, "<domain type='", strlen("<domain type='")) != 0)
        return refuse(text, "it does not begin with <domain type='…'>", failure);
    text->at++;
    if (read_start_tag(text, failure) < 0)
        return -1;
    while (text->in_tag) {
        if (read_attribute(text, &value, failure) < 0)
            return -1;
    }
    return text->depth == 1 ? 0 : refuse(text, "<domain> is empty", failure);
}

static int
read_name(struct domain_text *text, struct failure **failure)
{
    struct text_part name;

    if (!take(text, "\n  <name>"))
        return refuse(text, "<domain> does not begin with its name", failure);
    name = (struct text_part){text->at, strcspn(text->at, "<")};
    if (name.length == 0)
        return refuse(text, "the name is empty", failure);
    if (unescape(text, name, failure) < 0)
        return -1;
    text->at += name.length;
    return 0;
}

static int
read_uuid(struct domain_text *text, char *uuid, struct failure **failure)
{
    if (!take(text, "</name>\n  <uuid>"))
        return refuse(text, "no UUID follows the name", failure);
    snprintf(uuid, UUID_LENGTH + 1, "%.*s", UUID_LENGTH, text->at);
    if (!text_is_uuid(uuid) || !take(text, uuid) || !take(text, "</uuid>"))
        return refuse(text, "the UUID is not one", failure);
    return 0;
}

int
domain_identity_read(struct domain_identity *identity, const struct buffer *xml,
                     struct failure **failure)
{
    cleanup_domain_text struct domain_text text = {0};

    if (domain_text_begin(&text, xml, failure) < 0 || read_root(&text, failure) < 0)
        return -1;
    if (read_name(&text, failure) < 0 || read_uuid(&text, identity->uuid, failure) < 0)
        return -1;
    identity->name = xstrdup(text.value.data);
    return 0;
}

void
domain_identity_clear(struct domain_identity *identity)
{
    free(identity->name);
    *identity = (struct domain_identity){0};
}
