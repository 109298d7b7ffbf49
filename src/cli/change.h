/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commands change in a domain's definition (definition.h), and how it goes back. */
#pragma once

#include "base/json.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "host/verdict.h"
#include "wire/wire.h"

/* The options of the commands that change it: `set`, `wire` and `unset`; `edit` and
 * `import` set some of them. */
struct change_options {
    const char *output; /* where the XML goes instead, or NULL */
    bool in_place;
    bool replace; /* another tool's seed */
    /* What is said of a change, such as "wired (cdrom sda)"; NULL for a line for each
     * change. */
    const char *summary;
};

/* The rows of a command's options for it, whose member is `change`. */
#define CHANGE_ROWS                                                                      \
    OPTION('o', "output", "OUTPUT", change.output,                                       \
           "write the XML to this file instead"),                                        \
        OPTION('i', "in-place", NULL, change.in_place, "write the XML back into FILE")

/* Puts the <cloud-init> element that the text is in the place of the domain's. The lines of
 * elements (xml_line()) are from then on those of the text, and 0 for all others. A failure has
 * a hint. */
int definition_put_element(const struct domain *domain, const struct buffer *text,
                           struct failure **failure);

/* Wires the domain for its own request; looks at the disks' labels and the configuration if
 * they are this host's. */
int definition_wire(struct definition *definition, const struct context *context,
                    struct wire_options options, struct wiring *wiring,
                    struct failure **failure);

/* definition_each() for a command that changes definitions: fails if the XML of several would
 * go to one place. */
int change_each(const struct context *context, const void *command_options,
                const struct change_options *options,
                int (*run)(const struct context *context, const void *command_options,
                           struct failure **failure),
                struct failure **failure);

/* Fails if the options contradict each other on where the XML goes; definition_commit()
 * checks it, too. */
int definition_check_output(const struct definition *definition,
                            const struct context *context,
                            const struct change_options *options,
                            struct failure **failure);

/*
 * Puts the changed document where it belongs, and tells the user what was changed;
 * `nothing` is said of a domain that needed no change.
 *
 * libvirt takes every definition, the last one stays. So its own is read again before,
 * and one that somebody else has changed since definition_load() is left alone; and
 * after, to see that ours is there.
 */
int definition_commit(struct definition *definition, const struct context *context,
                      const struct change_options *options, const char *nothing,
                      const struct wiring *wiring, struct failure **failure);

/*
 * Wires the definition of libvirt's domain, which a maker reads (host/maker.h), and says
 * nothing; fails if it has no <cloud-init>, nor anything else of ours. `wired` must be empty.
 * Threads may do this side by side. Return: 1 if it was wired now, 0 if it was before, or -1.
 */
int definition_wire_in_libvirt(const struct context *context, virConnectPtr connection,
                               virDomainPtr domain, struct maker_result *wired,
                               struct failure **failure);

/* --- its summary ------------------------------------------------------------------ */

/* Return: the set of words for what a definition has of virt-seed's, "cdrom sda", "serial";
 * "<cloud-init>" only if that is asked for. Owned by the caller (cleanup_json). */
json_t *wiring_parts_read(const struct definition *definition, bool with_request);

/* Return: "DONE (cdrom sda, serial)", with those that the other set, which may be NULL, does not
 * have, owned by the caller (free). */
char *wiring_parts_describe(const char *done, json_t *parts, const json_t *without);
