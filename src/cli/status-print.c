/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <locale.h>

#include <libsmartcols.h>

#include "base/json.h"
#include "cli/io.h"
#include "cli/status.h"

static json_t *
pack_answer(enum answer answer)
{
    return answer == ANSWER_UNKNOWN ? json_null() : json_boolean(answer == ANSWER_YES);
}

void
status_print_json(const struct rows *rows)
{
    json_t *list = json_array();

    for (size_t i = 0; i < rows->count; i++) {
        const struct domain_status *row = &rows->list[i];

        json_add(list,
                 json_pack("{s:s, s:s, s:s, s:o, s:o, s:s?, s:s?, s:s?, s:s?, s:s?, s:O, "
                           "s:O, s:s?, s:o, s:s?}",
                           "domain", row->name, "uuid", row->uuid, "state", row->state,
                           "wired", pack_answer(row->wired), "seed",
                           pack_answer(row->seed), "datasource", row->datasource,
                           "instance-id", row->instance_id, "result",
                           guest_state_word(row->result), "stage",
                           guest_stage_name(row->stage), "since", row->since, "errors",
                           row->errors, "warnings", row->warnings, "address",
                           row->address, "guest-says",
                           consumption_pack(row->consumption, row->reason, &row->claim),
                           "message", row->unread ? row->unread->message : NULL));
    }
    json_print(list);
}

static const char *
word_of(const struct domain_status *row, enum answer answer)
{
    if (answer == ANSWER_UNKNOWN)
        return "?";
    if (answer == ANSWER_NO && !row->wants_seed)
        return "-";
    return answer == ANSWER_YES ? "yes" : "no";
}

/* Return: how far cloud-init is, owned by the caller (free), or NULL. */
static char *
describe_progress(const struct domain_status *row)
{
    const char *stage = guest_stage_name(row->stage);
    const char *word = guest_state_word(row->result);

    if (row->result == GUEST_STATE_UNKNOWN)
        return xstrdup("?");
    if (row->result == GUEST_STATE_RUNNING && stage)
        return xasprintf("%s, %s", word, stage);
    return word ? xstrdup(word) : NULL;
}

/* Return: what the guest says of its seed, owned by the caller (free), or NULL. */
static char *
describe_consumption(const struct domain_status *row, const char *reason)
{
    const bool is_silent =
        row->result == GUEST_STATE_NOTHING || row->result == GUEST_STATE_UNFINISHED;

    if (row->consumption == CONSUMPTION_UNKNOWN && is_silent)
        return xstrdup("nothing");
    return consumption_describe(row->consumption, reason);
}

/* Return: the time by this host's clock, owned by the caller (free), or NULL for NULL. In
 * short it is the time of day, or the date if that is more than half a day ago. */
static char *
describe_time(const char *text, bool in_short)
{
    struct tm calendar = {0};
    cleanup_free char *whole = NULL;
    time_t seconds;

    if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%SZ", &calendar))
        return NULL;
    seconds = timegm(&calendar);
    whole = local_time(seconds);
    if (!in_short)
        return steal(whole);
    if (labs((long)(time(NULL) - seconds)) < 12L * 3600)
        return xstrndup(whole + strlen("2026-01-01 "), strlen("00:00:00"));
    return xstrndup(whole, strlen("2026-01-01"));
}

