/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reporter: a script that runs in the guest beside cloud-init and writes to the virtio
 * port of the domain's report channel (wire/wire.h), a line of JSON each:
 *
 *   {"virt-seed":1,"boot":"BOOT-ID","status":STATUS}                  whenever a stage starts or ends
 *   {"virt-seed":1,"boot":"BOOT-ID","status":STATUS,"result":RESULT}  once, at the end
 *
 * An empty line comes first. STATUS and RESULT are cloud-init's own status.json and result.json (cmd/main.py,
 * status_wrapper); BOOT-ID is the kernel's random/boot_id.
 */
#pragma once

#include "base/buffer.h"

/* Appends the script as a boothook, which cloud-init runs at every boot. */
void reporter_write(struct buffer *buffer);
