/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest reports about its boot: the reporter in the seed's vendor-data writes
 * lines of JSON to the virtio port org.virt-seed.report.0, one object per line:
 *
 *   {"virt-seed": 1, "boot": BOOT, "taken": TAKEN, "status": STATUS, "result": RESULT,
 *    "then": END, "failed": {"module": NAME, "log": LINE}, "dropped": [DROPPED, …],
 *    "login": LOGIN}
 *
 * BOOT is the kernel's boot_id (proc_sys_kernel(5)), which changes with each boot. STATUS
 * and RESULT are the content of cloud-init's status.json and result.json. STATUS is null
 * until cloud-init has written the file; only the last line of a boot has a result, and
 * only if that has errors, the module that failed; END is "reboot" or "poweroff" if the
 * guest is about to do that by itself. DROPPED is a text "DOCUMENT: MESSAGE" for each part
 * of a document that cloud-init has read and not used: then the boot has failed, whatever
 * RESULT says. store/guest-login.h has LOGIN, which older reporters lack. A line contains
 * everything known about its boot, so the newest counts. TAKEN says what cloud-init has
 * read:
 *
 *   {"version": VERSION, "instance-id": ID, "new": true, "documents": DIGESTS,
 *    "first": DIGESTS}
 *
 * VERSION is cloud-init's; "new" says whether this is the first boot of the instance.
 * DIGESTS has SHA-256 digests of the documents as cloud-init keeps them in its instance
 * directory, by name: those of this boot, and those of the instance's first boot.
 *
 * Nothing here trusts the guest. Other lines are skipped, and are never an
 * error; memory is always bounded (base/limits.h). The kept texts are UTF-8, one line
 * each, and safe to show (base/text.h). The times are the guest's own.
 */
#pragma once

#include "store/guest-login.h"

/* How far cloud-init has come in a guest. The words appear in records, in the journal,
 * and in the output of `virt-seed status` and `virt-seed wait`. */
enum guest_state {
    GUEST_STATE_NOTHING, /* no report yet */
    GUEST_STATE_RUNNING,
    GUEST_STATE_DONE,
    GUEST_STATE_FAILED,     /* finished, with errors */
    GUEST_STATE_UNFINISHED, /* the boot ended before cloud-init reported its end */
    GUEST_STATE_UNKNOWN,    /* the report cannot be read */
    GUEST_STATE_COUNT,
    /* No known boot with a seed, or the guest does not report. */
    GUEST_STATE_UNTOLD = GUEST_STATE_COUNT,
};

/* Return: "none", "running", "done", "failed", "unfinished" or "unknown"; NULL for
 * GUEST_STATE_UNTOLD. */
const char *guest_state_word(enum guest_state state);

/* Return: whether cloud-init has finished, successfully or not. */
bool guest_state_is_end(enum guest_state state);

/* Return: the final state with this word; GUEST_STATE_NOTHING for any other word and for
 * NULL. */
enum guest_state guest_state_find_end(const char *word);

/* cloud-init's stages, in order. */
enum guest_stage {
    GUEST_STAGE_INIT_LOCAL,
    GUEST_STAGE_INIT,
    GUEST_STAGE_MODULES_INIT, /* obsolete, but still in the file */
    GUEST_STAGE_MODULES_CONFIG,
    GUEST_STAGE_MODULES_FINAL,
    GUEST_STAGE_COUNT,
    GUEST_STAGE_NONE = GUEST_STAGE_COUNT,
};

/* Seconds since 1970; 0 for a time that is missing or absurd. */
struct guest_stage_times {
    bool started;
    bool finished;
    double start;
    double finish;
};

/* An error or a warning, and its stage if known. */
struct guest_message {
    enum guest_stage stage;
    char *text;
};

struct guest_messages {
    struct guest_message *list;
    size_t count;
    size_t left_out; /* how many more than LIMIT_REPORT_MESSAGES there were */
};

