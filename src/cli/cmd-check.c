/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the stages that the hook goes through are gone through here as well,
 * but a failure becomes a finding and the next stage is tried. To what the hook would
 * refuse come warnings of what would surprise.
 */
#include "config.h"

#include <getopt.h>
#include <string.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/report.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/source.h"
#include "domain/request.h"
#include "domain/seed-path.h"
#include "domain/wire.h"
#include "domain/xml.h"
#include "image/label.h"
#include "seed/check-part.h"
#include "seed/seed.h"
#include "store/configuration.h"
#include "store/resolve.h"

struct finding {
    bool error; /* else a warning */
    char *id;
    int line;
    char *message;
    char *hint; /* may be NULL */
};

struct findings {
    struct finding *list;
    size_t count;
    size_t errors;
};

static void
findings_clear(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->list[i].id);
        free(findings->list[i].message);
        free(findings->list[i].hint);
    }
    free(findings->list);
}

static void
add(struct findings *findings, bool error, const char *id, int line, const char *message,
    const char *hint)
{
    findings->list =
        xreallocarray(findings->list, findings->count + 1, sizeof(*findings->list));
    findings->list[findings->count++] = (struct finding){
        .error = error,
        .id = xstrdup(id),
        .line = line,
        .message = xstrdup(message),
        .hint = hint ? xstrdup(hint) : NULL,
    };
    findings->errors += error;
}

/* Takes the failure, if there is one, as an error; a secret that the caller may not read
 * is none of the domain's. */
static void
take(struct findings *findings, struct failure **failure)
{
    bool unseen;

    if (!*failure)
        return;
    unseen = (*failure)->code == FAILURE_SECRET_UNREADABLE;
    add(findings, !unseen, failure_code_name((*failure)->code), (*failure)->line,
        (*failure)->message, (*failure)->hint);
    failure_free(*failure);
    *failure = NULL;
}

/* --- what would fail -------------------------------------------------------------- */

static void
check_parts(struct findings *findings, const struct context *context,
            const struct config *config, const struct domain *domain,
            struct request *request)
{
    cleanup_failure struct failure *unread = NULL;

    resolve_begin(request, context->root, config, &unread);
    take(findings, &unread);
    for (size_t i = 0; i < request->parts.count; i++) {
        struct part *part = request->parts.list[i];
        cleanup_failure struct failure *failure = NULL;

        if (resolve_part(part, context->root, config, domain, &failure) == 0)
            check_part(request, part, &failure);
        take(findings, &failure);
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
    take(findings, &failure);
}

static void
check_wiring(struct findings *findings, struct domain *domain,
             const struct request *request)
{
    const struct wire_options options = {.replace = false};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_failure struct failure *failure = NULL;

    label_read_disks(domain);
    wire_domain(domain, request, &options, &wiring, &failure);
    if (failure) {
        take(findings, &failure);
        return;
    }
    for (size_t i = 0; i < wiring.change_count; i++) {
        cleanup_free char *message =
            xasprintf("not wired; 'virt-seed wire' would report: %s", wiring.changes[i]);

        add(findings, true, failure_code_name(FAILURE_UNWIRED), 0, message,
            "run 'virt-seed wire'");
    }
}

/* --- what would surprise ---------------------------------------------------------- */

/* Any local user reads a domain's metadata (virsh -r dumpxml). */
static void
warn_of_inline_secrets(struct findings *findings, const struct request *request)
{
    static const char *const words[] = {
        "passwd:", "password:", "chpasswd:", "PRIVATE KEY"};

    for (size_t p = 0; p < request->parts.count; p++) {
        const struct part *part = request->parts.list[p];
        bool found = false;

        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            found = found || (part->origin == PART_INLINE && part->data.size > 0 &&
                              strstr(part->data.data, words[i]));
        if (found) {
            cleanup_free char *message = xasprintf(
                "<%s> seems to hold a password or key in the domain's XML, which "
                "every local user may read",
                part->element);

            add(findings, false, "inline-secret", part->line, message,
                "move it to " VIRT_SEED_CONFDIR
                "/secrets/NAME/KEY and write secret=\"NAME\"");
        }
    }
}

static bool
has_virtio_disk(const struct domain *domain)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        if (domain->disks[i].bus == DOMAIN_BUS_VIRTIO &&
            strcmp(domain->disks[i].device, "disk") == 0)
            return true;
    }
    return false;
}

