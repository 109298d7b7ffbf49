/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <syslog.h>

#include "base/fs.h"
#include "base/scope.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "domain/request.h"
#include "import/import.h"
#include "wire/wire.h"

struct options {
    const char *after_refusal;
    struct change_options change;
};

#define LIMIT_ENVIRONMENT (64 * KIB)
#define WAIT_MILLISECONDS 50
#define WAIT_ROUNDS (LIMIT_HOOK_SECONDS * 1000 / WAIT_MILLISECONDS)

/* The refused start may not be over yet. libvirt's lock makes us wait for it, and then the
 * domain must be down. */
static int
wait_for_end(virDomainPtr domain, struct failure **failure)
{
    const struct timespec pause = {.tv_nsec = WAIT_MILLISECONDS * 1000000L};

    for (int round = 0; round < WAIT_ROUNDS; round++) {
        if (virDomainIsActive(domain) == 0)
            return 0;
        nanosleep(&pause, NULL);
    }
    return failure_set(failure, FAILURE_LIBVIRT, "the domain is running");
}

/*
 * Takes over what tells a client where the socket of a session's daemon is. libvirt omits it
 * from a hook's environment, but the daemon, the hook's parent, has it.
 */
static void
take_way_to_daemon(int root, const char *daemon)
{
    static const char *const names[] = {"XDG_RUNTIME_DIR=", "XDG_CACHE_HOME="};
    cleanup_free char *path = xasprintf("/proc/%s/environ", daemon);
    static struct buffer environment; /* stays: what putenv(3) is given becomes ours */

    if (fs_read_in_root(root, path, LIMIT_ENVIRONMENT, &environment) < 0)
        return;
    for (const char *at = environment.data; at && *at; at += strlen(at) + 1) {
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
            if (strncmp(at, names[i], strlen(names[i])) == 0)
                putenv((char *)at);
        }
    }
}

/* Nobody reads the standard error of what the hook runs: the log gets what happened. The
 * hook's caller is root, so a maker reads the definition. */
static int
wire_after_refusal(const struct context *context, const char *daemon,
                   struct failure **failure)
{
    const char *name = context->operands[0];
    cleanup_connection virConnectPtr connection = NULL;
    cleanup_libvirt_domain virDomainPtr domain = NULL;
    cleanup_maker_result struct maker_result wired = {0};

    if (definition_is_file(name))
        return failure_set(failure, FAILURE_USAGE,
                           "--after-refusal needs a domain\ngive its UUID");
    if (!*daemon || daemon[strspn(daemon, "0123456789")])
        return failure_set(failure, FAILURE_USAGE,
                           "--after-refusal=%s is not a process\ngive its number",
                           daemon);
    if (scope()->home)
        take_way_to_daemon(context->root, daemon);
    /* What ends the hook or its daemon is not for us, and no directory is kept busy. */
    setsid();
    if (chdir("/") < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno, "could not enter '/'");
    openlog("virt-seed", LOG_PID, LOG_DAEMON);
    connection = libvirt_connect(context->uri, false, failure);
    if (connection)
        domain = libvirt_find_domain(connection, name, failure);
    if (!domain || wait_for_end(domain, failure) < 0 ||
        definition_wire_in_libvirt(context, connection, domain, &wired, failure) < 0) {
        syslog(LOG_ERR, "domain %s was not wired: %s", name, (*failure)->message);
        return -1;
    }
    for (size_t i = 0; i < wired.change_count; i++)
        syslog(LOG_NOTICE, "domain %s: %s", name, wired.changes[i]);
    return 0;
}

/* Makes a request of another tool's seed for a domain that has none. */
static int
adopt_seed(struct definition *definition, const struct context *context,
           struct wiring *wiring, struct failure **failure)
{
    cleanup_free char *path = NULL;
    cleanup_import struct import import = {.root = context->root};
    const struct domain *domain = &definition->domain;

    if (request_find(domain) || payload_find(domain) || domain_uses_shim(domain))
        return 0;
    if (!libvirt_is_remote(definition->connection))
        path = import_find_seed(&definition->domain);
    if (!path)
        return 0;
    import.doc = request_new();
    import.element = xmlDocGetRootElement(import.doc);
    if (import_image(&import, path, failure) < 0 || import_check(&import, failure) < 0)
        return failure_prefix(failure, "domain '%s'", definition->domain.name);
    if (import.secret_count > 0)
        return failure_set(
            failure, FAILURE_REQUEST,
            "domain '%s': the seed '%s' has a password, which belongs in a "
            "secret of the host\n"
            "import it with 'virt-seed import --secrets --set=DOMAIN "
            "--replace seed FILE'",
            definition->domain.name, path);
    request_insert(&definition->domain, import.element);
    wiring_note(wiring, "<cloud-init> made from the seed '%s'", path);
    for (size_t i = 0; !context->quiet && i < import.note_count; i++)
        print_outside_line(stderr, "virt-seed: note: %s", import.notes[i]);
    return 0;
}

static int
run_one(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    struct change_options change = options->change;
    cleanup_definition struct definition definition = {0};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_json json_t *parts = NULL;
    cleanup_free char *summary = NULL;

    if (options->after_refusal)
        return wire_after_refusal(context, options->after_refusal, failure);
    if (definition_load(&definition, context, DEFINITION_CHANGE, failure) < 0)
        return -1;
    if (change.replace && adopt_seed(&definition, context, &wiring, failure) < 0)
        return -1;
    if (definition_wire(&definition, context,
                        (struct wire_options){.replace = change.replace, .add_log = true},
                        &wiring, failure) < 0)
        return -1;
    parts = wiring_parts_read(&definition, false);
    change.summary = summary = wiring_parts_describe("wired", parts, NULL);
    return definition_commit(&definition, context, &change, "already wired", &wiring,
                             failure);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;

    return change_each(context, options, &options->change, run_one, failure);
}

static const struct option_row rows[] = {
    OPTION(
        0, "replace", NULL, change.replace,
        "replace another tool's seed, and take over its documents if the domain has none"),
    CHANGE_ROWS,
    OPTION(
        0, "after-refusal", "PID", after_refusal,
        "for the hook: PID is libvirt's daemon; wait until the refused start has ended, and write to the system's log"),
    OPTION_END,
};

const struct command cmd_wire = {
    .name = "wire",
    .operands = "DOMAIN|FILE|-…",
    .summary = "add the devices through which the guest gets a seed",
    .help =
        "Adds to a domain what cloud-init in the guest needs to find its seed: a\n"
        "cdrom, whose file is made at each start, and the SMBIOS serial (or, if the\n"
        "seed is served over HTTP, the serial alone, with a URL); and the channels by\n"
        "which the guest reports and sends its logs. A domain is wired once, and a wired\n"
        "domain is left unchanged. The XML of a FILE goes to standard output; a DOMAIN's\n"
        "definition is changed in libvirt, which takes effect at its next start.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON | TAKES_DRY_RUN | TAKES_VERBOSE,
    .run = run,
};
