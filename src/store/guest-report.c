/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: bytes become lines, and lines become JSON values (guest_report_feed); a
 * valid value replaces everything known about the boot (take_value). Optional members of
 * an unexpected type count as missing, because cloud-init's versions differ in them.
 */
#include "config.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/names.h"
#include "host/documents.h"
#include "host/own-directory.h"
#include "host/report-file.h"
#include "store/guest-report.h"

static const char *const state_words[] = {
    [GUEST_STATE_NOTHING] = "none",
    [GUEST_STATE_RUNNING] = "running",
    [GUEST_STATE_DONE] = "done",
    [GUEST_STATE_FAILED] = "failed",
    [GUEST_STATE_UNFINISHED] = "unfinished",
    [GUEST_STATE_UNKNOWN] = "unknown",
};
static_assert(ARRAY_SIZE(state_words) == GUEST_STATE_COUNT, "each state has its word");

const char *
guest_state_word(enum guest_state state)
{
    return state < GUEST_STATE_COUNT ? state_words[state] : NULL;
}

bool
guest_state_is_end(enum guest_state state)
{
    return state == GUEST_STATE_DONE || state == GUEST_STATE_FAILED;
}

enum guest_state
guest_state_find_end(const char *word)
{
    if (word && strcmp(word, state_words[GUEST_STATE_DONE]) == 0)
        return GUEST_STATE_DONE;
    if (word && strcmp(word, state_words[GUEST_STATE_FAILED]) == 0)
        return GUEST_STATE_FAILED;
    return GUEST_STATE_NOTHING;
}

static const char *const stage_names[] = {
    [GUEST_STAGE_INIT_LOCAL] = "init-local",
    [GUEST_STAGE_INIT] = "init",
    [GUEST_STAGE_MODULES_INIT] = "modules-init",
    [GUEST_STAGE_MODULES_CONFIG] = "modules-config",
    [GUEST_STAGE_MODULES_FINAL] = "modules-final",
};
static_assert(ARRAY_SIZE(stage_names) == GUEST_STAGE_COUNT, "each stage has its name");

const char *
guest_stage_name(enum guest_stage stage)
{
    return stage < GUEST_STAGE_COUNT ? stage_names[stage] : NULL;
}

enum guest_stage
guest_report_last_stage(const struct guest_report *report)
{
    for (int i = GUEST_STAGE_COUNT - 1; i >= 0; i--) {
        if (report->stages[i].started)
            return (enum guest_stage)i;
    }
    return GUEST_STAGE_NONE;
}

/* --- texts ------------------------------------------------------------------------ */

/* Return: the string, cut and made safe to show, owned by the caller (free); NULL for any
 * other value. */
static char *
safe_text(const json_t *value, size_t limit)
{
    static const char ellipsis[] = "…";
    const char *text = json_string_value(value);
    size_t kept = json_string_length(value);
    bool cut = kept > limit;
    char *safe;

    if (!text)
        return NULL;
    if (cut)
        kept = limit - strlen(ellipsis);
    /* Do not cut through a character; jansson only returns valid UTF-8. */
    while (cut && kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--;
    safe = xmalloc(kept + sizeof(ellipsis));
    memcpy(safe, text, kept);
    memcpy(safe + kept, cut ? ellipsis : "", cut ? sizeof(ellipsis) : 1);
    /* Errors quote the output of commands, with newlines and tabs. */
    for (size_t i = 0; i < kept; i++) {
        if (safe[i] == '\0')
            safe[i] = '?';
        else if (safe[i] == '\n' || safe[i] == '\r' || safe[i] == '\t')
            safe[i] = ' ';
    }
    utf8_replace_controls(safe);
    return safe;
}

/* --- errors and warnings ---------------------------------------------------------- */

static void
messages_clear(struct guest_messages *messages)
{
    for (size_t i = 0; i < messages->count; i++)
        free(messages->list[i].text);
    free(messages->list);
    *messages = (struct guest_messages){0};
}

/* The result repeats the stages' messages, and so does a guest that retries. Takes the
 * text. */
static void
add_message(struct guest_messages *messages, enum guest_stage stage, char *text)
{
    cleanup_free char *message = text;

    for (size_t i = 0; i < messages->count; i++) {
        if (strcmp(messages->list[i].text, message) == 0)
            return;
    }
    if (messages->count == LIMIT_REPORT_MESSAGES)
        messages->left_out++;
    else
        *array_add(messages->list, messages->count) =
            (struct guest_message){.stage = stage, .text = steal(message)};
}

/* Return: whether it is the message of something dropped, which is an error already. */
static bool
is_dropped(const struct guest_claim *claim, const char *message)
{
    for (size_t i = 0; i < claim->dropped_count; i++) {
        const char *end = strstr(claim->dropped[i], ": ");

        if (end && strcmp(end + strlen(": "), message) == 0)
            return true;
    }
    return false;
}

static void
add_messages(struct guest_report *report, struct guest_messages *messages,
             enum guest_stage stage, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        cleanup_free char *text = safe_text(json_array_get(list, i), LIMIT_REPORT_TEXT);

        if (!text)
            text = xstrdup("(an error that is not text)");
        if (!is_dropped(&report->claim, text))
            add_message(messages, stage, steal(text));
    }
}

