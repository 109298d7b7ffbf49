/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands of `virt-seed` share.
 *
 * How it works: a command is one file, cmd-NAME.c. It has a struct options of its own and
 * a table with a row for each option, which says where in that struct the option's value
 * goes. Parsing (arguments.c), --help and the synopsis (help.c), and the completion of
 * the shell (cmd-complete.c) all read this table.
 */
#pragma once

#include "base/base.h"

/* What the command line says to every command. */
struct context {
    const char *uri;       /* of libvirt's daemon; NULL is libvirt's own default */
    const char *root_path; /* below which the host's files are looked for */
    int root;              /* its descriptor */
    bool quiet;
    bool json; /* these only if the command takes them */
    bool dry_run;
    bool verbose;
    char **operands; /* as many as the command allows */
    size_t operand_count;
    bool is_one_of_several; /* operands: definition_each() has given the command one */
};

/* --- options ---------------------------------------------------------------------- */

/* What an option does; the first three follow from the type of the member that it
 * sets. */
enum option_kind {
    OPTION_FLAG,    /* bool: true */
    OPTION_TEXT,    /* const char *: the value, borrowed from the command line */
    OPTION_LIST,    /* struct option_values: the value is added */
    OPTION_HELP,    /* prints the help */
    OPTION_VERSION, /* prints the version */
};

struct option_row {
    const char *name;     /* without dashes */
    const char *argument; /* what the value is; NULL if it takes none */
    enum option_kind kind;
    char letter;        /* 0 if it has none */
    size_t offset;      /* of the member that it sets, in the command's struct options */
    unsigned int needs; /* of a global option: what the command must take; or 0 */
    const char *help;
    const void *data; /* the command's own */
};

/* The global options that only some commands take. */
enum takes {
    TAKES_JSON = 1,
    TAKES_DRY_RUN = 2,
    TAKES_VERBOSE = 4,
    /* Not an option: options end at the first operand, and what follows that is words of
     * another command line. */
    TAKES_WORDS = 8,
};

/* The values of options that may be given several times, in their order. */
struct option_values {
    struct option_value {
        const struct option_row *row;
        const char *text; /* its name if it takes none */
    } list[LIMIT_SETTINGS];
    size_t count;
};

/* A row whose value goes to MEMBER of TYPE. */
#define OPTION_OF(TYPE, LETTER, NAME, ARGUMENT, MEMBER, HELP, ...)                        \
    {                                                                                     \
        .letter = (LETTER), .name = (NAME), .argument = (ARGUMENT),                     \
        .kind = _Generic(((TYPE *)0)->MEMBER, bool                                      \
                         : OPTION_FLAG, const char *                                    \
                         : OPTION_TEXT, struct option_values                            \
                         : OPTION_LIST),                                                \
        .offset = offsetof(TYPE, MEMBER), .help = (HELP), __VA_ARGS__ \
    }
/* A row of a command's table; struct options is the command's own. */
#define OPTION(...) OPTION_OF(struct options, __VA_ARGS__, )
/* The last row, and one that goes on with another table. */
#define OPTION_END                                                                       \
    {                                                                                    \
        .name = NULL                                                                     \
    }
#define OPTION_END_WITH(ROWS)                                                            \
    {                                                                                    \
        .data = (ROWS)                                                                   \
    }

/* Return: the row after this one; its name is NULL after the last. */
static inline const struct option_row *
option_next(const struct option_row *row)
{
    row++;
    return row->name || !row->data ? row : row->data;
}

/* Those of every command, before or after its name; ended by OPTION_END. */
extern const struct option_row global_options[];

/* --- commands --------------------------------------------------------------------- */

struct command {
    const char *name;
    /* Words divided by blanks: [OPTIONAL], and the last may be REPEATED…; NULL for
     * none. */
    const char *operands;
    const char *summary; /* one line for the lists of commands; NULL hides it */
    const char *help;    /* what `virt-seed NAME --help` says of it */
    const struct option_row *options; /* ended by OPTION_END; NULL for none */
    size_t options_size;              /* of its struct options */
    unsigned int takes; /* which of the global options with `needs`: enum takes */
    bool for_each;      /* run() gets one operand after another: definition_each() */
    /* `options` is the command's struct options. Return: the exit status, or -1 with a
     * failure. main prints a failure; the status is then 2 if it is FAILURE_USAGE, else the
     * one that was returned, or 1. */
    int (*run)(const struct context *context, const void *options,
               struct failure **failure);
};

/* A line of `virt-seed help --all`. */
struct command_row {
    const struct command *command;
    const char *group;   /* heading of this command and the next ones; else NULL */
    const char *example; /* for the command's --help, and the group's first one */
};

/* All of them, as `help --all` lists them; the last has no command. */
extern const struct command_row commands[];

extern const struct command cmd_apply;
extern const struct command cmd_build;
extern const struct command cmd_check;
extern const struct command cmd_complete;
extern const struct command cmd_doctor;
extern const struct command cmd_done;
extern const struct command cmd_dump;
extern const struct command cmd_edit;
extern const struct command cmd_gc;
extern const struct command cmd_images;
extern const struct command cmd_import;
extern const struct command cmd_inspect;
extern const struct command cmd_known_hosts;
extern const struct command cmd_logs;
extern const struct command cmd_new;
extern const struct command cmd_pending;
extern const struct command cmd_rm;
extern const struct command cmd_set;
extern const struct command cmd_ssh;
extern const struct command cmd_start;
extern const struct command cmd_status;
extern const struct command cmd_try;
extern const struct command cmd_unset;
extern const struct command cmd_update;
extern const struct command cmd_wait;
extern const struct command cmd_wire;

/* Return: what `edit` can edit, by index; NULL after the last. */
const char *edit_part_name(size_t index);

/* Return: whether the name begins with the word, or the word is one mistake away from it: a
 * character too many, too few or another one, or two in the wrong order. */
bool is_like(const char *name, const char *word);

/* Return: the command of that name, or NULL with a failure. */
const struct command *command_find(const char *name, struct failure **failure);

/* Exit statuses of every command. */
#define STATUS_OK 0
#define STATUS_FAILURE 1
#define STATUS_USAGE 2
/* Of `wait`, `start`, `apply` and `try`: the domain has stopped, there is no such domain,
 * libvirt cannot be reached, the time is over (as with timeout(1)). */
#define STATUS_STOPPED 3
#define STATUS_NO_DOMAIN 4
#define STATUS_NO_LIBVIRT 5
#define STATUS_TIMEOUT 124
/* Of `pending --exit-code`: the next start changes something. */
#define STATUS_CHANGES 3

/* --- the command line ------------------------------------------------------------- */

/*
 * Reads the options and operands of a command, whose name is argv[0], into the context
 * and into `options`, its zeroed struct options. If `command` is NULL, it reads the
 * options before the command's name; the operands are what follows them. Return: 0 to go
 * on, 1 if the help or the version was printed, -1 on failure.
 */
int arguments_read(struct context *context, const struct command *command, void *options,
                   int argc, char **argv, struct failure **failure);

/* Prints the help of the command, or with NULL that of virt-seed. */
void help_print(FILE *stream, const struct command *command);

/* Prints all commands. */
void help_print_all(FILE *stream);

/* Return: what follows the command's name in its usage line, owned by the caller
 * (free). */
char *help_synopsis(const struct command *command);
