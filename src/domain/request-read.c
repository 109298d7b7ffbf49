/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/texts.h"
#include "domain/hostname.h"
#include "domain/request-elements.h"
#include "domain/request.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

/* --- its attributes --------------------------------------------------------------- */

static int
read_datasource(struct request *request, const xmlNode *node, struct failure **failure)
{
    cleanup_free char *word = xml_attribute(node, "datasource");

    if (!word)
        return 0;
    for (size_t i = 0; i < DATASOURCE_PAYLOAD; i++) {
        if (strcmp(request_datasource_name((enum datasource)i), word) == 0) {
            request->datasource = (enum datasource)i;
            return 0;
        }
    }
    return vocabulary_fail_value(node, "datasource", word,
                                 "\"nocloud\", \"configdrive\" or \"nocloud-net\"",
                                 failure);
}

/* What a seed without a disk, whose place stands in the serial, cannot have. */
static int
check_net(const struct request *request, const xmlNode *node, struct failure **failure)
{
    if (request_has_disk(request))
        return 0;
    if (request->bus != DOMAIN_BUS_OTHER)
        return vocabulary_fail(node, failure, FAILURE_BUS,
                               "has bus=, and datasource=\"nocloud-net\" has no disk",
                               "leave bus= away, or use datasource=\"nocloud\"");
    if (!request->serial)
        return vocabulary_fail(node, failure, FAILURE_SERIAL,
                               "has serial=\"no\", and datasource=\"nocloud-net\" has "
                               "its address in the serial",
                               "leave serial= away, or use datasource=\"nocloud\"");
    return 0;
}

/* An attribute of two words, of which `usual` may be left out. */
static int
read_choice(const xmlNode *node, const char *attribute, const char *usual,
            const char *other, bool *is_other, struct failure **failure)
{
    cleanup_free char *text = xml_attribute(node, attribute);
    cleanup_free char *expected = xasprintf("\"%s\" or \"%s\"", usual, other);

    *is_other = text && strcmp(text, other) == 0;
    if (!text || *is_other || strcmp(text, usual) == 0)
        return 0;
    return vocabulary_fail_value(node, attribute, text, expected, failure);
}

static int
read_attributes(struct request *request, const xmlNode *node, struct failure **failure)
{
    const char *const known[] = {"datasource", "bus",        "serial",
                                 "boots",      "report",     "ssh-host-keys",
                                 "cache",      "smbios-was", NULL};
    cleanup_free char *bus = xml_attribute(node, "bus");
    cleanup_free char *host_keys = xml_attribute(node, "ssh-host-keys");

    if (vocabulary_check_attributes(node, known, failure) < 0 ||
        read_datasource(request, node, failure) < 0)
        return -1;
    if (bus && strcmp(bus, "auto") != 0) {
        request->bus = domain_bus_parse(bus);
        if (request->bus == DOMAIN_BUS_OTHER)
            return vocabulary_fail_value(
                node, "bus", bus,
                "\"auto\", \"scsi\", \"sata\", \"ide\", \"usb\" or \"virtio\"", failure);
    }
    if (read_choice(node, "boots", "always", "until-done", &request->until_done,
                    failure) < 0 ||
        read_choice(node, "cache", "auto", "keep", &request->cache, failure) < 0)
        return -1;
    if (vocabulary_read_yes_no(node, "report", &request->report, failure) < 0 ||
        vocabulary_read_yes_no(node, "serial", &request->serial, failure) < 0)
        return -1;
    if (host_keys && strcmp(host_keys, "generate") != 0)
        return vocabulary_fail_value(node, "ssh-host-keys", host_keys, "\"generate\"",
                                     failure);
    if (host_keys)
        parts_add_generated_host_keys(&request->parts, node);
    return check_net(request, node, failure);
}

/* --- what <initialization> says of the request's own subjects ----------------------- */

static int
fail_said_twice(const xmlNode *node, const char *element, const char *also,
                struct failure **failure)
{
    failure_set(failure, FAILURE_REQUEST, "<%s> and <%s> of <initialization> both stand",
                element, also);
    failure_at_line(failure, xml_line(node));
    return failure_hint(failure, "keep one of them");
}

