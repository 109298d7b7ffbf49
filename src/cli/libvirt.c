/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libvirt/virterror.h>
#include <libxml/uri.h>
#include <uuid.h>

#include "base/fs.h"
#include "base/memory.h"
#include "cli/libvirt.h"
#include "store/libvirt-host.h"

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

/* libvirt prints its errors unless it is given something else to do. */
static void
ignore_error(void *data, virErrorPtr error)
{
    (void)data;
    (void)error;
}

/* A daemon that leaves so many keepalives unanswered, sent so many seconds apart, is
 * gone. */
#define KEEPALIVE_SECONDS 5
#define KEEPALIVE_COUNT 6

virConnectPtr
libvirt_connect(const char *uri, bool read_only, struct failure **failure)
{
    virConnectPtr connection;
    cleanup_close int root = -1;

    virSetErrorFunc(NULL, ignore_error);
    /* root's own daemon is the system's, whatever XDG_* says. */
    if (!uri && !getenv("LIBVIRT_DEFAULT_URI") && geteuid() == 0)
        uri = "qemu:///system";
    connection = read_only ? virConnectOpenReadOnly(uri)
                           : virConnectOpenAuth(uri, virConnectAuthPtrDefault, 0);
    if (connection) {
        /* This fails without an event loop, which only some commands have. */
        virConnectSetKeepAlive(connection, KEEPALIVE_SECONDS, KEEPALIVE_COUNT);
        return connection;
    }
    failure_set(failure, FAILURE_LIBVIRT_MISSING, "could not reach libvirt (%s): %s",
                uri ? uri : "default URI", virGetLastErrorMessage());
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

/* Return: the other host that the daemon runs on, owned by the caller (free); NULL for
 * this one. */
static char *
remote_host(virConnectPtr connection)
{
    cleanup_free char *text = virConnectGetURI(connection);
    xmlURI *uri = text ? xmlParseURI(text) : NULL;
    char *host = uri && uri->server && *uri->server ? xstrdup(uri->server) : NULL;

    xmlFreeURI(uri);
    return host;
}

bool
libvirt_is_remote(virConnectPtr connection)
{
    cleanup_free char *host = connection ? remote_host(connection) : NULL;

    return host;
}

int
libvirt_require_local(virConnectPtr connection, struct failure **failure)
{
    cleanup_free char *host = remote_host(connection);

    if (!host)
        return 0;
    return failure_set(failure, FAILURE_USAGE,
                       "the domain is on another host, whose files and secrets cannot "
                       "be read from here\n"
                       "run the command on %s",
                       host);
}

int
libvirt_require_system(virConnectPtr connection, struct failure **failure)
{
    cleanup_free char *uri = virConnectGetURI(connection);

    if (libvirt_require_local(connection, failure) < 0)
        return -1;
    if (uri && strcmp(uri, "qemu:///system") == 0)
        return 0;
    return failure_set(failure, FAILURE_USAGE,
                       "'%s' is not this host's daemon for QEMU, and does not know its "
                       "domains\n"
                       "omit --connect, or give it qemu:///system",
                       uri ? uri : "");
}

virDomainPtr
libvirt_find_domain(virConnectPtr connection, const char *name, struct failure **failure)
{
    virDomainPtr domain = NULL;
    uuid_t uuid;

    if (uuid_parse(name, uuid) == 0)
        domain = virDomainLookupByUUIDString(connection, name);
    if (!domain)
        domain = virDomainLookupByName(connection, name);
    if (!domain && virGetLastErrorCode() == VIR_ERR_NO_DOMAIN)
        failure_set(failure, FAILURE_DOMAIN_MISSING,
                    "there is no domain '%s': %s\n'virsh list --all' shows the domains",
                    name, virGetLastErrorMessage());
    else if (!domain)
        libvirt_fail(failure, "could not look for domain '%s'", name);
    return domain;
}
