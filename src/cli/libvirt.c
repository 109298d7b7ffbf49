/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fnmatch.h>

#include <libvirt/virterror.h>
#include <libxml/uri.h>

#include "base/fs.h"
#include "base/scope.h"
#include "cli/libvirt.h"
#include "store/libvirt-daemon.h"

time_t
libvirt_snapshot_time(virDomainPtr domain)
{
    static const char element[] = "<creationTime>";
    virDomainSnapshotPtr snapshot;
    cleanup_free char *xml = NULL;
    const char *found = NULL;
    int state, reason;
    long long taken = -1;

    if (virDomainGetState(domain, &state, &reason, 0) < 0)
        return 0;
    if (!(state == VIR_DOMAIN_RUNNING && reason == VIR_DOMAIN_RUNNING_FROM_SNAPSHOT) &&
        !(state == VIR_DOMAIN_PAUSED && reason == VIR_DOMAIN_PAUSED_FROM_SNAPSHOT))
        return 0;
    /* The one that it was last reverted to, unless another was taken since. */
    snapshot = virDomainSnapshotCurrent(domain, 0);
    if (snapshot) {
        xml = virDomainSnapshotGetXMLDesc(snapshot, 0);
        virDomainSnapshotFree(snapshot);
    }
    /* What others wrote is escaped before it, and in <domain> after it. */
    if (xml)
        found = strstr(xml, element);
    if (found)
        taken = strtoll(found + strlen(element), NULL, 10);
    return taken > 0 ? (time_t)taken : -1;
}

int
libvirt_fail(struct failure **failure, const char *format, ...)
{
    cleanup_free char *message = NULL;
    va_list arguments;

    va_start(arguments, format);
    message = xvasprintf(format, arguments);
    va_end(arguments);
    return failure_set(failure, FAILURE_LIBVIRT, "%s: %s", message,
                       virGetLastErrorMessage());
}

int
libvirt_fail_start(const char *name, struct failure **failure)
{
    static const char error[] = "virt-seed: error: ";
    static const char hint[] = "virt-seed: hint: ";
    const char *message = virGetLastErrorMessage();
    const char *reason = strstr(message, error);
    const char *advice = reason ? strstr(reason, hint) : NULL;

    if (!reason)
        return libvirt_fail(failure, "domain '%s' could not be started", name);
    reason += strlen(error);
    failure_set(failure, FAILURE_LIBVIRT, "%.*s", (int)strcspn(reason, "\n"), reason);
    if (!advice)
        return -1;
    advice += strlen(hint);
    return failure_hint(failure, "%.*s", (int)strcspn(advice, "\n"), advice);
}

/* libvirt prints its errors unless it is given something else to do. */
static void
ignore_error(void *data, virErrorPtr error)
{
}

/* A daemon that leaves so many keepalives unanswered, sent so many seconds apart, is
 * gone. */
#define KEEPALIVE_SECONDS 5
#define KEEPALIVE_COUNT 6

/* --- whose daemon it is -------------------------------------------------------------- */

/* Return: the path of a URI of QEMU's, such as "/system", owned by the caller (free), or
 * NULL. */
static char *
find_daemon(const char *text)
{
    xmlURI *uri = text ? xmlParseURI(text) : NULL;
    const bool is_qemu = uri && uri->scheme && strncmp(uri->scheme, "qemu", 4) == 0;
    char *path = is_qemu ? xstrdup(uri->path ? uri->path : "") : NULL;

    xmlFreeURI(uri);
    return path;
}

/* Return: whether the URI is of the daemon of a user's session. */
static bool
is_session(const char *text)
{
    cleanup_free char *daemon = find_daemon(text);

    return daemon && strcmp(daemon, "/session") == 0;
}

/* Return: the host that the URI names if it is another one, owned by the caller (free), or
 * NULL. */
static char *
find_server(const char *text)
{
    xmlURI *uri = text ? xmlParseURI(text) : NULL;
    char *server = uri && uri->server && *uri->server ? xstrdup(uri->server) : NULL;

    xmlFreeURI(uri);
    return server;
}

/* Return: the value of uri_default in the user's libvirt.conf, owned by the caller (free),
 * or NULL. */
static char *
read_user_default(int root)
{
    const char *directory = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    cleanup_free char *path = NULL;
    cleanup_buffer struct buffer text = {0};
    char *rest;

    if (directory && *directory)
        path = xasprintf("%s/libvirt/libvirt.conf", directory);
    else
        path = xasprintf("%s/.config/libvirt/libvirt.conf", home ? home : "");
    if (fs_read_in_root(root, path, LIMIT_CONFIG, &text) < 0)
        return NULL;
    rest = text.data;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        char *uri = NULL;

        if (sscanf(line, " uri_default = \"%m[^\"]\"", &uri) == 1)
            return uri;
    }
    return NULL;
}

