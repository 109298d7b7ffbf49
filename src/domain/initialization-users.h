/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may log in, as <initialization> says it: passwords and authorized keys.
 *
 * What belongs to root is not among the users: root is there in every guest. Its keys are
 * the default user's, too, as oVirt's engine has it.
 */
#pragma once

#include <libxml/tree.h>

#include "domain/initialization.h"

/* Each returns 0, or -1 with a failure that names the element and its line. */
int initialization_read_root_password(struct initialization *initialization,
                                      const xmlNode *node, struct parts *parts,
                                      struct failure **failure);
int initialization_read_users(struct initialization *initialization, const xmlNode *node,
                              struct parts *parts, struct failure **failure);
int initialization_read_authorized_keys(struct initialization *initialization,
                                        const xmlNode *node, struct failure **failure);
/* One key a line; empty lines and comments are none. */
int initialization_read_authorized_ssh_keys(struct initialization *initialization,
                                            const xmlNode *node,
                                            struct failure **failure);
