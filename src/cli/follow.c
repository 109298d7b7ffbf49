/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: inotify watches the file that is read, by its descriptor, because the
 * caller may not be allowed to enter the directory, and so that a file that virtlogd
 * renames stays watched. At each event, whatever it is, the report is read to its end
 * (store/report-file.h), and then the next file, if there is one, is watched.
 *
 * A domain may stop before the last words of its guest arrive: when libvirt says that it
 * has stopped, the hook has removed the file, and virtlogd may still be writing to it. So
 * the end is passed on a moment later.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/process.h"
#include "cli/follow.h"
#include "cli/libvirt.h"

/* How much of a report is read at once, before other events get their turn. */
#define TURN MIB
#define CHUNK (64 * KIB)

/* When virtlogd has renamed the file, it makes the next one within microseconds. */
#define RETRY_MILLISECONDS 5
#define RETRIES 200

/* By then virtlogd has written the guest's last words, which it had when QEMU ended. */
#define END_MILLISECONDS 100

/* --- reading ---------------------------------------------------------------------- */

/* Watches the file that is read now. Return: whether it is a different one, -1 on
 * failure. */
static int
watch_file(struct followed *followed, struct failure **failure)
{
    cleanup_free char *path = xasprintf("/proc/self/fd/%d", followed->reader.file);
    int notifier = followed->follow->notifier;
    int watch;

    if (followed->reader.file < 0)
        return 0;
    watch = inotify_add_watch(notifier, path, IN_MODIFY | IN_MOVE_SELF | IN_ATTRIB);
    if (watch < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not watch the report\n"
                                 "see that /proc is there, and the limits: sysctl "
                                 "fs.inotify");
    if (watch == followed->watch)
        return 0;
    if (followed->watch >= 0)
        inotify_rm_watch(notifier, followed->watch);
    followed->watch = watch;
    followed->retries = 0;
    return 1;
}

/* Return: how many bytes were read, at least `limit` if there may be more; -1 on
 * failure. */
static ssize_t
read_turn(struct followed *followed, size_t limit, struct failure **failure)
{
    cleanup_free char *chunk = xmalloc(CHUNK);
    size_t total = 0;

    while (total < limit) {
        ssize_t count = report_reader_read(&followed->reader, chunk, CHUNK, failure);
        int another = count == 0 ? watch_file(followed, failure) : 0;

        if (count < 0 || another < 0)
            return -1;
        /* Something may have been written before the file was watched: read again. */
        if (count == 0 && !another)
            break;
        for (size_t taken = 0; taken < (size_t)count;) {
            bool news;

            taken += guest_report_feed(&followed->report, chunk + taken,
                                       (size_t)count - taken, &news);
            if (news && followed->lifecycle >= 0)
                followed->follow->events->said(followed);
        }
        total += (size_t)count;
    }
    return (ssize_t)total;
}

static void
read_on(struct followed *followed)
{
    struct failure *failure = NULL;
    ssize_t count = read_turn(followed, TURN, &failure);

    if (count < 0)
        followed->follow->events->failed(followed, failure);
    else if ((size_t)count >= TURN)
        virEventUpdateTimeout(followed->read_timer, 0);
}

/* --- inotify ---------------------------------------------------------------------- */

static void
handle_read_timer(int timer, void *data)
{
    struct followed *followed = data;

    if (followed->retries > 0)
        followed->retries--;
    virEventUpdateTimeout(timer, followed->retries > 0 ? RETRY_MILLISECONDS : -1);
    read_on(followed);
}

static void
handle_notifier(int handle, int fd, int events, void *data)
{
    _Alignas(struct inotify_event) char buffer[4096];
    ssize_t size = read(fd, buffer, sizeof(buffer));
    const struct inotify_event *event;
    struct follow *follow = data;

    (void)handle;
    (void)events;
    for (ssize_t at = 0; at < size; at += (ssize_t)(sizeof(*event) + event->len)) {
        event = (const void *)(buffer + at);
        for (size_t i = 0; i < follow->count; i++) {
            struct followed *followed = follow->list[i];
            int watch = followed->watch;

            /* After an overflow, any domain's events may have been lost. */
            if (watch != event->wd && !(event->mask & IN_Q_OVERFLOW))
                continue;
            read_on(followed);
            if (event->mask & (IN_MOVE_SELF | IN_Q_OVERFLOW) &&
                followed->watch == watch) {
                followed->retries = RETRIES;
                virEventUpdateTimeout(followed->read_timer, RETRY_MILLISECONDS);
            }
        }
    }
}

/* --- libvirt ---------------------------------------------------------------------- */

static void
handle_stop_timer(int timer, void *data)
{
    struct followed *followed = data;

    if (!followed->stopping)
        return;
    followed->stopping = false;
    virEventUpdateTimeout(timer, -1);
    read_on(followed);
    followed->follow->events->stopped(followed, followed->detail);
}

static void
handle_lifecycle(virConnectPtr connection, virDomainPtr domain, int event, int detail,
                 void *data)
{
    struct followed *followed = data;

    (void)connection;
    (void)domain;
    if (event == VIR_DOMAIN_EVENT_STARTED) {
        handle_stop_timer(followed->stop_timer, followed);
        followed->follow->events->started(followed, detail);
        read_on(followed);
        followed->follow->events->begun(followed);
    } else if (event == VIR_DOMAIN_EVENT_STOPPED) {
        followed->stopping = true;
        followed->detail = detail;
        virEventUpdateTimeout(followed->stop_timer, END_MILLISECONDS);
        read_on(followed);
    }
}

static void
handle_close(virConnectPtr connection, int reason, void *data)
{
    struct follow *follow = data;

    (void)connection;
    (void)reason;
    follow->lost = true;
}

