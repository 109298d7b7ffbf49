/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "domain/foreign.h"
#include "domain/seed-path.h"
#include "domain/xml.h"

static const char *const labels[] = {"cidata", "config-2"};

/* VDSM's payload (lib/vdsm/mkimage.py), before and after it has filled in the path. */
static const char *const places[] = {"/run/vdsm/payload/*", "/var/run/vdsm/payload/*",
                                     "PAYLOAD:*"};

static const char *const names[] = {
    "virtinst-*-cloudinit.iso", /* virt-install */
    "*cloudinit*.iso",
    "*cloud-init*.iso",
    "*cidata*.iso",
    "*cidata*.img",
    "seed.iso",
    "seed.img",
    "*-seed.iso",
    "*-seed.img", /* cloud-localds's examples */
    "noCloud.iso",
    "configdrive.iso", /* KubeVirt */
};

static bool
matches(const char *const *patterns, size_t count, const char *text, int flags)
{
    for (size_t i = 0; i < count; i++) {
        if (fnmatch(patterns[i], text, flags) == 0)
            return true;
    }
    return false;
}

static bool
has_seed_label(const struct disk *disk)
{
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        if (strcasecmp(disk->label, labels[i]) == 0)
            return true;
    }
    return false;
}

bool
foreign_is_seed(const struct disk *disk)
{
    const char *slash;

    if (!disk->source || seed_path_is(disk->source))
        return false;
    if (matches(places, sizeof(places) / sizeof(places[0]), disk->source, 0))
        return true;
    if (disk->label)
        return has_seed_label(disk);
    slash = strrchr(disk->source, '/');
    return strcmp(disk->device, "cdrom") == 0 &&
           matches(names, sizeof(names) / sizeof(names[0]),
                   slash ? slash + 1 : disk->source, FNM_CASEFOLD);
}

int
foreign_fail(const struct disk *disk, struct failure **failure)
{
    if (disk->label)
        failure_set(failure, FAILURE_FOREIGN_SEED,
                    "disk '%s' (%s) has the label '%s': it is another tool's seed",
                    disk->target, disk->source, disk->label);
    else
        failure_set(failure, FAILURE_FOREIGN_SEED,
                    "disk '%s' (%s) has the name of another tool's seed", disk->target,
                    disk->source);
    failure_at_line(failure, xml_line(disk->node));
    return failure_hint(failure,
                        "detach it, or let 'virt-seed wire --replace' put ours in "
                        "its place: a guest has one seed");
}
