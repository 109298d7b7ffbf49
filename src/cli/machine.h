/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The domain's XML that `virt-seed new` begins with: virt-install(1) writes it, for this
 * host's QEMU and the guest's system, without any disk. It is run once for all domains of a
 * command, because it takes a second.
 */
#pragma once

#include <libxml/tree.h>

#include "base/base.h"

struct machine_options {
    const char *uri;
    const char *name;
    const char *memory; /* MiB */
    const char *cpus;
    const char *network; /* a libvirt network's name, or words for virt-install */
    const char *osinfo;  /* one identifier, or NULL */
    const char *systems; /* else the first of these that is known, divided by blanks */
    char **more;         /* options for virt-install */
    size_t more_count;
};

/* Return: whether it is the name of one of libvirt's networks, and not words for
 * virt-install. */
bool machine_network_is_libvirts(const char *network);

/* Return: whether the words for virt-install have the option, which then replaces ours. */
bool machine_is_given(char *const *more, size_t count, const char *name);

/* Return: the XML, owned by the caller (free), or NULL. */
char *machine_make(const struct machine_options *options, struct failure **failure);

/*
 * Makes the XML that of one of the domains: with that name and UUID, its own MACs unless it
 * is the first, and the disk as its first one. `file` is the disk's path, `format` its
 * format. Return: the document, owned by the caller (cleanup_xml), or NULL.
 */
xmlDoc *machine_name(const char *xml, const char *name, const char uuid[UUID_LENGTH + 1],
                     bool is_first, const char *file, const char *format,
                     struct failure **failure);
