/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a guest gets at its seed: a row for each way, in a file deliver-NAME.c. The drive
 * that the domain is wired with, the disk that the emulator shim adds, and the metadata
 * server. Where the seed lies on the host is its storage's (storage.h), to which the row
 * points.
 *
 * What happens to a seed after it is made goes through its row: the hook publishes it,
 * `update` and `wait --scrub` replace it in a guest that runs, `check` asks whether the
 * host can deliver.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/failure.h"
#include "domain/documents.h"
#include "domain/domain.h"
#include "domain/request.h"
#include "store/storage.h"
#include "wire/wire.h"

/* What is published for a start; all of it is borrowed. */
struct delivery_start {
    int root;                       /* the host's "/" */
    int rundir;                     /* rundir_open() */
    bool resumes;                   /* the guest that was saved or migrated */
    const struct domain *domain;    /* once it was wired */
    const struct wire_facts *facts; /* before that */
    const struct request *request;  /* that the seed was made of */
};

/* A guest that runs, as far as libvirt must be asked for it: the command sets this. */
struct delivery_guest {
    void *data;
    /* Return: whether libvirt says that the domain runs no more. */
    bool (*has_ended)(void *data);
    /* Writes the <cloud-init> element into the XML as it runs. */
    int (*set_request)(void *data, const xmlNode *request, struct failure **failure);
    /* Changes the device, by force; a failure says that libvirt could not do `what`. */
    int (*update_device)(void *data, const char *xml, const char *what,
                         struct failure **failure);
    /* Reads by libvirt's own word whether the seed's disk has its medium. */
    int (*check_inserted)(void *data, struct failure **failure);
};

/* What is being replaced; all of it is borrowed. */
struct replacement {
    int root;
    int rundir; /* locked: two at once wait for each other */
    const struct delivery_guest *guest;
    const struct domain *running;  /* the domain as it runs */
    const struct request *request; /* that the seed was made of */
    struct seed *seed;
};

struct delivery {
    const struct storage *storage;
    bool may_resume_without; /* a guest that is resumed may do without its seed */
    const char *incomplete;  /* what it means if publish() leaves something out */

    /* Return: whether a domain with such a request gets its seed this way. */
    bool (*is_for)(const struct request *request, const struct domain *domain);

    /* Return: whether the domain's XML leads its guest to a seed delivered this way. */
    bool (*is_wired)(const struct wire_facts *facts);

    /* Refuses a host that cannot deliver it to a guest that boots; may be NULL. Where the
     * caller may not look, it may be that it can. */
    int (*check_host)(int root, struct failure **failure);
    /* Refuses a server that does not answer at the address; NULL if there is none. */
    int (*check_server)(const char *address, struct failure **failure);

    /* Makes the file that the guest's report goes to, if the guest is to report; that of
     * a guest that is resumed stays. */
    int (*make_report)(const struct delivery_start *start, struct failure **failure);

    /* Puts the seed there, in place of what was there of the domain; the seed may get
     * more documents. What cannot be said this way is left out, and `left_out` says why.
     */
    int (*publish)(const struct delivery_start *start, struct seed *seed,
                   struct failure **left_out, struct failure **failure);

    /* Fails if the seed of a running guest cannot be replaced; where it always fails the
     * two after it are NULL. */
    int (*check_replace)(const struct domain *running, struct failure **failure);
    /* Return: whether the guest can read what is there; no replacement was cut off. */
    bool (*is_readable)(int root, const struct domain *running);
    /* Replaces it. On failure the domain has its old seed, or the message says what it
     * has. */
    int (*replace)(const struct replacement *replacement, struct failure **failure);
};

/* A new one is a row of deliveries[], too, before those that are for the same domains. */
extern const struct delivery delivery_server;
extern const struct delivery delivery_shim;
extern const struct delivery delivery_drive;

/* Return: how a domain with such a request gets its seed. */
const struct delivery *delivery_for(const struct request *request,
                                    const struct domain *domain);

/* Return: how the guest got its seed, by the XML that it runs with; the drive if that
 * says nothing, which is for its check_replace() to say. */
const struct delivery *delivery_of_running(const struct domain *running);

/* --- for the rows: a start -------------------------------------------------------- */

/* The make_report() of a domain whose XML has the report channel: virtlogd writes it, as
 * root. */
int delivery_make_report(const struct delivery_start *start, struct failure **failure);

/* Writes the image, UUID.iso, for QEMU's user. */
int delivery_publish_image(int root, int rundir, const char *uuid,
                           const struct seed *seed, struct failure **failure);

/* --- for the rows: a replacement -------------------------------------------------- */

/* Writes the request into the XML as it runs; that goes first: if libvirt does not take
 * it, nothing has changed yet. */
int replace_request(const struct replacement *replacement, struct failure **failure);

/* Writes the old one again. */
void replace_request_back(const struct replacement *replacement);

/* Return: the inode of the name in the run-time directory, by which one sees whether it
 * is still what was published; 0 if there is none. */
ino_t replace_find_inode(const struct replacement *replacement, const char *name);

/* If the domain has ended meanwhile, adds that to the failure. Return: whether it has. */
bool replace_has_ended(const struct replacement *replacement, struct failure **failure);
