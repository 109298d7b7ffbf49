/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libvirt says which definitions come, change and go. An event only notes
 * the domain's UUID; what is done with the domain is in watch-wiring.c and
 * watch-leftovers.c.
 *
 * Nothing else is remembered of a domain: whatever was missed while libvirt's daemon was
 * away is seen when all definitions are looked at. Only an undefined domain is missed;
 * `virt-seed gc` is for those.
 */
#include "config.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <libvirt/libvirt.h>

#include "base/memory.h"
#include "base/process.h"
#include "base/service.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/libvirt.h"
#include "cli/watch.h"
#include "domain/vocabulary.h"

/* A daemon that is restarted comes back soon; one that stays away is asked now and
 * then. */
#define RECONNECT_MILLISECONDS 200
#define RECONNECT_MILLISECONDS_MOST 5000

/* --- the log ------------------------------------------------------------------------ */

/* On standard error; the journal takes the beginning of the line for a priority. */
void
watch_log(enum watch_priority priority, const char *format, ...)
{
    cleanup_free char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = xvasprintf(format, arguments);
    va_end(arguments);
    if (getenv("JOURNAL_STREAM"))
        print_outside_line(stderr, "<%d>%s", priority, text);
    else
        print_outside_line(stderr, "virt-seed: %s", text);
}

/* --- libvirt's events --------------------------------------------------------------- */

static void
handle_lifecycle(virConnectPtr connection, virDomainPtr domain, int event, int detail,
                 void *data)
{
    struct watch *watch = data;
    char uuid[VIR_UUID_STRING_BUFLEN];

    (void)connection;
    if (virDomainGetUUIDString(domain, uuid) < 0)
        return;
    if (event == VIR_DOMAIN_EVENT_DEFINED || event == VIR_DOMAIN_EVENT_STARTED)
        watch_leftovers_note_here(watch, uuid);
    if (event == VIR_DOMAIN_EVENT_DEFINED)
        watch_wiring_note(watch, uuid, true);
    else if (event == VIR_DOMAIN_EVENT_UNDEFINED &&
             detail != VIR_DOMAIN_EVENT_UNDEFINED_RENAMED)
        watch_leftovers_note_undefined(watch, uuid);
    else if (event == VIR_DOMAIN_EVENT_STOPPED)
        watch_leftovers_note_stopped(watch, uuid, detail);
}

/* `virsh metadata` defines nothing, and may be how a domain comes to ask. */
static void
handle_metadata(virConnectPtr connection, virDomainPtr domain, int type,
                const char *namespace, void *data)
{
    char uuid[VIR_UUID_STRING_BUFLEN];

    (void)connection;
    if (type == VIR_DOMAIN_METADATA_ELEMENT && namespace &&
        strcmp(namespace, REQUEST_NAMESPACE) == 0 &&
        virDomainGetUUIDString(domain, uuid) == 0)
        watch_wiring_note(data, uuid, false);
}

static void
handle_close(virConnectPtr connection, int reason, void *data)
{
    struct watch *watch = data;

    (void)connection;
    (void)reason;
    watch->lost = true;
}

/* --- connecting --------------------------------------------------------------------- */

static void
disconnect(struct watch *watch)
{
    if (!watch->connection)
        return;
    if (watch->lifecycle >= 0)
        virConnectDomainEventDeregisterAny(watch->connection, watch->lifecycle);
    if (watch->metadata >= 0)
        virConnectDomainEventDeregisterAny(watch->connection, watch->metadata);
    watch->lifecycle = watch->metadata = -1;
    virConnectUnregisterCloseCallback(watch->connection, handle_close);
    virConnectClose(watch->connection);
    watch->connection = NULL;
    watch->lost = false;
    watch_wiring_clear(watch);
}

/* The events first, so that what happens while the definitions are listed is not
 * missed. */
static int
listen_to_events(struct watch *watch, struct failure **failure)
{
    virConnectPtr connection = watch->connection;

    virConnectRegisterCloseCallback(connection, handle_close, watch, NULL);
    watch->lifecycle = virConnectDomainEventRegisterAny(
        connection, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
        VIR_DOMAIN_EVENT_CALLBACK(handle_lifecycle), watch, NULL);
    watch->metadata = virConnectDomainEventRegisterAny(
        connection, NULL, VIR_DOMAIN_EVENT_ID_METADATA_CHANGE,
        VIR_DOMAIN_EVENT_CALLBACK(handle_metadata), watch, NULL);
    if (watch->lifecycle < 0 || watch->metadata < 0)
        return libvirt_fail(failure, "could not listen to libvirt's events");
    return watch_wiring_list(watch, failure);
}

