/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/cleanup.h"
#include "check/check.h"
#include "check/rules.h"
#include "image/label.h"
#include "seed/check-part.h"
#include "seed/seed.h"
#include "store/configuration.h"
#include "store/resolve.h"
#include "wire/wire.h"

/* A subject is one file in this folder and one row here. */
static void (*const subjects[])(const struct check *check) = {
    check_secrets, check_user_data, check_cloud_config,
    check_network, check_served,    check_meta_data,
    check_smbios,  check_disks,     check_initialization,
};

/* --- what would fail ---------------------------------------------------------------- */

/* The next start makes it, or root's eyes alone see whether it is there. */
static bool
is_to_be_made(const struct part *part, const struct failure *failure)
{
    return part->origin == PART_GENERATED && (failure->code == FAILURE_SECRET_MISSING ||
                                              failure->code == FAILURE_SECRET_UNREADABLE);
}

static void
check_parts(struct findings *findings, const struct config *config,
            const struct domain *domain, struct request *request,
            const struct check_options *options)
{
    cleanup_failure struct failure *unread = NULL;

    resolve_begin(request, options->root, config, &unread);
    findings_take(findings, &unread);
    for (size_t i = 0; i < request->parts.count; i++) {
        struct part *part = request->parts.list[i];
        cleanup_failure struct failure *failure = NULL;

        if (resolve_part(part, options->root, config, domain, &failure) == 0 &&
            parts_check_size(&request->parts, &failure) < 0) {
            findings_take(findings, &failure);
            return;
        }
        if (!failure)
            check_part(request, part, &failure);
        if (!failure || !is_to_be_made(part, failure))
            findings_take(findings, &failure);
    }
}

static void
check_seed(struct findings *findings, const struct domain *domain,
           struct request *request)
{
    cleanup_seed struct seed seed = {0};
    cleanup_failure struct failure *failure = NULL;

    /* The wiring gives it one, and that is a finding already. */
    if (*domain->uuid)
        seed_make(&seed, request, &failure);
    findings_take(findings, &failure);
}

static void
add_changes(struct findings *findings, const struct wiring *wiring)
{
    static const char hint[] = "run 'virt-seed wire'";
    static const char text[] = "not wired; 'virt-seed wire' would report:";
    cleanup_free char *changes = wiring_describe(wiring);
    cleanup_failure struct failure *unwired = NULL;

    if (!wiring->needed) {
        findings_warn(findings, WARNING_REPORT_CHANNEL, 0, hint, "%s %s", text, changes);
        return;
    }
    failure_set(&unwired, FAILURE_UNWIRED, "%s %s", text, changes);
    failure_hint(&unwired, "%s", hint);
    findings_take(findings, &unwired);
}

static void
check_wiring(struct findings *findings, const struct config *config,
             struct domain *domain, const struct request *request)
{
    const struct wire_options options = {.imds_address = config->imds_address};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_failure struct failure *failure = NULL;

    wire_domain(domain, request, &options, &wiring, &failure);
    if (!failure && wiring.change_count > 0)
        add_changes(findings, &wiring);
    findings_take(findings, &failure);
}

/* --- the stages --------------------------------------------------------------------- */

void
check_domain(struct findings *findings, struct domain *domain,
             const struct check_options *options)
{
    cleanup_config struct config config = {0};
    cleanup_request struct request request = {0};
    cleanup_wire_facts struct wire_facts facts = {0};
    cleanup_failure struct failure *failure = NULL;
    const struct check check = {.findings = findings,
                                .domain = domain,
                                .facts = &facts,
                                .request = &request,
                                .config = &config,
                                .root = options->root};

    wire_facts_read(&facts, domain);
    check_emulator(findings, domain, options->root);
    config_read(&config, options->root, &failure);
    findings_take(findings, &failure);
    if (request_read(&request, domain, &failure) < 0) {
        findings_take(findings, &failure);
        return;
    }
    check_parts(findings, &config, domain, &request, options);
    label_read_disks(domain);
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        subjects[i](&check);
    if (options->schema)
        check_schema(&check);
    /* It takes the parts' content away. */
    if (findings->errors == 0)
        check_seed(findings, domain, &request);
    check_wiring(findings, &config, domain, &request);
    check_delivery(&check);
}
