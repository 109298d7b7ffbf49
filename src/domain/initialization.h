/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oVirt's <initialization>, with the element names of its REST API (types Initialization
 * and NicConfiguration, and the deprecated CloudInit) and of its engine. The host name,
 * the keys and the network go into the request; the rest becomes a cloud-config
 * (seed/cloud-config.c).
 */
#pragma once

#include "domain/network.h"
#include "domain/part.h"
#include "domain/vocabulary.h"

/* The parts belong to the request. */
struct initialization_user {
    char *name;
    struct part *password; /* NULL if there is none */
    char **ssh_keys;
    size_t ssh_key_count;
};

struct initialization_file {
    char *path; /* absolute */
    struct part *content;
};

enum initialization_choice {
    INITIALIZATION_UNSAID,
    INITIALIZATION_NO,
    INITIALIZATION_YES,
};

struct initialization {
    struct parts *parts; /* the request's, to which readers add; borrowed */
    char *host_name;     /* NULL if there is none, like all text here */
    char *user_name;     /* the default user, who gets the authorized keys */
    char *timezone;
    char *locale;
    char *phone_home; /* a URL */
    struct part *root_password;
    struct part *custom_script; /* a cloud-config, with or without its header */
    enum initialization_choice regenerate_ssh_keys;
    bool root_has_keys; /* root gets the authorized keys, too */
    struct initialization_user *users;
    size_t user_count;
    struct initialization_file *files;
    size_t file_count;
    char **ssh_keys;
    size_t ssh_key_count;
    struct network *network; /* NULL if there is none */
};

/* All elements that <initialization> may contain, at every depth. */
extern const struct vocabulary_element initialization_elements[];

/*
 * Reads the element; adds passwords, files and the script to `parts`.
 * Return: the result, owned by the caller (initialization_free), or NULL.
 */
struct initialization *initialization_read(const xmlNode *node, struct parts *parts,
                                           struct failure **failure);

void initialization_free(struct initialization *initialization);
