/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
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
#include <systemd/sd-journal.h>

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
journal_pointer(sd_journal **journal)
{
    sd_journal_close(*journal);
}

#define cleanup_journal __attribute__((cleanup(journal_pointer)))

/* Return: the system's bus, or NULL. */
static sd_bus *
open_bus(void)
{
    sd_bus *bus = NULL;

    if (sd_bus_open_system(&bus) < 0)
        return NULL;
    sd_bus_set_method_call_timeout(bus, ANSWER_SECONDS * MICROSECONDS);
    return bus;
}

void
systemd_unit_read(struct systemd_unit *unit, const char *name)
{
    cleanup_bus sd_bus *bus = open_bus();
    cleanup_free char *path = NULL;

    *unit = (struct systemd_unit){0};
    if (!bus || sd_bus_path_encode(UNITS, name, &path) < 0)
        return;
    if (sd_bus_get_property_string(bus, SYSTEMD, path, SYSTEMD ".Unit", "ActiveState",
                                   NULL, &unit->active_state) >= 0)
        sd_bus_get_property_string(bus, SYSTEMD, path, SYSTEMD ".Unit", "UnitFileState",
                                   NULL, &unit->file_state);
}

/* Selects the entries of systemd's that have all of these fields; the array ends with
 * NULL. Return: whether that worked. */
static bool
match_systemd(sd_journal *journal, const char *const fields[])
{
    sd_journal_flush_matches(journal);
    if (sd_journal_add_match(journal, "_PID=1", 0) < 0)
        return false;
    for (size_t i = 0; fields[i]; i++) {
        if (sd_journal_add_match(journal, fields[i], 0) < 0)
            return false;
    }
    return true;
}

int
systemd_reloaded_since(const char *name, const struct timespec *since)
{
    cleanup_journal sd_journal *journal = NULL;
    cleanup_free char *unit = xasprintf("UNIT=%s", name);
    /* systemd logs the end of each of its jobs, by these fields. */
    const char *const reload[] = {unit, "JOB_TYPE=reload", "JOB_RESULT=done", NULL};
    const char *const any[] = {NULL};
    const uint64_t start =
        (uint64_t)since->tv_sec * MICROSECONDS + (uint64_t)since->tv_nsec / 1000;
    uint64_t last = 0, first = UINT64_MAX;

    if (sd_journal_open(&journal, SD_JOURNAL_LOCAL_ONLY) < 0)
        return -1;
    if (match_systemd(journal, reload) && sd_journal_seek_tail(journal) >= 0 &&
        sd_journal_previous(journal) > 0)
        sd_journal_get_realtime_usec(journal, &last);
    if (last >= start)
        return 1;
    /* How far it reaches back is judged by systemd's own messages: others may be older,
     * or be all that the caller may read. */
    if (match_systemd(journal, any) && sd_journal_seek_head(journal) >= 0 &&
        sd_journal_next(journal) > 0)
        sd_journal_get_realtime_usec(journal, &first);
    return first <= start ? 0 : -1;
}

#else

void
systemd_unit_read(struct systemd_unit *unit, const char *name)
{
    *unit = (struct systemd_unit){0};
}

int
systemd_reloaded_since(const char *name, const struct timespec *since)
{
    return -1;
}

#endif
