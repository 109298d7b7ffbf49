/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the subcommands of `virt-seed` share. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"
#include "base/limits.h"

/* What the options in front of the subcommand say. */
struct context {
    const char *uri;       /* of libvirt's daemon; NULL is libvirt's own default */
    const char *root_path; /* below which the host's files are looked for */
    int root;              /* its descriptor */
    bool quiet;
};

/* An option that may be given several times: what it is, and its value. */
struct setting {
    int option;
    const char *value; /* borrowed from the command line */
};

/* What stands behind the subcommand; each takes what its options and operands allow. */
struct arguments {
    const char *name; /* of the domain, file or image; NULL without operands */
    char **operands;  /* all of them, as the command line has them */
    size_t operand_count;
    bool is_domain;        /* --domain: the name is no file's */
    const char *document;  /* the second operand, or NULL */
    const char *output;    /* --output, or NULL */
    const char *directory; /* --extract, or NULL */
    const char *machine;   /* --name, or NULL */
    const char *set;       /* --set, or NULL */
    const char *timeout;   /* --timeout, or NULL */
    bool in_place;
    bool no_schema;
    bool json;
    bool next;
    bool replace;
    bool scrub;
    bool secrets;
    bool show_secrets;
    bool wiring_only;
    bool after_refusal;
    bool undo;
    bool all;
    bool dry_run;
    bool print;
    bool verbose;
    struct setting settings[LIMIT_SETTINGS]; /* in the order they were given */
    size_t setting_count;
};

struct option;

/* A subcommand: each cmd-NAME.c exports one, and main.c lists them. */
struct command {
    const char *name;
    const char *usage;   /* what stands behind the name in the usage line */
    const char *summary; /* one line for `virt-seed --help` */
    const char *help;    /* what `virt-seed NAME --help` prints below the usage line */
    const struct option *options; /* getopt's, ended by a row of zeros */
    int operands;                 /* how many there may be; the first must be there */
    bool optional;                /* not even that must be there */
    /* Return: the exit status; a failure that is set is printed by main, and the status is
     * then 1, or 2 where it is FAILURE_USAGE. */
    int (*run)(const struct context *context, const struct arguments *arguments,
               struct failure **failure);
};

extern const struct command cmd_build;
extern const struct command cmd_check;
extern const struct command cmd_doctor;
extern const struct command cmd_done;
extern const struct command cmd_dump;
extern const struct command cmd_gc;
extern const struct command cmd_import;
extern const struct command cmd_inspect;
extern const struct command cmd_known_hosts;
extern const struct command cmd_pending;
extern const struct command cmd_set;
extern const struct command cmd_status;
extern const struct command cmd_unset;
extern const struct command cmd_update;
extern const struct command cmd_wait;
extern const struct command cmd_wire;

/* As many operands as there are. */
#define OPERANDS_ANY INT_MAX

/* Exit status: done, failed, called wrongly; of `wait` also: the domain has stopped, the time
 * is over (as timeout(1) says it). */
#define STATUS_OK 0
#define STATUS_FAILURE 1
#define STATUS_USAGE 2
#define STATUS_STOPPED 3
#define STATUS_TIMEOUT 124

/* getopt's answers: the letter, where an option has one. */
enum {
    OPTION_IN_PLACE = 'i',
    OPTION_OUTPUT = 'o',
    OPTION_HELP = 256,
    OPTION_AFTER_REFUSAL,
    OPTION_ALL,
    OPTION_DOMAIN,
    OPTION_DRY_RUN,
    OPTION_EXTRACT,
    OPTION_HOST,
    OPTION_JSON,
    OPTION_NAME,
    OPTION_NEXT,
    OPTION_NO_SCHEMA,
    OPTION_PRINT,
    OPTION_REPLACE,
    OPTION_SCRUB,
    OPTION_SECRETS,
    OPTION_SET,
    OPTION_SHOW_SECRETS,
    OPTION_TIMEOUT,
    OPTION_UNDO,
    OPTION_VERBOSE,
    OPTION_WIRING_ONLY,
    /* Those of `set`, from the first to the last. */
    OPTION_SET_DATASOURCE,
    OPTION_SET_HOSTNAME,
    OPTION_SET_INSTANCE_ID,
    OPTION_SET_INSTANCE_ID_POLICY,
    OPTION_SET_META_DATA,
    OPTION_SET_NETWORK_CONFIG,
    OPTION_SET_ROOT_PASSWORD,
    OPTION_SET_SECRET,
    OPTION_SET_SSH_HOST_KEYS,
    OPTION_SET_SSH_KEY,
    OPTION_SET_USER,
    OPTION_SET_USER_DATA,
    OPTION_SET_VENDOR_DATA,
};

/*
 * Reads what stands behind the subcommand, whose name is argv[0].
 * Return: 0 to go on, 1 when --help was printed, -1 on failure.
 */
int arguments_read(struct arguments *arguments, const struct command *command, int argc,
                   char **argv, struct failure **failure);

/* Return: the word that getopt, which had that table of long options, has just refused. */
const char *arguments_refused(char **argv, const struct option *options);
