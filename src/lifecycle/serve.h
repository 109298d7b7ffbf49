/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seed of a guest without a disk, in the metadata server's tree (store/imds-tree.h). */
#pragma once

#include "domain/request.h"
#include "domain/seed-url.h"
#include "image/iso-read.h"
#include "lifecycle/lifecycle.h"
#include "seed/seed.h"

/*
 * Publishes the seed, and who the guest is, in place of what was there of the domain. Where
 * nobody has made the tree for the server, that is a failure: without its server the guest
 * would come up as a new machine. Whether the server runs is not asked: it may be about to be
 * restarted.
 */
int serve_publish(const struct lifecycle *lifecycle, const struct request *request,
                  const struct seed_url *url, struct seed *seed, int rundir,
                  struct failure **failure);

/* Return: whether something of the domain is published. */
bool serve_is_there(int rundir, const char *uuid);

/* Takes away what is published of the domain, if there is something. */
int serve_withdraw(int rundir, const char *uuid, struct failure **failure);

/* Return: the directory of what is published of the domain, a descriptor owned by the caller,
 * or -errno. */
int serve_open(int rundir, const char *uuid);

/* Reads NoCloud's documents in that directory, as files of a volume of that kind. */
int serve_read(int domain, struct volume *volume, struct failure **failure);
