/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a domain's XML to the verdict on its start. Changes nothing on the host, and asks it
 * once.
 */
#pragma once

#include "domain/domain.h"
#include "host/configuration.h"
#include "host/need.h"
#include "host/verdict.h"

/* Everything is borrowed. */
struct maker_start {
    const struct host *host;
    const struct config *config;
    struct domain *domain; /* as libvirt has it; is changed */
    bool resumes;          /* a guest, instead of booting one */
};

/* The verdict must be VERDICT_NONE. */
void maker_prepare(const struct maker_start *start, struct verdict *verdict);
