/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs makers: what reads text that somebody else wrote does so in a child without rights
 * (maker/sandbox.h), one for each author. The domain's XML and the guest's report are
 * never read in the same child.
 *
 * How it works: the child asks the host once, if at all, says its verdict, and exits. This
 * process answers, and does nothing else before the child has exited with status 0. A child
 * that breaks a rule, dies or is late is a failure; with this process's end, it ends, too.
 */
#pragma once

#include "base/buffer.h"
#include "base/failure.h"
#include "host/need.h"
#include "maker/result.h"
#include "maker/verdict.h"
#include "store/configuration.h"

/* A start of a domain; everything is borrowed. */
struct maker_prepare_job {
    const struct buffer *xml; /* as libvirt has it */
    const struct host *host;  /* who answers */
    const struct config *config;
    const char *uuid; /* the XML must have it */
    bool resumes;
    /* What the caller does meanwhile. */
    void (*meanwhile)(void *data);
    void *data;
};

/* The verdict must be VERDICT_NONE, but with an output for the image. */
int maker_run_prepare(const struct maker_prepare_job *job, struct verdict *verdict,
                      struct failure **failure);

/* As maker_report() and maker_merge(). */
int maker_run_report(const struct maker_end *end, struct maker_result *result,
                     struct failure **failure);
int maker_run_merge(const struct buffer *record, const struct buffer *next,
                    struct maker_result *result, struct failure **failure);
