/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include <jansson.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/changes.h"
#include "cli/libvirt.h"
#include "cli/output.h"
#include "domain/request.h"
#include "image/label.h"
#include "store/configuration.h"

static bool
xml_goes_to_stdout(const struct source *source, const struct changes_options *options)
{
    if (options->in_place || (source->libvirt && !options->output))
        return false;
    return output_is_standard(options->output);
}

static int
check_options(const struct source *source, const struct changes_options *options,
              struct failure **failure)
{
    if (options->in_place && options->output)
        failure_set(failure, FAILURE_USAGE, "--in-place and --output exclude each other");
    else if (options->in_place && (!source->name || strcmp(source->name, "-") == 0))
        failure_set(failure, FAILURE_USAGE, "--in-place is for a FILE");
    else if (options->json && xml_goes_to_stdout(source, options))
        failure_set(failure, FAILURE_USAGE,
                    "--json and the XML cannot both go to standard output");
    else
        return 0;
    return failure_hint(failure,
                        "choose where the XML goes: --in-place or --output=OUTPUT");
}

int
changes_wire(struct source *source, const struct context *context,
             const struct changes_options *options, struct wiring *wiring,
             struct failure **failure)
{
    bool here = !source->connection || !libvirt_is_remote(source->connection);
    struct wire_options wire = {.replace = options->replace};
    cleanup_config struct config config = {0};
    cleanup_request struct request request = {0};

    if (request_read(&request, &source->domain, failure) < 0)
        return failure_prefix(failure, "domain '%s'", source->domain.name);
    /* Another host's paths mean nothing here: there the names of the disks decide, and its own
     * hook knows where its metadata server is. */
    if (here) {
        label_read_disks(&source->domain);
        if (!request_has_disk(&request) &&
            config_read(&config, context->root, failure) < 0)
            return failure_prefix(failure, "domain '%s'", source->domain.name);
        wire.imds_address = config.imds_address;
    }
    if (wire_domain(&source->domain, &request, &wire, wiring, failure) < 0)
        return failure_prefix(failure, "domain '%s'", source->domain.name);
    return 0;
}

int
changes_commit(struct source *source, const struct context *context,
               const struct changes_options *options, const char *nothing,
               const struct wiring *wiring, struct failure **failure)
{
    size_t count = wiring->change_count;
    const char *name = source->domain.name;
    FILE *stream = xml_goes_to_stdout(source, options) ? stderr : stdout;
    int result = 0;

    if (check_options(source, options, failure) < 0)
        return -1;
    if (options->in_place)
        result = source_write(source, source->name, failure);
    else if (options->output || !source->libvirt)
        result = source_write(source, options->output, failure);
    else if (count > 0)
        result = source->request_alone ? source_set_request(source, failure)
                                       : source_define(source, failure);
    if (result < 0)
        return -1;
    if (options->json) {
        json_t *changes = json_array();

        for (size_t i = 0; i < count; i++)
            json_array_append_new(changes, json_string(wiring->changes[i]));
        json_print(json_pack("{s:s, s:o}", "domain", name, "changes", changes));
        return 0;
    }
    if (context->quiet)
        return 0;
    for (size_t i = 0; i < count; i++)
        print_outside_line(stream, "domain '%s': %s", name, wiring->changes[i]);
    if (count == 0)
        print_outside_line(stream, "domain '%s' %s", name, nothing);
    else if (source->libvirt && !options->output &&
             virDomainIsActive(source->libvirt) == 1)
        puts("the domain runs: the change takes effect when it is started the next time");
    return 0;
}
