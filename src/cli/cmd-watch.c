/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: libvirt says which definitions come, change and go. An event only notes
 * the domain's UUID; a timer, which runs out in milliseconds, takes one domain after
 * another and wires it (cli/definition.h). What has just been defined goes before what is
 * looked at because the daemon was connected. Wiring is itself an event: the domain
 * is looked at once more, and found wired.
 *
 * Nothing else is remembered of a domain: whatever was missed while libvirt's daemon was
 * away is seen when all definitions are looked at. That a domain was undefined meanwhile
 * is not seen, `virt-seed gc` is for those.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#if HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>
#endif
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "base/fs.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/libvirt.h"
#include "domain/vocabulary.h"
#include "store/leftovers.h"

/* A daemon that is started again comes back soon; one that stays away is asked now and
 * then. */
#define RECONNECT_MILLISECONDS 200
#define RECONNECT_MILLISECONDS_MOST 5000

/* `virt-seed gc` keeps for so long what a domain left here that is on another host now. */
#define MIGRATED_MILLISECONDS (INT64_C(7) * 24 * 60 * 60 * 1000)

/* Some undefine a domain to define it again: until then its host key stays. */
#define UNDEFINED_MILLISECONDS 5000

/* If a domain must be wired so often within that time, something keeps unwiring it: it is
 * left alone for the rest of that time. */
#define WIRINGS 50
#define WIRINGS_MILLISECONDS 60000

/* How often a definition that somebody else changes at the same time is read again. */
#define ROUNDS 5

/* A program that defines a domain may define it again at once, and libvirt cannot change
 * a definition only if it is still the one that was read: who writes last, wins. So a
 * definition is left alone until nobody has changed it for so long; a command that is
 * started meanwhile, such as `virsh start`, takes longer than that to begin. */
#define SETTLE_MILLISECONDS 10

struct uuid {
    char text[VIR_UUID_STRING_BUFLEN];
    int64_t due; /* when it is to be looked at, or forgotten, in milliseconds */
    int defined; /* so many times since it was last looked at */
};

struct uuids {
    struct uuid *list;
    size_t count;
};

/* A domain that was undefined. */
struct gone {
    struct watch *watch;
    struct uuid uuid;
    int timer;
};

/* A domain that was wired, or could not be, lately. */
struct recent {
    struct uuid uuid;
    int64_t since; /* by clock_milliseconds() */
    int count;
    bool is_new; /* wired when it was last looked at */
};

struct watch {
    const struct context *context;
    virConnectPtr connection;
    int lifecycle, metadata; /* libvirt's numbers for the callbacks; -1 for none */
    bool lost;               /* the connection */
    bool due;                /* it is time to connect */
    bool ending;             /* a signal has come */
    int work;                /* the timer of the next domain */
    int again;               /* the timer after which it connects again */
    int pause;               /* of that, in milliseconds */
    int signals;             /* a descriptor: signalfd(2)'s */
    char *said;              /* why libvirt could not be reached */
    struct uuids urgent;     /* by events, in their order */
    struct uuids all;        /* when it was connected */
    size_t next;             /* of these */
    size_t wired;            /* of these */
    int64_t start;           /* when it was connected, in milliseconds */
    struct uuids migrated;   /* to another host */
    struct gone **gone;
    size_t gone_count;
    struct recent recent[64];
};

/* --- the log ------------------------------------------------------------------------ */

enum {
    PRIORITY_ERROR = 3,
    PRIORITY_NOTICE = 5,
    PRIORITY_INFO = 6
};

/* A line on standard error; the journal takes its beginning for a priority. */
__attribute__((format(printf, 2, 3))) static void
say(int priority, const char *format, ...)
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

static void
notify(const char *state)
{
#if HAVE_LIBSYSTEMD
    sd_notify(0, state);
#else
    (void)state;
#endif
}

/* --- wiring ------------------------------------------------------------------------- */

static struct recent *
find_recent(struct watch *watch, const char *uuid)
{
    for (size_t i = 0; i < ARRAY_SIZE(watch->recent); i++) {
        if (strcmp(watch->recent[i].uuid.text, uuid) == 0)
            return &watch->recent[i];
    }
    return NULL;
}

