/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs makers (virt-seed-maker): what reads text that somebody else wrote does so in a
 * process without rights, one for each author. The domain's XML and the guest's report are
 * never read in the same one.
 *
 * How it works: the maker is started first, so that it loads its libraries while the caller
 * reads what it will say hello with (host/exchange.h). Its user has no rights, and it gives
 * up the rest before it reads (maker/sandbox.h). The caller does nothing before the maker has
 * said everything and has exited with status 0. A maker that breaks a rule, dies or is late
 * is a failure; it ends with the caller.
 */
#pragma once

#include "host/exchange.h"

/* The maker's descriptors, besides /dev/null for the first three. */
enum {
    MAKER_XML = 3,    /* of the domain, sealed */
    MAKER_SOCKET = 4, /* to the keeper */
    MAKER_OUTPUT = 5, /* an empty file, for the image */
    MAKER_DESCRIPTORS,
};

struct maker {
    pid_t pid; /* 0 if it has ended */
    int socket;
    int64_t end; /* of clock_milliseconds(): when it is late */
};

#define MAKER_NONE ((struct maker){.socket = -1})

/* Starts one; without `xml` (NULL) or `output` (-1) it has /dev/null instead. */
int maker_start(struct maker *maker, const struct buffer *xml, int output,
                struct failure **failure);

int maker_say_hello(struct maker *maker, const struct hello *hello,
                    struct failure **failure);

/* For MAKER_PREPARE: answers its needs, if it has any, and waits for its end. The verdict must
 * be VERDICT_NONE, but with the output. */
int maker_verdict(struct maker *maker, const struct hello *hello, const struct host *host,
                  struct verdict *verdict, struct failure **failure);

/* Runs one for another role. For MAKER_WIRE it has the definition, and may ask the host for
 * labels; else both are NULL. The result must be empty. */
int maker_run(const struct hello *hello, const struct buffer *xml,
              const struct host *host, struct maker_result *result,
              struct failure **failure);

/* Ends it, if it has not ended yet. Return: its status, from waitpid(2), or -1. */
int maker_stop(struct maker *maker);

#define cleanup_maker __attribute__((cleanup(maker_stop)))
