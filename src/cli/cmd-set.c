/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "cli/set.h"
#include "store/secret-write.h"
#include "wire/wire.h"

struct options {
    struct settings settings; /* the first member */
    struct change_options change;
};

/* The command for each of its domains. */
struct job {
    const struct options *options;
    struct set_contents *contents;
};

/* --- passwords ---------------------------------------------------------------------- */

static int
check_storage(const struct definition *definition, const struct change_options *change,
              struct failure **failure)
{
    if (!definition->libvirt)
        return failure_set(
            failure, FAILURE_USAGE,
            "a password needs a DOMAIN, not a FILE: this host stores its hash for the UUID "
            "of a domain that is defined\n"
            "define the domain first, and set the password then: "
            "virt-seed set DOMAIN --password-file=FILE");
    if (change->output)
        return failure_set(
            failure, FAILURE_USAGE,
            "a password cannot be combined with --output: this host stores "
            "its hash when the domain is defined\n"
            "omit --output");
    return libvirt_require_local(definition->connection, failure);
}

/* --- the command ------------------------------------------------------------------ */

/* Return: the line that says what has changed, owned by the caller (free). `written` is how
 * many of the changes are those of the element. */
static char *
make_summary(const struct option_values *values, const struct wiring *wiring,
             size_t written, bool has_password)
{
    cleanup_buffer struct buffer line = {0};

    if (written > 0 && values->count > 0) {
        cleanup_free char *settings = set_describe(values);

        buffer_append_string(&line, settings);
    } else if (written > 0) {
        buffer_append_string(&line, "asks for cloud-init");
    }
    if (has_password)
        buffer_append_string(&line, "; hash of the password stored on this host");
    if (wiring->change_count > written)
        buffer_printf(&line, "%swired", line.size > 0 ? "; " : "");
    return xstrdup(buffer_text(&line));
}

static int
run_one(const struct context *context, const void *data, struct failure **failure)
{
    const struct job *job = data;
    const struct options *options = job->options;
    __attribute__((cleanup(set_forget_password))) char *generated = NULL;
    struct change_options change = options->change;
    cleanup_definition struct definition definition = {0};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_new_passwords struct new_passwords passwords = NEW_PASSWORDS_NONE;
    struct writing writing = {
        .domain = &definition.domain, .contents = job->contents, .passwords = &passwords};
    cleanup_free char *summary = NULL;
    bool has_password;
    size_t written;
    int result;

    if (definition_load(&definition, context, DEFINITION_CHANGE, failure) < 0 ||
        definition_check_output(&definition, context, &change, failure) < 0)
        return -1;
    result = set_write(&writing, &options->settings.values, &wiring, failure);
    generated = writing.generated;
    if (result < 0)
        return -1;
    has_password =
        passwords.hashes[PASSWORD_OF_USER] || passwords.hashes[PASSWORD_OF_ROOT];
    if (has_password) {
        if (check_storage(&definition, &change, failure) < 0)
            return -1;
        wiring_note(&wiring, "hash of the password stored on this host");
    }
    written = wiring.change_count;
    if (definition_wire(&definition, context,
                        (struct wire_options){.replace = change.replace, .add_log = true},
                        &wiring, failure) < 0 ||
        set_check_documents(&definition.domain, failure) < 0)
        return -1;
    definition.request_alone = wiring.change_count == written;
    summary = make_summary(&options->settings.values, &wiring, written, has_password);
    change.summary = context->dry_run ? "changed" : summary;
    if (!has_password || context->dry_run)
        return definition_commit(&definition, context, &change, "already set", &wiring,
                                 failure);
    if (new_passwords_write(&passwords, context->root, definition.domain.uuid, failure) <
        0)
        return -1;
    result = definition_commit(&definition, context, &change, "", &wiring, failure);
    /* Also if libvirt has taken the definition and the connection to it broke. */
    if (definition.is_defined) {
        cleanup_failure struct failure *further = NULL;

        if (new_passwords_publish(&passwords, result == 0 ? failure : &further) < 0)
            result = -1;
    }
    if (result >= 0 && generated)
        set_print_password(context, definition.domain.name, generated);
    return result;
}

static int
check_values(const struct context *context, const struct option_values *values,
             struct failure **failure)
{
    const bool reads_input = set_reads_standard_input(values);

    if (set_check_values(context, values, failure) < 0)
        return -1;
    for (size_t i = 0; i < context->operand_count; i++) {
        if (reads_input && strcmp(context->operands[i], "-") == 0)
            return failure_set(failure, FAILURE_USAGE,
                               "a setting and the domain's XML cannot both be read from "
                               "standard input\n"
                               "give one of them as a file");
    }
    return 0;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_set_contents struct set_contents contents = {0};
    const struct job job = {.options = options, .contents = &contents};

    if (check_values(context, &options->settings.values, failure) < 0)
        return -1;
    return change_each(context, &job, &options->change, run_one, failure);
}

static const struct option_row rows[] = {
    OPTION(0, "replace", NULL, change.replace, "replace another tool's seed"),
    CHANGE_ROWS,
    OPTION_END_WITH(set_rows),
};

const struct command cmd_set = {
    .name = "set",
    .operands = "DOMAIN|FILE|-…",
    .summary = "configure a guest, and wire its domain",
    .help =
        "Writes a domain's <cloud-init> element and its wiring in one definition. Each\n"
        "setting replaces what was there before, and an empty value removes it;\n"
        "everything else stays; those with an asterisk may be given several times. The\n"
        "XML of a FILE goes to standard output. A DOMAIN is defined again; if it is\n"
        "running, the change takes effect at its next start.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON | TAKES_DRY_RUN | TAKES_VERBOSE,
    .run = run,
};
