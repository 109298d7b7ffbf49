/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: inotify watches the file that is read, by its descriptor, because the
 * caller may not be allowed to enter the directory, and so that a file that virtlogd
 * renames stays watched. At each event, whatever it is, the report is read to its end
 * (host/report-file.h), and then the next file, if there is one, is watched.
 *
 * A domain may stop before the last words of its guest arrive: when libvirt says that it
 * has stopped, the hook has removed the file, and virtlogd may still be writing to it. So
 * the end is passed on a moment later.
 */
#include "config.h"

#include <sys/inotify.h>
#include <sys/signalfd.h>

#include "base/process.h"
#include "cli/libvirt.h"
#include "cli/waiting.h"
#include "store/guest-report.h"

/* How much of a report is read at once, before other events get their turn. */
#define TURN MIB
#define CHUNK (64 * KIB)

/* When virtlogd has renamed the file, it makes the next one within microseconds. */
#define RETRY_MILLISECONDS 5
#define RETRIES 200

/* By then virtlogd has written the guest's last words, which it had when QEMU ended. */
#define END_MILLISECONDS 100

/* Watches the file that is read now. Return: whether it is a different one, -1 on
 * failure. */
static int
watch_file(struct guest *guest, struct failure **failure)
{
    cleanup_free char *path = xasprintf("/proc/self/fd/%d", guest->reader.file);
    int notifier = guest->waiting->notifier;
    int watch;

    if (guest->reader.file < 0)
        return 0;
    watch = inotify_add_watch(notifier, path, IN_MODIFY | IN_MOVE_SELF | IN_ATTRIB);
    if (watch < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not watch the report\n"
                                 "see that /proc is there, and the limits: sysctl "
                                 "fs.inotify");
    if (watch == guest->watch)
        return 0;
    if (guest->watch >= 0)
        inotify_rm_watch(notifier, guest->watch);
    guest->watch = watch;
    guest->retries = 0;
    return 1;
}

/* Return: how many bytes were read, at least `limit` if there may be more; -1 on
 * failure. */
static ssize_t
read_turn(struct guest *guest, size_t limit, struct failure **failure)
{
    cleanup_free char *chunk = xmalloc(CHUNK);
    size_t total = 0;

    while (total < limit) {
        ssize_t count = report_reader_read(&guest->reader, chunk, CHUNK, failure);
        int another = count == 0 ? watch_file(guest, failure) : 0;

        if (count < 0 || another < 0)
            return -1;
        /* Something may have been written before the file was watched: read again. */
        if (count == 0 && !another)
            break;
        for (size_t taken = 0; taken < (size_t)count;) {
            bool news;

            taken += guest_report_feed(&guest->report, chunk + taken,
                                       (size_t)count - taken, &news);
            if (news && guest->lifecycle >= 0)
                waiting_on_report(guest);
        }
        total += (size_t)count;
    }
    return (ssize_t)total;
}

static void
read_on(struct guest *guest)
{
    cleanup_failure struct failure *failure = NULL;
    ssize_t count = read_turn(guest, TURN, &failure);

    if (count < 0)
        waiting_on_failure(guest, &failure);
    else if ((size_t)count >= TURN)
        virEventUpdateTimeout(guest->read_timer, 0);
}

static void
handle_read_timer(int timer, void *data)
{
    struct guest *guest = data;

    if (guest->retries > 0)
        guest->retries--;
    virEventUpdateTimeout(timer, guest->retries > 0 ? RETRY_MILLISECONDS : -1);
    read_on(guest);
}

static void
handle_notifier(int handle, int fd, int events, void *data)
{
    _Alignas(struct inotify_event) char buffer[4096];
    ssize_t size = read(fd, buffer, sizeof(buffer));
    const struct inotify_event *event;
    struct waiting *waiting = data;

    for (ssize_t at = 0; at < size; at += (ssize_t)(sizeof(*event) + event->len)) {
        event = (const void *)(buffer + at);
        for (size_t i = 0; i < waiting->count; i++) {
            struct guest *guest = waiting->guests[i];
            int watch = guest->watch;

            /* After an overflow, any domain's events may have been lost. */
            if (watch != event->wd && !(event->mask & IN_Q_OVERFLOW))
                continue;
            read_on(guest);
            if (event->mask & (IN_MOVE_SELF | IN_Q_OVERFLOW) && guest->watch == watch) {
                guest->retries = RETRIES;
                virEventUpdateTimeout(guest->read_timer, RETRY_MILLISECONDS);
            }
        }
    }
}

static void
handle_stop_timer(int timer, void *data)
{
    struct guest *guest = data;

    if (!guest->stopping)
        return;
    guest->stopping = false;
    virEventUpdateTimeout(timer, -1);
    read_on(guest);
    waiting_on_stop(guest, guest->detail);
}

static void
handle_lifecycle(virConnectPtr connection, virDomainPtr domain, int event, int detail,
                 void *data)
{
    struct guest *guest = data;

    if (event == VIR_DOMAIN_EVENT_STARTED) {
        handle_stop_timer(guest->stop_timer, guest);
        waiting_on_start(guest, detail);
        read_on(guest);
        waiting_on_run(guest);
    } else if (event == VIR_DOMAIN_EVENT_STOPPED) {
        guest->stopping = true;
        guest->detail = detail;
        virEventUpdateTimeout(guest->stop_timer, END_MILLISECONDS);
        read_on(guest);
    }
}

