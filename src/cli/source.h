/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The domain that a command is for: where it comes from (a file, standard input, or libvirt), how
 * it goes back there, and its seed. The operand is a file if it is "-", has a slash, or names an
 * existing file; --domain says that it is a domain.
 */
#pragma once

#include <stdbool.h>

#include <libvirt/libvirt.h>
#include <libxml/tree.h>

#include "cli/cli.h"
#include "domain/domain.h"
#include "domain/request.h"
#include "seed/seed.h"

struct source {
    const char *name;         /* of the file, NULL if it came from libvirt */
    virConnectPtr connection; /* NULL if it came from a file */
    virDomainPtr libvirt;     /* the same */
    char *text;               /* the definition as libvirt gave it, if it is to change */
    xmlDoc *doc;
    bool request_alone;   /* only the <cloud-init> element is to be written */
    struct domain domain; /* read from the document */
};

enum source_use {
    SOURCE_READ,   /* the definition, as any user may read it; this host's own */
    SOURCE_CHANGE, /* the definition with its passwords, to be defined again */
    SOURCE_DEVICE, /* the definition; a device of the domain as it runs is to change */
};

/* Reads the domain that the first operand names. */
int source_load(struct source *source, const struct context *context, enum source_use use,
                struct failure **failure);

/* Reads the domain of libvirt's of that name. */
int source_load_domain(struct source *source, const struct context *context,
                       const char *argument, enum source_use use,
                       struct failure **failure);

/* Reads the definition of a domain, to be changed; the source has the connection and the domain as
 * well as the caller. */
int source_load_definition(struct source *source, virConnectPtr connection,
                           virDomainPtr domain, struct failure **failure);

/* Reads into `running` the XML of the same domain as it runs, which must have come from
 * libvirt. */
int source_load_running(struct source *running, const struct source *source,
                        struct failure **failure);

/*
 * Defines the document in libvirt; for domains that came from there. libvirt takes every
 * definition, the last one stays. So it is read again before, and one that somebody else
 * has changed since source_load() is left alone; and after, to see that ours is there.
 */
int source_define(struct source *source, struct failure **failure);

/* The same if only the <cloud-init> element has changed: that alone is written. */
int source_set_request(struct source *source, struct failure **failure);

/* Writes the document to the file `output`, atomically; to standard output for NULL. */
int source_write(const struct source *source, const char *output,
                 struct failure **failure);

/*
 * Resolves the domain's request on this host, and makes the seed that the hook would make.
 * `request` gets what it was made of, for what is published with it; it borrows the domain.
 *
 * `denied` is where `dump` keeps the failure of a secret that the caller may not read: instead of
 * its content the document then has "<secret NAME/KEY>", and instead of a host key that is not
 * made yet PART_GENERATED_MASK; and so for all of them without `show_secrets`. With NULL such a
 * secret or key is a failure like any other.
 */
int source_make_seed(struct seed *seed, struct request *request,
                     const struct domain *domain, const struct context *context,
                     bool show_secrets, struct failure **denied,
                     struct failure **failure);

/* The same for the domain that the first operand names, which is loaded first. */
int source_load_seed(struct seed *seed, struct source *source,
                     const struct context *context, bool show_secrets,
                     struct failure **denied, struct failure **failure);

void source_clear(struct source *source);

#define cleanup_source __attribute__((cleanup(source_clear)))
