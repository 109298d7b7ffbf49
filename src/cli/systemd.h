/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What systemd knows of a unit; and firewalld, who is on the same bus. */
#pragma once

#include <stdbool.h>
#include <time.h>

/* What is not known is NULL: systemd cannot be asked, or virt-seed was built without its library. */
struct systemd_unit {
    char *active_state; /* "active", "inactive", "failed", "activating", … */
    char *file_state;   /* "enabled", "disabled", …; "" if there is no file */
    pid_t main_pid;     /* of a service; 0 if none runs */
};

/* Return: whether it is systemd that runs this host. */
bool systemd_is_running(void);

/* Asks for the unit, such as "libvirtd.service". */
void systemd_unit_read(struct systemd_unit *unit, const char *name);
void systemd_unit_clear(struct systemd_unit *unit);

#define cleanup_systemd_unit __attribute__((cleanup(systemd_unit_clear)))

/* Looks for a reload of the unit after that time in the journal. A signal that did not come from
 * systemd is not in it. Return: 1 if there was one, 0 if not, and -1 if nobody knows: what the
 * caller may read of the journal does not reach back to that time. */
int systemd_reloaded_since(const char *name, const struct timespec *since);

enum firewalld {
    FIREWALLD_OFF,
    FIREWALLD_OPEN,   /* the service may be reached from that zone */
    FIREWALLD_CLOSED, /* it may not, or firewalld does not say */
};

/* Asks firewalld, over the system's bus, about a service such as "http". */
enum firewalld firewalld_ask(const char *zone, const char *service);
