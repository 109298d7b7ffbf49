/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/memory.h"
#include "check/check.h"
#include "check/rules.h"
#include "domain/xml.h"
#include "image/label.h"
#include "store/libvirt-host.h"
#include "store/pipeline.h"
#include "wire/wire.h"

/* A subject is one file in this folder and one row here. */
static void (*const subjects[])(const struct check *check) = {
    check_secrets, check_user_data, check_cloud_config,
    check_network, check_served,    check_meta_data,
    check_smbios,  check_disks,     check_initialization,
};

/* --- the emulator shim, which libvirt may not be able to run ------------------------ */

/* Return: whether the domain is to have no profile of AppArmor's. */
static bool
is_unconfined(const struct domain *domain)
{
    for (const xmlNode *node = xml_child(domain->root, "seclabel"); node;
         node = xml_next(node, "seclabel")) {
        bool of_another = xml_attribute_is(node, "model", "dac") ||
                          xml_attribute_is(node, "model", "selinux");

        if (xml_attribute_is(node, "type", "none") && !of_another)
            return true;
    }
    return false;
}

/* For what libvirt would refuse before the hook is asked. */
static void
check_emulator(struct findings *findings, const struct domain *domain, int root)
{
    cleanup_failure struct failure *failure = NULL;

    if (domain_is_by_shim(domain) && !is_unconfined(domain))
        apparmor_check_shim(root, &failure);
    findings_take(findings, &failure);
}

/* --- the wiring --------------------------------------------------------------------- */

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
    failure_set(&unwired, FAILURE_UNWIRED, "%s %s\n%s", text, changes, hint);
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

struct look {
    struct check check;
    struct domain *domain;
    bool schema;
    bool begun; /* there is a request */
};

static void
found(void *data, struct failure **failure)
{
    const struct look *look = data;

    findings_take(look->check.findings, failure);
}

static int
look_at_request(void *data, const struct request *request, struct failure **failure)
{
    struct look *look = data;
    const struct check *check = &look->check;

    (void)request;
    (void)failure;
    look->begun = true;
    label_read_disks(look->domain);
    for (size_t i = 0; i < ARRAY_SIZE(subjects); i++)
        subjects[i](check);
    if (look->schema)
        check_schema(check);
    /* The wiring gives it a UUID, and that is a finding already. */
    return check->findings->errors > 0 || !*look->domain->uuid;
}

void
check_domain(struct findings *findings, struct domain *domain,
             const struct check_options *options)
{
    cleanup_config struct config config = {0};
    cleanup_request struct request request = {0};
    cleanup_seed struct seed seed = {0};
    cleanup_wire_facts struct wire_facts facts = {0};
    cleanup_failure struct failure *failure = NULL;
    struct look look = {
        .check = {.findings = findings,
                  .domain = domain,
                  .facts = &facts,
                  .request = &request,
                  .config = &config,
                  .root = options->root},
        .domain = domain,
        .schema = options->schema,
    };
    const struct pipeline pipeline = {
        .policy = PIPELINE_COLLECT,
        .root = options->root,
        .config = &config,
        .data = &look,
        .found = found,
        .before_make = look_at_request,
    };

    wire_facts_read(&facts, domain);
    check_emulator(findings, domain, options->root);
    config_read(&config, options->root, &failure);
    findings_take(findings, &failure);
    pipeline_run(&pipeline, domain, &request, &seed, &failure);
    findings_take(findings, &failure);
    if (!look.begun)
        return;
    check_wiring(findings, &config, domain, &request);
    check_delivery(&look.check);
}
