/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wiring: what a domain must carry so that cloud-init in the guest finds its seed.
 * A cdrom whose file the hook makes at each start, the SMBIOS serial that names the
 * datasource, and the channel by which the guest reports. With datasource="nocloud-net" there
 * is no cdrom, and the serial has the seed's URL. A domain whose <emulator> is virt-seed-qemu,
 * the emulator shim, has none of them in its XML: the shim adds them to QEMU's command line.
 *
 * It does not depend on the seed's content: a domain is wired once and seeded at every
 * start.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "domain/domain.h"
#include "domain/request.h"
#include "wire/url.h"

/* What was changed, a sentence each, in the order it was done. */
struct wiring {
    char **changes;
    size_t change_count;
    /* Without the changes the guest would not have its seed, or would write where another's
     * report belongs. */
    bool needed;
};

struct wire_options {
    bool replace; /* a foreign seed and its serial give way to ours */
    /* Where guests without a seed's disk find the metadata server (seed_url_read_address());
     * NULL if that is not known: VIRT_SEED_IMDS_ADDRESS, and what is there stays. */
    const char *imds_address;
};

/* Notes one change; for the parts of the wiring. */
void wiring_note(struct wiring *wiring, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Return: all changes in one line, "cdrom 'sda' added …; …", owned by the caller (free); there
 * is one at least. */
char *wiring_describe(const struct wiring *wiring);

void wiring_clear(struct wiring *wiring);

#define cleanup_wiring __attribute__((cleanup(wiring_clear)))

/*
 * Adds to the domain's document what is missing of the wiring; a document that is wired
 * stays as it is, and `wiring` is empty then. The rest of the document is not touched.
 * If the emulator is the shim, what is there of it is removed.
 * Afterwards the domain's disks may not be looked at, since their nodes may be gone; its
 * name, its UUID and its document remain.
 */
int wire_domain(struct domain *domain, const struct request *request,
                const struct wire_options *options, struct wiring *wiring,
                struct failure **failure);

/*
 * Removes the wiring: the inverse of wire_domain(), but for what --replace removed
 * and the UUID. The request stays.
 */
void wire_remove(struct domain *domain, struct wiring *wiring);

/* Removes the request, and <metadata> with it if nothing else is in it. */
void wire_remove_request(struct domain *domain, struct wiring *wiring);

/* Return: whether cloud-init takes a guest with that UUID for one of Amazon's: it begins with
 * "ec2", or in the other byte order with "..2.ec" (ds-identify, ec2_identify_platform; since
 * 24.2). */
bool wire_looks_like_amazon(const char *uuid);

/* --- what a domain's XML says of virt-seed ------------------------------------------ */

/* Read once: whether it asks for a seed, and by which disk, emulator or URL its guest is to get
 * it. Whether that is all the request needs is for wire_domain() to say. */
struct wire_facts {
    bool asks; /* by <cloud-init>, by the emulator shim, or by a payload with our disk */
    const struct disk *disk; /* with the path of a seed, anybody's; borrowed; or NULL */
    bool uses_shim;       /* the emulator is virt-seed-qemu, which adds a disk itself */
    struct seed_url url;  /* the last one in the serial; its address is NULL if none is */
    bool own_url;         /* made for this domain */
    bool seed_of_another; /* a disk or a URL is another domain's, as a clone has it */
    bool reports;         /* it has the report channel (wire_report_is_there()) */
    bool report_of_another; /* a device leads to another domain's report */
};

/* Reads them; they borrow the domain's disks. After wire_domain() only whether there is one
 * counts. */
void wire_facts_read(struct wire_facts *facts, const struct domain *domain);

/* Return: whether the guest has a place for a seed, its own or another's disk, the shim's, or
 * the URL at which its own is served. */
bool wire_facts_are_wired(const struct wire_facts *facts);

void wire_facts_clear(struct wire_facts *facts);

#define cleanup_wire_facts __attribute__((cleanup(wire_facts_clear)))

/* --- the report channel ------------------------------------------------------------- */

/* A virtio port by which the guest says how far cloud-init is, and a file of the host's where
 * QEMU writes it ("Consoles, serial, parallel & channel devices" in libvirt's documentation).
 * No guest needs it to boot with its seed. */

/* Return: the path of the domain's report, owned by the caller (free). */
char *wire_report_path(const char *uuid);

/* Return: whether the domain has the channel as wire_report() makes it: a file that is appended
 * to, its own report, of the virtio port. */
bool wire_report_is_there(const struct domain *domain);

/* Return: whether the domain has a channel of the user's own with the port's name. */
bool wire_report_is_by_user(const struct domain *domain);

/*
 * Return: whether one of the domain's devices leads into the directory of the reports, other
 * than a channel into the domain's own: by an attribute `path` or `file`, whatever "//" and
 * "/./" are in it. (By ".." or a link from elsewhere is not seen.)
 */
bool wire_report_is_of_another(const struct domain *domain);

/* Fails if it does, and says which device. */
int wire_report_check(const struct domain *domain, struct failure **failure);

/* --- the emulator shim -------------------------------------------------------------- */

/* Return: the shim's path for the domain's emulator, owned by the caller (free). */
char *wire_shim_emulator(const struct domain *domain);

/* Return: whether the shim, as the emulator, could give a guest what the request asks for. */
bool wire_shim_can(const struct request *request);

/*
 * The word that the shim must append to the user's serial; "" if none.
 * Return: a literal; or NULL for a serial that cannot have ours.
 */
const char *wire_shim_serial(const struct domain *domain, const struct request *request,
                             struct failure **failure);

/* --- foreign seeds -------------------------------------------------------------------- */

/* Disks that another tool gave the domain for cloud-init: two seeds in one guest would be a
 * race between them. */

/*
 * Return: by what the disk is known as another tool's seed, in words; or NULL. That is its
 * volume's label, where that was read (label_read_disks()); else, for cdroms, a name that VDSM,
 * virt-install, KubeVirt and people with cloud-localds give them.
 */
const char *foreign_seed_reason(const struct disk *disk);

/* --- the buses of a domain ------------------------------------------------------------ */

/* Return: whether the domain's machine has an IDE bus. */
bool wire_disk_has_ide(const struct domain *domain);

/* Where on a bus there is room for one more disk. */
struct drive_position {
    bool addressed; /* the bus has drive addresses; else libvirt finds the place */
    bool new_controller;
    struct drive_address address;
};

/*
 * Finds a free position, away from those that libvirt derives from the names of
 * targets, so that disks added later do not collide with it. On scsi it is on a
 * virtio-scsi controller, an existing one or a new one.
 */
int drives_find_position(const struct domain *domain, enum domain_bus bus,
                         struct drive_position *position, struct failure **failure);

/*
 * Return: a target's name that no disk has, after all others so that libvirt keeps the
 * order of the cdroms; owned by the caller (free).
 */
char *drives_free_target(const struct domain *domain, enum domain_bus bus,
                         const struct drive_address *address);

/* Return: whether a disk or a host device is on that controller. */
bool drives_controller_is_used(const struct domain *domain, enum domain_bus bus,
                               long controller);

/* --- the parts of wire_domain() ----------------------------------------------------- */

/* Removes foreign seeds, if `options` says so; else one is an error. */
int wire_remove_foreign(struct domain *domain, const struct wire_options *options,
                        struct wiring *wiring, struct failure **failure);

/*
 * Adds the disk, and its controller if it needs a new one; or repairs a disk that names
 * another domain's seed, as a clone's does. For a request without a disk, removes what an
 * earlier datasource has left.
 */
int wire_disk(struct domain *domain, const struct request *request, struct wiring *wiring,
              struct failure **failure);

void wire_remove_disk(struct domain *domain, struct wiring *wiring);

/* Adds our word to the serial, after what the user has set; nothing if the
 * request says serial="no" or the architecture has no SMBIOS. */
int wire_serial(struct domain *domain, const struct request *request,
                const struct wire_options *options, struct wiring *wiring,
                struct failure **failure);

void wire_remove_serial(struct domain *domain, struct wiring *wiring);

/* Adds the channel, with a controller if the domain has none for it; or repairs one that
 * names another domain's report. One that leads into our directory and is no file of the
 * guest's port gives way. Removes it if the request wants none. A channel of the user's
 * own with the port's name is left alone. */
void wire_report(struct domain *domain, const struct request *request,
                 struct wiring *wiring);

void wire_remove_report(struct domain *domain, struct wiring *wiring);