static void
warn_of_disk(struct findings *findings, const struct domain *domain)
{
    const struct disk *disk = seed_path_find_disk(domain);
    const xmlNode *source = disk ? xml_child(disk->node, "source") : NULL;

    if (!disk)
        return;
    if (disk->bus == DOMAIN_BUS_USB)
        add(findings, false, "usb-cdrom", xml_line(disk->node),
            "the seed is on the usb bus, which guests find too late",
            "leave bus= away and run 'virt-seed wire' again");
    if (disk->bus == DOMAIN_BUS_SATA && has_virtio_disk(domain))
        add(findings, false, "sata-cdrom", xml_line(disk->node),
            "the seed is on the sata bus, for which kernels of cloud images have no driver",
            "leave bus= away and run 'virt-seed wire' again");
    if (strcmp(disk->device, "cdrom") == 0 &&
        !xml_attribute_is(source, "startupPolicy", "mandatory"))
        add(findings, false, "startup-policy", xml_line(source),
            "the seed's cdrom has no startupPolicy='mandatory': a saved guest could come back "
            "with an empty drive",
            "add startupPolicy='mandatory' to its <source>");
}

/* --- the command ------------------------------------------------------------------ */

static void
check_domain(struct findings *findings, const struct context *context,
             struct source *source)
{
    cleanup_config struct config config = {0};
    cleanup_request struct request request = {0};
    cleanup_failure struct failure *failure = NULL;

    config_read(&config, context->root, &failure);
    take(findings, &failure);
    if (request_read(&request, &source->domain, &failure) < 0) {
        take(findings, &failure);
        return;
    }
    check_parts(findings, context, &config, &source->domain, &request);
    warn_of_inline_secrets(findings, &request);
    warn_of_disk(findings, &source->domain);
    if (findings->errors == 0)
        check_seed(findings, &source->domain, &request);
    check_wiring(findings, &source->domain, &request);
}

static void
print_json(const char *domain, const struct findings *findings)
{
    json_t *list = json_array();

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];

        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:i, s:s, s:s?}", "severity",
                                        finding->error ? "error" : "warning", "id",
                                        finding->id, "line", finding->line, "message",
                                        finding->message, "hint", finding->hint));
    }
    json_print(json_pack("{s:s, s:o}", "domain", domain, "findings", list));
}

static void
print_text(const char *origin, const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];

        report_string(stdout, origin);
        if (finding->line > 0)
            printf(":%d", finding->line);
        printf(": %s: ", finding->error ? "error" : "warning");
        report_string(stdout, finding->message);
        printf(" [%s]\n", finding->id);
        if (finding->hint) {
            fputs("  hint: ", stdout);
            report_string(stdout, finding->hint);
            putchar('\n');
        }
    }
}

static int
run(const struct context *context, const struct arguments *arguments,
    struct failure **failure)
{
    __attribute__((cleanup(findings_clear))) struct findings findings = {0};
    cleanup_source struct source source = {0};
    cleanup_free char *name = NULL;

    if (source_load(&source, context, arguments, SOURCE_READ, failure) < 0)
        return STATUS_FAILURE;
    name = xstrdup(source.domain.name);
    check_domain(&findings, context, &source);
    if (arguments->json)
        print_json(name, &findings);
    else
        print_text(source.name ? source.name : name, &findings);
    if (!arguments->json && !context->quiet && findings.count == 0) {
        fputs("domain '", stdout);
        report_string(stdout, name);
        puts("': nothing to complain of");
    }
    return findings.errors > 0 ? STATUS_FAILURE : STATUS_OK;
}

static const struct option options[] = {
    {"domain", required_argument, NULL, OPTION_DOMAIN},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

const struct command cmd_check = {
    .name = "check",
    .usage = "[--json] DOMAIN|FILE|-",
    .summary = "say what would fail or surprise at the next start",
    .help = "Looks for everything that would make the start fail (errors) or that would\n"
            "turn out otherwise than one expects (warnings). Exit status 1 where there\n"
            "are errors.\n"
            "\n"
            "      --domain=NAME  NAME is a domain, even where a file is called so\n"
            "      --json         print the findings as JSON\n"
            "      --help         print this and exit\n",
    .options = options,
    .operands = 1,
    .run = run,
};
