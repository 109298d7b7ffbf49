/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The domain's XML that `virt-seed new` begins with: virt-install(1) writes it, for this
 * host's QEMU and the guest's system, without any disk. It is run once for all domains of a
 * command, because it takes a second.
 */
#pragma once

#include <libxml/tree.h>

#include "base/base.h"

/* Return: whether it is the name of one of libvirt's networks, and not words for
 * virt-install. */
bool machine_network_is_libvirts(const char *network);

/* Return: whether the words for virt-install have the option, which then replaces ours. */
bool machine_is_given(char *const *more, size_t count, const char *name);

/* Return: the given system, or else the first of the list, divided by blanks, that the
 * installed libosinfo knows; owned by the caller (free), or NULL. */
char *machine_choose_system(const char *given, const char *systems,
                            struct failure **failure);

/* Runs it with the options, each with its value, but for those that `more` has, and with
 * `more`. Return: the XML, owned by the caller (free), or NULL. */
char *machine_make(const char *const (*options)[2], size_t count, char *const *more,
                   size_t more_count, struct failure **failure);

/*
 * Makes the XML that of one of the domains: with that name and UUID, its own MACs unless it
 * is the first, and the disk as its first one. `file` is the disk's path, `format` its
 * format. Return: the document, owned by the caller (cleanup_xml), or NULL.
 */
xmlDoc *machine_name(const char *xml, const char *name, const char uuid[UUID_LENGTH + 1],
                     bool is_first, const char *file, const char *format,
                     struct failure **failure);