static void
count_wiring(struct watch *watch, virDomainPtr domain, const char *uuid)
{
    struct recent *slot = find_recent(watch, uuid);
    int64_t now = clock_milliseconds();

    if (!slot) {
        slot = &watch->recent[0];
        for (size_t i = 1; i < ARRAY_SIZE(watch->recent); i++) {
            if (watch->recent[i].since < slot->since)
                slot = &watch->recent[i];
        }
    }
    if (strcmp(slot->uuid.text, uuid) != 0 || now - slot->since >= WIRINGS_MILLISECONDS) {
        *slot = (struct recent){.since = now};
        snprintf(slot->uuid.text, sizeof(slot->uuid.text), "%s", uuid);
    }
    slot->is_new = true;
    if (++slot->count == WIRINGS)
        say(PRIORITY_ERROR,
            "domain '%s': its wiring is undone again and again; it is left alone "
            "for %d seconds",
            virDomainGetName(domain), WIRINGS_MILLISECONDS / 1000);
}

static bool
is_left_alone(const struct recent *recent)
{
    return recent && recent->count >= WIRINGS &&
           clock_milliseconds() - recent->since < WIRINGS_MILLISECONDS;
}

/* What somebody else changes at the same time is read again. Return: as
 * definition_wire_in_libvirt(). */
static enum definition_state
wire_in_rounds(const struct watch *watch, virDomainPtr domain, struct wiring *wiring,
               struct failure **failure)
{
    for (int round = 1;; round++) {
        enum definition_state state = definition_wire_in_libvirt(
            watch->context, watch->connection, domain, wiring, failure);

        if (state != DEFINITION_CHANGED || round == ROUNDS)
            return state;
        wiring_clear(wiring);
        failure_free(*failure);
        *failure = NULL;
    }
}

/* Return: whether it was wired now. */
static bool
wire_domain_of(struct watch *watch, const struct uuid *uuid)
{
    virDomainPtr domain = virDomainLookupByUUIDString(watch->connection, uuid->text);
    struct recent *recent = find_recent(watch, uuid->text);
    cleanup_wiring struct wiring wiring = {0};
    cleanup_failure struct failure *failure = NULL;
    enum definition_state state = DEFINITION_ASKS_NOTHING;

    /* What has gone since is no failure; nor is a transient domain, which has no
     * definition. */
    if (domain && virDomainIsPersistent(domain) == 1 && !is_left_alone(recent))
        state = wire_in_rounds(watch, domain, &wiring, &failure);
    if (state == DEFINITION_WIRED) {
        cleanup_free char *changes = wiring_describe(&wiring);

        say(PRIORITY_NOTICE, "domain '%s' was wired: %s", virDomainGetName(domain),
            changes);
    } else if (state < 0 && virDomainIsPersistent(domain) == 1) {
        say(PRIORITY_ERROR, "domain '%s' was not wired: %s%s%s", virDomainGetName(domain),
            failure->message, failure->hint ? "; " : "",
            failure->hint ? failure->hint : "");
    } else if (state == DEFINITION_WAS_WIRED && recent && recent->is_new &&
               uuid->defined > 1) {
        /* One of these events was that of the wiring; if another definition came just
         * before it, the wiring has replaced it. */
        say(PRIORITY_ERROR,
            "domain '%s' was defined by somebody else while it was being wired; if their "
            "change is missing, define it again",
            virDomainGetName(domain));
    }
    if (recent)
        recent->is_new = false;
    if (state == DEFINITION_WIRED || (state < 0 && wiring.change_count > 0))
        count_wiring(watch, domain, uuid->text);
    if (domain)
        virDomainFree(domain);
    return state == DEFINITION_WIRED;
}

static void
end_looking(struct watch *watch)
{
    cleanup_free char *status = NULL;

    say(PRIORITY_INFO, "looked at %zu definitions in %ld ms, and wired %zu",
        watch->all.count, (long)(clock_milliseconds() - watch->start), watch->wired);
    status = xasprintf("STATUS=Watching; %zu definitions were there", watch->all.count);
    notify(status);
    free(watch->all.list);
    watch->all = (struct uuids){0};
}

