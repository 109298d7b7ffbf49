/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a domain's record (store/record.h), in the state directory: the record, and
 * the next one while the domain starts. What they say is not read here.
 */
#pragma once

#include "base/base.h"

/* Appends the text; nothing if there is no record. Fails if it is empty or has more than
 * LIMIT_RECORD bytes. */
int record_read_text(int root, const char *uuid, struct buffer *text,
                     struct failure **failure);

/* Replaces the record's text; removes the record if that is "{}". */
int record_write_text(int root, const char *uuid, const struct buffer *text,
                      struct failure **failure);

/*
 * Locks the records against other changes while the descriptor is open. Return: a
 * descriptor, owned by the caller, or -1 if locking fails or another process holds the
 * lock for longer than a change takes; then one of two simultaneous changes may be lost.
 */
int record_lock(int root);

/* Makes the record, which must exist, look as if it had just changed. */
int record_touch(int root, const char *uuid, struct failure **failure);
/* Return: when the record was last changed; 0 if there is none. */
struct timespec record_changed(int root, const char *uuid);

/*
 * The record that the start will have changed waits next to the present one, as UUID.next,
 * until libvirt has started the guest: a failed start does not change the record. Release
 * removes it. `changed` is record_changed() before the present one was read.
 */
int record_write_next(int root, const char *uuid, const struct buffer *text,
                      const struct timespec *changed, struct failure **failure);
/*
 * Puts it in the present one's place; there may be none. If a command has changed the
 * present one since, appends the next one's text instead, and removes that.
 */
int record_take_next(int root, const char *uuid, struct buffer *text,
                     struct failure **failure);
void record_forget_next(int root, const char *uuid);
