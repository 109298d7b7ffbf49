/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "domain/vocabulary.h"

bool
vocabulary_is_ours(const xmlNode *node)
{
    return node->ns && strcmp((const char *)node->ns->href, REQUEST_NAMESPACE) == 0;
}

bool
vocabulary_is(const xmlNode *node, const char *name)
{
    return xml_is_in(node, REQUEST_NAMESPACE, name);
}

xmlNode *
vocabulary_child(const xmlNode *parent, const char *name)
{
    return xml_child_in(parent, REQUEST_NAMESPACE, name);
}

#define LOOK_UP_HINT "remove it, or look up its name in virt-seed-xml(5)"

/* --- checks ------------------------------------------------------------------------- */

bool
word_is_in(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words;
}

int
vocabulary_check_attributes(const xmlNode *node, const char *const *known,
                            struct failure **failure)
{
    for (const xmlAttr *attribute = node->properties; attribute;
         attribute = attribute->next) {
        const char *name = (const char *)attribute->name;
        if (word_is_in(name, known) && !attribute->ns)
            continue;
        return vocabulary_fail(node, failure, FAILURE_REQUEST_UNKNOWN,
                               "has an unknown attribute '%s'\n" LOOK_UP_HINT, name);
    }
    return 0;
}

bool
vocabulary_has_text(const xmlNode *node)
{
    for (const xmlNode *child = node->children; child; child = child->next) {
        if ((child->type == XML_TEXT_NODE || child->type == XML_CDATA_SECTION_NODE) &&
            !xmlIsBlankNode((xmlNode *)child))
            return true;
    }
    return false;
}

int
vocabulary_check_no_text(const xmlNode *node, struct failure **failure)
{
    if (!vocabulary_has_text(node))
        return 0;
    return vocabulary_fail(node, failure, FAILURE_REQUEST,
                           "has text outside its elements\n"
                           "remove it, or put it into one of the elements in "
                           "virt-seed-xml(5)");
}

int
vocabulary_check_no_children(const xmlNode *node, struct failure **failure)
{
    const xmlNode *child = xml_first_element(node);

    if (!child)
        return 0;
    return failure_set_at(failure, FAILURE_REQUEST_UNKNOWN, xml_line(child),
                          "<%s> contains an element <%s>, expected text\n"
                          "if it is part of the text, write &lt;%s&gt;, or put "
                          "the text into <![CDATA[…]]>",
                          node->name, child->name, child->name);
}

/* --- elements --------------------------------------------------------------------- */

char *
vocabulary_word(const xmlNode *node)
{
    cleanup_free char *text = xml_text(node);
    char *begin = text + strspn(text, " \t\r\n");
    size_t length = strlen(begin);

    while (length > 0 && isspace((unsigned char)begin[length - 1]))
        length--;
    return xstrndup(begin, length);
}

char *
vocabulary_child_word(const xmlNode *parent, const char *name)
{
    cleanup_free char *word = vocabulary_word(vocabulary_child(parent, name));

    return *word ? steal(word) : NULL;
}

int
vocabulary_fail_value(const xmlNode *node, const char *attribute, const char *value,
                      const char *expected, struct failure **failure)
{
    return vocabulary_fail(node, failure, FAILURE_REQUEST,
                           "has %s=\"%.64s\", expected %s\n"
                           "correct it, or omit %s=",
                           attribute, value, expected, attribute);
}

int
vocabulary_fail_text(const xmlNode *node, const char *text, const char *expected,
                     struct failure **failure)
{
    return vocabulary_fail(node, failure, FAILURE_REQUEST,
                           "has '%.64s', expected %s\n"
                           "correct it, or remove the element",
                           text, expected);
}

int
vocabulary_read_choice(const xmlNode *node, const char *attribute,
                       const char *const *words, int *choice, struct failure **failure)
{
    cleanup_free char *text = xml_attribute(node, attribute);
    cleanup_buffer struct buffer expected = {0};

    for (int i = 0; text && words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *choice = i;
            return 0;
        }
        if (i > 0)
            buffer_append_string(&expected, words[i + 1] ? ", " : " or ");
        buffer_printf(&expected, "\"%s\"", words[i]);
    }
    if (!text)
        return 0;
    return vocabulary_fail_value(node, attribute, text, expected.data, failure);
}

int
vocabulary_read_yes_no(const xmlNode *node, const char *attribute, bool *value,
                       struct failure **failure)
{
    const char *const words[] = {"yes", "no", NULL};
    int choice = *value ? 0 : 1;

    if (vocabulary_read_choice(node, attribute, words, &choice, failure) < 0)
        return -1;
    *value = choice == 0;
    return 0;
}

int
vocabulary_read_number(const xmlNode *node, const char *attribute, long minimum,
                       long maximum, long *value, struct failure **failure)
{
    cleanup_free char *text = xml_attribute(node, attribute);
    cleanup_free char *expected = xasprintf("%ld to %ld", minimum, maximum);

    if (!text)
        return 0;
    *value = xml_attribute_number(node, attribute, maximum);
    if (*value < minimum)
        return vocabulary_fail_value(node, attribute, text, expected, failure);
    return 0;
}

/* --- tables of elements ------------------------------------------------------------- */

static int
fail_unknown(const xmlNode *parent, const xmlNode *node, struct failure **failure)
{
    failure_set_at(failure, FAILURE_REQUEST_UNKNOWN, xml_line(node),
                   "<%s> has an unknown element <%s>", parent->name, node->name);
    if (!vocabulary_is_ours(node))
        return failure_hint(failure,
                            "use the same prefix for all elements in <%s>: "
                            "they belong to the namespace '%s'",
                            parent->name, REQUEST_NAMESPACE);
    return failure_hint(failure, LOOK_UP_HINT);
}

static int
read_element(const struct vocabulary_element *element, const xmlNode *node, void *data,
             struct failure **failure) /* NOLINT(misc-no-recursion) */
{
    const xmlNode *other = xmlPreviousElementSibling((xmlNode *)node);
    cleanup_free char *word = NULL;

    for (; other && !(element->flags & VOCABULARY_SEVERAL);
         other = xmlPreviousElementSibling((xmlNode *)other)) {
        if (vocabulary_is(other, element->name))
            return failure_set_at(failure, FAILURE_REQUEST, xml_line(node),
                                  "duplicate <%s>\nkeep one of them", element->name);
    }
    if (vocabulary_check_attributes(node, element->attributes, failure) < 0)
        return -1;
    if (!element->children && !(element->flags & VOCABULARY_ANYTHING) &&
        vocabulary_check_no_children(node, failure) < 0)
        return -1;
    if (element->children &&
        vocabulary_read_children(node, element->children, data, failure) < 0)
        return -1;
    if (element->read && element->read(data, node, failure) < 0)
        return failure_at_line(failure, xml_line(node));
    if (!element->is_valid)
        return 0;
    word = vocabulary_word(node);
    if (*word && !element->is_valid(word))
        return vocabulary_fail_text(node, word, element->expected, failure);
    return 0;
}

int
vocabulary_read_children(const xmlNode *node, const struct vocabulary_element *elements,
                         void *data,
                         struct failure **failure) /* NOLINT(misc-no-recursion) */
{
    if (vocabulary_check_no_text(node, failure) < 0)
        return -1;
    xml_foreach_element(child, node) {
        const struct vocabulary_element *element = elements;

        while (element->name && !vocabulary_is(child, element->name))
            element++;
        if (!element->name)
            return fail_unknown(node, child, failure);
        if (read_element(element, child, data, failure) < 0)
            return -1;
    }
    return 0;
}
