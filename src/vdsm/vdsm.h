/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VDSM's hook: what VDSM hands to it, and what it makes of it. */
#pragma once

#include <sys/stat.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "domain/domain.h"

/* --- the exchange file ------------------------------------------------------------ */

/*
 * VDSM's exchange file: the domain's XML, which all hooks of one point read and may
 * replace, one after the other. VDSM makes it with mkstemp(3), names it in
 * "_hook_domxml", and reads it again by that name (lib/vdsm/common/hooks.py).
 */
struct exchange {
    const char *path;   /* borrowed from the environment */
    const char *name;   /* its last component */
    int directory;      /* the one it is in; owned */
    struct stat status; /* of the file as it was read */
    struct buffer text;
};

/* Reads the file; one that is no regular file, not the caller's own, or that the caller
 * may not write is refused. */
int exchange_read(struct exchange *exchange, struct failure **failure);

/* Gives the file another content, whole or not at all; owner, group and mode stay. */
int exchange_replace(const struct exchange *exchange, const char *text, size_t size,
                     struct failure **failure);

void exchange_clear(struct exchange *exchange);

#define EXCHANGE_NONE ((struct exchange){.directory = -1})
#define cleanup_exchange __attribute__((cleanup(exchange_clear)))

/* --- the custom property ---------------------------------------------------------- */

/*
 * The custom property "cloudinit", which VDSM puts into the environment of its hooks: in
 * base64, a <cloud-init> element, or a user-data.
 */
#define PROPERTY_NAME "cloudinit"

/*
 * Writes what the property's `value` asks for into the domain's <metadata>, where
 * libvirt's hook finds it. A domain that asks for the same already stays as it is; one
 * that asks for something else is an error. Nothing of the value is in any message.
 */
int property_write(struct domain *domain, const char *value, struct failure **failure);
