/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: `check` goes through the same stages as the hook at a cold boot, but a failure
 * becomes a finding and the next stage is tried. Besides these errors, for which the hook
 * would refuse the start, there are warnings of what would surprise: a file for each subject
 * (rules.h).
 *
 * The identifier of an error is its failure's (base/failure.h), that of a warning is below.
 * Both are stable, and virt-seed-check(7) explains each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"
#include "domain/domain.h"

#define WARNINGS(X)                                                                      \
    X(INLINE_SECRET, "inline-secret")                                                    \
    X(READABLE_SECRET, "readable-secret")                                                \
    X(SHIM_SECRET, "shim-secret")                                                        \
    X(YAML_VALUE, "yaml-value")                                                          \
    X(YAML_TYPE, "yaml-type")                                                            \
    X(SCHEMA, "schema")                                                                  \
    X(UNSEEN, "unseen")                                                                  \
    X(INCLUDE, "include")                                                                \
    X(LINE_ENDS, "line-ends")                                                            \
    X(VENDOR_DATA_UNUSED, "vendor-data-unused")                                          \
    X(META_DATA_KEY, "meta-data-key")                                                    \
    X(CLONED_INSTANCE_ID, "cloned-instance-id")                                          \
    X(VOLATILE_INSTANCE_ID, "volatile-instance-id")                                      \
    X(WITHOUT_EFFECT, "without-effect")                                                  \
    X(NIC_COUNT, "nic-count")                                                            \
    X(NIC_MISSING, "nic-missing")                                                        \
    X(NETWORK_LATE, "network-late")                                                      \
    X(HOST_UNREACHED, "host-unreached")                                                  \
    X(LINK_DOWN, "link-down")                                                            \
    X(OTHER_USER, "other-user")                                                          \
    X(NOBODY_LISTENS, "nobody-listens")                                                  \
    X(DEFAULT_ROUTE, "default-route")                                                    \
    X(DEPRECATED, "deprecated")                                                          \
    X(OTHER_CLOUD, "other-cloud")                                                        \
    X(SERIAL_CHARACTERS, "serial-characters")                                            \
    X(SERIAL_HIDDEN, "serial-hidden")                                                    \
    X(KERNEL_ARGUMENTS, "kernel-arguments")                                              \
    X(NO_ROOT_DISK, "no-root-disk")                                                      \
    X(USB_CDROM, "usb-cdrom")                                                            \
    X(SATA_CDROM, "sata-cdrom")                                                          \
    X(IDE_CDROM, "ide-cdrom")                                                            \
    X(SCSI_CONTROLLER, "scsi-controller")                                                \
    X(STARTUP_POLICY, "startup-policy")                                                  \
    X(REPORT_CHANNEL, "report-channel")

#define WARNING_ENUM(name, text) WARNING_##name,
enum warning {
    WARNINGS(WARNING_ENUM)
};
#undef WARNING_ENUM

struct finding {
    bool error; /* else a warning */
    const char *id;
    int line; /* in the domain's XML; 0 if there is none */
    char *message;
    char *hint; /* may be NULL */
};

struct findings {
    struct finding *list;
    size_t count;
    size_t errors;
};

/* Adds a warning; those beyond LIMIT_FINDINGS are dropped. Nothing in it is of a secret. */
void findings_warn(struct findings *findings, enum warning id, int line, const char *hint,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * Takes the failure over, if there is one: as an error; one of a secret that the caller
 * alone may not read is none of the domain's, and a warning.
 */
void findings_take(struct findings *findings, struct failure **failure);

/* Return: whether there is such a warning at that line. */
bool findings_have(const struct findings *findings, enum warning id, int line);

void findings_clear(struct findings *findings);

#define cleanup_findings __attribute__((cleanup(findings_clear)))

struct check_options {
    int root;    /* the host's "/": configuration, files and secrets are below it */
    bool schema; /* whether an installed cloud-init may check the documents as well */
};

/*
 * Looks for everything that would fail or surprise at the domain's next start. Afterwards
 * `domain` may only be cleared: it was wired on the way, in memory.
 */
void check_domain(struct findings *findings, struct domain *domain,
                  const struct check_options *options);
