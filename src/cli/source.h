/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a subcommand's domain comes from: a file, standard input, or libvirt. The
 * operand is a file when it is "-", has a slash, or names an existing file; --domain
 * says that it is a domain.
 */
#pragma once

#include <stdbool.h>

#include <libvirt/libvirt.h>
#include <libxml/tree.h>

#include "cli/cli.h"
#include "domain/domain.h"

struct source {
    const char *name;         /* of the file, NULL where it came from libvirt */
    virConnectPtr connection; /* NULL where it came from a file */
    virDomainPtr libvirt;     /* the same */
    char *text; /* the definition as libvirt gave it, where it is to change */
    xmlDoc *doc;
    bool
        request_alone; /* of the document only the <cloud-init> element is to be written */
    struct domain domain; /* read from the document */
};

enum source_use {
    SOURCE_READ,   /* the definition, as any user may read it; this host's own */
    SOURCE_CHANGE, /* the definition with its passwords, to be defined anew */
    SOURCE_DEVICE, /* the definition; a device of the domain as it runs is to change */
};

/* Reads the domain that the first operand names. */
int source_load(struct source *source, const struct context *context, enum source_use use,
                struct failure **failure);

/* Reads the domain of libvirt's of that name. */
int source_load_domain(struct source *source, const struct context *context,
                       const char *argument, enum source_use use,
                       struct failure **failure);

/* Reads into `running` the XML of the same domain as it runs, which must have come from
 * libvirt. */
int source_load_running(struct source *running, const struct source *source,
                        struct failure **failure);

/* Return: whether the domain came from libvirt. */
bool source_is_domain(const struct source *source);

/*
 * Defines the document in libvirt; for domains that came from there. libvirt takes every
 * definition, the last one stays. So it is read again before, and one that somebody else
 * has changed since source_load() is left alone; and after, to see that ours is there.
 */
int source_define(struct source *source, struct failure **failure);

/* The same where the <cloud-init> element alone has changed: only that is written. */
int source_set_request(struct source *source, struct failure **failure);

/* Writes the document to the file `output`, atomically; to standard output for NULL. */
int source_write(const struct source *source, const char *output,
                 struct failure **failure);

void source_clear(struct source *source);

#define cleanup_source __attribute__((cleanup(source_clear)))
