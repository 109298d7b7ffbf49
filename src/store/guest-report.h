/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest says of its boot: lines of JSON that the reporter in the seed's vendor-data
 * writes to the virtio port org.virt-seed.report.0, an object a line:
 *
 *   {"virt-seed": 1, "boot": BOOT, "status": STATUS, "result": RESULT}
 *
 * BOOT is the kernel's boot_id (proc_sys_kernel(5)), which changes with each boot. STATUS and
 * RESULT are the content of cloud-init's status.json and result.json. STATUS is null where
 * cloud-init has not written its own yet; only the last line of a boot has a result. A line
 * says everything that is known of its boot, so the newest counts.
 *
 * Nothing here trusts the guest. What is no such line is counted and left out, and never an
 * error; whatever comes, the memory is bounded (base/limits.h). The texts that are kept are
 * UTF-8, one line each, and fit to be shown (base/text.h). The times are the guest's own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/limits.h"
#include "base/text.h"

/* How far cloud-init is in a guest; the words for it are in records, in the journal, and in what
 * `virt-seed status` and `virt-seed wait` print. */
enum guest_state {
    GUEST_STATE_NOTHING, /* nothing was heard of it */
    GUEST_STATE_RUNNING,
    GUEST_STATE_DONE,
    GUEST_STATE_FAILED,     /* it is at its end, with errors */
    GUEST_STATE_UNFINISHED, /* the boot was over before its end was heard of */
    GUEST_STATE_UNKNOWN,    /* what would say it cannot be read */
    GUEST_STATE_COUNT,
    /* No boot with a seed is known, or it is one that does not report. */
    GUEST_STATE_UNTOLD = GUEST_STATE_COUNT,
};

/* Return: "none", "running", "done", "failed", "unfinished" or "unknown"; NULL for
 * GUEST_STATE_UNTOLD. */
const char *guest_state_word(enum guest_state state);

/* Return: whether it has come to its end, well or not. */
bool guest_state_is_end(enum guest_state state);

/* Return: the end that has this word; GUEST_STATE_NOTHING for any other and for NULL. */
enum guest_state guest_state_find_end(const char *word);

/* cloud-init's stages, in their order. */
enum guest_stage {
    GUEST_STAGE_INIT_LOCAL,
    GUEST_STAGE_INIT,
    GUEST_STAGE_MODULES_INIT, /* of old, but named in the file */
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

/* An error or a warning, and the stage that had it, where that is known. */
struct guest_message {
    enum guest_stage stage;
    char *text;
};

struct guest_messages {
    struct guest_message *list;
    size_t count;
    size_t left_out; /* how many more there were than LIMIT_REPORT_MESSAGES */
};

struct guest_report {
    enum guest_state state;     /* NOTHING (no line yet), RUNNING, DONE or FAILED */
    char boot[UUID_LENGTH + 1]; /* "" before the first line */
    enum guest_stage stage;     /* that runs now, or GUEST_STAGE_NONE */
    struct guest_stage_times stages[GUEST_STAGE_COUNT];
    char *datasource;               /* as cloud-init describes it, or NULL */
    struct guest_messages errors;   /* also while the boot goes on */
    struct guest_messages warnings; /* what cloud-init calls recoverable errors */
    size_t ignored;                 /* lines that were none; those of all boots */
    /* Of guest_report_feed(): */
    struct buffer line; /* that has not ended yet */
    bool overlong;      /* it is not kept: it has more than LIMIT_REPORT_LINE bytes */
};

/*
 * Takes in bytes of the report, up to the end of a line at most; the bytes of a line may come
 * in any number of calls. `news` says whether that was a line that counts. What it says is in
 * the report then; a boot other than the one before starts it over.
 * Return: how many bytes were taken; at least one, where there is one.
 */
size_t guest_report_feed(struct guest_report *report, const char *data, size_t size,
                         bool *news);

/* Return: the last stage that has started, GUEST_STAGE_NONE where none has. */
enum guest_stage guest_report_last_stage(const struct guest_report *report);

/* Return: cloud-init's name of the stage; NULL for GUEST_STAGE_NONE. */
const char *guest_stage_name(enum guest_stage stage);

void guest_report_clear(struct guest_report *report);

#define cleanup_guest_report __attribute__((cleanup(guest_report_clear)))
/* The value to begin with. */
#define GUEST_REPORT_EMPTY ((struct guest_report){.stage = GUEST_STAGE_NONE})
