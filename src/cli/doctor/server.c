/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metadata server: whether guests get their seeds from it. It is asked as a guest
 * would ask, because only its answer counts. */
#include "config.h"

#include "base/fs.h"
#include "cli/doctor/doctor.h"
#include "store/delivery.h"
#include "store/imds-check.h"

#define SUBJECT "metadata-server"
#define PROGRAM VIRT_SEED_SBINDIR "/virt-seed-imds"
#define SOCKET "virt-seed-imds.socket"
#define SERVICE "virt-seed-imds.service"
#define ENABLE "systemctl enable --now " SOCKET " " SERVICE

static bool
is_state(const char *state, const char *word)
{
    return state && strcmp(state, word) == 0;
}

/* Adds the state of the units if it explains why nobody answers. Return: whether it
 * does. */
static bool
blame_units(struct doctor *doctor, enum imds_health health,
            const struct systemd_unit *socket, const struct systemd_unit *service)
{
    if (!socket->active_state || !service->active_state)
        return false;
    if (!imds_health_is_silent(health) && !is_state(socket->active_state, "active"))
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, ENABLE,
                   SOCKET " is %s: nothing listens for guests", socket->active_state);
    else if (!is_state(service->active_state, "active") &&
             !is_state(service->active_state, "inactive"))
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, "journalctl -u " SERVICE,
                   SERVICE " is %s: guests get no answer", service->active_state);
    else
        return false;
    return true;
}

/* Return: the command for the server's state. The address's unit stays active if somebody
 * removes the address. */
static const char *
find_fix(enum imds_health health)
{
    if (health == IMDS_ABSENT)
        return ENABLE;
    if (health == IMDS_UNKNOWN)
        return "systemctl restart virt-seed-imds-address.service";
    return "journalctl -u " SERVICE;
}

/* Looks at the units last: systemd calls a unit that does not exist "inactive", and a
 * server may run without its unit. */
static void
check_wanted(struct doctor *doctor, enum imds_health health,
             const struct failure *failure, const struct systemd_unit *socket,
             const struct systemd_unit *service)
{
    const bool listens = health == IMDS_HEALTHY || imds_health_is_silent(health);
    cleanup_failure struct failure *mistake = NULL;
    struct stat status;

    /* Installing it does not help if somebody else listens at its address. */
    if (!listens && doctor->nocloud_net_domain &&
        fs_stat_in_root(doctor->root, PROGRAM, &status) == -ENOENT) {
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT,
                   "install virt-seed's metadata server (package virt-seed-imds)",
                   "domain '%s' asks for datasource=\"nocloud-net\", and %s is missing",
                   doctor->nocloud_net_domain, PROGRAM);
        return;
    }
    if (doctor->nocloud_net_domain &&
        delivery_imds.check_host(doctor->root, &mistake) < 0)
        failure_prefix(&mistake, "domain '%s'", doctor->nocloud_net_domain);
    doctor_take(doctor, DOCTOR_PROBLEM, SUBJECT, &mistake);
    if (health != IMDS_HEALTHY) {
        if (!blame_units(doctor, health, socket, service))
            doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, find_fix(health), "%s",
                       failure->message);
    } else if (doctor->systemd && !socket->active_state) {
        doctor_add(doctor, DOCTOR_UNKNOWN, SUBJECT, "systemctl status " SOCKET,
                   "systemd does not report the state of " SOCKET);
    } else if (is_state(socket->file_state, "disabled")) {
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, ENABLE,
                   SOCKET " is not enabled: guests that start after the host's next boot "
                          "get no seed");
    }
}

void
doctor_server(struct doctor *doctor)
{
    cleanup_systemd_unit struct systemd_unit socket = {0}, service = {0};
    cleanup_failure struct failure *failure = NULL;
    const char *address = doctor->config.imds_address;
    enum imds_health health;
    bool wanted;

    /* Without an address, the configuration has a mistake, which is already reported. */
    if (!doctor->live || !address)
        return;
    if (doctor->systemd) {
        systemd_unit_read(&socket, SOCKET);
        systemd_unit_read(&service, SERVICE);
    }
    wanted = doctor->nocloud_net_domain || is_state(socket.active_state, "active") ||
             is_state(socket.file_state, "enabled");
    health = imds_health_ask(address, &failure);
    if (health == IMDS_HEALTHY)
        doctor_add(doctor, DOCTOR_OK, SUBJECT, NULL, "the metadata server answers at %s",
                   address);
    /* Nothing helps our server while another one has its address. */
    if (imds_health_is_foreign(health)) {
        doctor_take(doctor, wanted ? DOCTOR_PROBLEM : DOCTOR_NOTE, SUBJECT, &failure);
    } else if (wanted) {
        check_wanted(doctor, health, failure, &socket, &service);
    } else if (imds_health_is_silent(health)) {
        /* It is in the way of our server, even if that is not needed yet. */
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, find_fix(health), "%s",
                   failure->message);
    } else if (health != IMDS_HEALTHY) {
        doctor_add(doctor, DOCTOR_OK, SUBJECT, NULL,
                   "no metadata server runs, and no domain needs one");
    }
}