/* Return: the domain that is due first, or NULL. */
static struct uuid *
find_first(const struct uuids *uuids)
{
    struct uuid *first = NULL;

    for (size_t i = 0; i < uuids->count; i++) {
        if (!first || uuids->list[i].due < first->due)
            first = &uuids->list[i];
    }
    return first;
}

static void
handle_work(int timer, void *data)
{
    struct watch *watch = data;
    struct uuid *first = find_first(&watch->urgent);
    int64_t rest = first ? first->due - clock_milliseconds() : -1;

    if (watch->connection && first && rest <= 0) {
        const struct uuid uuid = *first;

        *first = watch->urgent.list[--watch->urgent.count];
        virEventUpdateTimeout(timer, 0);
        wire_domain_of(watch, &uuid);
    } else if (watch->connection && watch->next < watch->all.count) {
        virEventUpdateTimeout(timer, 0);
        watch->wired += wire_domain_of(watch, &watch->all.list[watch->next++]);
        if (watch->next == watch->all.count)
            end_looking(watch);
    } else {
        virEventUpdateTimeout(timer, watch->connection ? (int)rest : -1);
    }
}

/* --- removing ----------------------------------------------------------------------- */

static void
remove_leftovers(const struct watch *watch, const char *uuid)
{
    cleanup_leftovers struct leftovers leftovers = {0};
    cleanup_failure struct failure *failure = NULL;
    int root = watch->context->root;
    size_t removed = 0;

    if (leftovers_find(root, &leftovers, &failure) == 0) {
        for (size_t i = 0; i < leftovers.count && !failure; i++) {
            if (strcmp(leftovers.list[i].uuid, uuid) == 0 &&
                leftover_remove(root, &leftovers.list[i], &failure) == 0)
                removed++;
        }
    }
    if (failure)
        say(PRIORITY_ERROR, "what is left of domain %s was not removed: %s", uuid,
            failure->message);
    else if (removed > 0)
        say(PRIORITY_NOTICE, "domain %s was undefined: removed what was kept of it",
            uuid);
}

static void
forget_gone(struct watch *watch, struct gone *gone)
{
    size_t i = 0;

    while (watch->gone[i] != gone)
        i++;
    watch->gone[i] = watch->gone[--watch->gone_count];
    virEventRemoveTimeout(gone->timer);
    free(gone);
}

/* A domain that runs is undefined when it has stopped, too; one that was defined again
 * keeps all. */
static void
handle_gone(int timer, void *data)
{
    struct gone *gone = data;
    struct watch *watch = gone->watch;
    virDomainPtr domain;
    bool is_unknown, is_defined;

    if (!watch->connection)
        return;
    domain = virDomainLookupByUUIDString(watch->connection, gone->uuid.text);
    is_unknown = !domain && virGetLastErrorCode() == VIR_ERR_NO_DOMAIN;
    is_defined = domain && virDomainIsPersistent(domain) == 1;
    /* If libvirt could not answer, it is asked again. */
    if (domain || is_unknown)
        virEventUpdateTimeout(timer, -1);
    if (domain)
        virDomainFree(domain);
    if (is_unknown)
        remove_leftovers(watch, gone->uuid.text);
    if (is_unknown || is_defined)
        forget_gone(watch, gone);
}

static struct gone *
find_gone(const struct watch *watch, const char *uuid)
{
    for (size_t i = 0; i < watch->gone_count; i++) {
        if (strcmp(watch->gone[i]->uuid.text, uuid) == 0)
            return watch->gone[i];
    }
    return NULL;
}

static void
note_gone(struct watch *watch, const char *uuid)
{
    struct gone *gone = find_gone(watch, uuid);

    if (!gone) {
        gone = xcalloc(1, sizeof(*gone));
        gone->watch = watch;
        snprintf(gone->uuid.text, sizeof(gone->uuid.text), "%s", uuid);
        gone->timer = virEventAddTimeout(-1, handle_gone, gone, NULL);
        *array_add(watch->gone, watch->gone_count) = gone;
    }
    virEventUpdateTimeout(gone->timer, UNDEFINED_MILLISECONDS);
}

/* --- libvirt's events --------------------------------------------------------------- */

/* Return: where it is in the list, or how many are there. */
static size_t
find_uuid(const struct uuids *uuids, const char *uuid)
{
    size_t i = 0;

    while (i < uuids->count && strcmp(uuids->list[i].text, uuid) != 0)
        i++;
    return i;
}

