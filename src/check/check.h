/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: `check` goes through the same stages as the hook at a cold boot, but a
 * failure becomes a finding and the next stage is tried. Besides these errors, for which
 * the hook would refuse the start, there are warnings of what would surprise: a file for
 * each subject, with its rules.
 *
 * The identifier of an error is its failure's (base/failure.h), that of a warning is
 * below. Both are stable, and virt-seed-check(7) explains each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "domain/domain.h"
#include "domain/request.h"
#include "seed/yaml.h"
#include "store/configuration.h"
#include "wire/wire.h"

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
    enum {
        SCHEMA_UNUSED, /* no document to check, or nobody asked for it */
        SCHEMA_CHECKED,
        SCHEMA_MISSING, /* the program that checks it is not on this host */
    } schema;
};

/* Adds a warning; those beyond LIMIT_FINDINGS are dropped. Nothing in it is of a
 * secret. */
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
    /* cloud-init's schema, by which they are checked instead; NULL for none. */
    const struct buffer *schema_file;
};

/*
 * Looks for everything that would fail or surprise at the domain's next start. Afterwards
 * `domain` may only be cleared: it was wired on the way, in memory.
 */
void check_domain(struct findings *findings, struct domain *domain,
                  const struct check_options *options);

/* --- the subjects ------------------------------------------------------------------- */

/* What the subjects look at. The parts were resolved if that was possible. */
struct check {
    struct findings *findings;
    const struct domain *domain;    /* with the labels of its disks */
    const struct wire_facts *facts; /* before the domain is wired on the way */
    const struct request *request;
    const struct config *config;
    int root; /* the host's "/" */
};

/* Each adds the warnings of its own. What the guest would reject is an error already, and
 * found before (seed/seed.h, wire/wire.h). */
void check_user_data(const struct check *check);
void check_cloud_config(const struct check *check);
void check_network(const struct check *check);
void check_meta_data(const struct check *check);
void check_initialization(const struct check *check);
void check_secrets(const struct check *check);
void check_smbios(const struct check *check);
void check_nocloud_net(const struct check *check);
void check_disks(const struct check *check);
/* `file` is NULL, or the schema. */
void check_schema(const struct check *check, const struct buffer *file);

/* The one that adds errors, too: for what the hook would refuse of this host. */
void check_delivery(const struct check *check);

/* Return: whether the part holds a cloud-config, and not in disguise (MIME,
 * templates). */
bool check_is_cloud_config(const struct part *part);

/* --- rules on what a document contains (rules.c) ---------------------------------- */

/*
 * A rule on the values at a path: "users.*.name", with "*" for any key or index, and
 * "**." in front for any depth. Messages name the path and the line, and nothing of the
 * document.
 */
struct rule {
    const char *path;
    bool (*applies)(const struct check *check, const struct yaml_node *node);
    enum warning id;
    const char *message; /* behind the path: "is a number" */
    const char *hint;
};

/* Applies the rules, which end with a NULL path, to everything below the node. */
void rules_apply(const struct check *check, const struct part *part,
                 const struct yaml_node *from, const struct rule *rules);

/* Reads the part. Return: the outermost node, or NULL: it is empty, masked, or not YAML,
 * which others say. */
const struct yaml_node *rules_read(struct yaml *yaml, const struct part *part);

/* Return: whether Python's str() of the value is the text that was written. */
bool rules_is_as_written(const struct yaml_node *node);

/* To be rows of the tables: the value is not text; is not the text that was written once
 * Python has made text of it; is text; is there at all. */
bool rule_no_text(const struct check *check, const struct yaml_node *node);
bool rule_other_text(const struct check *check, const struct yaml_node *node);
bool rule_text(const struct check *check, const struct yaml_node *node);
bool rule_there(const struct check *check, const struct yaml_node *node);

#define RULE_TEXT(path)                                                                  \
    {                                                                                    \
        path, rule_no_text, WARNING_YAML_VALUE,                                          \
            "is no text to YAML, and cloud-init wants text", "put it in quotes"          \
    }
#define RULE_AS_WRITTEN(path)                                                            \
    {                                                                                    \
        path, rule_other_text, WARNING_YAML_VALUE,                                       \
            "is no text to YAML, and would arrive as another",                           \
            "put it in quotes: YAML takes 010 for 8, and yes for true"                   \
    }
#define RULE_NUMBER(path)                                                                \
    {                                                                                    \
        path, rule_text, WARNING_YAML_TYPE, "is text, and cloud-init wants a number",    \
            "remove the quotes"                                                          \
    }
#define RULE_BOOLEAN(path)                                                               \
    {                                                                                    \
        path, rule_text, WARNING_YAML_TYPE,                                              \
            "is text, which may count as true whatever it says",                         \
            "write true or false, without quotes"                                        \
    }
