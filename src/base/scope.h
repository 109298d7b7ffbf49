/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where virt-seed's directories are, and whose: the system's (qemu:///system), or those of
 * a user's session (qemu:///session). All that differs between the two is in one table.
 *
 * How it works: a process has one scope, as it has one locale. It is the system's unless a
 * main chooses the session's, before it reads anything and while it has one thread. The
 * hook and the emulator shim follow the user they run as, the commands libvirt's URI, the
 * maker what the keeper says. Whatever the environment of each is, they find the same
 * directories, which a domain's XML names.
 */
#pragma once

#include "base/base.h"

struct scope {
    const char *uri;   /* of libvirt's daemon */
    const char *place; /* "in your session (qemu:///session)" */
    const char *aside; /* the same after a blank, or "" if that is obvious */

    const char *rundir;    /* seeds of running domains (host/rundir.h) */
    const char *reportdir; /* guests' reports and logs (host/report-file.h) */
    const char *statedir;  /* records, and logs that are kept (host/own-directory.h) */
    const char *domain_secrets; /* below it (host/domain-secret.h) */
    const char *confdir;        /* virt-seed.conf (host/config-files.h) */
    const char *files;          /* below it */
    const char *secrets;        /* below it (host/secret.h) */
    const char *trydir;         /* rehearsals (cli/rehearsal.h) */
    const char *definitions;    /* libvirt's own directory of them */
    /* libvirt's directories whose owners tell who may use it, and as whom QEMU runs; NULL if
     * the user alone does both. */
    const char *socketdir;
    const char *qemu_home;
    const char *pid_directory; /* with the process id of libvirt's daemon */

    /* Whose configuration comes first, and whose files are a default; NULL for nobody's. */
    const char *host_confdir;
    /* Where the metadata server reads; NULL if it serves none of these domains. */
    const char *imds_tree;
    /* A session's: directories of the user's that exist already, below which the others are.
     * `runtime` is NULL if there is none. The system's are NULL. */
    const char *home;
    const char *runtime;

    mode_t pass_mode;       /* of directories that QEMU's user passes through */
    mode_t conf_mode;       /* of the configuration's */
    uid_t owner;            /* of secrets */
    gid_t owner_group;      /* which may read them, too; (gid_t)-1: no group may */
    const char *owner_name; /* as messages say it */
    const char *own_hint; /* what to do about a file of somebody else's; then its path */
};

/* Return: the process's scope. */
const struct scope *scope(void);

/* Return: what to do if a permission is missing, a hint. */
const char *scope_denied_hint(void);

/*
 * Chooses the session of that user. The home is that of the user's line in /etc/passwd below
 * `root`, read without the modules of NSS; of a user without a line, $HOME, if it is absolute
 * and the user's. Seeds are below /run/user/UID if that is the user's and closed to others,
 * else below the home. Fails for root, and for a user without a home.
 */
int scope_use_session(int root, uid_t user, struct failure **failure);

/* Chooses a session by its directories, which another process has found: `runtime` may be
 * NULL. Return: whether both are absolute, plain paths. */
bool scope_use_directories(const char *home, const char *runtime);
