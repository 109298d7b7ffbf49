/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/texts.h"
#include "base/tmpfile.h"
#include "store/libvirt-group.h"
#include "store/record-json.h"
#include "store/record.h"
#include "store/statedir.h"

/* How long a lock is waited for: a fifth of a second. */
#define LOCK_ATTEMPTS 10
#define LOCK_MILLISECONDS 20

static int
fail_at(const char *name, int error, const char *what, struct failure **failure)
{
    if (error == -EFBIG) {
        failure_set(failure, FAILURE_RECORD, "%s/%s has more than %lu KiB",
                    VIRT_SEED_STATEDIR, name, LIMIT_RECORD / KIB);
        return failure_hint(failure, "remove it; the next start writes it anew");
    }
    failure_set_errno(failure, FAILURE_RECORD, error, "could not %s %s/%s", what,
                      VIRT_SEED_STATEDIR, name);
    if (error == -EACCES)
        return failure_hint(failure, LIBVIRT_GROUP_HINT, VIRT_SEED_STATEDIR, name);
    return failure_hint(failure, "see what is there: ls -l %s", VIRT_SEED_STATEDIR);
}

/* --- reading ---------------------------------------------------------------------- */

static int
parse(const char *name, const struct buffer *text, struct record *record,
      struct failure **failure)
{
    cleanup_json json_t *json =
        json_loadb(text->size > 0 ? text->data : "", text->size, 0, NULL);

    if (json_is_object(json)) {
        record_from_json(record, steal(json));
        return 0;
    }
    failure_set(failure, FAILURE_RECORD, "%s/%s is not a record: no JSON object",
                VIRT_SEED_STATEDIR, name);
    return failure_hint(failure, "remove it; the next start writes it anew");
}

int
record_read(int root, const char *uuid, struct record *record, struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s.json", uuid);
    cleanup_close int directory = statedir_open(root);
    cleanup_close int fd =
        directory < 0 ? directory : fs_open_regular_beneath(directory, name, NULL);
    cleanup_buffer struct buffer text = {0};
    int error = fd < 0 ? fd : fs_read_all(fd, LIMIT_RECORD, &text);

    *record = (struct record){0};
    if (error == -ENOENT)
        return 0;
    return error < 0 ? fail_at(name, error, "read", failure)
                     : parse(name, &text, record, failure);
}

/* --- writing ---------------------------------------------------------------------- */

static int
write_text(int root, int directory, const char *name, const char *text)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    gid_t group = libvirt_group(root);
    int error = tmpfile_open(&tmpfile, directory, name);

    if (error == 0)
        error = fs_write_all(tmpfile.fd, text, strlen(text));
    if (error == 0 && fchown(tmpfile.fd, geteuid(), group) < 0)
        error = -errno;
    if (error == 0 && fchmod(tmpfile.fd, 0640) < 0)
        error = -errno;
    return error == 0 ? tmpfile_publish(&tmpfile, name) : error;
}

static int
write_json(int root, int directory, const char *name, const json_t *json)
{
    cleanup_free char *text = json_text(json);

    if (strlen(text) > LIMIT_RECORD)
        return -EFBIG;
    return write_text(root, directory, name, text);
}

int
record_write(int root, const char *uuid, const struct record *record,
             struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s.json", uuid);
    cleanup_json json_t *json = record_to_json(record);
    cleanup_close int directory = statedir_make(root);
    int error = directory < 0 ? directory : 0;

    if (error == 0 && json_object_size(json) > 0)
        error = write_json(root, directory, name, json);
    else if (error == 0 && unlinkat(directory, name, 0) < 0 && errno != ENOENT)
        error = -errno;
    return error < 0 ? fail_at(name, error, "write", failure) : 0;
}

/* Return: whether it is locked; whoever changes a record has done so in milliseconds. */
static bool
lock_soon(int fd)
{
    const struct timespec pause = {.tv_nsec = LOCK_MILLISECONDS * 1000000L};

    for (int i = 0; i < LOCK_ATTEMPTS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* The directory itself is locked. Others may be able to open it for that, too, and must not
 * hold off a domain's start or end. */
int
record_lock(int root)
{
    cleanup_close int directory = statedir_make(root);

    return directory >= 0 && lock_soon(directory) ? steal_fd(directory) : -1;
}

/* --- in memory -------------------------------------------------------------------- */

/* Puts the boot, which is empty then, into the place of the member `key`; of a type that is not
 * known, too. */
static void
set_boot(struct record *record, const char *key, struct record_boot *place,
         struct record_boot *boot)
{
    record_boot_clear(place);
    json_object_del(record->others, key);
    *place = *boot;
    *boot = (struct record_boot){0};
}

void
record_set_boot(struct record *record, struct record_boot *boot)
{
    struct record_boot none = {0};

    record_result_clear(&record->result);
    json_object_del(record->others, "result");
    record_set_update(record, &none);
    set_boot(record, "boot", &record->boot, boot);
}

void
record_set_update(struct record *record, struct record_boot *update)
{
    set_boot(record, "update", &record->update, update);
}

void
record_set_result(struct record *record, struct record_result *result)
{
    record_result_clear(&record->result);
    json_object_del(record->others, "result");
    record->result = *result;
    *result = (struct record_result){0};
}

char *
record_time(time_t seconds)
{
    struct tm calendar;
    char text[sizeof("2026-01-01T00:00:00Z")];

    if (gmtime_r(&seconds, &calendar) &&
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &calendar) > 0)
        return xstrdup(text);
    return xstrdup("1970-01-01T00:00:00Z");
}

const struct record_document *
record_find_document(const struct record_boot *boot, const char *path)
{
    for (size_t i = 0; i < boot->document_count; i++) {
        if (strcmp(boot->documents[i].path, path) == 0)
            return &boot->documents[i];
    }
    return NULL;
}

void
record_boot_clear(struct record_boot *boot)
{
    free(boot->time);
    free(boot->name);
    free(boot->version);
    free(boot->label);
    free(boot->datasource);
    free(boot->instance_id);
    for (size_t i = 0; i < boot->document_count; i++) {
        free(boot->documents[i].path);
        free(boot->documents[i].digest);
    }
    free(boot->documents);
    json_decref(boot->others);
    *boot = (struct record_boot){0};
}

void
record_result_clear(struct record_result *result)
{
    free(result->time);
    free(result->datasource);
    texts_free(result->errors, result->error_count);
    texts_free(result->warnings, result->warning_count);
    json_decref(result->others);
    *result = (struct record_result){0};
}

void
record_clear(struct record *record)
{
    free(record->done);
    record_boot_clear(&record->boot);
    record_boot_clear(&record->update);
    record_result_clear(&record->result);
    json_decref(record->others);
    *record = (struct record){0};
}
