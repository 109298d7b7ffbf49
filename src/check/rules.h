/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules, by subject. Each function adds the warnings of its own; what the guest would
 * reject is an error already, and found before (seed/seed.h, wire/wire.h). */
#pragma once

#include "check/check.h"
#include "domain/request.h"
#include "seed/yaml.h"
#include "store/configuration.h"
#include "wire/wire.h"

/* What they look at. The parts were resolved if that was possible. */
struct check {
    struct findings *findings;
    const struct domain *domain;    /* with the labels of its disks */
    const struct wire_facts *facts; /* before the domain is wired on the way */
    const struct request *request;
    const struct config *config;
    int root; /* the host's "/" */
};

void check_user_data(const struct check *check);
void check_cloud_config(const struct check *check);
void check_network(const struct check *check);
void check_meta_data(const struct check *check);
void check_initialization(const struct check *check);
void check_secrets(const struct check *check);
void check_smbios(const struct check *check);
void check_served(const struct check *check);
void check_disks(const struct check *check);
void check_schema(const struct check *check);

/* The one that adds errors, too: for what the hook would refuse of this host. */
void check_delivery(const struct check *check);

/* Return: whether the part holds a cloud-config, and not in disguise (MIME, templates). */
bool check_is_cloud_config(const struct part *part);

/* --- rules on what a document contains ----------------------------------------------- */

/*
 * A rule on the values at a path: "users.*.name", with "*" for any key or index, and "**."
 * in front for any depth. Messages name the path and the line, and nothing of the document.
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

/* Reads the part. Return: the outermost node, or NULL: it is empty, masked, or not YAML, which
 * others say. */
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
