/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json.h"
#include "cli/findings.h"
#include "domain/xml.h"

int
findings_read(struct findings *findings, const struct definition *definition,
              const struct context *context, struct failure **failure)
{
    const struct check_options options = {.root = context->root, .schema = true};
    cleanup_xml xmlDoc *doc = xchecked(xmlCopyDoc(definition->doc, 1));
    cleanup_domain struct domain domain = {0};

    if (domain_read(&domain, doc, failure) < 0)
        return -1;
    check_domain(findings, &domain, &options);
    return 0;
}

int
findings_refuse(const struct findings *findings, const struct domain *domain,
                const char *what, struct failure **failure)
{
    if (findings->errors == 0)
        return 0;
    return failure_set(
        failure, FAILURE_REQUEST, "domain '%s' could not start with this %s (%zu %s)",
        domain->name, what, findings->errors, findings->errors == 1 ? "error" : "errors");
}

void
findings_print(const struct findings *findings, const struct domain *domain,
               const struct context *context)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        cleanup_failure struct failure *printed = NULL;

        failure_set(&printed, FAILURE_REQUEST, "domain '%s': %s [%s]", domain->name,
                    finding->failure->message, finding->id);
        if (finding->failure->hint)
            failure_hint(&printed, "%s", finding->failure->hint);
        if (finding->error)
            print_failure(printed);
        else if (!context->quiet)
            print_warning(printed);
    }
}

void
findings_set_json(const struct findings *findings, json_t *object)
{
    static const char *const schema_words[] = {
        [SCHEMA_UNUSED] = "unused",
        [SCHEMA_CHECKED] = "checked",
        [SCHEMA_SKIPPED] = "skipped",
    };
    json_t *list = json_array();

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        const struct failure *failure = finding->failure;
        const bool has_line = failure->part && failure->part_line > 0;

        json_add(
            list,
            json_pack("{s:s, s:s, s:i, s:s?, s:o, s:o, s:s, s:s?}", "severity",
                      finding->error ? "error" : "warning", "id", finding->id, "line",
                      failure->line, "part", failure->part, "part-index",
                      failure->part ? json_integer(failure->part_index) : json_null(),
                      "part-line",
                      has_line ? json_integer(failure->part_line) : json_null(),
                      "message", failure->message, "hint", failure->hint));
    }
    json_set(object, "findings", list);
    json_set_string(object, "schema", schema_words[findings->schema]);
}
