/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fnmatch.h>
#include <string.h>

#include "base/fs.h"
#include "base/memory.h"
#include "domain/datasource.h"
#include "domain/domain.h"
#include "domain/xml.h"
#include "wire/wire.h"

/* VDSM's payload (lib/vdsm/mkimage.py), after and before VDSM has filled in the path. */
static const char *const payloads[] = {"/run/vdsm/payload/*", "/var/run/vdsm/payload/*",
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

const char *
foreign_seed_reason(const struct disk *disk)
{
    if (!disk->source || seed_path_is(disk->source))
        return NULL;
    if (matches(payloads, ARRAY_SIZE(payloads), disk->source, 0))
        return "is in VDSM's directory for payloads";
    if (disk->label)
        return datasource_find_label(disk->label) ? "has the label of a seed" : NULL;
    if (strcmp(disk->device, "cdrom") == 0 &&
        matches(names, ARRAY_SIZE(names), fs_base_name(disk->source), FNM_CASEFOLD))
        return "has the name of a seed";
    return NULL;
}

int
wire_remove_foreign(struct domain *domain, const struct wire_options *options,
                    struct wiring *wiring, struct failure **failure)
{
    for (size_t i = 0; i < domain->disk_count; i++) {
        const struct disk *disk = &domain->disks[i];
        const char *reason = foreign_seed_reason(disk);

        if (!reason)
            continue;
        if (!options->replace)
            return failure_set_at(
                failure, FAILURE_FOREIGN_SEED, xml_line(disk->node),
                "disk '%s' (%s) is another tool's seed: it %s\n%s", disk->target,
                disk->source, reason,
                options->foreign_hint
                    ? options->foreign_hint
                    : "a guest can have only one seed: detach the disk, or replace it "
                      "with 'virt-seed wire --replace'");
        wiring_note(wiring, "foreign seed '%s' (%s) removed", disk->target, disk->source);
        domain_remove_disk(domain, i);
        i--;
    }
    return 0;
}
