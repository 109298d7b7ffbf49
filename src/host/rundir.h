/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run-time directory, /run/libvirt/virt-seed: the seeds of running domains. Each name
 * in it begins with a domain's UUID (base/names.h), and is removed when the domain is
 * released; except "imds" (imds-tree.h), and RESUME_PREFIX with a domain's name.
 */
#pragma once

#include "base/base.h"

/* Opens the directory below `root`, as own_directory_open() does. */
int rundir_open(int root, struct failure **failure);

/* Return: the seed's name in the directory, owned by the caller (free). */
char *rundir_seed_name(const char *uuid);

/* Fails because the domain's files in the directory, this one or one below it, could not be
 * removed. Return: -1. */
int rundir_fail_to_remove(const char *directory, const char *uuid, int error,
                          struct failure **failure);

/* Notes that the next start of the domain with that name resumes a guest. Fails if it has a
 * slash or is too long for a file's name. */
int rundir_mark_resume(int rundir, const char *domain, struct failure **failure);

/*
 * Return: whether the start that begins now resumes a guest; then turns the mark into
 * that of a resumed guest with that UUID. A mark counts once, and for LIMIT_RESUME_SECONDS.
 * If the start is a cold boot, removes what an earlier one left.
 */
bool rundir_take_resume(int rundir, const char *domain, const char *uuid);

/* Return: whether the last start resumed the guest. */
bool rundir_is_resumed(int rundir, const char *uuid);
int rundir_forget_resumed(int rundir, const char *uuid, struct failure **failure);

/*
 * Writes the shim order: the word to add to the serial, or "", and whether the guest
 * should report. Gives the seed, which must exist, its second name.
 */
int rundir_write_shim_order(int rundir, const char *uuid, const char *word, bool report,
                            struct failure **failure);

/* Removes all of the domain's files, the shim's order included, except the mark that a
 * resumed start leaves. */
int rundir_remove_seed(int rundir, const char *uuid, struct failure **failure);