static void
handle_close(virConnectPtr connection, int reason, void *data)
{
    struct waiting *waiting = data;

    waiting->lost = true;
}

static void
handle_signal(int handle, int fd, int events, void *data)
{
    struct waiting *waiting = data;
    struct signalfd_siginfo info;

    if (read(fd, &info, sizeof(info)) == sizeof(info))
        waiting->signal = (int)info.ssi_signo;
}

int
follow_add(struct guest *guest, struct failure **failure)
{
    virConnectPtr connection = guest->waiting->connection;
    int lifecycle;

    guest->report = GUEST_REPORT_EMPTY;
    guest->watch = -1;
    guest->lifecycle = -1;
    guest->read_timer = virEventAddTimeout(-1, handle_read_timer, guest, NULL);
    guest->stop_timer = virEventAddTimeout(-1, handle_stop_timer, guest, NULL);
    guest->reader = (struct report_reader){
        .root = guest->waiting->context->root, .uuid = guest->uuid, .file = -1};
    /* The events first, so that nothing is missed before the report is read. */
    lifecycle = virConnectDomainEventRegisterAny(
        connection, guest->domain, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
        VIR_DOMAIN_EVENT_CALLBACK(handle_lifecycle), guest, NULL);
    if (lifecycle < 0)
        return libvirt_fail(failure, "could not follow domain '%s'",
                            virDomainGetName(guest->domain));
    guest->has_run = virDomainIsActive(guest->domain) == 1;
    if (read_turn(guest, LIMIT_REPORT_FILE, failure) < 0) {
        virConnectDomainEventDeregisterAny(connection, lifecycle);
        return failure_prefix(failure, "domain '%s'", virDomainGetName(guest->domain));
    }
    guest->lifecycle = lifecycle;
    return 0;
}

int
follow_open(struct waiting *waiting, struct failure **failure)
{
    waiting->notifier = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (waiting->notifier < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not begin to watch files");
    if (virEventRegisterDefaultImpl() < 0)
        return libvirt_fail(failure, "could not begin to wait");
    waiting->connection = libvirt_connect_here(waiting->context, true, failure);
    if (!waiting->connection)
        return -1;
    virConnectRegisterCloseCallback(waiting->connection, handle_close, waiting, NULL);
    waiting->notifier_handle = virEventAddHandle(
        waiting->notifier, VIR_EVENT_HANDLE_READABLE, handle_notifier, waiting, NULL);
    if (waiting->notifier_handle < 0)
        return libvirt_fail(failure, "could not begin to wait");
    return 0;
}

/* From here on, these signals only end the waiting; on failure, all keep their usual
 * effect. */
static void
catch_signals(struct waiting *waiting)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, 0};

    sigprocmask(SIG_SETMASK, NULL, &waiting->signals_before);
    waiting->signals = process_catch_signals(ending);
    if (waiting->signals < 0)
        return;
    waiting->signals_handle = virEventAddHandle(
        waiting->signals, VIR_EVENT_HANDLE_READABLE, handle_signal, waiting, NULL);
    if (waiting->signals_handle < 0)
        sigprocmask(SIG_SETMASK, &waiting->signals_before, NULL);
}

int
follow_run(struct waiting *waiting, struct failure **failure)
{
    catch_signals(waiting);
    while (!waiting->is_finished && waiting->signal == 0) {
        if (virEventRunDefaultImpl() < 0)
            return libvirt_fail(failure, "could not wait");
        if (waiting->lost && !waiting->is_finished)
            return failure_set(failure, FAILURE_LIBVIRT_MISSING,
                               "libvirt's daemon has closed the connection\n"
                               "run wait again once it is back; no reports are lost");
    }
    return 0;
}

void
follow_close(struct waiting *waiting)
{
    /* After a signal, nothing is asked of a daemon that may not answer. */
    bool can_ask = waiting->signal == 0;

    for (size_t i = 0; i < waiting->count; i++) {
        struct guest *guest = waiting->guests[i];

        if (guest->lifecycle >= 0 && can_ask)
            virConnectDomainEventDeregisterAny(waiting->connection, guest->lifecycle);
        virEventRemoveTimeout(guest->read_timer);
        virEventRemoveTimeout(guest->stop_timer);
        close_pointer(&guest->reader.file);
        guest_report_clear(&guest->report);
    }
    if (waiting->notifier_handle >= 0)
        virEventRemoveHandle(waiting->notifier_handle);
    if (waiting->signals_handle >= 0)
        virEventRemoveHandle(waiting->signals_handle);
    if (waiting->connection && can_ask) {
        virConnectUnregisterCloseCallback(waiting->connection, handle_close);
        virConnectClose(waiting->connection);
    }
    close_pointer(&waiting->notifier);
    if (waiting->signals >= 0)
        sigprocmask(SIG_SETMASK, &waiting->signals_before, NULL);
    close_pointer(&waiting->signals);
}
