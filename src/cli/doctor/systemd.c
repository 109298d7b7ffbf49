/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cli/doctor/doctor.h"

void
systemd_unit_clear(struct systemd_unit *unit)
{
    free(unit->active_state);
    free(unit->file_state);
    *unit = (struct systemd_unit){0};
}

#if HAVE_LIBSYSTEMD

#include <systemd/sd-bus.h>

#define SYSTEMD "org.freedesktop.systemd1"
#define UNITS "/org/freedesktop/systemd1/unit"
#define ANSWER_SECONDS 5
#define MICROSECONDS 1000000ULL

static void
bus_pointer(sd_bus **bus)
{
    sd_bus_flush_close_unref(*bus);
}

#define cleanup_bus __attribute__((cleanup(bus_pointer)))

static void
ask_systemd(struct systemd_unit *unit, const char *name)
{
    cleanup_bus sd_bus *bus = NULL;
    cleanup_free char *path = NULL;

    if (sd_bus_open_system(&bus) < 0 || sd_bus_path_encode(UNITS, name, &path) < 0)
        return;
    sd_bus_set_method_call_timeout(bus, ANSWER_SECONDS * MICROSECONDS);
    if (sd_bus_get_property_string(bus, SYSTEMD, path, SYSTEMD ".Unit", "ActiveState",
                                   NULL, &unit->active_state) < 0)
        return;
    sd_bus_get_property_string(bus, SYSTEMD, path, SYSTEMD ".Unit", "UnitFileState", NULL,
                               &unit->file_state);
    sd_bus_get_property_trivial(bus, SYSTEMD, path, SYSTEMD ".Unit",
                                "StateChangeTimestamp", NULL, 't', &unit->changed);
}

#endif

void
systemd_unit_read(struct systemd_unit *unit, const char *name)
{
    *unit = (struct systemd_unit){0};
#if HAVE_LIBSYSTEMD
    ask_systemd(unit, name);
#endif
}
