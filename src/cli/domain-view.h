/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A domain of libvirt's as it is now: the XML that it runs with, or, if it does not run, would be
 * started with; and what it asks for. */
#pragma once

#include <stdbool.h>

#include <libvirt/libvirt.h>
#include <libxml/tree.h>

#include "base/failure.h"
#include "domain/domain.h"
#include "domain/request.h"

struct domain_view {
    bool active;
    xmlDoc *doc;
    struct domain domain;
    bool has_request;
    struct request request;
    struct failure *refused; /* why there is no request */
};

/* Reads it; the connection may be a read-only one. */
int domain_view_load(struct domain_view *view, virDomainPtr domain,
                     struct failure **failure);

/*
 * Checks that a report can come of the domain; `has_file` says whether there is a file for it.
 * Return: 0, or -1 with the reason why there will never be one.
 */
int domain_view_check_report(const struct domain_view *view, bool has_file,
                             struct failure **failure);

void domain_view_clear(struct domain_view *view);

#define cleanup_domain_view __attribute__((cleanup(domain_view_clear)))
