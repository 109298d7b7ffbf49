/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `virt-seed doctor` looks at: a file for each subject. Each function adds what it
 * has found to the list, including what is right, and changes nothing. Each problem and
 * each suggestion comes with one thing to do about it.
 *
 * Files are looked for below the root, which tests set. Running programs (libvirt,
 * systemd, the metadata server) are only asked if that is the host's own root.
 */
#pragma once

#include <jansson.h>
#include <libvirt/libvirt.h>

#include "cli/cli.h"
#include "store/configuration.h"
#include "store/libvirt-daemon.h"

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_NOTE,    /* right for some hosts, but good to know */
    DOCTOR_UNKNOWN, /* whether it is right could not be seen */
    DOCTOR_PROBLEM,
};

struct doctor {
    const struct context *context; /* borrowed */
    int root;                      /* the host's "/"; borrowed */
    uid_t owner;                   /* of the root, and of everything below it */
    bool live;                     /* the root is this host's own */
    bool systemd;                  /* it runs, and can be asked */
    struct config config;
    virConnectPtr connection; /* NULL if libvirt does not answer */
    struct libvirt_daemon daemon;
    /* The name of a domain with datasource="nocloud-net", and of one whose emulator is
     * the shim; NULL if there is none, or libvirt does not answer. Owned. */
    char *nocloud_net_domain;
    char *shim_domain;
    json_t *diagnoses; /* as --json prints them; owned */
    size_t problems;
    char **unseen; /* what only root can see */
    size_t unseen_count;
};

/* Adds a diagnosis. `subject` is a word from virt-seed-doctor(1), which does not change; `fix`
 * is a command or a few words, NULL with DOCTOR_OK. */
void doctor_add(struct doctor *doctor, enum doctor_state state, const char *subject,
                const char *fix, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds the failure, if there is one, with its hint as the fix. Return: whether there was
 * one. */
bool doctor_take(struct doctor *doctor, enum doctor_state state, const char *subject,
                 struct failure **failure);

/* Notes what the caller may not see: the end of "only root can see …". */
void doctor_unseen(struct doctor *doctor, const char *what);
/* The same if the error (errno or -errno) means that; any other error is a problem. */
void doctor_unread(struct doctor *doctor, int error, const char *subject,
                   const char *path);

/* --- systemd ------------------------------------------------------------------- */

/* A text is NULL if it is not known: systemd cannot be asked, or virt-seed was built
 * without its library. */
struct systemd_unit {
    char *active_state; /* "active", "inactive", "failed", "activating", … */
    char *file_state;   /* "enabled", "disabled", …; "" if there is no file */
    uint64_t changed;   /* its state, in microseconds since 1970; 0 if not known */
};

/* Asks for the unit, such as "libvirtd.service". */
void systemd_unit_read(struct systemd_unit *unit, const char *name);
void systemd_unit_clear(struct systemd_unit *unit);

#define cleanup_systemd_unit __attribute__((cleanup(systemd_unit_clear)))

/* --- the subjects --------------------------------------------------------------- */

void doctor_libvirt(struct doctor *doctor);
void doctor_hook(struct doctor *doctor);
void doctor_files(struct doctor *doctor);
void doctor_user(struct doctor *doctor);
void doctor_apparmor(struct doctor *doctor);
void doctor_selinux(struct doctor *doctor);
void doctor_server(struct doctor *doctor);
