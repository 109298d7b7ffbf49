/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a seed needs from the host, and the host's answers.
 *
 * How it works: whoever makes a seed reads what others wrote, and opens no file of the
 * host. It lists what it needs once, after it has read the request; no need depends on
 * another's answer. The host answers all of them by its own rules (host/answer.h): a
 * failure, an error, content, a word, or what it has found. The answers are in the order of
 * the needs.
 */
#pragma once

#include "host/imds-health.h"

enum need_kind {
    NEED_FILE,         /* `name`, below the configured directories: its content */
    NEED_SECRET,       /* `name`: the content of the first of `keys` that exists */
    NEED_WHOLE_SECRET, /* `name`: the content of all its keys */
    NEED_HOST_KEY,     /* the domain's: the private key, NEED_WORD_MAKE or …_MISSING */
    NEED_PASSWORD,     /* `name` of the hash that is kept for the domain: its content, or
                          NEED_WORD_MISSING */
    NEED_LABEL,        /* `name`, the path of a disk: one of NEED_WORD_LABEL_… */
    NEED_SERVER,       /* `name`, the metadata server's address: what it is found to do;
                          the last need of a list */
    NEED_DEFINITION,   /* the domain's: one of NEED_WORD_DEFINITION_… */
    NEED_KIND_LAST = NEED_DEFINITION,
};

enum need_word {
    NEED_WORD_NONE,
    NEED_WORD_MAKE,    /* there is no host key, and the domain may get a new one */
    NEED_WORD_MISSING, /* there is none */
    NEED_WORD_LABEL_OF_SEED,
    NEED_WORD_LABEL_OTHER, /* or none, so that cloud-init does not take it for a seed */
    NEED_WORD_DEFINITION_NONE,    /* the domain is transient (`virsh create`) */
    NEED_WORD_DEFINITION_UNWIRED, /* or wired only in part, or it cannot be read */
    NEED_WORD_DEFINITION_WIRED,   /* it names the domain's seed */
};

/* How many keys KubeVirt tries for one document. */
#define NEED_KEYS 3

struct need_entry {
    char *key; /* of a secret: the one that was read; else NULL */
    struct buffer content;
};

struct need {
    enum need_kind kind;
    char *name;                /* NULL if the kind has none */
    char *keys[NEED_KEYS + 1]; /* for NEED_SECRET; NULL after the last */

    /* The answer. */
    struct failure *failure; /* NULL if there is none */
    int error;               /* of a file: -errno; what it means is not said here */
    char *place;             /* where that was: a directory */
    enum need_word word;
    struct imds_finding server;
    struct need_entry *entries;
    size_t entry_count;
};

struct needs {
    struct need *list;
    size_t count;
};

/* Appends a need; `name` may be NULL. Return: it, valid until the next is added. */
struct need *needs_add(struct needs *needs, enum need_kind kind, const char *name);

/* Appends an empty entry to the answer; `key` may be NULL. Return: its content, for the
 * caller to fill. */
struct buffer *need_add_entry(struct need *need, const char *key);

void need_remove_entries(struct need *need);

void needs_clear(struct needs *needs);

#define cleanup_needs __attribute__((cleanup(needs_clear)))

/* The only way to the host for whoever makes a seed. */
struct host {
    void *data;
    /* Appends the text of the domain's record, if there is one. NULL for a host that only
     * answers needs. */
    int (*read_record)(void *data, struct buffer *text, struct failure **failure);
    /* Answers all of the needs. */
    void (*answer)(void *data, struct needs *needs);
};
