/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/comparison.h"
#include "cli/findings.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "cli/set.h"
#include "store/secret-write.h"
#include "wire/wire.h"

struct options {
    struct settings settings; /* the first member */
    struct change_options change;
    const char *element; /* the file of the whole element, "-", or NULL */
};

/* The command for each of its domains. */
struct job {
    const struct options *options;
    struct set_contents *contents;
    struct buffer element; /* what was read for --element */
};

/* What became of one domain. */
struct outcome {
    struct definition definition;
    struct wiring wiring; /* what was changed */
    bool is_defined;      /* as it was set */
    struct findings findings;
    struct comparison comparison;
    bool is_compared;
};

static void
outcome_clear(struct outcome *outcome)
{
    definition_clear(&outcome->definition);
    wiring_clear(&outcome->wiring);
    findings_clear(&outcome->findings);
    comparison_clear(&outcome->comparison);
}

/* --- the whole element --------------------------------------------------------------- */

static int
put_element(const struct job *job, struct outcome *outcome, struct failure **failure)
{
    const struct domain *domain = &outcome->definition.domain;
    xmlNode *old = request_find(domain);
    xmlNode *before = old ? xmlCopyNode(old, 1) : NULL;
    int result = definition_put_element(domain, &job->element, failure);

    if (result < 0) {
        struct failure *found = NULL;

        failure_set_at(&found, (*failure)->code, (*failure)->line, "%s\n%s",
                       (*failure)->message, (*failure)->hint);
        findings_take(&outcome->findings, &found);
    } else if (!request_is_same(before, request_find(domain))) {
        wiring_note(&outcome->wiring, "element written");
    }
    xmlFreeNode(before);
    return result;
}

/* Checks the definition with the new element, and compares its seed with that of the last
 * boot if that is to be printed. A failure that is set already says why it could not be wired;
 * then JSON also has what else is wrong. */
static int
examine(const struct context *context, struct outcome *outcome, struct failure **failure)
{
    const bool is_wired = !*failure;
    const struct definition *definition = &outcome->definition;
    cleanup_failure struct failure *ignored = NULL;

    if (findings_read(&outcome->findings, definition, context,
                      is_wired ? failure : &ignored) < 0 ||
        !is_wired)
        return -1;
    if (!context->json)
        findings_print(&outcome->findings, &definition->domain, context);
    if (findings_refuse(&outcome->findings, &definition->domain, "element", failure) < 0)
        return -1;
    if (context->json || context->dry_run)
        outcome->is_compared = comparison_read_changed(&outcome->comparison, definition,
                                                       context, &ignored) == 0;
    return 0;
}

static void
print_outcome(const struct context *context, const struct outcome *outcome,
              const struct failure *failure)
{
    const struct domain *domain = &outcome->definition.domain;
    json_t *name =
        json_outside_string(domain->name ? domain->name : context->operands[0]);
    json_t *object = json_pack("{s:o, s:s?}", "domain", name, "uuid",
                               *domain->uuid ? domain->uuid : NULL);

    findings_set_json(&outcome->findings, object);
    json_set(object, "pending",
             outcome->is_compared ? pending_pack(&outcome->comparison, false)
                                  : json_null());
    json_set(object, "changes",
             json_texts(outcome->wiring.changes, outcome->wiring.change_count));
    json_set(object, "defined", json_boolean(outcome->is_defined));
    json_set(object, "message", json_pack("s?", failure ? failure->message : NULL));
    json_set(object, "hint", json_pack("s?", failure ? failure->hint : NULL));
    json_print(object);
}

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
make_summary(const struct options *options, const struct wiring *wiring, size_t written,
             bool has_password)
{
    const struct option_values *values = &options->settings.values;
    cleanup_buffer struct buffer line = {0};

    if (written > 0 && options->element)
        buffer_printf(&line, "element written%s", values->count > 0 ? ", " : "");
    if (written > 0 && values->count > 0) {
        cleanup_free char *settings = set_describe(values);

        buffer_append_string(&line, settings);
    } else if (written > 0 && !options->element) {
        buffer_append_string(&line, "asks for cloud-init");
    }
    if (has_password)
        buffer_append_string(&line, "; hash of the password stored on this host");
    if (wiring->change_count > written)
        buffer_printf(&line, "%swired", line.size > 0 ? "; " : "");
    return xstrdup(buffer_text(&line));
}

static int
set_one(const struct context *context, const struct job *job, struct outcome *outcome,
        struct failure **failure)
{
    const struct options *options = job->options;
    __attribute__((cleanup(set_forget_password))) char *generated = NULL;
    struct change_options change = options->change;
    struct context commit_context = *context;
    struct definition *definition = &outcome->definition;
    struct wiring *wiring = &outcome->wiring;
    cleanup_new_passwords struct new_passwords passwords = NEW_PASSWORDS_NONE;
    struct writing writing = {.domain = &definition->domain,
                              .contents = job->contents,
                              .passwords = &passwords};
    cleanup_free char *summary = NULL;
    bool has_password, stores_password;
    size_t written;
    int result;

