/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings of a guest, which `virt-seed set` and `new` take. set.c has their table, and
 * set-guest.c those whose value is more than a text or a file. */
#pragma once

#include "cli/cli.h"
#include "domain/domain.h"
#include "store/secret-write.h"
#include "wire/wire.h"

#define FILE_HINT "name a file that you may read"

/* What set_rows[] sets: a command that takes them has it as the first member of its struct
 * options. */
struct settings {
    struct option_values values;
};

extern const struct option_row set_rows[];

/* What was read for each value, by its index: standard input and FIFOs can be read once,
 * and people are asked once, for all domains of the command. */
struct set_contents {
    struct set_content {
        bool is_read;
        struct buffer data;
    } list[LIMIT_SETTINGS];
};

void set_contents_clear(struct set_contents *contents);

#define cleanup_set_contents __attribute__((cleanup(set_contents_clear)))

struct writing {
    const struct domain *domain;
    struct set_contents *contents; /* may be NULL if no value is to be read */
    xmlNode *element;              /* <cloud-init> */
    struct new_passwords *passwords;
    char *generated; /* the password that was made, or NULL; owned by the caller */
    size_t index;    /* of the value that is being added */
};

/* What one value of an option does to the element: what was there is removed, then it is
 * added. */
typedef void set_remover(struct writing *writing, const struct option_value *value);
typedef int set_adder(struct writing *writing, const struct option_value *value,
                      struct failure **failure);

/* What an option of the table means for the element. */
struct setting {
    const char *below; /* its element's parent; NULL is <cloud-init> itself */
    const char *element;
    set_remover *remove; /* NULL: the elements of that name */
    set_adder *add;
    const char *attribute; /* that the element gets, or NULL */
    const char *value;
    const char *asks_for; /* whose password the terminal is asked for, or NULL */
};

/* Fails before anything else is asked if a file cannot be read, or values contradict each
 * other. `reads_input`: whether one of them is to be read from standard input. */
int set_check_values(const struct context *context, const struct option_values *values,
                     bool *reads_input, struct failure **failure);

/* Fails if several guests would get the same host name or address. */
int set_check_sharing(const struct option_values *values, bool is_several,
                      struct failure **failure);

/* Writes the settings into the element, which is added if there is none, and notes in
 * `wiring` what has changed, if anything. */
int set_write(struct writing *writing, const struct option_values *values,
              struct wiring *wiring, struct failure **failure);

/* Fails if a start would refuse a document that its guest cannot read. The host's files and
 * secrets, which may be out of the caller's reach, are not looked at. */
int set_check_documents(const struct domain *domain, struct failure **failure);

/* Return: what the value is read from, as a message names it, owned by the caller (free). */
char *set_describe_source(const struct option_value *value);

/* Reads the value's file, or the answer to its question. `content` is the caller's own copy. */
int set_read(const struct writing *writing, const struct option_value *value,
             size_t limit, struct buffer *content, struct failure **failure);

/* Return: what the values set, in one line, "user-data web1.yaml, hostname web1", owned by
 * the caller (free). It has no value that may be a secret. */
char *set_describe(const struct option_values *values);

/* --- the element ---------------------------------------------------------------------- */

/* Indents an element that was added last like its neighbours. Return: the element. */
xmlNode *set_indent(xmlNode *node);

/* Return: the child of that name, added if there was none. */
xmlNode *set_find_or_add(xmlNode *parent, const char *name);

void set_remove_all(xmlNode *parent, const char *name);

/* For an element that only exists for its children or attributes; it may be NULL. */
void set_remove_if_empty(xmlNode *node);

/* Adds each line of authorized_keys, or of a .pub file, that is not a comment; divides the
 * text in place. Fails if there is none. `source` names it in messages. */
int set_add_keys(struct writing *writing, const char *source, char *text,
                 struct failure **failure);

/* --- settings ------------------------------------------------------------------------- */

/* --ip: an <interface> of <network-config from="interfaces">. */
set_remover set_remove_ip;
set_adder set_add_ip;

/* --password-file, --password and those of root: a hash that the host stores, and an
 * attribute that says so. */
set_remover set_remove_password;
set_adder set_add_password;

/* --password-generate: the same with a new password. */
set_adder set_generate_password;

/* Prints the one that was made; with --quiet it stands alone, for scripts. */
void set_print_password(const struct context *context, const char *name,
                        const char *password);
/* Wipes it; it may be NULL. */
void set_forget_password(char **password);

/* --secret: PART=NAME[/KEY]. */
set_remover set_remove_secret;
set_adder set_add_secret;