/* Connects, or schedules another attempt. Return: 0, or -1 if that cannot help. */
static int
connect_to_libvirt(struct watch *watch, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;

    watch->must_connect = false;
    watch->connection = libvirt_connect(watch->context->uri, false, &reason);
    if (watch->connection && libvirt_require_system(watch->connection, failure) < 0)
        return -1;
    if (watch->connection && listen_to_events(watch, &reason) == 0) {
        free(watch->problem);
        watch->problem = NULL;
        watch->connect_delay = RECONNECT_MILLISECONDS;
        return 0;
    }
    disconnect(watch);
    /* The same is said once. */
    if (!watch->problem || strcmp(watch->problem, reason->message) != 0) {
        watch_log(WATCH_ERROR, "%s; trying again", reason->message);
        free(watch->problem);
        watch->problem = xstrdup(reason->message);
    }
    service_notify("STATUS=Waiting for libvirt's daemon");
    virEventUpdateTimeout(watch->connect_timer, watch->connect_delay);
    watch->connect_delay = watch->connect_delay * 2 < RECONNECT_MILLISECONDS_MOST
                               ? watch->connect_delay * 2
                               : RECONNECT_MILLISECONDS_MOST;
    return 0;
}

static void
handle_connect_timer(int timer, void *data)
{
    struct watch *watch = data;

    virEventUpdateTimeout(timer, -1);
    watch->must_connect = true;
}

/* --- the command -------------------------------------------------------------------- */

static void
handle_signal(int handle, int fd, int events, void *data)
{
    struct signalfd_siginfo info;
    struct watch *watch = data;

    (void)handle;
    (void)events;
    watch->ending = watch->ending || read(fd, &info, sizeof(info)) == sizeof(info);
}

static int
catch_signals(struct watch *watch, struct failure **failure)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, 0};

    watch->signals = process_catch_signals(ending);
    if (watch->signals < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, watch->signals,
                                 "could not begin to wait for signals");
    if (virEventAddHandle(watch->signals, VIR_EVENT_HANDLE_READABLE, handle_signal, watch,
                          NULL) < 0)
        return libvirt_fail(failure, "could not begin to wait for signals");
    return 0;
}

static int
run_watch(struct watch *watch, struct failure **failure)
{
    if (virEventRegisterDefaultImpl() < 0)
        return libvirt_fail(failure, "could not begin to wait");
    if (catch_signals(watch, failure) < 0)
        return -1;
    watch_wiring_open(watch);
    watch->connect_timer = virEventAddTimeout(-1, handle_connect_timer, watch, NULL);
    if (connect_to_libvirt(watch, failure) < 0)
        return -1;
    service_notify("READY=1");
    while (!watch->ending) {
        if (virEventRunDefaultImpl() < 0)
            return libvirt_fail(failure, "could not wait");
        if (watch->lost) {
            watch_log(WATCH_INFO, "libvirt's daemon has closed the connection");
            disconnect(watch);
            virEventUpdateTimeout(watch->connect_timer, watch->connect_delay);
        }
        if (watch->must_connect && connect_to_libvirt(watch, failure) < 0)
            return -1;
    }
    service_notify("STOPPING=1");
    return 0;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    struct watch watch = {
        .context = context,
        .connect_delay = RECONNECT_MILLISECONDS,
        .signals = -1,
        .lifecycle = -1,
        .metadata = -1,
    };
    int result = run_watch(&watch, failure);

    (void)data;
    disconnect(&watch);
    watch_wiring_clear(&watch);
    watch_leftovers_clear(&watch);
    free(watch.problem);
    close_pointer(&watch.signals);
    return result;
}

const struct command cmd_watch = {
    .name = "watch",
    .summary = "wire domains as soon as they are defined (a daemon)",
    .help =
        "Listens to libvirt, and wires each domain that asks for cloud-init as soon as\n"
        "it is defined, so that its first start works. At its start, and when libvirt's\n"
        "daemon comes back, it looks at all definitions. When a domain is undefined, it\n"
        "removes what virt-seed keeps of it. virt-seed-watch.service runs it, if that is\n"
        "enabled.\n",
    .run = run,
};
