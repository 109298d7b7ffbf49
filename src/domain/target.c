/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "domain/domain.h"
#include "domain/xml.h"

/* libvirt's own limits for <address type='drive'> are lower. */
#define DRIVE_NUMBER_MAX 65535

static const char *const prefixes[] = {"sd", "hd", "vd", "xvd", "fd", "ubd"};

static const struct {
    const char *name;
    const char *prefix; /* of its targets */
} buses[] = {
    [DOMAIN_BUS_OTHER] = {"other", "sd"}, [DOMAIN_BUS_VIRTIO] = {"virtio", "vd"},
    [DOMAIN_BUS_SCSI] = {"scsi", "sd"},   [DOMAIN_BUS_SATA] = {"sata", "sd"},
    [DOMAIN_BUS_IDE] = {"ide", "hd"},     [DOMAIN_BUS_USB] = {"usb", "sd"},
};

const char *
domain_bus_name(enum domain_bus bus)
{
    return buses[bus].name;
}

enum domain_bus
domain_bus_parse(const char *name)
{
    for (enum domain_bus bus = DOMAIN_BUS_VIRTIO; bus <= DOMAIN_BUS_USB; bus++) {
        if (strcmp(buses[bus].name, name) == 0)
            return bus;
    }
    return DOMAIN_BUS_OTHER;
}

long
target_index(const char *target)
{
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
        size_t length = strlen(prefixes[i]);
        long index = 0;

        if (strncmp(target, prefixes[i], length) != 0 || !target[length])
            continue;
        for (target += length; *target >= 'a' && *target <= 'z'; target++) {
            if (index > INT_MAX / 26 - 26)
                return -1;
            index = index * 26 + (*target - 'a') + 1;
        }
        /* A partition's digits may follow. */
        return target[strspn(target, "0123456789")] || !index ? -1 : index - 1;
    }
    return -1;
}

char *
target_name(const char *prefix, long index)
{
    char letters[16];
    size_t position = sizeof(letters) - 1;

    letters[position] = '\0';
    for (; index >= 0 && position > 0; index = index / 26 - 1)
        letters[--position] = (char)('a' + index % 26);
    return xasprintf("%s%s", prefix, letters + position);
}

const char *
target_prefix(enum domain_bus bus)
{
    return buses[bus].prefix;
}

enum domain_bus
target_default_bus(const char *target)
{
    if (strncmp(target, "hd", 2) == 0)
        return DOMAIN_BUS_IDE;
    if (strncmp(target, "sd", 2) == 0)
        return DOMAIN_BUS_SCSI;
    return strncmp(target, "vd", 2) == 0 ? DOMAIN_BUS_VIRTIO : DOMAIN_BUS_OTHER;
}

/* Return: the number, 0 if it is missing. */
static long
drive_number(const xmlNode *address, const char *name)
{
    long number = xml_attribute_number(address, name, DRIVE_NUMBER_MAX);

    return number < 0 ? 0 : number;
}

struct drive_address
target_address(enum domain_bus bus, const char *target, const xmlNode *address)
{
    long index = target_index(target);

    if (address && xml_attribute_is(address, "type", "drive"))
        return (struct drive_address){
            .controller = drive_number(address, "controller"),
            .bus = drive_number(address, "bus"),
            .target = drive_number(address, "target"),
            .unit = drive_number(address, "unit"),
        };
    if (index < 0)
        index = 0;
    if (bus == DOMAIN_BUS_SCSI)
        return (struct drive_address){index / 7, 0, 0, index % 7};
    if (bus == DOMAIN_BUS_SATA)
        return (struct drive_address){index / 6, 0, 0, index % 6};
    if (bus == DOMAIN_BUS_IDE)
        return (struct drive_address){index / 4, index % 4 / 2, 0, index % 2};
    return (struct drive_address){-1, -1, -1, -1};
}
