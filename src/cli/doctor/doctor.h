/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `virt-seed doctor` looks at: a file for each subject. Each function adds what it has found
 * to the list, also what is as it should be; nothing is changed. What is wrong, or could be
 * better, comes with the one thing to do about it.
 *
 * Files are looked for below the root, which tests set. What runs (libvirt, systemd, the metadata
 * server) is asked on the host's own root alone.
 */
#pragma once

#include <stdbool.h>

#include <libvirt/libvirt.h>

#include "base/failure.h"
#include "cli/cli.h"
#include "store/configuration.h"
#include "store/libvirt-host.h"

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_NOTE,    /* right for some hosts, and worth knowing */
    DOCTOR_UNKNOWN, /* it could not be seen whether it is right */
    DOCTOR_PROBLEM,
};

struct diagnosis {
    enum doctor_state state;
    const char *subject; /* a word of virt-seed(1)'s list: stable */
    char *message;
    char *fix; /* what to do; NULL for what is as it should be */
};

struct doctor {
    const struct context *context; /* borrowed */
    int root;                      /* the host's "/"; borrowed */
    uid_t owner;                   /* of the root, whom all of it must belong to */
    bool live;                     /* the root is this host's own */
    bool systemd;                  /* which may be asked */
    struct config config;
    virConnectPtr connection; /* NULL if libvirt does not answer */
    struct libvirt_daemon daemon;
    /* Of libvirt's domains: the name of one that asks for a seed over the network, and of one
     * whose emulator is the shim; NULL if there is none, or nobody knows. Owned. */
    char *served;
    char *by_shim;
    struct diagnosis *list;
    size_t count;
    size_t problems;
    char **unseen; /* what takes root to see */
    size_t unseen_count;
};

void doctor_begin(struct doctor *doctor, const struct context *context);
void doctor_clear(struct doctor *doctor);

#define cleanup_doctor __attribute__((cleanup(doctor_clear)))

/* Adds a diagnosis. `fix` is a command, or what to do in a few words; NULL with DOCTOR_OK. */
void doctor_add(struct doctor *doctor, enum doctor_state state, const char *subject,
                const char *fix, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds the failure, if there is one, with its hint as what to do. Return: whether there was. */
bool doctor_take(struct doctor *doctor, enum doctor_state state, const char *subject,
                 struct failure **failure);

/* Notes what the caller may not see, without root: the end of "it takes root to see …". */
void doctor_unseen(struct doctor *doctor, const char *what);
/* The same if that is what the error (errno, or -errno) means; anything else is a problem. */
void doctor_unread(struct doctor *doctor, int error, const char *subject,
                   const char *path);

/* Return: the command for one of libvirt's daemons or virt-seed's unit, owned by the caller
 * (free): "systemctl ACTION UNIT". */
char *doctor_systemctl(const char *action, const char *unit);

/* --- the subjects --------------------------------------------------------------- */

void doctor_libvirt(struct doctor *doctor);
void doctor_hook(struct doctor *doctor);
void doctor_files(struct doctor *doctor);
void doctor_confinement(struct doctor *doctor);
void doctor_server(struct doctor *doctor);
void doctor_leftovers(struct doctor *doctor);
void doctor_others(struct doctor *doctor);
