/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the unit tests share: cmocka, a directory for each test, requests from their text.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <libxml/tree.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "base/memory.h"
#include "domain/domain.h"
#include "domain/request.h"

#define UNIT_UUID "4dea22b3-1d52-d8f3-2516-782e98ab3fa0"
#define UNIT_OTHER_UUID "0b5f1a57-7d27-4a50-8f6e-2d0b6f0a4c11"

/* The entry of a test that gets a directory of its own. */
#define unit_test_in_directory(test)                                                     \
    cmocka_unit_test_setup_teardown(test, unit_directory_setup, unit_directory_teardown)

/* --- failures --------------------------------------------------------------------------
 */

/*
 * Asserts that the call failed with that code, and said what is wrong and what to do.
 * Takes the failure.
 */
#define assert_failure(failure, code)                                                    \
    unit_assert_failure(failure, code, __FILE__, __LINE__)
void unit_assert_failure(struct failure **failure, enum failure_code code,
                         const char *file, int line);

/* Asserts that there is no failure, and says which one there is. */
#define assert_no_failure(failure) unit_assert_no_failure(failure, __FILE__, __LINE__)
void unit_assert_no_failure(const struct failure *failure, const char *file, int line);

/* --- a directory for the test ----------------------------------------------------------
 */

int unit_directory_setup(void **state);
int unit_directory_teardown(void **state);

/* Return: the descriptor of the test's directory. */
int unit_directory(void **state);

/* Makes the file, and the directories on the way to it (0755), with exactly that mode. */
void unit_make_file(int dir, const char *path, mode_t mode, const char *content);
void unit_make_directory(int dir, const char *path, mode_t mode);
/* Makes the symbolic link `path` to `target`. */
void unit_make_link(int dir, const char *path, const char *target);

/* Return: the file's content, owned by the caller (cleanup_buffer). */
struct buffer unit_read_file(int dir, const char *path);

/* Return: how many entries the directory has. */
size_t unit_count_entries(int dir);

/* Asserts that the buffer holds exactly that text. */
void unit_assert_content(const struct buffer *buffer, const char *expected);

/* Where root runs the tests: takes the rights of a user who has none but to look into the
 * test's directory, and gives them back. */
void unit_become_nobody(void **state);
void unit_become_self(void);

/* --- domains ---------------------------------------------------------------------------
 */

/* Return: the parsed document, owned by the caller (cleanup_xml). */
xmlDoc *unit_parse(const char *text);

/* A domain that was read from text, and what it asks for. */
struct unit_domain {
    xmlDoc *doc;
    struct domain domain;
    struct request request;
};

/* Reads a whole domain; asserts that it can be read. */
void unit_domain_read(struct unit_domain *unit, const char *xml);

/* Reads the domain "web1" (UNIT_UUID) with `request`, an element <ci:cloud-init> whose
 * prefix is declared around it. */
int unit_request_read(struct unit_domain *unit, const char *request,
                      struct failure **failure);

/* Checks each part of the request as it is (seed_check_part()). */
int unit_check_parts(const struct request *request, struct failure **failure);

void unit_domain_clear(struct unit_domain *unit);

#define cleanup_unit_domain __attribute__((cleanup(unit_domain_clear)))

/* For a part that is not in a list: frees its entries, and nothing else. */
void unit_part_clear(struct part *part);

#define cleanup_unit_part __attribute__((cleanup(unit_part_clear)))