static void
handle_signal(int handle, int fd, int events, void *data)
{
    struct follow *follow = data;
    struct signalfd_siginfo info;

    (void)handle;
    (void)events;
    if (read(fd, &info, sizeof(info)) == sizeof(info))
        follow->signal = (int)info.ssi_signo;
}

/* --- adding ----------------------------------------------------------------------- */

struct followed *
follow_add(struct follow *follow, const char *name, struct failure **failure)
{
    virDomainPtr domain = libvirt_find_domain(follow->connection, name, failure);
    char uuid[VIR_UUID_STRING_BUFLEN];
    struct followed *followed;
    int lifecycle;

    if (!domain)
        return NULL;
    virDomainGetUUIDString(domain, uuid);
    for (size_t i = 0; i < follow->count; i++) {
        if (strcmp(follow->list[i]->uuid, uuid) == 0) {
            virDomainFree(domain);
            return follow->list[i];
        }
    }
    followed = xcalloc(1, sizeof(*followed));
    *followed = (struct followed){
        .follow = follow,
        .domain = domain,
        .report = GUEST_REPORT_EMPTY,
        .watch = -1,
        .lifecycle = -1,
        .read_timer = virEventAddTimeout(-1, handle_read_timer, followed, NULL),
        .stop_timer = virEventAddTimeout(-1, handle_stop_timer, followed, NULL),
    };
    snprintf(followed->uuid, sizeof(followed->uuid), "%s", uuid);
    report_reader_init(&followed->reader, follow->root, uuid);
    *array_add(follow->list, follow->count) = followed;
    /* The events first, so that nothing is missed before the report is read. */
    lifecycle = virConnectDomainEventRegisterAny(
        follow->connection, domain, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
        VIR_DOMAIN_EVENT_CALLBACK(handle_lifecycle), followed, NULL);
    if (lifecycle < 0) {
        libvirt_fail(failure, "could not follow domain '%s'", virDomainGetName(domain));
        return NULL;
    }
    followed->has_run = virDomainIsActive(domain) == 1;
    if (read_turn(followed, LIMIT_REPORT_FILE, failure) < 0) {
        virConnectDomainEventDeregisterAny(follow->connection, lifecycle);
        failure_prefix(failure, "domain '%s'", virDomainGetName(domain));
        return NULL;
    }
    followed->lifecycle = lifecycle;
    return followed;
}

/* --- running ---------------------------------------------------------------------- */

int
follow_open(struct follow *follow, const struct follow_events *events, const char *uri,
            int root, struct failure **failure)
{
    follow->events = events;
    follow->root = root;
    follow->notifier = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (follow->notifier < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not begin to watch files");
    if (virEventRegisterDefaultImpl() < 0)
        return libvirt_fail(failure, "could not begin to wait");
    follow->connection = libvirt_connect(uri, true, failure);
    if (!follow->connection || libvirt_require_local(follow->connection, failure) < 0)
        return -1;
    virConnectRegisterCloseCallback(follow->connection, handle_close, follow, NULL);
    follow->notifier_handle = virEventAddHandle(
        follow->notifier, VIR_EVENT_HANDLE_READABLE, handle_notifier, follow, NULL);
    if (follow->notifier_handle < 0)
        return libvirt_fail(failure, "could not begin to wait");
    return 0;
}

/* From here on, these signals only end the waiting; on failure, all keep their usual
 * effect. */
static void
catch_signals(struct follow *follow)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, 0};

    sigprocmask(SIG_SETMASK, NULL, &follow->signals_before);
    follow->signals = process_catch_signals(ending);
    if (follow->signals < 0)
        return;
    follow->signals_handle = virEventAddHandle(follow->signals, VIR_EVENT_HANDLE_READABLE,
                                               handle_signal, follow, NULL);
    if (follow->signals_handle < 0)
        sigprocmask(SIG_SETMASK, &follow->signals_before, NULL);
}

int
follow_run(struct follow *follow, struct failure **failure)
{
    catch_signals(follow);
    while (!follow->over && follow->signal == 0) {
        if (virEventRunDefaultImpl() < 0)
            return libvirt_fail(failure, "could not wait");
        if (follow->lost && !follow->over)
            return failure_set(failure, FAILURE_LIBVIRT_MISSING,
                               "libvirt's daemon has closed the connection\n"
                               "wait again when it is back; the reports go on meanwhile");
    }
    return 0;
}

void
follow_close(struct follow *follow)
{
    /* After a signal, nothing is asked of a daemon that may not answer. */
    bool asks = follow->signal == 0;

    for (size_t i = 0; i < follow->count; i++) {
        struct followed *followed = follow->list[i];

        if (followed->lifecycle >= 0 && asks)
            virConnectDomainEventDeregisterAny(follow->connection, followed->lifecycle);
        virEventRemoveTimeout(followed->read_timer);
        virEventRemoveTimeout(followed->stop_timer);
        report_reader_clear(&followed->reader);
        guest_report_clear(&followed->report);
        virDomainFree(followed->domain);
        free(followed);
    }
    free(follow->list);
    if (follow->notifier_handle >= 0)
        virEventRemoveHandle(follow->notifier_handle);
    if (follow->signals_handle >= 0)
        virEventRemoveHandle(follow->signals_handle);
    if (follow->connection && asks) {
        virConnectUnregisterCloseCallback(follow->connection, handle_close);
        virConnectClose(follow->connection);
    }
    close_pointer(&follow->notifier);
    if (follow->signals >= 0)
        sigprocmask(SIG_SETMASK, &follow->signals_before, NULL);
    close_pointer(&follow->signals);
}
