/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: `check` goes through the same stages as the hook at a cold boot, but
 * records a failure as a finding and goes on, unless the request itself cannot be read.
 * These errors would make the hook refuse the start. The warnings cover what would surprise
 * the user, by subject.
 *
 * An error is identified by its failure code (base/failure.h), a warning by the list
 * below, or, if the caller may not read a secret, by a failure code. Both are stable, and
 * virt-seed-check(7) explains each.
 */
#pragma once

#include "domain/domain.h"
#include "domain/request.h"
#include "seed/content.h"
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
    X(IGNORED, "ignored")                                                                \
    X(INCLUDE, "include")                                                                \
    X(CANCELLED, "cancelled")                                                            \
    X(CLONED_INSTANCE_ID, "cloned-instance-id")                                          \
    X(WITHOUT_EFFECT, "without-effect")                                                  \
    X(UNKNOWN_RESULT, "unknown-result")                                                  \
    X(NIC_MISSING, "nic-missing")                                                        \
    X(NETWORK_LATE, "network-late")                                                      \
    X(HOST_UNREACHED, "host-unreached")                                                  \
    X(NOBODY_LISTENS, "nobody-listens")                                                  \
    X(NETWORK_RENDERER, "network-renderer")                                              \
    X(DEFAULT_ROUTE, "default-route")                                                    \
    X(GATEWAY_OUTSIDE, "gateway-outside")                                                \
    X(USER_NETWORK, "user-network")                                                      \
    X(DEPRECATED, "deprecated")                                                          \
    X(USB_CDROM, "usb-cdrom")                                                            \
    X(SATA_CDROM, "sata-cdrom")                                                          \
    X(SCSI_CONTROLLER, "scsi-controller")                                                \
    X(DISK_UNSEEN, "disk-unseen")                                                        \
    X(STARTUP_POLICY, "startup-policy")                                                  \
    X(BROKEN_SSH_KEY, "broken-ssh-key")                                                  \
    X(REPORT_CHANNEL, "report-channel")

#define WARNING_ENUM(name, text) WARNING_##name,
enum warning {
    WARNINGS(WARNING_ENUM)
};
#undef WARNING_ENUM

struct finding {
    bool error; /* otherwise a warning */
    const char *id;
    struct failure *failure; /* without a hint only if it is an error */
};

struct findings {
    struct finding *list;
    size_t count;
    size_t errors;
    enum {
        SCHEMA_UNUSED, /* no document to check, or nobody asked for it */
        SCHEMA_CHECKED,
        SCHEMA_SKIPPED, /* at least one document was not checked */
    } schema;
    char **skipped; /* sentences about these documents */
    size_t skipped_count;
};

void findings_clear(struct findings *findings);

/* Takes over the failure, if there is one, and adds it: as an error, unless it is that the
 * caller may not read a secret, which is not the domain's fault. */
void findings_take(struct findings *findings, struct failure **failure);

#define cleanup_findings __attribute__((cleanup(findings_clear)))

struct check_options {
    int root;      /* the host's "/": configuration, files and secrets are below it */
    bool schema;   /* whether to check documents against cloud-init's schema, too */
    bool migrates; /* check whether this host could take over the running guest */
};

/*
 * Finds problems with the domain's next start. It wires `domain` in memory, so the caller
 * may only clear it afterwards.
 */
void check_domain(struct findings *findings, struct domain *domain,
                  const struct check_options *options);

/* --- the subjects ------------------------------------------------------------------- */

/* The input of each subject. Parts are read if possible. */
struct check {
    struct findings *findings;
    const struct domain *domain;    /* with the labels of its disks */
    const struct wire_facts *facts; /* from before check_domain() wired it */
    const struct request *request;
    const struct config *config;
    int root; /* the host's "/" */
};

/* Each adds its own warnings. Content that the guest would reject was already reported as
 * an error (seed/seed.h, wire/wire.h). */