/* Since cloud-init 23.4, recoverable errors are lists by severity. */
static void
add_all_messages(struct guest_report *report, enum guest_stage stage, json_t *object)
{
    json_t *lists = json_object_get(object, "recoverable_errors");
    const char *severity;
    json_t *list;

    add_messages(report, &report->errors, stage, json_object_get(object, "errors"));
    json_object_foreach(lists, severity, list) {
        add_messages(report, &report->warnings, stage, list);
    }
}

/* --- what it claims --------------------------------------------------------------- */

static const char *const kept_names[] = {
    [KEPT_USER_DATA] = "user-data",
    [KEPT_VENDOR_DATA] = "vendor-data",
    [KEPT_NETWORK_CONFIG] = "network-config",
};
static_assert(ARRAY_SIZE(kept_names) == KEPT_COUNT, "each document has its name");

/* Return: the member as a text of at least one character, owned by the caller, or NULL. */
static char *
claimed_text(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_string_length(value) > 0 ? safe_text(value, LIMIT_REPORT_TEXT) : NULL;
}

static void
claimed_digests(const json_t *object, char **digests)
{
    for (int i = 0; i < KEPT_COUNT; i++) {
        const char *digest = json_string_value(json_object_get(object, kept_names[i]));

        if (digest && text_is_hex(digest, DIGEST_LENGTH))
            digests[i] = xstrdup(digest);
    }
}

static void
claimed_drops(const json_t *list, struct guest_claim *claim)
{
    const json_t *value;
    size_t i;

    json_array_foreach((json_t *)list, i, value) {
        cleanup_free char *text = safe_text(value, LIMIT_REPORT_TEXT);

        if (claim->dropped_count == LIMIT_REPORT_DROPPED)
            return;
        if (text && text[0] && !texts_have(claim->dropped, claim->dropped_count, text))
            texts_add(&claim->dropped, &claim->dropped_count, steal(text));
    }
}

void
guest_claim_read(struct guest_claim *claim, const json_t *object)
{
    const json_t *taken = json_object_get(object, "taken");
    const json_t *failed = json_object_get(object, "failed");

    claim->version = claimed_text(taken, "version");
    claim->instance_id = claimed_text(taken, "instance-id");
    claim->is_new = json_is_true(json_object_get(taken, "new"));
    claimed_digests(json_object_get(taken, "documents"), claim->documents);
    claimed_digests(json_object_get(taken, "first"), claim->first);
    claim->failed_module = claimed_text(failed, "module");
    claim->failed_log = claimed_text(failed, "log");
    claimed_drops(json_object_get(object, "dropped"), claim);
    guest_login_read(&claim->login, object);
}

static json_t *
digests_to_json(char *const *digests)
{
    json_t *object = json_object();

    for (int i = 0; i < KEPT_COUNT; i++) {
        if (digests[i])
            json_set_string(object, kept_names[i], digests[i]);
    }
    return object;
}

void
guest_claim_write(const struct guest_claim *claim, json_t *object)
{
    if (claim->instance_id)
        json_set(object, "taken",
                 json_pack("{s:s*, s:s, s:b, s:o, s:o}", "version", claim->version,
                           "instance-id", claim->instance_id, "new", claim->is_new,
                           "documents", digests_to_json(claim->documents), "first",
                           digests_to_json(claim->first)));
    if (claim->failed_module)
        json_set(object, "failed",
                 json_pack("{s:s, s:s*}", "module", claim->failed_module, "log",
                           claim->failed_log));
    json_set_texts(object, "dropped", claim->dropped, claim->dropped_count);
    guest_login_write(&claim->login, object);
}

void
guest_claim_clear(struct guest_claim *claim)
{
    free(claim->version);
    free(claim->instance_id);
    for (int i = 0; i < KEPT_COUNT; i++) {
        free(claim->documents[i]);
        free(claim->first[i]);
    }
    free(claim->failed_module);
    free(claim->failed_log);
    texts_free(claim->dropped, claim->dropped_count);
    guest_login_clear(&claim->login);
    *claim = (struct guest_claim){0};
}

