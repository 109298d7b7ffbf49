/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The definition of the domain that a command is for: where it comes from (a file,
 * standard input, or libvirt), and its seed; change.h is for what changes it.
 *
 * The operand is a file if it is "-", has a slash or ends in ".xml", whatever exists; a
 * domain of such a name is given by its UUID. A file may also be what virt-install
 * --print-xml writes: two domains of the same name, of which the last is the definition.
 */
#pragma once

#include <libvirt/libvirt.h>

#include "cli/cli.h"
#include "domain/domain.h"
#include "domain/request.h"
#include "host/documents.h"

struct definition {
    const char *name;         /* of the file, NULL if it came from libvirt */
    virConnectPtr connection; /* NULL if it came from a file */
    virDomainPtr libvirt;     /* the same */
    char *text;               /* as libvirt gave it; NULL if it came from a file */
    xmlDoc *doc;
    bool request_alone;   /* only the <cloud-init> element is to be written */
    bool is_defined;      /* libvirt has the change, or may have it */
    struct domain domain; /* read from the document */
};

enum definition_use {
    DEFINITION_READ,   /* as any user may read it; this host's own */
    DEFINITION_CHANGE, /* with its passwords, to be defined again */
    DEFINITION_TRIAL,  /* to be changed, and not defined: as any user may read it */
    DEFINITION_DEVICE, /* a device of the domain as it runs is to change */
};

/* Return: whether such an operand names a file. */
bool definition_is_file(const char *operand);

/* Reads the definition of the domain that the first operand names. */
int definition_load(struct definition *definition, const struct context *context,
                    enum definition_use use, struct failure **failure);

/* Reads that of libvirt's domain of this name. */
int definition_load_domain(struct definition *definition, const struct context *context,
                           const char *argument, enum definition_use use,
                           struct failure **failure);

/* Reads the XML that libvirt's domain runs with, or, if it does not run, would be started
 * with; the domain's connection may be a read-only one. */
int definition_load_running(struct definition *running, virDomainPtr domain,
                            struct failure **failure);

/* Reads that of the domain, whose connection may be for any use. */
int definition_load_known(struct definition *definition, virDomainPtr domain,
                          struct failure **failure);

void definition_clear(struct definition *definition);

/* Fails if libvirt has no definition of the domain: it is transient. */
int definition_require(virDomainPtr domain, struct failure **failure);

#define cleanup_definition __attribute__((cleanup(definition_clear)))

/* --- several ---------------------------------------------------------------------- */

/* What the operands of a command stand for. */
struct operands {
    char **list; /* files as they were given, and names or UUIDs of domains */
    size_t count;
    bool is_incomplete; /* some stand for nothing, and that was printed */
};

/*
 * Expands the patterns among the operands of the command (libvirt_expand()). With a
 * connection, names of domains are looked up, too. One that is given twice counts once. An
 * operand that stands for nothing hides no other: that is printed, and is a failure only if
 * it is the only one.
 */
int operands_expand(struct operands *operands, const struct context *context,
                    virConnectPtr connection, struct failure **failure);

static inline void
operands_clear(struct operands *operands)
{
    texts_free(operands->list, operands->count);
}

#define cleanup_operands __attribute__((cleanup(operands_clear)))

/* Calls `run`, a command's, with each operand alone, and with each domain that a pattern
 * stands for. With several of them a failure is printed and the next one follows, unless
 * the command line is wrong. Return: the worst exit status, or -1 with a failure. */
int definition_each(const struct context *context, const void *options,
                    int (*run)(const struct context *context, const void *options,
                               struct failure **failure),
                    struct failure **failure);

/* Adds the UUIDs of libvirt's domains that ask for a seed, as they are defined; `flags` is
 * virConnectListAllDomains()'s. One that libvirt cannot send may ask, and is added: whoever
 * reads it says why. The list is texts_free()'s. */
int definition_list_asking(virConnectPtr connection, unsigned int flags, char ***uuids,
                           size_t *count, struct failure **failure);

/* --- its seed --------------------------------------------------------------------- */

/*
 * Resolves the domain's request on this host, and makes the seed that the hook would
 * make. `request` gets what it was made of, for what is published with it; it borrows the
 * domain.
 *
 * `denied` is where `dump` keeps the failure of a secret that the caller may not read:
 * instead of its content the document then has "<secret NAME/KEY>", and instead of a host
 * key that is not made yet PART_GENERATED_MASK; and so for all of them without
 * `show_secrets`. With NULL such a secret or key is a failure like any other.
 */
int definition_make_seed(struct seed *seed, struct request *request,
                         const struct domain *domain, const struct context *context,
                         bool show_secrets, struct failure **denied,
                         struct failure **failure);

/* The same for the domain that the first operand names, whose definition is loaded
 * first. */
int definition_load_seed(struct seed *seed, struct request *request,
                         struct definition *definition, const struct context *context,
                         bool show_secrets, struct failure **denied,
                         struct failure **failure);
