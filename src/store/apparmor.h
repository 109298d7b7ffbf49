/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AppArmor on this host. libvirt puts each QEMU into a profile of its own, which is made from
 * /etc/apparmor.d/abstractions/libvirt-qemu. The emulator shim needs rules there that no
 * libvirt brings along (hooks/virt-seed-qemu.apparmor.in).
 */
#pragma once

#include <stdbool.h>

#include "base/failure.h"

/* Return: whether the kernel of the host whose "/" is the directory `root` has it switched on. */
bool apparmor_is_enabled(int root);

/*
 * Fails with FAILURE_APPARMOR if AppArmor is on and libvirt's profiles lack the rules of the
 * shim: libvirt could not execute it then. The hint is the command that adds them.
 */
int apparmor_check_shim(int root, struct failure **failure);
