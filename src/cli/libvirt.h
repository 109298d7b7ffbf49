/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libvirt's API with our way of saying what failed. */
#pragma once

#include <libvirt/libvirt.h>

#include "cli/cli.h"

/* Return: a connection, owned by the caller (virConnectClose), or NULL. If libvirt's
 * event loop was registered before, a daemon that no longer answers closes it within a
 * minute. */
virConnectPtr libvirt_connect(const char *uri, bool read_only, struct failure **failure);

/* The same for a command that reads this host's files: fails if the daemon runs on another
 * host. */
virConnectPtr libvirt_connect_here(const struct context *context, bool read_only,
                                   struct failure **failure);

static inline void
libvirt_close_pointer(virConnectPtr *connection)
{
    if (*connection)
        virConnectClose(*connection);
}

#define cleanup_connection __attribute__((cleanup(libvirt_close_pointer)))

static inline void
libvirt_free_pointer(virDomainPtr *domain)
{
    if (*domain)
        virDomainFree(*domain);
}

#define cleanup_libvirt_domain __attribute__((cleanup(libvirt_free_pointer)))

/*
 * Chooses the scope that the URI, or libvirt's own default, is for. Of a remote host, only
 * the system's directories are known. An ordinary user without a home has no session by
 * default.
 */
int libvirt_choose_scope(const struct context *context, struct failure **failure);

/* Return: whether the daemon runs on another host; not without a connection. */
bool libvirt_is_remote(virConnectPtr connection);

/* Fails if the daemon runs on another host, whose secrets and files are not ours to
 * read. */
int libvirt_require_local(virConnectPtr connection, struct failure **failure);

/* Fails unless it is this host's daemon for QEMU, of the scope, whose hooks run: any other
 * knows none of the domains that have files here. */
int libvirt_require_own(virConnectPtr connection, struct failure **failure);

/* Return: the domain of that UUID or name, owned by the caller (virDomainFree), or
 * NULL. */
virDomainPtr libvirt_find_domain(virConnectPtr connection, const char *name,
                                 struct failure **failure);

/* Return: whether the name may be a pattern of names (fnmatch(3)). */
bool libvirt_is_pattern(const char *name);

/*
 * Adds the UUIDs of the domains that the operand stands for to the list: of the domain with
 * that name or UUID, whatever its name looks like, or else of those whose names match the
 * pattern, sorted by name; but for those that are in the list. Fails if there is none. NULL
 * stands for all domains, if any.
 */
int libvirt_expand(virConnectPtr connection, const char *operand, char ***uuids,
                   size_t *count, struct failure **failure);

/*
 * Return: when the snapshot was taken from which the domain's guest continues, -1 if that
 * is not known; 0 if it is not from a snapshot, as far as libvirt knows: it forgets that
 * when the domain is suspended.
 */
time_t libvirt_snapshot_time(virDomainPtr domain);

/* Sets the failure of virDomainCreate() as libvirt's last error: our hook's message is in
 * the middle of libvirt's. Return: -1. */
int libvirt_fail_start(const char *name, struct failure **failure);

/* Sets a failure with libvirt's last error after the message. Return: -1. */
int libvirt_fail(struct failure **failure, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
