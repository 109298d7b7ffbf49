/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text that a document was parsed from, edited: whatever the program did not change
 * keeps its bytes, such as quotes, the order of attributes, white space, line ends and
 * the spelling of entities. xml_format() would format all of it again.
 */
#pragma once

#include <stddef.h>

#include <libxml/tree.h>

/* Numbers the nodes of a document that was just parsed, so that xml_source_edit() knows
 * later which of them are new. */
void xml_source_mark(xmlDoc *doc);

/*
 * Return: the text `source` with the changes that were made to the marked document since
 * it was parsed from that text, owned by the caller (free). NULL if the text cannot be
 * edited, as in another encoding than UTF-8: use xml_format(). The result is parsed again
 * and has the same canonical form as the document.
 */
char *xml_source_edit(const char *source, xmlDoc *doc, size_t *size);

/*
 * Return: where the next document begins if the text is a stream of documents; else its
 * length. What is not well-formed is for xml_parse() to report.
 */
size_t xml_source_next(const char *text);