/* Return: it, which may have been there. */
static struct uuid *
add_uuid(struct uuids *uuids, const char *uuid)
{
    size_t i = find_uuid(uuids, uuid);
    struct uuid *added =
        i < uuids->count ? &uuids->list[i] : array_add(uuids->list, uuids->count);

    snprintf(added->text, sizeof(added->text), "%s", uuid);
    return added;
}

static void
remove_uuid(struct uuids *uuids, const char *uuid)
{
    size_t i = find_uuid(uuids, uuid);

    if (i < uuids->count)
        uuids->list[i] = uuids->list[--uuids->count];
}

static struct uuid *
note_urgent(struct watch *watch, const char *uuid)
{
    struct uuid *urgent = add_uuid(&watch->urgent, uuid);

    urgent->due = clock_milliseconds() + SETTLE_MILLISECONDS;
    virEventUpdateTimeout(watch->work, 0);
    return urgent;
}

/* A domain that was migrated is another host's, and may come back: `virt-seed gc` keeps
 * for a week what this host has of it. */
static void
note_undefined(struct watch *watch, const char *uuid)
{
    if (find_uuid(&watch->migrated, uuid) == watch->migrated.count)
        note_gone(watch, uuid);
}

static void
note_stopped(struct watch *watch, const char *uuid, int detail)
{
    struct gone *gone = find_gone(watch, uuid);
    struct uuids *migrated = &watch->migrated;
    int64_t now = clock_milliseconds();

    if (detail != VIR_DOMAIN_EVENT_STOPPED_MIGRATED) {
        if (gone)
            virEventUpdateTimeout(gone->timer, UNDEFINED_MILLISECONDS);
        return;
    }
    if (gone)
        forget_gone(watch, gone);
    for (size_t i = migrated->count; i > 0; i--) {
        if (migrated->list[i - 1].due < now)
            migrated->list[i - 1] = migrated->list[--migrated->count];
    }
    add_uuid(migrated, uuid)->due = now + MIGRATED_MILLISECONDS;
}

static void
handle_lifecycle(virConnectPtr connection, virDomainPtr domain, int event, int detail,
                 void *data)
{
    struct watch *watch = data;
    struct uuid uuid;

    (void)connection;
    if (virDomainGetUUIDString(domain, uuid.text) < 0)
        return;
    if (event == VIR_DOMAIN_EVENT_DEFINED || event == VIR_DOMAIN_EVENT_STARTED)
        remove_uuid(&watch->migrated, uuid.text);
    if (event == VIR_DOMAIN_EVENT_DEFINED)
        note_urgent(watch, uuid.text)->defined++;
    else if (event == VIR_DOMAIN_EVENT_UNDEFINED &&
             detail != VIR_DOMAIN_EVENT_UNDEFINED_RENAMED)
        note_undefined(watch, uuid.text);
    else if (event == VIR_DOMAIN_EVENT_STOPPED)
        note_stopped(watch, uuid.text, detail);
}

/* `virsh metadata` defines nothing, and may be how a domain comes to ask. */
static void
handle_metadata(virConnectPtr connection, virDomainPtr domain, int type,
                const char *namespace, void *data)
{
    struct uuid uuid;

    (void)connection;
    if (type == VIR_DOMAIN_METADATA_ELEMENT && namespace &&
        strcmp(namespace, REQUEST_NAMESPACE) == 0 &&
        virDomainGetUUIDString(domain, uuid.text) == 0)
        note_urgent(data, uuid.text);
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
    watch->urgent.count = 0;
    free(watch->all.list);
    watch->all = (struct uuids){0};
}

