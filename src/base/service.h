/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that systemd runs as a service. Only such programs include this: they link
 * libsystemd, if there is one. */
#pragma once

#if HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>
#endif

/* Tells the service manager, if there is one, the state in sd_notify(3)'s words. */
static inline void
service_notify(const char *state)
{
#if HAVE_LIBSYSTEMD
    sd_notify(0, state);
#endif
}