/* The documents that cloud-init keeps as it has read them. */
enum kept_document {
    KEPT_USER_DATA,
    KEPT_VENDOR_DATA,
    KEPT_NETWORK_CONFIG, /* as JSON, since cloud-init 23.4 or so */
    KEPT_COUNT,
};

/* What the guest claims to have taken from its seed, and what has failed in it. Texts are
 * NULL if the guest does not say. */
struct guest_claim {
    char *version; /* cloud-init's */
    char *instance_id;
    bool is_new;                 /* this is the first boot of that instance */
    char *documents[KEPT_COUNT]; /* digests (digest_make()) of this boot */
    char *first[KEPT_COUNT];     /* ... and of the instance's first boot */
    char *failed_module;         /* of cloud-init */
    char *failed_log;            /* what its log says of that */
    /* What it has read and not used: "DOCUMENT: MESSAGE", LIMIT_REPORT_DROPPED at most. */
    char **dropped;
    size_t dropped_count;
    struct guest_login login;
};

/*
 * Reads the members "taken", "failed", "dropped" and "login" of an object, of a line or of a record, into an
 * empty claim; values of another kind count as missing.
 */
void guest_claim_read(struct guest_claim *claim, const struct json_t *object);

/* Adds these members to an object of a record, as far as the guest has said them. */
void guest_claim_write(const struct guest_claim *claim, struct json_t *object);

void guest_claim_clear(struct guest_claim *claim);

struct guest_report {
    enum guest_state state;     /* NOTHING (no line yet), RUNNING, DONE or FAILED */
    char boot[UUID_LENGTH + 1]; /* "" before the first line */
    enum guest_stage stage;     /* the running stage, or GUEST_STAGE_NONE */
    struct guest_stage_times stages[GUEST_STAGE_COUNT];
    char *datasource; /* as cloud-init describes it, or NULL */
    struct guest_claim claim;
    /* What the guest does by itself once cloud-init has finished: "reboot" or "poweroff",
     * NULL for nothing that is known. */
    const char *then;
    struct guest_messages errors;   /* so far */
    struct guest_messages warnings; /* what cloud-init calls recoverable errors */
    /* For guest_report_feed(): */
    struct buffer line; /* the incomplete line */
    bool overlong;      /* longer than LIMIT_REPORT_LINE, so not kept */
};

/*
 * Takes bytes of the report, at most up to the end of a line; a line may come in any
 * number of calls. `news` says whether a valid line was completed, which is then in the
 * report; another boot than before starts the report over.
 * Return: how many bytes were taken; at least one if there is one.
 */
size_t guest_report_feed(struct guest_report *report, const char *data, size_t size,
                         bool *news);

/* Return: the last stage that has started, or GUEST_STAGE_NONE. */
enum guest_stage guest_report_last_stage(const struct guest_report *report);

/* Return: cloud-init's name of the stage; NULL for GUEST_STAGE_NONE. */
const char *guest_stage_name(enum guest_stage stage);

void guest_report_clear(struct guest_report *report);

#define cleanup_guest_report __attribute__((cleanup(guest_report_clear)))
/* The initial value. */
#define GUEST_REPORT_EMPTY ((struct guest_report){.stage = GUEST_STAGE_NONE})

/* Reads the whole file into the report, which must be GUEST_REPORT_EMPTY. */
int report_read(int root, const char *uuid, struct guest_report *report, time_t *written,
                struct failure **failure);

/* --- following a report ---------------------------------------------------------------- */

/* Reads a report that may grow, be renamed or be removed during that: reads it to its
 * end, and then the next file of that name. */
struct report_reader {
    int root; /* borrowed, as the next */
    const char *uuid;
    int file; /* the current one, owned; at first -1, for none */
};

/*
 * Reads the next bytes, starting at the last LIMIT_REPORT_FILE bytes of the report.
 * Return: how many; 0 if there are no more so far; -1 if they cannot be read.
 */
ssize_t report_reader_read(struct report_reader *reader, char *data, size_t size,
                           struct failure **failure);