/* The events first: what happens while the definitions are listed is not missed then. */
static int
listen_to_events(struct watch *watch, struct failure **failure)
{
    virConnectPtr connection = watch->connection;
    virDomainPtr *domains = NULL;
    int count;

    watch->start = clock_milliseconds();
    virConnectRegisterCloseCallback(connection, handle_close, watch, NULL);
    watch->lifecycle = virConnectDomainEventRegisterAny(
        connection, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
        VIR_DOMAIN_EVENT_CALLBACK(handle_lifecycle), watch, NULL);
    watch->metadata = virConnectDomainEventRegisterAny(
        connection, NULL, VIR_DOMAIN_EVENT_ID_METADATA_CHANGE,
        VIR_DOMAIN_EVENT_CALLBACK(handle_metadata), watch, NULL);
    if (watch->lifecycle < 0 || watch->metadata < 0)
        return libvirt_fail(failure, "could not listen to libvirt's events");
    count = virConnectListAllDomains(connection, &domains,
                                     VIR_CONNECT_LIST_DOMAINS_PERSISTENT);
    if (count < 0)
        return libvirt_fail(failure, "could not list the domains");
    for (int i = 0; i < count; i++) {
        virDomainGetUUIDString(domains[i],
                               array_add(watch->all.list, watch->all.count)->text);
        virDomainFree(domains[i]);
    }
    free(domains);
    watch->next = watch->wired = 0;
    if (count == 0)
        end_looking(watch);
    virEventUpdateTimeout(watch->work, 0);
    return 0;
}

/* Connects, or schedules another attempt. Return: 0, or -1 if that cannot help. */
static int
connect_to_libvirt(struct watch *watch, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;

    watch->due = false;
    watch->connection = libvirt_connect(watch->context->uri, false, &reason);
    if (watch->connection && libvirt_require_system(watch->connection, failure) < 0)
        return -1;
    if (watch->connection && listen_to_events(watch, &reason) == 0) {
        free(watch->said);
        watch->said = NULL;
        watch->pause = RECONNECT_MILLISECONDS;
        return 0;
    }
    disconnect(watch);
    /* The same is said once. */
    if (!watch->said || strcmp(watch->said, reason->message) != 0) {
        say(PRIORITY_ERROR, "%s; trying again", reason->message);
        free(watch->said);
        watch->said = xstrdup(reason->message);
    }
    notify("STATUS=Waiting for libvirt's daemon");
    virEventUpdateTimeout(watch->again, watch->pause);
    watch->pause = watch->pause * 2 < RECONNECT_MILLISECONDS_MOST
                       ? watch->pause * 2
                       : RECONNECT_MILLISECONDS_MOST;
    return 0;
}

static void
handle_again(int timer, void *data)
{
    struct watch *watch = data;

    virEventUpdateTimeout(timer, -1);
    watch->due = true;
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
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    watch->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (watch->signals < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not begin to wait for signals");
    sigprocmask(SIG_BLOCK, &set, NULL);
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
    watch->work = virEventAddTimeout(-1, handle_work, watch, NULL);
    watch->again = virEventAddTimeout(-1, handle_again, watch, NULL);
    if (connect_to_libvirt(watch, failure) < 0)
        return -1;
    notify("READY=1");
    while (!watch->ending) {
        if (virEventRunDefaultImpl() < 0)
            return libvirt_fail(failure, "could not wait");
        if (watch->lost) {
            say(PRIORITY_INFO, "libvirt's daemon has closed the connection");
            disconnect(watch);
            virEventUpdateTimeout(watch->again, watch->pause);
        }
        if (watch->due && connect_to_libvirt(watch, failure) < 0)
            return -1;
    }
    notify("STOPPING=1");
    return 0;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    struct watch watch = {
        .context = context,
        .pause = RECONNECT_MILLISECONDS,
        .signals = -1,
        .lifecycle = -1,
        .metadata = -1,
    };
    int result = run_watch(&watch, failure);

    (void)data;
    disconnect(&watch);
    while (watch.gone_count > 0)
        forget_gone(&watch, watch.gone[0]);
    free(watch.gone);
    free(watch.urgent.list);
    free(watch.migrated.list);
    free(watch.said);
    close_pointer(&watch.signals);
    return result;
}

const struct command cmd_watch = {
    .name = "watch",
    .summary = "run as a daemon that wires domains as soon as they are defined",
    .help =
        "Listens to libvirt, and wires each domain that asks for cloud-init as soon as\n"
        "it is defined, so that its first start works. At its start, and when libvirt's\n"
        "daemon comes back, it looks at all definitions. When a domain is undefined, it\n"
        "removes what virt-seed keeps of it. virt-seed-watch.service runs it, if that is\n"
        "enabled.\n",
    .run = run,
};
