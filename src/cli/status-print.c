/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <locale.h>

#include <libsmartcols.h>

#include "base/json.h"
#include "cli/io.h"
#include "cli/status.h"
#include "domain/vocabulary.h"

/* Return: the text that --json has there, or NULL. */
static const char *
text_of(const struct domain_status *row, const char *member)
{
    return json_string_value(json_object_get(row->json, member));
}

void
status_print_json(const struct rows *rows)
{
    json_t *list = json_array();

    for (size_t i = 0; i < rows->count; i++)
        json_add(list, json_incref(rows->list[i].json));
    json_print(list);
}

/* Return: what is shown of true, false, or null, which is unknown. */
static const char *
word_of(const struct domain_status *row, const char *member)
{
    const json_t *value = json_object_get(row->json, member);

    if (json_is_null(value))
        return "?";
    if (json_is_false(value) && !row->wants_seed)
        return "-";
    return json_is_true(value) ? "yes" : "no";
}

/* Return: how far cloud-init is, owned by the caller (free), or NULL. */
static char *
describe_progress(const struct domain_status *row)
{
    const char *stage = text_of(row, "stage");
    const char *result = text_of(row, "result");

    if (!result)
        return NULL;
    if (strcmp(result, guest_state_word(GUEST_STATE_UNKNOWN)) == 0)
        return xstrdup("?");
    if (strcmp(result, guest_state_word(GUEST_STATE_RUNNING)) == 0 && stage)
        return xasprintf("%s, %s", result, stage);
    return xstrdup(result);
}

/* Return: what the guest says of its seed, owned by the caller (free), or NULL. */
static char *
describe_consumption(const struct domain_status *row, const char *reason)
{
    static const char *const silent[] = {"none", "unfinished", NULL};
    const char *result = text_of(row, "result");

    if (row->consumption == CONSUMPTION_UNKNOWN && result && word_is_in(result, silent))
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

/* The columns, and what --json has of them. */
static const struct {
    const char *title, *member;
} columns[] = {
    {"DOMAIN", "domain"},
    {"UUID", "uuid"},
    {"STATE", "state"},
    {"WIRED", "wired"},
    {"SEED", "seed"},
    {"DATASOURCE", "datasource"},
    {"INSTANCE-ID", "instance-id"},
    {"CLOUD-INIT", "result"},
    {"SINCE", "since"},
    {"ADDRESS", "address"},
    {"GUEST SAYS", "guest-says"},
};

/* Return: what the column has of the domain, owned by the caller (free), or NULL. */
static char *
make_cell(const struct domain_status *row, const char *member)
{
    const char *text = text_of(row, member);

    if (strcmp(member, "result") == 0)
        return describe_progress(row);
    if (strcmp(member, "since") == 0)
        return describe_time(text, true);
    if (strcmp(member, "guest-says") == 0)
        return describe_consumption(row, NULL);
    if (strcmp(member, "wired") == 0 || strcmp(member, "seed") == 0)
        return xstrdup(word_of(row, member));
    return text ? xstrdup(text) : NULL;
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

        while (i < ARRAY_SIZE(columns) && !is_title(columns[i].title, word))
            i++;
        if (i == ARRAY_SIZE(columns))
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
        table->columns[table->count++] = i;
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
        const size_t column = table->columns[i];
        cleanup_free char *cell =
            row ? make_cell(row, columns[column].member) : xstrdup(columns[column].title);
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
    cleanup_free char *when = describe_time(text_of(row, "since"), false);
    cleanup_free char *since = NULL;

    if (progress && when)
        since = xasprintf("%s, since %s", progress, when);
    print_field("domain", text_of(row, "domain"));
    print_field("uuid", text_of(row, "uuid"));
    print_field("state", text_of(row, "state"));
    print_field("wired", word_of(row, "wired"));
    print_field("seed", word_of(row, "seed"));
    print_field("documents", row->documents);
    print_field("datasource", text_of(row, "datasource"));
    print_field("instance-id", text_of(row, "instance-id"));
    print_field("cloud-init", since ? since : progress);
    print_field("version", row->claim.version);
    print_field("guest says", says);
    print_field("address", text_of(row, "address"));
    print_fields("error", json_object_get(row->json, "errors"));
    print_fields("warning", json_object_get(row->json, "warnings"));
    if (row->claim.failed_module)
        print_field("module", row->claim.failed_module);
    if (row->claim.failed_log)
        print_field("log", row->claim.failed_log);
}
