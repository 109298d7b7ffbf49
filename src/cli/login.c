/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/names.h"
#include "cli/login.h"
#include "domain/xml.h"
#include "host/own-directory.h"
#include "seed/ssh-host-keys.h"
#include "store/pipeline.h"

#define SSH_PORT 22

/* --- addresses -------------------------------------------------------------------- */

/* Return: whether the host may reach the guest by an address of this interface. The
 * addresses behind QEMU's user networking, and passt, are the guest's alone. */
static bool
is_reachable(const struct interface *interface)
{
    return !interface->type || strcmp(interface->type, "user") != 0;
}

static bool
has_reachable_mac(const struct domain *domain, const char *mac)
{
    cleanup_interfaces struct interfaces interfaces = {0};
    cleanup_failure struct failure *ignored = NULL;

    if (interfaces_read(&interfaces, domain, &ignored) < 0)
        return false;
    for (size_t i = 0; i < interfaces.count; i++) {
        const struct interface *interface = &interfaces.items[i];

        if (is_reachable(interface) && interface->mac &&
            strcasecmp(interface->mac, mac) == 0)
            return true;
    }
    return false;
}

bool
login_needs_forwarding(const struct domain *domain)
{
    cleanup_interfaces struct interfaces interfaces = {0};
    cleanup_failure struct failure *ignored = NULL;
    size_t count = 0;

    if (interfaces_read(&interfaces, domain, &ignored) < 0)
        return false;
    for (size_t i = 0; i < interfaces.count; i++)
        count += !is_reachable(&interfaces.items[i]);
    return count > 0 && count == interfaces.count;
}

static bool
has_said(const struct guest_login *said, const char *address)
{
    for (size_t i = 0; said && i < said->address_count; i++) {
        if (strcmp(said->addresses[i].address, address) == 0)
            return true;
    }
    return false;
}

/* Return: how good an address is: best if the guest has reported it, since a lease may be
 * left from an earlier one; then IPv4. */
static int
rate(const char *address, const struct guest_login *said)
{
    return *address ? 2 * has_said(said, address) + !strchr(address, ':') + 1 : 0;
}

/* Takes an address of one of the domain's interfaces if it is better than what is known. */
static void
offer(struct login_place *place, const struct domain *domain,
      const struct guest_login *said, const char *mac, const char *address)
{
    if (has_reachable_mac(domain, mac) &&
        rate(address, said) > rate(place->address, said))
        snprintf(place->address, sizeof(place->address), "%s", address);
}

static void
ask_libvirt(struct login_place *place, virDomainPtr running, unsigned int source,
            const struct domain *domain, const struct guest_login *said)
{
    virDomainInterfacePtr *list = NULL;
    const int count = virDomainInterfaceAddresses(running, &list, source, 0);

    for (int i = 0; i < count; i++) {
        const virDomainInterface *interface = list[i];

        for (unsigned int j = 0; interface->hwaddr && j < interface->naddrs; j++) {
            char address[INET6_ADDRSTRLEN];

            if (login_address_read(address, interface->addrs[j].addr))
                offer(place, domain, said, interface->hwaddr, address);
        }
        virDomainInterfaceFree(list[i]);
    }
    free(list);
}

void
login_find_place(struct login_place *place, virDomainPtr running,
                 const struct domain *domain, const struct guest_login *said)
{
    const bool is_active = virDomainIsActive(running) > 0;

    *place = (struct login_place){0};
    if (is_active)
        ask_libvirt(place, running, VIR_DOMAIN_INTERFACE_ADDRESSES_SRC_LEASE, domain,
                    said);
    if (is_active && !*place->address) {
        for (size_t i = 0; i < said->address_count; i++)
            offer(place, domain, said, said->addresses[i].mac,
                  said->addresses[i].address);
    }
    if (!*place->address)
        place->port = domain_find_forwarding(domain, SSH_PORT, place->address);
}

/* Return: whether libvirt says that an agent listens; it would wait for one that does not. */
static bool
has_agent(const struct domain *domain)
{
    xml_foreach(channel, xml_child(domain->root, "devices"), "channel") {
        const xmlNode *target = xml_child(channel, "target");

        if (xml_attribute_is(target, "name", "org.qemu.guest_agent.0"))
            return xml_attribute_is(target, "state", "connected");
    }
    return false;
}

void
login_ask_agent(struct login_place *place, virDomainPtr running,
                const struct domain *domain)
{
    if (has_agent(domain))
        ask_libvirt(place, running, VIR_DOMAIN_INTERFACE_ADDRESSES_SRC_AGENT, domain,
                    NULL);
}

/* --- host keys -------------------------------------------------------------------- */

/* Appends the line of the public key, which anyone may read. */
static int
read_public(int root, const char *uuid, struct buffer *line, struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s." HOST_KEY_PUBLIC_NAME, uuid);
    const int error = fs_read_below(root, scope()->statedir, name, LIMIT_SSH_KEY, line);

    if (error == -ENOENT)
        return failure_set(
            failure, FAILURE_SECRET_MISSING,
            "%s/%s does not exist: the domain's host key has not been made "
            "yet\n"
            "start the domain: its first start makes the key",
            scope()->statedir, name);
    if (error < 0)
        return own_directory_fail(FAILURE_SECRET, "read", scope()->statedir, name, error,
                                  failure);
    return 0;
}

char *
login_read_host_keys(const struct context *context, const struct request *request,
                     struct failure **failure)
{
    struct part *part = parts_find(&request->parts, PART_SSH_HOST_KEYS);
    cleanup_config struct config config = {0};
    const struct pipeline pipeline = {.policy = PIPELINE_STRICT, .config = &config};
    cleanup_free char *keys = NULL;
    int result;

    if (!part) {
        failure_set(failure, FAILURE_REQUEST,
                    "the guest generates its own host keys\n"
                    "give it one with ssh-host-keys=\"generate\" of <cloud-init>, "
                    "before its first start");
        return NULL;
    }
    if (part->origin == PART_GENERATED) {
        result = read_public(context->root, request->domain->uuid,
                             part_add_entry(part, HOST_KEY_PUBLIC_NAME), failure);
    } else {
        /* All of the secret is read, which takes the right to the private keys. */
        result = config_read(&config, context->root, failure);
        if (result == 0)
            result = pipeline_read_part(&pipeline, context->root, request, part, failure);
    }
    if (result < 0)
        return NULL;
    keys = ssh_host_keys_public(part);
    if (*keys)
        return steal(keys);
    failure_set(failure, FAILURE_SSH_KEY,
                "<ssh-host-keys secret=\"%.256s\"> has no public key\n"
                "put what 'ssh-keygen -y -f KEY' prints next to it, as KEY.pub",
                part->name ? part->name : "");
    return NULL;
}

/* --- who asks --------------------------------------------------------------------- */

const struct passwd *
login_find_caller(struct failure **failure)
{
    const char *text = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
    const struct passwd *caller;
    unsigned long uid = geteuid();
    char rest;

    if (text && (!isdigit((unsigned char)*text) ||
                 sscanf(text, "%lu%c", &uid, &rest) != 1 || uid >= UINT32_MAX)) {
        failure_set(failure, FAILURE_SYSTEM,
                    "SUDO_UID is '%.32s', which is not a user's number\n"
                    "unset it to go on as root",
                    text);
        return NULL;
    }
    caller = getpwuid((uid_t)uid);
    if (!caller)
        failure_set(failure, FAILURE_SYSTEM,
                    "there is no user with the number %lu\n"
                    "run the command as a user who is known here: getent passwd",
                    uid);
    return caller;
}
