/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wiring: the devices and settings that let cloud-init in the guest find its seed: a
 * cdrom, whose image the hook makes at every start, the SMBIOS serial, which names the
 * datasource, and the channels over which the guest reports and sends its logs. With
 * datasource="nocloud-net" there is no cdrom, and the serial has the seed's URL. If the
 * <emulator> is virt-seed-qemu, the emulator shim, the domain's XML has none of them: it adds
 * them to QEMU's command line.
 *
 * The wiring does not depend on the seed's content: a domain is wired once, and gets a
 * seed at every start.
 */
#pragma once

#include "domain/domain.h"
#include "domain/request.h"
#include "wire/url.h"

/* The changes that were made, in order, one phrase each. */
struct wiring {
    char **changes;
    size_t change_count;
    /* A change concerns more than adding channels: without them, the guest might not get its
     * seed; or it would write another domain's report or log. */
    bool needed;
};

struct wire_options {
    bool replace; /* replace another tool's seed and serial with ours */
    /* Add the log's channel also to a domain that has the report's: such a domain was wired
     * by an earlier version, and counts as wired. */
    bool add_log;
    const char
        *foreign_hint; /* else: what to do about such a seed, or NULL for the usual */
    /* The metadata server's address for guests without a seed disk
     * (store/configuration.h); if NULL, an existing address is kept, and
     * VIRT_SEED_IMDS_ADDRESS is the default. */
    const char *imds_address;
    /* Of the domain's XML as it is; borrowed. If NULL, they are read. */
    const struct wire_facts *facts;
};

/* Notes a change. */
void wiring_note(struct wiring *wiring, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Return: all changes on one line, "cdrom 'sda' added …; …", owned by the caller (free).
 * There must be at least one. */
char *wiring_describe(const struct wiring *wiring);

void wiring_clear(struct wiring *wiring);

#define cleanup_wiring __attribute__((cleanup(wiring_clear)))

/*
 * Adds the missing parts of the wiring to the domain's document, and repairs those that a
 * clone or a change of the request has left; with `replace`, removes another tool's seed.
 * Nothing else changes; if the domain is wired already, `wiring` is empty. If the emulator
 * is the shim, removes any wiring. Afterwards the domain's name, UUID and document are still valid,
 * but its disks are not, since their nodes may have been freed.
 */
int wire_domain(struct domain *domain, const struct request *request,
                const struct wire_options *options, struct wiring *wiring,
                struct failure **failure);

/*
 * Removes the wiring. This undoes wire_domain(), except for a new UUID and what --replace
 * removed. The request stays.
 */
void wire_remove(struct domain *domain, struct wiring *wiring);

/* Removes the request, and <metadata> if it is empty then. */
void wire_remove_request(struct domain *domain, struct wiring *wiring);

/* Return: whether QEMU has -smbios for the domain's architecture, and cloud-init reads
 * it. */
bool wire_has_smbios(const struct domain *domain);

/* --- facts from a domain's XML -------------------------------------------------------- */

/* Whether the domain asks for a seed, and by which disk, emulator or URL its guest gets
 * it. Only wire_domain() knows whether that is all the request needs. */
struct wire_facts {
    /* It has <cloud-init>, the emulator shim, or a payload with our disk. */
    bool wants_seed;
    const struct disk
        *disk;            /* with a seed of this or another domain; borrowed; or NULL */
    bool uses_shim;       /* the emulator is virt-seed-qemu, which adds a disk itself */
    struct seed_url url;  /* the last one in the serial; its address is NULL if none */
    bool own_url;         /* `url` was made for this domain */
    bool seed_of_another; /* a disk or URL is another domain's, as in a clone */
    const char
        *elsewhere; /* a disk with a seed of another scope: its path, borrowed; it is
                              `seed_of_another`, too; or NULL */
    /* It has the channel that wire_report() makes: the virtio port, with the domain's own
     * report as its file, which is appended to. */
    bool reports;
    bool logs;              /* the same of the log */
    bool user_port;         /* it has the user's own channel with the port's name */
    bool report_of_another; /* a device uses another domain's report or log */
};

/* Reads them. `disk` borrows from the domain; after wire_domain() it may only be compared
 * with NULL. */
void wire_facts_read(struct wire_facts *facts, const struct domain *domain);

/* Return: whether there is a place for a seed: a disk, even another domain's, the shim,
 * or the URL made for this domain. */
bool wire_facts_are_wired(const struct wire_facts *facts);

void wire_facts_clear(struct wire_facts *facts);

#define cleanup_wire_facts __attribute__((cleanup(wire_facts_clear)))

/* --- the channels ------------------------------------------------------------------- */

/* A virtio port on which the guest reports cloud-init's progress, and one for its logs, which
 * QEMU writes to files on the host ("Consoles, serial, parallel & channel devices" in
 * libvirt's documentation). A guest boots with its seed without them, too. */

/*
 * Fails if a device names a file in the reports' directory that the domain may not use
 * (`report_of_another`), and names it. A domain may use only its own report and log, and
 * only for a channel. Looks at attributes `path` and `file`, ignoring "//" and "/./" in them;
 * paths that lead there by ".." or a link are not recognized.
 */
int wire_report_check(const struct domain *domain, struct failure **failure);

/* --- the emulator shim -------------------------------------------------------------- */

/* Return: the path of the shim for the domain's emulator, owned by the caller (free). */
char *wire_shim_emulator(const struct domain *domain);

/* Return: whether the shim supports what the request asks for. */
bool wire_shim_can(const struct request *request);

/*
 * Return: the word that the shim must append to the user's serial, a literal, or "" for
 * none; NULL if it cannot be appended.
 */
const char *wire_shim_word(const struct domain *domain, const struct request *request,
                           struct failure **failure);

/* --- foreign seeds -------------------------------------------------------------------- */

/* Disks that another tool added for cloud-init: with two seeds, it would be a race which
 * one the guest uses. */

/*
 * Return: why the disk is another tool's seed, in words, or NULL if it is not. That is
 * known by its label, if it was read (domain_read_labels()), else, unless the guest boots
 * from it, by the names that other tools choose for files, volumes and network disks. A
 * volume counts by its name, too.
 */
const char *foreign_seed_reason(const struct disk *disk);