int
libvirt_choose_scope(const struct context *context, struct failure **failure)
{
    const char *given = context->uri ? context->uri : getenv("LIBVIRT_DEFAULT_URI");
    /* Tests set the root. */
    const bool may_default =
        geteuid() != 0 && strcmp(context->root_path, "/") == 0 && !(given && *given);
    cleanup_free char *configured = may_default ? read_user_default(context->root) : NULL;
    const char *uri = configured ? configured : given;
    cleanup_free char *daemon = find_daemon(uri);
    cleanup_free char *server = find_server(uri);
    const bool for_session = is_session(uri);
    cleanup_failure struct failure *none = NULL;

    /* A command on a file does not connect, so libvirt would not report it. */
    if (daemon && !for_session && strcmp(daemon, "/system") != 0)
        return failure_set(failure, FAILURE_USAGE,
                           "'%.256s' is neither the system's daemon nor a session's\n"
                           "write -c qemu:///system or -c qemu:///session",
                           uri);
    if (for_session) {
        if (!server)
            return scope_use_session(context->root, geteuid(), failure);
        return failure_set(failure, FAILURE_USAGE,
                           "the directories of a session on another host are not known "
                           "here\n"
                           "run the command on '%.256s', as that user",
                           server);
    }
    if (may_default && !configured)
        scope_use_session(context->root, geteuid(), &none);
    return 0;
}

/* The URI may have been an alias. */
static int
check_scope(virConnectPtr connection, struct failure **failure)
{
    cleanup_free char *uri = virConnectGetURI(connection);

    if (is_session(uri) == (scope()->home != NULL))
        return 0;
    return failure_set(
        failure, FAILURE_USAGE,
        "the connection is to '%s', but the files would be those of domains "
        "%s\n"
        "say which daemon: -c qemu:///session or -c qemu:///system",
        uri ? uri : "", scope()->place);
}

/* --- connecting ---------------------------------------------------------------------- */

virConnectPtr
libvirt_connect(const char *uri, bool read_only, struct failure **failure)
{
    const char *default_name = scope()->home ? scope()->uri : "default URI";
    virConnectPtr connection;
    cleanup_close int root = -1;

    virSetErrorFunc(NULL, ignore_error);
    /* root's own daemon is the system's, whatever XDG_* says. */
    if (!uri && !getenv("LIBVIRT_DEFAULT_URI") && geteuid() == 0)
        uri = "qemu:///system";
    if (read_only)
        connection = virConnectOpenReadOnly(uri);
    else
        connection = virConnectOpenAuth(uri, virConnectAuthPtrDefault, 0);
    if (connection) {
        /* This fails without an event loop, which only some commands have. */
        virConnectSetKeepAlive(connection, KEEPALIVE_SECONDS, KEEPALIVE_COUNT);
        if (check_scope(connection, failure) < 0)
            virConnectClose(steal(connection));
        return connection;
    }
    failure_set(failure, FAILURE_LIBVIRT_MISSING, "could not reach libvirt (%s): %s",
                uri ? uri : default_name, virGetLastErrorMessage());
    if (!uri || strcmp(uri, "qemu:///system") != 0) {
        failure_hint(failure, "see whether it answers others: virsh%s%s list",
                     uri ? " -c " : "", uri ? uri : "");
        return NULL;
    }
    /* The host's own daemon has a unit, and `doctor` knows more. */
    root = fs_open_root("/");
    failure_hint(failure, "check that %s is running; 'virt-seed doctor' says more",
                 libvirt_daemon_find(root).name);
    return NULL;
}

bool
libvirt_is_remote(virConnectPtr connection)
{
    cleanup_free char *uri = connection ? virConnectGetURI(connection) : NULL;
    cleanup_free char *server = find_server(uri);

    return server;
}

static int
require_local(const char *uri, struct failure **failure)
{
    cleanup_free char *server = find_server(uri);

    if (!server)
        return 0;
    return failure_set(
        failure, FAILURE_USAGE,
        "this command reads the host's files and secrets, and the connection "
        "is to another host\n"
        "run the command on '%.256s', without --connect",
        server);
}

int
libvirt_require_local(virConnectPtr connection, struct failure **failure)
{
    cleanup_free char *text = virConnectGetURI(connection);

    return require_local(text, failure);
}

