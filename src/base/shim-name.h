/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By which names the emulator shim, the hook and the command know one another. */
#pragma once

/* The shim is called by the name of the emulator that it becomes, behind this. */
#define SHIM_PREFIX "virt-seed-"
/* What such a name begins with in a domain's <emulator>. */
#define SHIM_NAME SHIM_PREFIX "qemu-"

/* What the run-time directory has for the shim, behind the domain's UUID. */
#define SHIM_SUFFIX ".shim"
/* The seed once more; behind it the domain's UUID again. AppArmor calls the profile of the
 * domain's QEMU libvirt-UUID, so that a rule can let each QEMU at its own seed alone. */
#define SHIM_SEED_SUFFIX ".libvirt-"
