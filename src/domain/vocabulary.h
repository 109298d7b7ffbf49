/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules that all elements of our namespace share. Anything unknown is an error, so
 * that nothing the user wrote is silently ignored.
 *
 * The functions return 0, or -1 with a failure that names the element and its line.
 */
#pragma once

#include "domain/xml.h"

#define REQUEST_NAMESPACE "urn:virt-seed:cloud-init:1"

/* Return: whether the element is in our namespace, and has that name. */
bool vocabulary_is_ours(const xmlNode *node);
bool vocabulary_is(const xmlNode *node, const char *name);

/* Return: the first such child in our namespace, or NULL; `parent` may be NULL. */
xmlNode *vocabulary_child(const xmlNode *parent, const char *name);

/* Return: whether the word is in the list, which NULL ends. */
bool word_is_in(const char *word, const char *const *words);

/* Sets a failure with "<NAME> MESSAGE", the hint after a newline, and the element's line.
 * Return: -1. */
#define vocabulary_fail(node, failure, code, format, ...)                                \
    failure_set_at(failure, code, xml_line(node), "<%s> " format, (node)->name,          \
                   ##__VA_ARGS__)
/* The same for the value of an attribute, and for an element's text: "<NAME> has 'VALUE',
 * expected …". */
int vocabulary_fail_value(const xmlNode *node, const char *attribute, const char *value,
                          const char *expected, struct failure **failure);
int vocabulary_fail_text(const xmlNode *node, const char *text, const char *expected,
                         struct failure **failure);

/* Checks that the element has only known attributes; NULL ends the list. */
int vocabulary_check_attributes(const xmlNode *node, const char *const *known,
                                struct failure **failure);
/* Return: whether the element itself has text; that of its children does not count. */
bool vocabulary_has_text(const xmlNode *node);
/* Checks that it has no text, only children. */
int vocabulary_check_no_text(const xmlNode *node, struct failure **failure);
/* Checks that it has no children, only text. */
int vocabulary_check_no_children(const xmlNode *node, struct failure **failure);

/* Return: the element's text without leading and trailing white space, owned by the
 * caller (free); "" for NULL. */
char *vocabulary_word(const xmlNode *node);
/* The same of the first such child; NULL if there is none, or if it has no text. `parent`
 * may be NULL. */
char *vocabulary_child_word(const xmlNode *parent, const char *name);

/* Reads an attribute that is one of the words, of which NULL ends the list; `choice` gets
 * the position of the word; without the attribute, it is unchanged. */
int vocabulary_read_choice(const xmlNode *node, const char *attribute,
                           const char *const *words, int *choice,
                           struct failure **failure);

/* Reads a "yes" or "no" attribute; without it, `value` is unchanged. */
int vocabulary_read_yes_no(const xmlNode *node, const char *attribute, bool *value,
                           struct failure **failure);

/* Reads a decimal attribute; without it, `value` is unchanged. */
int vocabulary_read_number(const xmlNode *node, const char *attribute, long minimum,
                           long maximum, long *value, struct failure **failure);

/*
 * An element that another may contain. Its children are read by the table `children`, then
 * `read` reads it; a failure of it gets the element's line unless it has one. Without either,
 * its text is checked, unless it is empty, and left to the caller
 * (vocabulary_child_word()).
 */
struct vocabulary_element {
    const char *name;
    int (*read)(void *data, const xmlNode *node, struct failure **failure);
    const struct vocabulary_element *children; /* NULL for text */
    bool (*is_valid)(const char *text);        /* NULL if any text is valid */
    const char *expected;                      /* for the message if it is not */
    const char *attributes[8];                 /* ends with NULL */
    enum {
        VOCABULARY_ANYTHING = 1, /* it may contain elements that are not in `children` */
        VOCABULARY_SEVERAL = 2,  /* there may be more than one */
        VOCABULARY_SECRET = 4,   /* its content is secret */
        VOCABULARY_VERBATIM = 8, /* leading and trailing white space counts */
        VOCABULARY_KEYWORD = 16, /* one of a few words, in lower case */
        VOCABULARY_UNUSED = 32,  /* it has no effect */
    } flags;
};

/* Reads each child of `node` by its row in the table, which ends with a NULL name; `data`
 * is passed to the readers. */
int vocabulary_read_children(const xmlNode *node,
                             const struct vocabulary_element *elements, void *data,
                             struct failure **failure);
