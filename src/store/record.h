/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the host remembers of a domain from one boot to the next: a file of JSON,
 * /var/lib/virt-seed/UUID.json.
 *
 * How it works: the record has no content of a seed, but digests of its documents,
 * against which somebody could try guesses at a weak password; and a few words that the
 * guest has said of itself. So it is root's, and readable (0640) by those alone who may
 * use libvirt (libvirt-host.h). It is replaced whole, never written in place.
 *
 * Members that this version does not know, or that are not of the type and length that it
 * writes, are kept: those of a record as long as it is there, those of a boot or a result
 * until the next one. So a later version finds its own again after an earlier one.
 *
 * The file's own time is when the domain last started or ended.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/failure.h"
#include "domain/documents.h"
#include "store/guest-report.h"
#include "store/storage.h"

/* Texts are UTF-8, times "2026-01-01T00:00:00Z"; all are owned by the record. */

struct record_document {
    char *path;   /* below the volume's root, as in a seed */
    char *digest; /* digest_make() */
};

/* A cold boot, and the seed that it had. */
struct record_boot {
    char *time;          /* NULL if there is none; the others are NULL then, too */
    char *name;          /* the domain's, then; NULL if the record does not say */
    char *version;       /* virt-seed's, then; the same */
    char *label;         /* the volume's; the same, and where the seed was none */
    char *datasource;    /* "nocloud", "configdrive", "nocloud-net"; or NULL */
    char *instance_id;   /* NULL if the seed has none that can be read */
    bool identity_alone; /* the guest was set up before (boots="until-done") */
    bool cache_keep; /* the guest was told, then or before, to keep what it has read */
    struct record_document *documents; /* in the order of the image */
    size_t document_count;
    struct json_t *others; /* members that are not known, or NULL */
};

/* What cloud-init in the guest said at the end of that boot. The texts are the guest's,
 * which is not trusted (guest-report.h). */
struct record_result {
    enum guest_state state; /* DONE or FAILED; NOTHING, and there is no result */
    char *time;             /* when it came, by the host's clock */
    char *datasource;       /* as cloud-init names it; NULL if it did not */
    char **errors;
    size_t error_count;
    char **warnings;
    size_t warning_count;
    struct json_t *others;
};

struct record {
    char *done; /* since when the guest counts as set up (boots="until-done"), or NULL */
    struct record_boot boot;
    /* The seed that took that one's place while the domain ran ('virt-seed update'), and
     * when; the guest has read it if it was rebooted since. It has no name. */
    struct record_boot update;
    struct record_result result;
    struct json_t *others;
};

/*
 * Reads the domain's record; without one, an empty record. Return: 0, or -1 if there is
 * one that cannot be read, is no JSON object, or has more than LIMIT_RECORD bytes.
 */
int record_read(int root, const char *uuid, struct record *record,
                struct failure **failure);

/*
 * Replaces the domain's record; an empty one is removed. Of texts and lists that are
 * longer than a record has them (base/limits.h) the beginning is written; documents are
 * not cut.
 */
int record_write(int root, const char *uuid, const struct record *record,
                 struct failure **failure);

/*
 * Holds off others who change records while one is read and written again, as long as the
 * descriptor is open. Return: a descriptor, owned by the caller, or -1 if that is not
 * possible, or others hold it for longer than a change takes; of two changes at the same
 * time one could be lost then.
 */
int record_lock(int root);

/* Adds to an empty boot what the seed that was read there says: label, datasource,
 * instance-id, documents. What is served has the documents of NoCloud's volume, and no
 * label. */
void record_boot_add_seed(struct record_boot *boot, const struct storage *storage,
                          const struct seed *seed);

/* Takes the boot, which is empty then, for the last one; what replaced the seed of the
 * one before it, and its result, are gone. */
void record_set_boot(struct record *record, struct record_boot *boot);

/* Takes what replaced the last boot's seed, which is empty then. */
void record_set_update(struct record *record, struct record_boot *update);

/* Takes the result, which is empty then, for that of the last boot. */
void record_set_result(struct record *record, struct record_result *result);

/* Return: the time, as records have it, owned by the caller (free). */
char *record_time(time_t seconds);

/* Return: the boot's document of that path, or NULL. */
const struct record_document *record_find_document(const struct record_boot *boot,
                                                   const char *path);

void record_boot_clear(struct record_boot *boot);
void record_result_clear(struct record_result *result);
void record_clear(struct record *record);

#define cleanup_record __attribute__((cleanup(record_clear)))
#define cleanup_record_boot __attribute__((cleanup(record_boot_clear)))
#define cleanup_record_result __attribute__((cleanup(record_result_clear)))
