/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domain's XML as libvirt writes it (virDomainDefFormat), read without a parser: whose
 * domain it is, and the values in it. libvirt's own form has attributes in single quotes,
 * the five entities of XML, and neither comments, CDATA sections, processing instructions
 * nor a document type. Whatever else is found is a failure: nothing is skipped because it
 * is not understood.
 */
#pragma once

#include "base/base.h"

/* --- whose domain it is -------------------------------------------------------------- */

struct domain_identity {
    char *name;
    char uuid[UUID_LENGTH + 1];
};

/*
 * Reads the name and the UUID, with which the document must begin; they are never taken
 * from elsewhere in it. Looks at nothing after them. The identity must be empty.
 */
int domain_identity_read(struct domain_identity *identity, const struct buffer *xml,
                         struct failure **failure);
void domain_identity_clear(struct domain_identity *identity);

#define cleanup_domain_identity __attribute__((cleanup(domain_identity_clear)))

/* --- the values in it ---------------------------------------------------------------- */

/* A part of the document, without a NUL at its end. */
struct text_part {
    const char *start;
    size_t length;
};

bool text_part_is(struct text_part part, const char *text);

struct domain_value {
    const char *text; /* unescaped; valid until the next value is read */
    /* Names, with the prefix if there is one. */
    struct text_part element;
    struct text_part parent; /* empty if the element is <domain> */
    struct text_part device; /* the element, or what it is in: a child of <devices>, or
                                else of <domain> */
    bool has_prefix;         /* the element is in a namespace */
};

struct domain_text {
    const struct buffer *xml;   /* borrowed */
    const char *at;             /* what follows has not been read */
    bool in_tag;                /* that is, attributes of the innermost element */
    bool is_leaf;               /* that is, the first text of that element */
    bool has_root;              /* <domain> has begun, and maybe ended */
    const char *after_metadata; /* NULL before its end */
    size_t depth;               /* of open elements */
    struct text_part names[LIMIT_XML_DEPTH];
    struct buffer value;
};

/*
 * Begins to read the document, which must stay as it is; `text` must be {0}. White space
 * before <domain> is allowed.
 */
int domain_text_begin(struct domain_text *text, const struct buffer *xml,
                      struct failure **failure);

/*
 * Reads the next value: that of an attribute, but not of a namespace's declaration, or the
 * text of an element that has no child elements, unless it is empty. <metadata>, <title>
 * and <description> of the domain are skipped, each to the first end tag of that name:
 * what somebody has put there can make a domain be refused, but hide nothing after it.
 * Return: 1; 0 at the end of the document; -1 if it is not in libvirt's form.
 */
int domain_text_next(struct domain_text *text, struct domain_value *value,
                     struct failure **failure);

/* Return: the number of the line at that place in the document. */
int domain_text_line(const struct domain_text *text, const char *at);

void domain_text_clear(struct domain_text *text);

#define cleanup_domain_text __attribute__((cleanup(domain_text_clear)))
