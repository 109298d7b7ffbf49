/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper's side of its conversation with the maker (host/message.h).
 *
 * How it works: the keeper says hello, with everything that the maker needs but the domain's
 * XML, which the maker has as a file. A maker for a start then may say its needs once, which
 * are answered, and says its verdict; the others say a result. The maker exits.
 * The hello begins with the scope (base/scope.h): what the maker writes into XML and messages
 * names the keeper's directories. The keeper takes no path back.
 *
 * The keeper trusts nothing that it reads. Each reader here takes only what a maker may say:
 * kinds, counts and lengths within limits; file names, tokens, MACs and digests by their
 * form; words from a list. No UUID, path of the host, mode or owner is in a message from the
 * maker. A reader returns false for anything else, and the start is refused.
 */
#pragma once

#include "host/config-files.h"
#include "host/message.h"
#include "host/need.h"
#include "host/verdict.h"

/* What a maker is for. Each reads the text of one author. */
enum maker_role {
    MAKER_PREPARE, /* a start: the domain's XML */
    MAKER_REPORT,  /* the end of a guest: its report */
    MAKER_MERGE,   /* two records of the same domain */
    MAKER_WIRE,    /* a domain's definition */
};

struct hello {
    enum maker_role role;
    struct buffer record; /* the domain's, its text; empty if there is none */

    /* MAKER_PREPARE */
    char *uuid;                     /* of the domain; its XML must have it */
    bool resumes;                   /* a guest, instead of booting one */
    struct failure *record_failure; /* why the record cannot be read, or NULL */

    /* MAKER_PREPARE and MAKER_WIRE */
    struct config_files config; /* the maker does not get the directories; empty for a
                                   definition of another host */

    /* MAKER_REPORT */
    struct buffer report; /* what the guest said */
    time_t written;       /* when, by the host's clock; 0 if it said nothing */
    char *end;            /* how it ended, in libvirt's word; NULL if it did not tell */

    /* MAKER_MERGE */
    struct buffer next; /* the record that a start made of an earlier one */
};

void hello_clear(struct hello *hello);

#define cleanup_hello __attribute__((cleanup(hello_clear)))

void hello_put(const struct hello *hello, struct buffer *message);

/* The needs must be empty. One that wires a definition may ask for labels only. */
bool needs_get(struct needs *needs, enum maker_role role, const struct buffer *message);
void answers_put(const struct needs *needs, struct buffer *message);

/* What a maker may say of the domain's host key. */
enum key_right {
    KEY_NONE,    /* nothing: it has not got one */
    KEY_GIVEN,   /* the public key of the one that it has got */
    KEY_TO_MAKE, /* both keys: it was told to make them */
};

/* The verdict must be VERDICT_NONE, but with the output. */
bool verdict_get(struct verdict *verdict, enum key_right right,
                 const struct buffer *message);

/* The result must be empty; `failure` gets what the maker has found, if anything. Only the
 * wiring of a definition has changes, and only a record an event. */
bool result_get(struct maker_result *result, enum maker_role role,
                struct failure **failure, const struct buffer *message);
