/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What virt-seed-maker does, a file each; a maker is one process for one of its roles
 * (host/exchange.h). */
#pragma once

#include "domain/domain.h"
#include "host/exchange.h"
#include "host/need.h"
#include "host/verdict.h"
#include "store/configuration.h"
#include "wire/wire.h"

/* --- prepare.c: from a domain's XML to the verdict on its start ----------------------- */

/* For a refusal that has no other hint: the domain's name, or its UUID. */
#define CHECK_HINT "look at what it asks for: virt-seed check %s"

/* Changes nothing on the host, and asks it once. `domain` is as libvirt has it, and is
 * changed; `resumes` is of a guest, instead of booting one. The verdict must be
 * VERDICT_NONE. */
void maker_prepare(const struct host *host, const struct config *config,
                   struct domain *domain, bool resumes, struct verdict *verdict);

/* --- result.c: what becomes of a domain's record -------------------------------------- */

/* When its guest has ended, of what the guest said; and when it has started although a
 * command has changed the record since the start began. The result must be empty; the hello
 * is that of the role. */
int maker_report(struct hello *hello, struct maker_result *result,
                 struct failure **failure);
int maker_merge(struct hello *hello, struct maker_result *result,
                struct failure **failure);

/* --- wire.c: a domain is wired for its own request, as its host is configured ----------- */

/* Adds what the host must know of the disks for that, and for a start. */
void need_labels(const struct domain *domain, struct needs *needs);
/* Moves the answers into the disks. */
void take_labels(struct domain *domain, const struct needs *needs);

/*
 * Wires the domain, whose disks' labels have been read. The configuration is empty for
 * another host's domain. The options need no address.
 */
int maker_wire(struct domain *domain, const struct config *config,
               struct wire_options options, struct wiring *wiring,
               struct failure **failure);

/* The same for a definition that must ask for a seed: asks the host for the labels first.
 * The result must be empty. */
int maker_wire_definition(const struct buffer *xml, const struct config *config,
                          const struct host *host, struct maker_result *result,
                          struct failure **failure);

/* --- exchange.c: the maker's side of its conversation with the keeper ------------------- */

/* A reader returns false if the message is not what this version's keeper says. The hello
 * must be empty. */
bool hello_get(struct hello *hello, const struct buffer *message);

void needs_put(const struct needs *needs, struct buffer *message);
/* Fills in the answers to the needs that were put. */
bool answers_get(struct needs *needs, const struct buffer *message);

/* The image stays in its file. */
void verdict_put(const struct verdict *verdict, struct buffer *message);

/* The result, or the failure unless that is NULL. */
void result_put(const struct maker_result *result, const struct failure *failure,
                struct buffer *message);