virConnectPtr
libvirt_connect_here(const struct context *context, bool read_only,
                     struct failure **failure)
{
    const char *uri = context->uri ? context->uri : getenv("LIBVIRT_DEFAULT_URI");
    virConnectPtr connection;

    /* Before ssh asks for a password; and after it, because the URI may be an alias. */
    if (require_local(uri, failure) < 0)
        return NULL;
    connection = libvirt_connect(context->uri, read_only, failure);
    if (connection && libvirt_require_local(connection, failure) < 0)
        virConnectClose(steal(connection));
    return connection;
}

int
libvirt_require_own(virConnectPtr connection, struct failure **failure)
{
    cleanup_free char *uri = virConnectGetURI(connection);

    if (libvirt_require_local(connection, failure) < 0)
        return -1;
    if (uri && (strcmp(uri, scope()->uri) == 0 || is_session(uri)))
        return 0;
    return failure_set(failure, FAILURE_USAGE,
                       "'%s' is not this host's daemon for QEMU, and does not know its "
                       "domains\n"
                       "omit --connect, or give it qemu:///system",
                       uri ? uri : "");
}

static int
hint_at_domains(struct failure **failure)
{
    if (scope()->home)
        return failure_hint(
            failure,
            "this is your own session (qemu:///session); for the host's domains, add "
            "-c qemu:///system");
    return failure_hint(failure, "'virsh list --all' shows the domains");
}

virDomainPtr
libvirt_find_domain(virConnectPtr connection, const char *name, struct failure **failure)
{
    virDomainPtr domain = NULL;

    if (strlen(name) == UUID_LENGTH)
        domain = virDomainLookupByUUIDString(connection, name);
    if (!domain)
        domain = virDomainLookupByName(connection, name);
    if (domain)
        return domain;
    if (virGetLastErrorCode() != VIR_ERR_NO_DOMAIN) {
        libvirt_fail(failure, "could not look for domain '%s'", name);
        return NULL;
    }
    failure_set(failure, FAILURE_DOMAIN_MISSING, "there is no domain '%s': %s", name,
                virGetLastErrorMessage());
    hint_at_domains(failure);
    return NULL;
}

/* --- patterns ------------------------------------------------------------------------ */

bool
libvirt_is_pattern(const char *name)
{
    return strpbrk(name, "*?[");
}

static int
compare_names(const void *one, const void *other)
{
    virDomainPtr const *first = one;
    virDomainPtr const *second = other;

    return strcmp(virDomainGetName(*first), virDomainGetName(*second));
}

static void
add_uuid(virDomainPtr domain, char ***uuids, size_t *count)
{
    char uuid[VIR_UUID_STRING_BUFLEN];

    if (virDomainGetUUIDString(domain, uuid) < 0)
        return;
    if (!texts_have(*uuids, *count, uuid))
        texts_add(uuids, count, xstrdup(uuid));
}

/* Adds the domains whose names match the pattern, or with NULL all. */
static int
add_matches(virConnectPtr connection, const char *pattern, char ***uuids, size_t *count,
            struct failure **failure)
{
    virDomainPtr *domains = NULL;
    int domain_count = virConnectListAllDomains(connection, &domains, 0);
    bool is_matched = !pattern;

    if (domain_count < 0)
        return libvirt_fail(failure, "could not list the domains");
    if (domain_count > 0)
        qsort(domains, (size_t)domain_count, sizeof(domains[0]), compare_names);
    for (int i = 0; i < domain_count; i++) {
        if (!pattern || fnmatch(pattern, virDomainGetName(domains[i]), 0) == 0) {
            is_matched = true;
            add_uuid(domains[i], uuids, count);
        }
        virDomainFree(domains[i]);
    }
    free(domains);
    if (is_matched)
        return 0;
    failure_set(failure, FAILURE_DOMAIN_MISSING, "no domain has a name that matches '%s'",
                pattern);
    return hint_at_domains(failure);
}

int
libvirt_expand(virConnectPtr connection, const char *operand, char ***uuids,
               size_t *count, struct failure **failure)
{
    cleanup_libvirt_domain virDomainPtr domain = NULL;

    if (!operand)
        return add_matches(connection, NULL, uuids, count, failure);
    domain = libvirt_find_domain(connection, operand, failure);
    if (domain) {
        add_uuid(domain, uuids, count);
        return 0;
    }
    if ((*failure)->code != FAILURE_DOMAIN_MISSING || !libvirt_is_pattern(operand))
        return -1;
    failure_free(steal(*failure));
    return add_matches(connection, operand, uuids, count, failure);
}