/* --- one line --------------------------------------------------------------------- */

/* 9999-12-31T23:59:59Z: later times have no date in this format. */
#define LATEST_TIME 253402300799.0

static bool
take_time(const json_t *value, double *time)
{
    double seconds = json_number_value(value);

    *time = seconds > 0 && seconds <= LATEST_TIME ? seconds : 0;
    return json_is_number(value);
}

static void
take_status(struct guest_report *report, json_t *status)
{
    const char *now = json_string_value(json_object_get(status, "stage"));

    for (int i = 0; i < GUEST_STAGE_COUNT; i++) {
        struct guest_stage_times *times = &report->stages[i];
        json_t *stage = json_object_get(status, stage_names[i]);

        if (now && strcmp(now, stage_names[i]) == 0)
            report->stage = (enum guest_stage)i;
        times->started = take_time(json_object_get(stage, "start"), &times->start);
        times->finished = take_time(json_object_get(stage, "finished"), &times->finish);
        add_all_messages(report, (enum guest_stage)i, stage);
    }
    add_all_messages(report, GUEST_STAGE_NONE, status);
}

static void
forget(struct guest_report *report)
{
    messages_clear(&report->errors);
    messages_clear(&report->warnings);
    free(steal(report->datasource));
    guest_claim_clear(&report->claim);
    memset(report->stages, 0, sizeof(report->stages));
    report->stage = GUEST_STAGE_NONE;
    report->then = NULL;
}

/* Return: what the guest does next, in the report's words; NULL if that is not known. */
static const char *
find_then(const json_t *value)
{
    static const char *const words[] = {"reboot", "poweroff"};
    const char *then = json_string_value(json_object_get(value, "then"));

    for (size_t i = 0; then && i < ARRAY_SIZE(words); i++) {
        if (strcmp(then, words[i]) == 0)
            return words[i];
    }
    return NULL;
}

/* Return: whether the value is a valid line that counts. */
static bool
take_value(struct guest_report *report, const json_t *value)
{
    const char *boot = json_string_value(json_object_get(value, "boot"));
    const json_t *status = json_object_get(value, "status");
    const json_t *result = json_object_get(value, "result");
    const json_t *version = json_object_get(value, "virt-seed");
    json_t *now = json_object_get(status, "v1");
    json_t *final = json_object_get(result, "v1");
    const bool has_boot = json_integer_value(version) == 1 && boot && text_is_uuid(boot);
    const bool has_status = json_is_object(now) || json_is_null(status);
    const bool has_result = !result || json_is_object(final);
    const json_t *datasource = json_object_get(final, "datasource");

    if (!has_boot || !has_status || !has_result)
        return false;
    /* After the end of a boot, only a result that confirms it counts; others are old
     * states. */
    if (strcmp(report->boot, boot) == 0 && guest_state_is_end(report->state) && !final)
        return false;
    forget(report);
    snprintf(report->boot, sizeof(report->boot), "%s", boot);
    guest_claim_read(&report->claim, value);
    for (size_t i = 0; i < report->claim.dropped_count; i++)
        add_message(&report->errors, GUEST_STAGE_NONE, xstrdup(report->claim.dropped[i]));
    take_status(report, now);
    if (!json_is_string(datasource))
        datasource = json_object_get(now, "datasource");
    report->datasource = safe_text(datasource, LIMIT_REPORT_DATASOURCE);
    add_all_messages(report, GUEST_STAGE_NONE, final);
    if (final)
        report->then = find_then(value);
    /* cloud-init makes the result from its stages when the last one finishes; a guest
     * that powers itself off then may not be able to send it. */
    if (!final && (report->stage != GUEST_STAGE_NONE ||
                   !report->stages[GUEST_STAGE_MODULES_FINAL].finished))
        report->state = GUEST_STATE_RUNNING;
    else
        report->state = report->errors.count > 0 ? GUEST_STATE_FAILED : GUEST_STATE_DONE;
    return true;
}

/* --- from bytes to a value -------------------------------------------------------- */

/* Return: the UTF-16 code unit of the escape \uXXXX here, or -1. */
static long
read_escape(const char *text, const char *end)
{
    char digits[5];

    if (end - text < 6 || text[0] != '\\' || text[1] != 'u')
        return -1;
    memcpy(digits, text + 2, 4);
    digits[4] = '\0';
    if (strspn(digits, "0123456789abcdefABCDEF") != 4)
        return -1;
    return strtol(digits, NULL, 16);
}

