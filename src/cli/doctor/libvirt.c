/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libvirt: its daemons, its domains, and how it runs QEMU. */
#include "config.h"

#include "base/fs.h"
#include "base/scope.h"
#include "cli/definition.h"
#include "cli/doctor/doctor.h"
#include "cli/libvirt.h"
#include "store/libvirt-daemon.h"

static char *
write_version(unsigned long version)
{
    return xasprintf("%lu.%lu.%lu", version / 1000000, version / 1000 % 1000,
                     version % 1000);
}

static void
say_versions(struct doctor *doctor)
{
    unsigned long libvirt = 0, qemu = 0;
    cleanup_free char *libvirt_text = NULL, *qemu_text = NULL;

    virConnectGetLibVersion(doctor->connection, &libvirt);
    virConnectGetVersion(doctor->connection, &qemu);
    libvirt_text = write_version(libvirt);
    qemu_text = write_version(qemu);
    doctor_add(doctor, DOCTOR_OK, "libvirt", NULL, "%s answers: libvirt %s, QEMU %s",
               doctor->daemon.name, libvirt_text, qemu > 0 ? qemu_text : "unknown");
}

static void
look_at_domains(struct doctor *doctor)
{
    virDomainPtr *domains = NULL;
    int count = virConnectListAllDomains(doctor->connection, &domains, 0);

    for (int i = 0; i < count; i++) {
        cleanup_definition struct definition running = {0};
        cleanup_request struct request request = {0};
        cleanup_failure struct failure *failure = NULL;
        const char *name = virDomainGetName(domains[i]);
        bool over_http = false;

        if (definition_load_running(&running, domains[i], &failure) == 0) {
            if (request_read(&request, &running.domain, &failure) == 0)
                over_http = request.datasource->over_http;
            if (!doctor->nocloud_net_domain && over_http)
                doctor->nocloud_net_domain = xstrdup(name);
            if (!doctor->shim_domain && domain_uses_shim(&running.domain))
                doctor->shim_domain = xstrdup(name);
        } else if (failure->code == FAILURE_LIBVIRT) {
            doctor_take(doctor, DOCTOR_UNKNOWN, "domains", &failure);
        }
        virDomainFree(domains[i]);
    }
    free(domains);
}

/* virtlogd writes the reports of wired guests, and limits their size. */
static void
check_report_writer(struct doctor *doctor)
{
    cleanup_free char *handler = NULL, *fix = NULL;
    const char *restart = doctor->systemd ? "&& systemctl restart" : "# and then restart";
    const char *enable = "virtlogd --daemon";
    int error = qemu_conf_get(doctor->root, "stdio_handler", &handler);
    struct stat status;

    if (error < 0) {
        doctor_unread(doctor, error, "stdio-handler",
                      VIRT_SEED_LIBVIRT_CONFDIR "/qemu.conf");
    } else if (handler && strcmp(handler, "file") == 0) {
        fix = xasprintf("sed -i 's/^ *stdio_handler/#&/' " VIRT_SEED_LIBVIRT_CONFDIR
                        "/qemu.conf %s %s",
                        restart, doctor->daemon.name);
        doctor_add(
            doctor, DOCTOR_PROBLEM, "stdio-handler", fix,
            "%s/qemu.conf says stdio_handler = \"file\": a guest may fill the disk "
            "that its report is on",
            VIRT_SEED_LIBVIRT_CONFDIR);
    } else if (doctor->daemon.pid > 0 &&
               fs_stat_in_root(doctor->root, VIRT_SEED_SOCKETDIR "/virtlogd-sock",
                               &status) == -ENOENT) {
        if (doctor->systemd)
            enable = "systemctl enable --now virtlogd.socket";
        doctor_add(doctor, DOCTOR_PROBLEM, "virtlogd", enable,
                   "%s/virtlogd-sock is missing: no domain can start",
                   VIRT_SEED_SOCKETDIR);
    } else if (doctor->daemon.pid > 0) {
        doctor_add(doctor, DOCTOR_OK, "virtlogd", NULL, "virtlogd writes the reports");
    }
}

/* Connects first, because that may start the daemon. */
static void
connect_to_libvirt(struct doctor *doctor)
{
    cleanup_failure struct failure *failure = NULL;
    const char *uri = doctor->context->uri;
    cleanup_free char *start = NULL;

    if (!uri && !getenv("LIBVIRT_DEFAULT_URI"))
        uri = scope()->uri;
    doctor->connection = libvirt_connect(uri, true, &failure);
    doctor->daemon = libvirt_daemon_find(doctor->root);
    if (doctor->connection && libvirt_require_own(doctor->connection, &failure) == 0)
        return;
    if (doctor->connection) {
        virConnectClose(steal(doctor->connection));
        doctor_take(doctor, DOCTOR_PROBLEM, "libvirt", &failure);
        return;
    }
    if (doctor->systemd)
        start = xasprintf("systemctl start %s", doctor->daemon.name);
    else
        start = xasprintf("%s --daemon", doctor->daemon.name);
    doctor_add(doctor, DOCTOR_PROBLEM, "libvirt", start, "%s", failure->message);
}

void
doctor_libvirt(struct doctor *doctor)
{
    if (doctor->live)
        connect_to_libvirt(doctor);
    else
        doctor->daemon = libvirt_daemon_find(doctor->root);
    if (doctor->connection) {
        say_versions(doctor);
        look_at_domains(doctor);
    }
    if (scope()->socketdir)
        check_report_writer(doctor);
}