    /* print_outcome() says it. */
    if (options->element && context->json) {
        commit_context.json = false;
        commit_context.quiet = true;
    }
    if (set_check_sharing(&options->settings.values, context->is_one_of_several,
                          failure) < 0)
        return -1;
    if (definition_load(definition, context,
                        context->dry_run ? DEFINITION_TRIAL : DEFINITION_CHANGE,
                        failure) < 0 ||
        definition_check_output(definition, context, &change, failure) < 0)
        return -1;
    if (options->element && put_element(job, outcome, failure) < 0)
        return -1;
    result = set_write(&writing, &options->settings.values, wiring, failure);
    generated = writing.generated;
    if (result < 0 && (*failure)->code == FAILURE_DOMAIN)
        return failure_prefix(failure, "domain '%s'", definition->domain.name);
    if (result < 0)
        return -1;
    has_password =
        passwords.hashes[PASSWORD_OF_USER] || passwords.hashes[PASSWORD_OF_ROOT];
    stores_password = has_password && !context->dry_run;
    if (has_password) {
        if (options->element)
            return failure_set(failure, FAILURE_USAGE,
                               "--element and a password cannot be combined\n"
                               "set the password after the element: virt-seed set DOMAIN "
                               "--password-file=FILE");
        if (check_storage(definition, &change, failure) < 0)
            return -1;
        wiring_note(wiring, "hash of the password stored on this host");
    }
    written = wiring->change_count;
    result =
        definition_wire(definition, context,
                        (struct wire_options){.replace = change.replace, .add_log = true},
                        wiring, failure);
    /* Another host's files are unknown. */
    if (options->element && !libvirt_is_remote(definition->connection))
        result = examine(context, outcome, failure);
    else if (result == 0)
        result = set_check_documents(&definition->domain, failure);
    if (result < 0)
        return -1;
    definition->request_alone = wiring->change_count == written;
    summary = make_summary(options, wiring, written, has_password);
    change.summary = context->dry_run ? "changed" : summary;
    if (stores_password && new_passwords_write(&passwords, context->root,
                                               definition->domain.uuid, failure) < 0)
        return -1;
    result = definition_commit(definition, &commit_context, &change, "already set",
                               wiring, failure);
    /* Also if libvirt has taken the definition and the connection to it broke. */
    if (stores_password && definition->is_defined) {
        cleanup_failure struct failure *further = NULL;

        if (new_passwords_publish(&passwords, result == 0 ? failure : &further) < 0)
            result = -1;
        /* It is shown only here. */
        else if (generated)
            set_print_password(context, definition->domain.name, generated);
    }
    return result;
}

static int
run_one(const struct context *context, const void *data, struct failure **failure)
{
    const struct job *job = data;
    const struct options *options = job->options;
    __attribute__((cleanup(outcome_clear))) struct outcome outcome = {0};
    const struct definition *definition = &outcome.definition;
    int result = set_one(context, job, &outcome, failure);
    const bool is_usage = *failure && (*failure)->code == FAILURE_USAGE;

    /* libvirt may have taken it although the command failed. */
    outcome.is_defined = definition->is_defined;
    if (result == 0 && !context->dry_run && !options->change.output)
        outcome.is_defined = definition->libvirt != NULL;
    if (options->element && context->json && !is_usage)
        print_outcome(context, &outcome, *failure);
    else if (result == 0 && outcome.is_compared && !context->quiet)
        pending_print(&outcome.comparison, false);
    if (!context->json && outcome.comparison.denied)
        print_warning(outcome.comparison.denied);
    return result;
}

static int
check_values(const struct context *context, const struct options *options,
             struct failure **failure)
{
    const struct option_values *values = &options->settings.values;
    const bool is_element = options->element && strcmp(options->element, "-") == 0;
    bool reads_input;

    if (set_check_values(context, values, &reads_input, failure) < 0)
        return -1;
    if (is_element && reads_input)
        return failure_set(failure, FAILURE_USAGE,
                           "--element and a setting cannot both read standard input\n"
                           "give one of them a file");
    for (size_t i = 0; i < context->operand_count; i++) {
        if ((is_element || reads_input) && strcmp(context->operands[i], "-") == 0)
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
    struct job job = {.options = options, .contents = &contents};
    const char *element = options->element;
    int result = check_values(context, options, failure);

    if (result == 0 && element && *element)
        result = io_read(strcmp(element, "-") == 0 ? NULL : element, LIMIT_DOMAIN_XML,
                         FILE_HINT, &job.element, failure);
    if (result == 0)
        result = change_each(context, &job, &options->change, run_one, failure);
    buffer_clear(&job.element);
    return result;
}

static const struct option_row rows[] = {
    OPTION(0, "element", "FILE", element,
           "the whole <cloud-init> element, before the settings"),
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
