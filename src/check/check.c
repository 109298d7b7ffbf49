/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "check/check.h"
#include "domain/xml.h"
#include "store/delivery.h"
#include "store/libvirt-daemon.h"
#include "store/pipeline.h"
#include "store/record.h"

/* To add a subject, add its function here; a large one has a file of its own. */
static void (*const subjects[])(const struct check *check) = {
    check_secrets,        check_user_data, check_network,
    check_nocloud_net,    check_meta_data, check_disks,
    check_initialization, check_conflicts, check_ssh_keys,
};

#define WARNING_TEXT(name, text) [WARNING_##name] = (text),
static const char *const names[] = {WARNINGS(WARNING_TEXT)};
#undef WARNING_TEXT

/* Return: what the part is called in messages, and the line in it unless that is 0, owned by
 * the caller (free). */
static char *
part_place(const struct part *part, int line)
{
    cleanup_free char *description = part_describe(part);

    return line > 0 ? xasprintf("%s: line %d", description, line) : steal(description);
}

void
check_warn_of(const struct check *check, enum warning id, const struct part *part,
              int line, const char *hint, const char *format, ...)
{
    struct findings *findings = check->findings;
    cleanup_free char *place = part ? part_place(part, line) : xstrdup("");
    cleanup_free char *message = NULL;
    struct failure *failure = NULL;
    va_list arguments;

    if (findings->count >= LIMIT_FINDINGS)
        return;
    va_start(arguments, format);
    message = xvasprintf(format, arguments);
    va_end(arguments);
    failure_set(&failure, FAILURE_REQUEST, "%s%s\n%s", place, message, hint);
    if (part) {
        failure->part_line = part->number == 0 ? line : 0;
        part_locate(part, &failure);
    } else {
        failure->line = line;
    }
    *array_add(findings->list, findings->count) =
        (struct finding){.id = names[id], .failure = failure};
}

void
findings_take(struct findings *findings, struct failure **failure)
{
    struct failure *taken = steal(*failure);
    bool error;

    if (!taken)
        return;
    error = taken->code != FAILURE_SECRET_UNREADABLE;
    *array_add(findings->list, findings->count) = (struct finding){
        .error = error, .id = failure_code_name(taken->code), .failure = taken};
    findings->errors += error;
}

void
findings_clear(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        failure_free(findings->list[i].failure);
    free(findings->list);
    texts_free(findings->skipped, findings->skipped_count);
    *findings = (struct findings){0};
}

/* AppArmor's profile may keep libvirt from running the shim, before it calls the hook. A
 * domain can opt out of the profile. */
static void
check_emulator(const struct check *check)
{
    cleanup_failure struct failure *failure = NULL;

    if (!check->facts->uses_shim)
        return;
    xml_foreach(node, check->domain->root, "seclabel") {
        if (xml_attribute_is(node, "type", "none") &&
            !xml_attribute_is(node, "model", "dac") &&
            !xml_attribute_is(node, "model", "selinux"))
            return;
    }
    apparmor_check_shim(check->root, &failure);
    findings_take(check->findings, &failure);
}

/* Afterwards, the facts' disk may be gone. */
static void
check_wiring(const struct check *check, struct domain *domain)
{
    static const char hint[] = "run 'virt-seed wire'";
    static const char text[] = "not wired; 'virt-seed wire' would make these changes:";
    const struct wire_options options = {.imds_address = check->config->imds_address};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_failure struct failure *failure = NULL;

    if (wire_domain(domain, check->request, &options, &wiring, &failure) == 0 &&
        wiring.change_count > 0) {
        cleanup_free char *changes = wiring_describe(&wiring);

        if (wiring.needed)
            failure_set(&failure, FAILURE_UNWIRED, "%s %s\n%s", text, changes, hint);
        else
            check_warn(check, WARNING_REPORT_CHANNEL, 0, hint, "%s %s", text, changes);
    }
    findings_take(check->findings, &failure);
}

/* What the hook would refuse on this host. */
static void
check_delivery(const struct check *check)
{
    const struct request *request = check->request;
    const struct delivery *delivery = delivery_for(request, check->facts->uses_shim);
    cleanup_failure struct failure *failure = NULL;
    const char *address = check->config->imds_address;
    const char *consequence = "and it starts nevertheless (unwired = warn)";

    if (delivery->check_host && delivery->check_host(check->root, &failure) < 0)
        failure_at_line(&failure, request->line);
    findings_take(check->findings, &failure);
    /* Once the domain is wired, its serial contains the configured address. */
    if (!address && check->facts->own_url)
        address = check->facts->url.address;
    if (!delivery->check_server || !address ||
        delivery->check_server(address, &failure) == 0)
        return;
    failure_at_line(&failure, request->line);
    if (request->cache)
        consequence = "unless it has cached its seed (cache=\"keep\")";
    if (failure->code != FAILURE_IMDS_USER &&
        delivery_may_lack_server(request, check->config))
        check_warn(check, WARNING_NOBODY_LISTENS, request->line, failure->hint, "%s, %s",
                   failure->message, consequence);
    else
        findings_take(check->findings, &failure);
}

/* The record stays on the host where the guest booted. One that cannot be read has been
 * reported (pipeline_read()). */
static void
check_result_is_known(const struct check *check)
{
    cleanup_failure struct failure *ignored = NULL;
    cleanup_record struct record record = {0};

    if (check->request->until_done &&
        record_read(check->root, check->domain->uuid, &record, &ignored) == 0 &&
        !record.done)
        check_warn(check, WARNING_UNKNOWN_RESULT, check->request->line,
                   "if the guest is set up, say so here before it migrates: give its "
                   "XML to 'virt-seed done -'",
                   "boots=\"until-done\": this host does not know that the guest is "
                   "set up, and would make its whole seed");
}

static void
found(void *data, struct failure **failure)
{
    findings_take(data, failure);
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
    const struct check check = {
        .findings = findings,
        .domain = domain,
        .facts = &facts,
        .request = &request,
        .config = &config,
        .root = options->root,
    };
    const struct pipeline pipeline = {
        .policy = PIPELINE_COLLECT,
        .config = &config,
        .found = found,
        .data = findings,
        .migrates = options->migrates,
    };

    wire_facts_read(&facts, domain);
    check_emulator(&check);
    domain_check_paths(domain, options->root, &failure);
    findings_take(findings, &failure);
    config_read(&config, options->root, &failure);
    findings_take(findings, &failure);
    if (pipeline_read(&pipeline, options->root, domain, &request, &failure) < 0) {
        findings_take(findings, &failure);
        return;
    }
    domain_read_labels(domain);
    for (size_t i = 0; i < ARRAY_SIZE(subjects); i++)
        subjects[i](&check);
    if (options->schema)
        check_schema(&check);
    /* Wiring assigns a UUID, and is already reported. */
    if (findings->errors == 0 && *domain->uuid)
        seed_make(&seed, &request, &failure);
    findings_take(findings, &failure);
    if (options->migrates) {
        check_result_is_known(&check);
    } else {
        check_wiring(&check, domain);
        check_delivery(&check);
    }
}