static void
adopt_ssh_keys(struct request *request, struct initialization *initialization)
{
    size_t count = request->ssh_key_count + initialization->ssh_key_count;

    request->ssh_keys = xreallocarray(request->ssh_keys, count, sizeof(char *));
    memcpy(&request->ssh_keys[request->ssh_key_count], initialization->ssh_keys,
           initialization->ssh_key_count * sizeof(char *));
    request->ssh_key_count = count;
    initialization->ssh_key_count = 0;
}

/* What depends on several elements. */
static int
settle(struct request *request, const xmlNode *node, struct failure **failure)
{
    struct initialization *initialization = request->initialization;
    const struct part *host_keys = parts_find(&request->parts, PART_SSH_HOST_KEYS);

    if (request_is_nocloud(request) && parts_find(&request->parts, PART_ADMIN_PASSWORD))
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has <admin-password>, which NoCloud has no place for",
                               "use datasource=\"configdrive\", or set it in user-data");
    if (request->until_done && request->instance_id_policy == INSTANCE_ID_CONTENT)
        return vocabulary_fail(
            node, failure, FAILURE_INSTANCE_ID,
            "has boots=\"until-done\", and <instance-id policy=\"content\">, which would "
            "make the guest a new instance once it is done and its seed empty",
            "use policy=\"domain\", or boots=\"always\"");
    if (host_keys && parts_next(&request->parts, host_keys))
        return vocabulary_fail(node, failure, FAILURE_REQUEST,
                               "has ssh-host-keys=\"generate\" and <ssh-host-keys>",
                               "keep one of them");
    if (!initialization)
        return 0;
    if (initialization->host_name && request->hostname)
        return fail_said_twice(node, "hostname", "host_name", failure);
    if (initialization->network &&
        (request->network || parts_find(&request->parts, PART_NETWORK_CONFIG)))
        return fail_said_twice(node, "network-config", "nic_configurations", failure);
    if (initialization->host_name)
        request->hostname = steal(initialization->host_name);
    if (initialization->network)
        request->network = steal(initialization->network);
    if (initialization->ssh_key_count > 0)
        adopt_ssh_keys(request, initialization);
    return 0;
}

/* --- the request ------------------------------------------------------------------ */

static int
fail_missing(struct failure **failure)
{
    failure_set(failure, FAILURE_REQUEST_MISSING,
                "asks for no cloud-init: its <metadata> has no <cloud-init>");
    return failure_hint(failure,
                        "add <metadata><ci:cloud-init xmlns:ci=\"%s\">…"
                        "</ci:cloud-init></metadata>; see virt-seed-xml(5)",
                        REQUEST_NAMESPACE);
}

/* libvirt keeps the first element of a namespace and drops the others without a word. */
static int
check_alone(const xmlNode *node, struct failure **failure)
{
    for (const xmlNode *other = xml_first_element(node->parent); other;
         other = xml_next_element(other)) {
        if (other != node && vocabulary_is_ours(other))
            return vocabulary_fail(
                other, failure, FAILURE_REQUEST,
                "is a second element of virt-seed's in <metadata>",
                "keep <cloud-init> alone: libvirt keeps the first only");
    }
    return 0;
}

static int
read_payload(struct request *request, struct failure **failure)
{
    const xmlNode *node = payload_find(request->domain);

    if (!node)
        return fail_missing(failure);
    request->line = xml_line(node);
    request->datasource = DATASOURCE_PAYLOAD;
    request->payload = payload_read(node, failure);
    return request->payload ? 0 : -1;
}

int
request_read(struct request *request, const struct domain *domain,
             struct failure **failure)
{
    const xmlNode *node = request_find(domain);

    *request = (struct request){.domain = domain, .serial = true, .report = true};
    if (!node && domain_is_by_shim(domain) && !payload_find(domain))
        return 0;
    if (!node)
        return read_payload(request, failure);
    request->line = xml_line(node);
    if (check_alone(node, failure) < 0 || read_attributes(request, node, failure) < 0 ||
        request_read_elements(request, node, failure) < 0)
        return -1;
    return settle(request, node, failure);
}
