/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest reports about its boot: the reporter in the seed's vendor-data writes
 * lines of JSON to the virtio port org.virt-seed.report.0, one object per line:
 *
 *   {"virt-seed": 1, "boot": BOOT, "status": STATUS, "result": RESULT}
 *
 * BOOT is the kernel's boot_id (proc_sys_kernel(5)), which changes with each boot. STATUS
 * and RESULT are the content of cloud-init's status.json and result.json. STATUS is null
 * until cloud-init has written the file; only the last line of a boot has a result. A
 * line contains everything known about its boot, so the newest counts.
 *
 * Nothing here trusts the guest. Other lines are counted and skipped, and are never an
 * error; memory is always bounded (base/limits.h). The kept texts are UTF-8, one line
 * each, and safe to show (base/text.h). The times are the guest's own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/limits.h"
#include "base/text.h"

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

struct guest_report {
    enum guest_state state;     /* NOTHING (no line yet), RUNNING, DONE or FAILED */
    char boot[UUID_LENGTH + 1]; /* "" before the first line */
    enum guest_stage stage;     /* the running stage, or GUEST_STAGE_NONE */
    struct guest_stage_times stages[GUEST_STAGE_COUNT];
    char *datasource;               /* as cloud-init describes it, or NULL */
    struct guest_messages errors;   /* so far */
    struct guest_messages warnings; /* what cloud-init calls recoverable errors */
    size_t ignored;                 /* invalid lines, in all boots */
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
