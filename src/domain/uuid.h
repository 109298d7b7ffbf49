/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UUIDs, as RFC 9562 makes them, in lower case as libvirt writes them. */
#pragma once

#include "base/base.h"

/* Reads the text as libvirt does (virUUIDParse), with dashes and spaces anywhere. Return:
 * whether it is a UUID; `uuid` gets it, or the part of it that could be read. */
bool uuid_read(char uuid[UUID_LENGTH + 1], const char *text);

/* A random one (version 4). */
void uuid_make(char uuid[UUID_LENGTH + 1]);

/* That of the name in the name space `space` (version 5), a UUID, or "" for the nil UUID. */
void uuid_make_of_name(char uuid[UUID_LENGTH + 1], const char *space, const char *name);
