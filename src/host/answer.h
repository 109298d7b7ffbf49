/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the host answers to the needs of a domain's seed (host/need.h): files below the
 * directories that virt-seed.conf(5) names, secrets that the domain may use, what virt-seed
 * keeps for it, the labels of disks, whether libvirt keeps a definition of it, and whether
 * the metadata server answers.
 */
#pragma once

#include "host/config-files.h"
#include "host/need.h"
#include "host/secret.h"

/* Everything is borrowed. */
struct answerer {
    int root; /* the host's "/" */
    const struct config_files *config;
    struct secret_user domain;
    bool may_make_key; /* a missing host key is NEED_WORD_MAKE */
};

/* Answers all of the needs: a host's answer() for `data` that is a struct answerer. */
void answerer_answer(void *data, struct needs *needs);