/*
 * Python writes bytes that are not UTF-8, such as in the output of a command, as lone
 * surrogates (PEP 383). JSON parsers reject them, and the whole result would be lost.
 */
static void
fix_surrogates(char *text, const char *end)
{
    /* U+FFFD */
    static const char replacement[] = {'f', 'f', 'f', 'd'};

    for (char *escape = text; (escape = memchr(escape, '\\', (size_t)(end - escape)));) {
        long unit = read_escape(escape, end);
        bool high = unit >= 0xd800 && unit <= 0xdbff;
        long next = high ? read_escape(escape + 6, end) : -1;

        if (high && next >= 0xdc00 && next <= 0xdfff) {
            escape += 12;
            continue;
        }
        if (unit >= 0xd800 && unit <= 0xdfff)
            memcpy(escape + 2, replacement, sizeof(replacement));
        /* Skip the escaped character, which does not begin another escape. */
        escape += unit >= 0 ? 6 : 2;
        if (escape >= end)
            return;
    }
}

size_t
guest_report_feed(struct guest_report *report, const char *data, size_t size, bool *news)
{
    const char *end = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t length = end ? (size_t)(end - data) : size;
    struct buffer *line = &report->line;

    *news = false;
    if (length > LIMIT_REPORT_LINE - line->size)
        report->overlong = true;
    if (report->overlong)
        buffer_clear(line);
    else if (length > 0)
        buffer_append(line, data, length);
    if (!end)
        return length;
    /* A shorter one has no boot; a hostile guest may send millions of them. */
    if (line->size > UUID_LENGTH) {
        cleanup_json json_t *value = NULL;

        fix_surrogates(line->data, line->data + line->size);
        value = json_loadb(line->data, line->size,
                           JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
        *news = take_value(report, value);
    }
    line->size = 0;
    report->overlong = false;
    return length + 1;
}

void
guest_report_clear(struct guest_report *report)
{
    forget(report);
    buffer_clear(&report->line);
    *report = GUEST_REPORT_EMPTY;
}

int
report_read(int root, const char *uuid, struct guest_report *report, time_t *written,
            struct failure **failure)
{
    cleanup_buffer struct buffer text = {0};
    size_t at = 0;

    if (report_file_read(root, uuid, &text, written, failure) < 0)
        return -1;
    while (at < text.size) {
        bool is_new;

        at += guest_report_feed(report, text.data + at, text.size - at, &is_new);
    }
    return 0;
}

/* --- following a report --------------------------------------------------------------- */

/* Return: the file that has the name now; -ENOENT if there is none, or it is the current
 * one; or another -errno. */
static int
open_next(const struct report_reader *reader)
{
    struct stat known, status;
    cleanup_close int directory =
        fs_open_directory_in_root(reader->root, scope()->reportdir);
    cleanup_free char *name = xasprintf("%s" REPORT_SUFFIX, reader->uuid);
    cleanup_close int fd =
        report_file_open_end(directory, name, LIMIT_REPORT_FILE, &status);

    if (fd < 0 || reader->file < 0)
        return steal_fd(fd);
    if (fstat(reader->file, &known) < 0)
        return -errno;
    if (known.st_dev == status.st_dev && known.st_ino == status.st_ino)
        return -ENOENT;
    return steal_fd(fd);
}

static int
fail_to_read(const struct report_reader *reader, int error, struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s" REPORT_SUFFIX, reader->uuid);

    return own_directory_fail(FAILURE_SYSTEM, "read", scope()->reportdir, name, error,
                              failure);
}

/* Return: as read(2), or -errno; 0 without a file. */
static ssize_t
read_file(const struct report_reader *reader, char *data, size_t size)
{
    const ssize_t count = reader->file < 0 ? 0 : read(reader->file, data, size);

    return count < 0 ? -errno : count;
}

ssize_t
report_reader_read(struct report_reader *reader, char *data, size_t size,
                   struct failure **failure)
{
    ssize_t count = read_file(reader, data, size);

    if (count == 0) {
        cleanup_close int next = open_next(reader);

        if (next == -ENOENT)
            return 0;
        /* In between, virtlogd may have written more and then renamed the file. */
        count = next < 0 ? next : read_file(reader, data, size);
        if (count == 0) {
            close_pointer(&reader->file);
            reader->file = steal_fd(next);
            count = read_file(reader, data, size);
        }
    }
    if (count >= 0)
        return count;
    return fail_to_read(reader, (int)count, failure);
}