void check_user_data(const struct check *check);
void check_conflicts(const struct check *check);
void check_network(const struct check *check);
void check_meta_data(const struct check *check);
void check_initialization(const struct check *check);
void check_secrets(const struct check *check);
void check_nocloud_net(const struct check *check);
void check_disks(const struct check *check);
void check_ssh_keys(const struct check *check);
void check_schema(const struct check *check);

/* Adds a warning, unless there are LIMIT_FINDINGS already. It must not contain a secret. The
 * line is that of the part's text, or 0, and without a part that of the domain's XML. The
 * message of a part begins with its description and that line: "<user-data>: line 3", which
 * the format continues. */
void check_warn_of(const struct check *check, enum warning id, const struct part *part,
                   int line, const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
#define check_warn(check, id, line, ...)                                                 \
    check_warn_of((check), (id), NULL, (line), __VA_ARGS__)

/* Return: whether the part is a plain cloud-config, not one inside MIME or a template. */
bool check_is_cloud_config(const struct part *part);

/*
 * Calls the function with each document that user-data, vendor-data or oVirt's custom script
 * consists of: a part of MIME, gzip or an archive as a part of its own, with its number. A
 * document that is masked is omitted. The piece lives as long as the call. Return: whether
 * all of them were visited.
 */
typedef void check_piece(const struct check *check, const struct part *piece,
                         enum user_data_kind kind, void *context);
bool check_each_piece(const struct check *check, const struct part *part,
                      check_piece *visit, void *context);

/* --- rules on what a document contains (rules.c) ---------------------------------- */

/*
 * A rule on the values at paths such as "users.*.name": "*" matches any key or index, and
 * a leading "**." any depth. Messages name the path and the line but never quote the
 * document.
 */
struct rule {
    const char *const *paths; /* PATHS() */
    bool (*applies)(const struct check *check, const struct yaml_node *node);
    enum warning id;
    const char *message; /* follows the path: "is a number" */
    const char *hint;
};

#define PATHS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Applies the rules, which end with one without paths, to everything below the node. */
void rules_apply(const struct check *check, const struct part *part,
                 const struct yaml_node *from, const struct rule *rules);

/* Return: the part's root node, or NULL if it is empty, masked or not YAML (which is
 * reported elsewhere). */
const struct yaml_node *rules_read(struct yaml *yaml, const struct part *part);

/* Return: whether Python's str() of the value gives back the text as written. */
bool rules_is_as_written(const struct yaml_node *node);

/* Conditions for rules: the value is not text; Python's str() changes it; it is text; it is
 * present. */
bool rule_no_text(const struct check *check, const struct yaml_node *node);
bool rule_other_text(const struct check *check, const struct yaml_node *node);
bool rule_text(const struct check *check, const struct yaml_node *node);
bool rule_there(const struct check *check, const struct yaml_node *node);

/* The value is present, and not one that only locks a password: "*" or "!". */
bool rule_is_password(const struct check *check, const struct yaml_node *node);

/* Return: whether cloud-init takes the value for true (util.is_true). */
bool rules_is_true(const struct yaml_node *node);

#define EXPECTS_TEXT                                                                     \
    WARNING_YAML_VALUE, "is not text in YAML, but cloud-init expects text",              \
        "put it in quotes"
#define EXPECTS_AS_WRITTEN                                                               \
    WARNING_YAML_VALUE, "is not text in YAML, so the guest would get a different value", \
        "put it in quotes: YAML reads 010 as 8, and yes as true"
#define RULE_TEXT rule_no_text, EXPECTS_TEXT
#define RULE_AS_WRITTEN rule_other_text, EXPECTS_AS_WRITTEN
#define RULE_NUMBER                                                                      \
    rule_text, WARNING_YAML_TYPE, "is text, but cloud-init expects a number",            \
        "remove the quotes"
#define RULE_BOOLEAN                                                                     \
    rule_text, WARNING_YAML_TYPE,                                                        \
        "is text, which may be taken as true whatever it says",                          \
        "write true or false, without quotes"
