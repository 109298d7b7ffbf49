/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a guest gets its seed: a row for each way, in a file deliver-NAME.c. The ways are
 * the drive that the domain is wired with, the disk that the emulator shim adds, and the
 * metadata server. The request and the domain's XML decide which one.
 *
 * Where a seed is on the host is another question (storage.h), with two answers, an image
 * or documents: what has become of a domain since its start, or whether it has ended, is
 * asked without its XML, and the seed's file tells. So drive and shim share a storage,
 * which each row points to.
 *
 * What happens to a domain's seed after it is made goes through the row: the hook
 * makes what it publishes, `update` and `wait --scrub` replace it in a running guest, `check`
 * asks whether the host can deliver it. Removing it, and reading it back, is the storage's.
 */
#pragma once

#include "domain/domain.h"
#include "domain/request.h"
#include "host/documents.h"
#include "host/publication.h"
#include "host/storage.h"
#include "store/configuration.h"
#include "wire/wire.h"

/* The start that a seed is made for, or the running guest whose seed is replaced;
 * everything is borrowed. */
struct delivery_start {
    const struct domain *domain;    /* wired; at a start without its <cloud-init> */
    const struct wire_facts *facts; /* before wiring */
    const struct request *request;  /* that the seed was made of */
};

/* A running guest, through libvirt; the command provides these functions. */
struct delivery_guest {
    void *data;
    /* Return: whether libvirt says that the domain is no longer running. */
    bool (*has_ended)(void *data);
    /* Writes the <cloud-init> element into the running domain's XML. */
    int (*set_request)(void *data, const xmlNode *request, struct failure **failure);
    /* Changes the device by force; a failure says that libvirt could not do `what`. */
    int (*update_device)(void *data, const char *xml, const char *what,
                         struct failure **failure);
    /* Checks with libvirt that the seed's disk has its medium. */
    int (*check_medium)(void *data, struct failure **failure);
};

/* A replacement of a running guest's seed; everything is borrowed. */
struct replacement {
    int root;
    int rundir; /* locked against parallel replacements */
    const struct delivery_guest *guest;
    const struct domain *running;  /* the domain as it runs */
    const struct request *request; /* that the seed was made of */
    struct seed *seed;
};

struct delivery {
    const struct storage *storage;
    const char *wiring; /* what a wired domain has: "disk", "address" */

    /* Refuses a host that cannot deliver a seed to a booting guest; may be NULL. Accepts
     * it if the caller lacks the permission to find out. */
    int (*check_host)(int root, struct failure **failure);
    /* Refuses a server that does not answer at the address; NULL if the way needs none. A
     * start has the keeper look instead (host/need.h). */
    int (*check_server)(const char *address, struct failure **failure);

    /* Return: who writes the guest's report, and its log if it has one. */
    enum report_writer (*reporter)(const struct delivery_start *start);

    /* Makes what is to be published, which borrows the seed. */
    int (*make)(const struct delivery_start *start, const struct seed *seed,
                struct publication *publication, struct failure **failure);

    /* Fails if a running guest's seed cannot be replaced; if it always fails, the next
     * two are not called. */
    int (*check_replace)(const struct domain *running, struct failure **failure);
    /* Return: whether the guest can read its seed: no replacement was interrupted. */
    bool (*is_readable)(int root, const struct domain *running);
    /* Replaces the seed. `published` gets its inode (storage_inode()) as soon as it has
     * one. On failure the domain has its old seed, or the message says what it has. */
    int (*replace)(const struct replacement *replacement, ino_t *published,
                   struct failure **failure);
};

extern const struct delivery delivery_imds;
extern const struct delivery delivery_shim;
extern const struct delivery delivery_drive;

/* Return: how a domain with such a request, and with the emulator shim or without, gets
 * its seed. */
const struct delivery *delivery_for(const struct request *request, bool uses_shim);

/* Return: how a domain with such facts is wired, or NULL. */
const struct delivery *delivery_wired(const struct wire_facts *facts);

/* Return: how the guest got its seed, according to its running XML; the drive if the XML
 * does not tell, which the drive's check_replace() then reports. */
const struct delivery *delivery_of_running(const struct domain *running);

/*
 * Return: whether a guest may boot although check_server() has failed: one that keeps what it
 * has read (cache="keep"); and where unwired = warn, which people set to return to running
 * snapshots. But not if another user answers in the server's place (FAILURE_IMDS_USER).
 */
bool delivery_may_lack_server(const struct request *request, const struct config *config);

/* Replaces the seed and the request of a running guest, after check_replace() and
 * through its row's replace(). */
int delivery_replace(const struct replacement *replacement, struct failure **failure);

/* For the rows: reporter() for a domain with the channels in its XML. virtlogd writes the
 * report and the log, as root. */
enum report_writer delivery_reporter(const struct delivery_start *start);
