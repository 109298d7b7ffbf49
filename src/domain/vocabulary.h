/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the request may contain: the rules that all elements of our namespace share. What is
 * not known is an error, so that no word of the user is ignored.
 *
 * The functions return 0, or -1 with a failure that names the element and its line.
 */
#pragma once

#include <stdbool.h>

#include <libxml/tree.h>

#include "base/failure.h"
#include "domain/xml.h"

#define REQUEST_NAMESPACE "urn:virt-seed:cloud-init:1"

/* Return: whether the element is of our namespace, and of that name. */
bool vocabulary_is_ours(const xmlNode *node);
bool vocabulary_is(const xmlNode *node, const char *name);

/* Return: the first element of our namespace and of that name below `parent` (of NULL:
 * none), or NULL. */
xmlNode *vocabulary_child(const xmlNode *parent, const char *name);

/* Sets a failure with "<NAME> MESSAGE", its hint after a line end, and the element's line.
 * Return: -1. */
#define vocabulary_fail(node, failure, code, format, ...)                                \
    failure_set_at(failure, code, xml_line(node), "<%s> " format, (node)->name,          \
                   ##__VA_ARGS__)
/* The same for an attribute's value, and an element's text: "<NAME> has 'VALUE', expected
 * …". */
int vocabulary_fail_value(const xmlNode *node, const char *attribute, const char *value,
                          const char *expected, struct failure **failure);
int vocabulary_fail_text(const xmlNode *node, const char *text, const char *expected,
                         struct failure **failure);
int vocabulary_fail_unknown(const xmlNode *parent, const xmlNode *node,
                            struct failure **failure);

/* The element has only attributes that are known; NULL ends them. */
int vocabulary_check_attributes(const xmlNode *node, const char *const *known,
                                struct failure **failure);
/* Return: whether the element has text of its own, not that of elements below it. */
bool vocabulary_has_text(const xmlNode *node);
/* There is only white space and comments between its children. */
int vocabulary_check_no_text(const xmlNode *node, struct failure **failure);
/* It has only text. */
int vocabulary_check_no_children(const xmlNode *node, struct failure **failure);

/* Return: the element's text without white space around it, owned by the caller (free). */
char *vocabulary_word(const xmlNode *node);

/* An attribute of "yes" or "no"; `value` stays as it is if there is none. */
int vocabulary_read_yes_no(const xmlNode *node, const char *attribute, bool *value,
                           struct failure **failure);

/* An attribute of a decimal number; `value` stays as it is if there is none. */
int vocabulary_read_number(const xmlNode *node, const char *attribute, long minimum,
                           long maximum, long *value, struct failure **failure);

/*
 * One element that another may contain. `read` reads it; without it, its children are read by
 * their table, or else its text, without white space around it and only if there is any, into
 * the `char *` (free) that is `text` bytes after the beginning of the data.
 */
struct vocabulary_element {
    const char *name;
    int (*read)(void *data, const xmlNode *node, struct failure **failure);
    const struct vocabulary_element *children; /* NULL for text */
    size_t text;
    bool (*is_valid)(const char *text); /* NULL if any text is */
    const char *expected;               /* what the message says if it is not */
    const char *attributes[6];          /* ends with NULL */
    enum {
        VOCABULARY_ANYTHING = 1, /* it may have elements that are not in a table */
        VOCABULARY_SEVERAL = 2,  /* there may be more than one */
        VOCABULARY_SECRET = 4,   /* nobody else should read it */
        VOCABULARY_VERBATIM = 8, /* white space around its text counts */
        VOCABULARY_KEYWORD = 16, /* one of a few words, in lower case */
        VOCABULARY_UNUSED = 32,  /* it has no effect */
    } flags;
};

/* Reads each element below `node` by its row of the table, which ends with a NULL name;
 * `data` is for the readers. */
int vocabulary_read_children(const xmlNode *node,
                             const struct vocabulary_element *elements, void *data,
                             struct failure **failure);