static char *
copy_text(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static const char *const titles[] = {
    [COLUMN_DOMAIN] = "DOMAIN",
    [COLUMN_UUID] = "UUID",
    [COLUMN_STATE] = "STATE",
    [COLUMN_WIRED] = "WIRED",
    [COLUMN_SEED] = "SEED",
    [COLUMN_DATASOURCE] = "DATASOURCE",
    [COLUMN_INSTANCE_ID] = "INSTANCE-ID",
    [COLUMN_CLOUD_INIT] = "CLOUD-INIT",
    [COLUMN_SINCE] = "SINCE",
    [COLUMN_ADDRESS] = "ADDRESS",
    [COLUMN_GUEST_SAYS] = "GUEST SAYS",
};
static_assert(ARRAY_SIZE(titles) == COLUMN_COUNT, "each column has its title");

/* Return: what the column has of the domain, owned by the caller (free), or NULL. */
static char *
make_cell(const struct domain_status *row, enum column column)
{
    switch (column) {
    case COLUMN_DOMAIN:
        return xstrdup(row->name);
    case COLUMN_UUID:
        return xstrdup(row->uuid);
    case COLUMN_STATE:
        return xstrdup(row->state);
    case COLUMN_WIRED:
        return xstrdup(word_of(row, row->wired));
    case COLUMN_SEED:
        return xstrdup(word_of(row, row->seed));
    case COLUMN_DATASOURCE:
        return copy_text(row->datasource);
    case COLUMN_INSTANCE_ID:
        return copy_text(row->instance_id);
    case COLUMN_CLOUD_INIT:
        return describe_progress(row);
    case COLUMN_SINCE:
        return describe_time(row->since, true);
    case COLUMN_ADDRESS:
        return copy_text(row->address);
    case COLUMN_GUEST_SAYS:
        return describe_consumption(row, NULL);
    case COLUMN_COUNT:
        break;
    }
    return NULL;
}

/* --- the table -------------------------------------------------------------------- */

/* The columns that fit into 80 characters. */
#define USUAL_COLUMNS "domain,state,cloud-init,since,address,guest-says"

/* Return: whether the title, with '-' for its blank, is the word; its case does not
 * matter. */
static bool
is_title(const char *title, const char *word)
{
    cleanup_free char *name = xstrdup(title);
    char *blank = strchr(name, ' ');

    if (blank)
        *blank = '-';
    return strcasecmp(name, word) == 0;
}

int
status_read_table(struct status_table *table, const char *list, struct failure **failure)
{
    cleanup_free char *words = xstrdup(list ? list : USUAL_COLUMNS);
    char *rest = words;

    table->count = 0;
    for (const char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
        size_t i = 0;

        while (i < COLUMN_COUNT && !is_title(titles[i], word))
            i++;
        if (i == COLUMN_COUNT)
            return failure_set(failure, FAILURE_USAGE,
                               "there is no column '%.64s'\n"
                               "the columns are domain, uuid, state, wired, seed, "
                               "datasource, instance-id, cloud-init, since, address and "
                               "guest-says",
                               word);
        if (table->count == ARRAY_SIZE(table->columns))
            return failure_set(failure, FAILURE_USAGE,
                               "too many columns, at most %zu\nname each once",
                               ARRAY_SIZE(table->columns));
        table->columns[table->count++] = (enum column)i;
    }
    return 0;
}

/* Adds the domain's line, or with NULL that of the titles: of each text what can be shown of
 * it, "-" for NULL and "". */
static void
add_line(struct libscols_table *lines, const struct status_table *table,
         const struct domain_status *row)
{
    struct libscols_line *line = xchecked(scols_table_new_line(lines, NULL));

    for (size_t i = 0; i < table->count; i++) {
        const enum column column = table->columns[i];
        cleanup_free char *cell = row ? make_cell(row, column) : xstrdup(titles[column]);
        char *text = cell && *cell ? steal(cell) : xstrdup("-");

        utf8_replace_controls(text);
        if (scols_line_refer_data(line, i, text) < 0)
            abort();
    }
}

/* main sets no locale, so that nothing else depends on one. But libc and libsmartcols only
 * know the width of a character in a UTF-8 locale; they get one that every glibc has. */
void
status_print_table(const struct rows *rows, const struct status_table *table)
{
    struct libscols_table *lines = xchecked(scols_new_table());
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = uselocale(utf8);

    /* The titles are an ordinary line, which is printed even if it is the only one. */
    scols_table_enable_noheadings(lines, 1);
    scols_table_enable_noencoding(lines, 1);
    scols_table_set_column_separator(lines, "  ");
    scols_table_set_termforce(lines, SCOLS_TERMFORCE_NEVER);
    for (size_t i = 0; i < table->count; i++)
        xchecked(scols_table_new_column(lines, "", 0, 0));
    add_line(lines, table, NULL);
    for (size_t i = 0; i < rows->count; i++)
        add_line(lines, table, &rows->list[i]);
    scols_print_table(lines);
    scols_unref_table(lines);
    uselocale(before);
    if (utf8)
        freelocale(utf8);
}

/* --- the page of one domain ----------------------------------------------------------- */

/* Prints a line of the page, which can be shown; "-" for NULL. */
static void
print_field(const char *name, const char *text)
{
    cleanup_free char *copy = xstrdup(text && *text ? text : "-");

    utf8_replace_controls(copy);
    printf("%-12s %s\n", name, copy);
}

static void
print_fields(const char *name, const json_t *texts)
{
    const json_t *text;
    size_t i;

    json_array_foreach((json_t *)texts, i, text) {
        print_field(name, json_string_value(text));
    }
}

void
status_print_page(const struct domain_status *row)
{
    cleanup_free char *progress = describe_progress(row);
    cleanup_free char *says = describe_consumption(row, row->reason);
    cleanup_free char *when = describe_time(row->since, false);
    cleanup_free char *since = NULL;

    if (progress && when)
        since = xasprintf("%s, since %s", progress, when);
    print_field("domain", row->name);
    print_field("uuid", row->uuid);
    print_field("state", row->state);
    print_field("wired", word_of(row, row->wired));
    print_field("seed", word_of(row, row->seed));
    print_field("documents", row->documents);
    print_field("datasource", row->datasource);
    print_field("instance-id", row->instance_id);
    print_field("cloud-init", since ? since : progress);
    print_field("version", row->claim.version);
    print_field("guest says", says);
    print_field("address", row->address);
    print_fields("error", row->errors);
    print_fields("warning", row->warnings);
    if (row->claim.failed_module)
        print_field("module", row->claim.failed_module);
    if (row->claim.failed_log)
        print_field("log", row->claim.failed_log);
}
