/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of the metadata server (IMDS, instance metadata service), "imds" in the
 * run-time directory. The hook and 'virt-seed update' publish in it the documents of each
 * running domain that gets its seed over HTTP; the server knows nothing else. They write,
 * the server reads.
 *
 *   UUID/access          who may read it: the token, 32 digits of hex in lower case
 *                        (wire_url_word), and a line for each interface,
 *                        "52:54:00:12:34:56 neighbour": its MAC, and how it is linked with the
 *                        host (enum imds_link)
 *   UUID/meta-data, user-data, vendor-data, network-config
 *                        the documents; a missing one is empty
 *   UUID.new.XXXXXXXX    being made or removed; readers ignore it
 *
 * UUID/ appears, is replaced and disappears as a whole, by renameat2(2), and nothing in
 * it ever changes: an opened directory stays one generation (fs_is_named).
 *
 * The tree is 0750, its files are 0640. Everything has the group of the directory "imds",
 * which tmpfiles.d makes for the group "virt-seed-imds". If imds_tree_open() made it,
 * only root could read it (0700), and the server could not: so the hook checks first, and
 * refuses the start (imds_tree_find()).
 */
#pragma once

#include "host/imds-health.h"

#define IMDS_TREE_NAME "imds"
#define IMDS_TREE VIRT_SEED_RUNDIR "/" IMDS_TREE_NAME
/* Attempts to open something that another process replaces or removes. */
#define IMDS_ATTEMPTS 16
#define IMDS_ACCESS "access"

/* How an interface is connected to the host; the words appear in UUID/access. */
enum imds_link {
    IMDS_LINK_NEIGHBOUR, /* the host sees its MAC */
    IMDS_LINK_USER, /* <interface type='user'>: a process of QEMU's user speaks for it */
    IMDS_LINK_COUNT
};

extern const char *const imds_link_names[IMDS_LINK_COUNT];

/* Sets of links. */
#define IMDS_LINK_SET(link) (1U << (link))

/* Hexadecimal digits; wire/url.h makes tokens. */
#define IMDS_TOKEN_LENGTH 32
#define IMDS_MAC_LENGTH 17

/* The names of the documents, below UUID/. */
#define IMDS_META_DATA "meta-data"
#define IMDS_USER_DATA "user-data"
#define IMDS_VENDOR_DATA "vendor-data"
#define IMDS_NETWORK_CONFIG "network-config"

/* Return: whether the text is a MAC, or a token, as the tree spells it. */
bool imds_is_mac(const char *text);
bool imds_is_token(const char *text);

struct imds_mac {
    /* In lower case with two digits each (interface_normalize_mac). */
    char mac[IMDS_MAC_LENGTH + 1];
    enum imds_link link;
};

/* Return: the lines of UUID/access for them, owned by the caller (free). */
char *imds_macs_format(const struct imds_mac *macs, size_t count);

/* --- writing ---------------------------------------------------------------------- */

struct seed; /* host/documents.h */

/* What is served of a domain. */
struct imds_domain {
    char *token; /* NULL if nothing is */
    struct imds_mac *macs;
    size_t mac_count;
    const struct seed *seed; /* borrowed; its documents have their names below UUID/ */
};

/* Looks for what would keep the server from reading it: it was not made for the server, which
 * could not read one made here, or it is missing, as with a `rundir` below 0. */
struct imds_finding imds_tree_find(int rundir);

/* Opens the tree in the run-time directory (rundir_open); makes it if it is missing.
 * Return: a descriptor, owned by the caller, or -1. */
int imds_tree_open(int rundir, struct failure **failure);

/* Publishes the domain in place of its old documents, which stay on failure; the UUID is in
 * lower case. */
int imds_tree_publish(int tree, const char *uuid, const struct imds_domain *domain,
                      struct failure **failure);

/* Removes the domain, and what killed processes have left of it, from the tree in the
 * run-time directory. If the tree has nothing of it, it may also be missing or unsafe. */
int imds_tree_remove(int rundir, const char *uuid, struct failure **failure);
