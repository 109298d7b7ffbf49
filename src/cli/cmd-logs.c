/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/names.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/io.h"
#include "host/own-directory.h"
#include "host/report-file.h"
#include "wire/wire.h"

/* Appends the last LIMIT_LOG bytes of the log of the running guest, or else of the one that
 * was kept; none are no failure. `written` gets the time of the guest's last write. */
static int
read_log(int root, const char *uuid, struct buffer *text, time_t *written,
         struct failure **failure)
{
    const char *const directories[] = {scope()->reportdir, scope()->statedir};
    cleanup_free char *name = xasprintf("%s" LOG_SUFFIX, uuid);
    struct stat status = {0};

    for (size_t i = 0; text->size == 0 && i < ARRAY_SIZE(directories); i++) {
        cleanup_close int directory = fs_open_directory_in_root(root, directories[i]);
        const int error = report_file_read_end(directory, name, LIMIT_LOG, text, &status);

        if (error == -EACCES)
            return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                     "could not read %s/%s\n%s", directories[i], name,
                                     scope_denied_hint());
        if (error < 0)
            return own_directory_fail(FAILURE_SYSTEM, "read", directories[i], name, error,
                                      failure);
    }
    *written = status.st_mtime;
    return 0;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    cleanup_definition struct definition definition = {0};
    cleanup_buffer struct buffer text = {0};
    const struct domain *domain = &definition.domain;
    cleanup_free char *sent = NULL;
    const char *when = "";
    time_t written = 0;

    if (definition_load(&definition, context, DEFINITION_READ, failure) < 0)
        return -1;
    if (domain_require_uuid(domain, failure) < 0 ||
        read_log(context->root, domain->uuid, &text, &written, failure) < 0)
        return failure_prefix(failure, "domain '%s'", domain->name);
    if (text.size == 0) {
        cleanup_free char *name = xshellquote(domain->name);
        cleanup_wire_facts struct wire_facts facts = {0};

        wire_facts_read(&facts, domain);
        if (!facts.logs)
            return failure_set(
                failure, FAILURE_DOMAIN,
                "domain '%s' has no log, and no channel on which its guest could send "
                "one\n"
                "add it for the next start: virt-seed wire %s; until then, look in the "
                "guest",
                domain->name, name);
        return failure_set(
            failure, FAILURE_DOMAIN,
            "domain '%s' has no log: its guest sends one when cloud-init has "
            "failed\n"
            "see how far it is: virt-seed status %s",
            domain->name, name);
    }
    sent = local_time(written);
    if (definition.libvirt)
        when = ", before it was shut off";
    if (definition.libvirt && virDomainIsActive(definition.libvirt) == 1)
        when = ", since the domain was started";
    if (!context->quiet)
        print_outside_line(stderr, "%s: sent %s%s", domain->name, sent, when);
    print_outside_text(stdout, text.data, text.size, "\n\t");
    return STATUS_OK;
}

const struct command cmd_logs = {
    .name = "logs",
    .operands = "DOMAIN|FILE|-",
    .summary = "print the logs of a cloud-init that failed",
    .help =
        "Prints what the guest has sent of its logs because cloud-init failed, or left\n"
        "out a document: the end of cloud-init-output.log, and the warnings and errors\n"
        "of cloud-init.log. They can contain secrets, so they are root's alone; they stay\n"
        "until the domain's next start.\n",
    .run = run,
};
