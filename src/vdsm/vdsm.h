/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VDSM's hook: the file that VDSM exchanges with it, and the custom property. */
#pragma once

#include <sys/stat.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "domain/domain.h"

/* --- the exchange file ------------------------------------------------------------ */

/*
 * VDSM's exchange file: the domain's XML, which each hook in turn may read and replace.
 * VDSM creates it with mkstemp(3), passes its path in "_hook_domxml", and reads it back
 * from there (lib/vdsm/common/hooks.py).
 */
struct exchange {
    const char *path;   /* borrowed from the environment */
    const char *name;   /* its last component */
    int directory;      /* that it is in; owned */
    struct stat status; /* of the file when it was read */
    struct buffer text;
};

/* Reads the file; it must be a regular file that the caller owns and may write. */
int exchange_read(struct exchange *exchange, struct failure **failure);

/* Replaces the file's content atomically; owner, group and mode stay. */
int exchange_replace(const struct exchange *exchange, const char *text,
                     struct failure **failure);

void exchange_clear(struct exchange *exchange);

#define EXCHANGE_NONE ((struct exchange){.directory = -1})
#define cleanup_exchange __attribute__((cleanup(exchange_clear)))

/* --- the custom property ---------------------------------------------------------- */

/*
 * The custom property "cloudinit", which VDSM passes to its hooks in the environment: a
 * <cloud-init> element or user-data, in base64.
 */
#define PROPERTY_NAME "cloudinit"

/*
 * Writes the request from the property's `value` into the domain's <metadata>, where
 * libvirt's hook finds it. A domain that already has the same request stays unchanged; a
 * different one is an error. No message contains any of the value.
 */
int property_write(struct domain *domain, const char *value, struct failure **failure);
