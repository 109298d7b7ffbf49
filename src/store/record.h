/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the host remembers about a domain from one boot to the next: a JSON file,
 * /var/lib/virt-seed/UUID.json.
 *
 * How it works: the record contains no document of a seed, but digests of them, against
 * which someone could test guesses of a weak password, and a few texts from the guest. So
 * it belongs to root and is readable (0640) only by those who may use libvirt
 * (libvirt-host.h). It is replaced as a whole, never written in place.
 *
 * Members that this version does not know, or that do not have the type and length that
 * it writes, count as missing.
 *
 * The file's modification time is when the domain last started or ended, or a command last
 * changed its seed or its record.
 */
#pragma once

#include "host/documents.h"
#include "host/storage.h"
#include "store/guest-report.h"

/* Texts are UTF-8, times "2026-01-01T00:00:00Z"; all are owned by the record. */

struct record_document {
    char *path;   /* below the volume's root, as in a seed */
    char *digest; /* digest_make() */
    /* Of what cloud-init keeps of it, if that is not the document itself; or NULL
     * (layout_kept_digest()). */
    char *kept;
};

/* A cold boot and its seed. */
struct record_boot {
    char *time;          /* NULL in a record without such a boot */
    char *name;          /* the domain's at that time, or NULL if not recorded */
    char *version;       /* virt-seed's at that time, or NULL */
    char *label;         /* the volume's, or NULL, also if the seed was not a volume */
    char *datasource;    /* "nocloud", "configdrive", "nocloud-net"; or NULL */
    char *instance_id;   /* NULL if none could be read in the seed */
    bool identity_alone; /* the guest was already set up (boots="until-done") */
    bool until_done;     /* it is set up once this boot succeeds */
    struct record_document *documents; /* in the order of the image */
    size_t document_count;
};

/* What cloud-init reported at the end of that boot. The texts come from the guest, which
 * is not trusted (guest-report.h). */
struct record_result {
    enum guest_state state; /* DONE or FAILED; NOTHING if there is no result */
    char *time;             /* when it arrived, by the host's clock */
    char *datasource;       /* as cloud-init names it, or NULL */
    char **errors;
    size_t error_count;
    char **warnings;
    size_t warning_count;
    struct guest_claim claim;
};

struct record {
    char *done; /* when the guest was set up (boots="until-done"), or NULL */
    /* The guest was told, at any boot, to keep what it has read: it never reads another
     * seed. */
    bool cache_keep;
    struct record_boot boot;
    /* The seed that 'virt-seed update' last put in its place while the domain ran, and
     * when; the guest has read it if it has rebooted since. It has no name. */
    struct record_boot update;
    struct record_result result;
    /* The last result of a boot before that one, and when the boot after it began: the guest
     * may be reverted to a snapshot from between. NULL without such a result. */
    struct record_result earlier;
    char *earlier_until;
    /* How the guest has ended since that boot, in libvirt's word; NULL if it has not, or
     * libvirt did not tell. */
    char *end;
};

/*
 * Reads the domain's record; an empty one if there is none. Return: 0, or -1 if it cannot
 * be read, is not a JSON object, or has more than LIMIT_RECORD bytes.
 */
int record_read(int root, const char *uuid, struct record *record,
                struct failure **failure);

/* Reads the text, which may be empty. */
int record_parse(struct record *record, const struct buffer *text,
                 struct failure **failure);
/*
 * Replaces the domain's record; removes it if it is empty. Cuts texts and lists that are
 * longer than a record's limits (base/limits.h), except documents.
 */
int record_write(int root, const char *uuid, const struct record *record,
                 struct failure **failure);

/* Fills an empty boot from the seed that was read there: label, datasource, instance-id,
 * documents. A served seed has NoCloud's documents and no label. */
void record_boot_add_seed(struct record_boot *boot, const struct storage *storage,
                          const struct seed *seed);

/* Appends the record's text. */
void record_format(const struct record *record, struct buffer *text);

/* Moves the boot into the record as the last one; drops the previous boot's update and
 * end. A result that it has becomes the earlier one. */
void record_set_boot(struct record *record, struct record_boot *boot);

/* Moves the update of the last boot's seed into the record, in place of the one before. */
void record_set_update(struct record *record, struct record_boot *update);

/* Moves the last boot's result into the record. */
void record_set_result(struct record *record, struct record_result *result);

/* Notes how the guest has ended, unless the word is NULL or says that it did not run. */
void record_set_end(struct record *record, const char *word);

/*
 * For a guest that is resumed: forgets the boot if it is a later one than that of the guest,
 * since the last guest was not saved but has ended. Return: whether it was.
 */
bool record_forget_later_boot(struct record *record);

/* Return: the result that a guest had when it was in the snapshot from which it continues,
 * which was taken at that time; NULL if none is known. */
struct record_result *record_result_at(struct record *record, time_t taken);

/* Return: the time in a record's format, owned by the caller (free). */
char *record_time(time_t seconds);

/* Return: the boot's document of that path, or NULL. */
const struct record_document *record_find_document(const struct record_boot *boot,
                                                   const char *path);

/* Return: whether both have the same documents. */
bool record_boot_is_same(const struct record_boot *one, const struct record_boot *other);

void record_boot_clear(struct record_boot *boot);
void record_result_clear(struct record_result *result);
void record_clear(struct record *record);

#define cleanup_record __attribute__((cleanup(record_clear)))
#define cleanup_record_boot __attribute__((cleanup(record_boot_clear)))
#define cleanup_record_result __attribute__((cleanup(record_result_clear)))
