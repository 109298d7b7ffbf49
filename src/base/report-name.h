/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By which names the guest, its domain, the hook and the command know the guest's report. */
#pragma once

/* The virtio port, in the guest /dev/virtio-ports/org.virt-seed.report.0. */
#define REPORT_PORT "org.virt-seed.report.0"

/* What VIRT_SEED_REPORTDIR has of a domain, behind its UUID. virtlogd appends ".0", ".1" and
 * so on to the names of files that it has rotated. */
#define REPORT_SUFFIX ".report"
