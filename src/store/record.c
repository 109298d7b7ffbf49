/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/tmpfile.h"
#include "seed/json.h"
#include "store/record.h"

/* Others may look up a record by its name, and need not list them all. */
#define STATEDIR_MODE 0711

static int
fail_at(const char *name, int error, const char *what, struct failure **failure)
{
    failure_set_errno(failure, FAILURE_RECORD, error, "could not %s %s/%s", what,
                      VIRT_SEED_STATEDIR, name);
    return failure_hint(failure, "see what is there: ls -l %s", VIRT_SEED_STATEDIR);
}

static int
parse(const char *name, const struct buffer *text, bool *done, struct failure **failure)
{
    cleanup_json json_t *record =
        json_loadb(text->size > 0 ? text->data : "", text->size, 0, NULL);

    if (json_is_object(record)) {
        *done = json_is_string(json_object_get(record, "done"));
        return 0;
    }
    failure_set(failure, FAILURE_RECORD, "%s/%s is not a record: no JSON object",
                VIRT_SEED_STATEDIR, name);
    return failure_hint(failure, "remove it; 'virt-seed done DOMAIN' writes it anew");
}

int
record_read_done(int root, const char *uuid, bool *done, struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s.json", uuid);
    cleanup_close int directory = fs_open_directory_in_root(root, VIRT_SEED_STATEDIR);
    cleanup_close int fd =
        directory < 0 ? directory : fs_open_regular_beneath(directory, name, NULL);
    cleanup_buffer struct buffer text = {0};
    int error = fd < 0 ? fd : fs_read_all(fd, LIMIT_CONFIG, &text);

    *done = false;
    if (error == -ENOENT)
        return 0;
    return error < 0 ? fail_at(name, error, "read", failure)
                     : parse(name, &text, done, failure);
}

static char *
now(void)
{
    time_t seconds = time(NULL);
    struct tm calendar;
    char text[sizeof("2026-01-01T00:00:00Z")];

    gmtime_r(&seconds, &calendar);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &calendar);
    return xstrdup(text);
}

static int
write_record(int directory, const char *name, struct failure **failure)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    cleanup_json json_t *record = json_object();
    cleanup_free char *time = now();
    cleanup_free char *text = NULL;
    int error;

    json_set_string(record, "done", time);
    text = json_text(record);
    error = tmpfile_open(&tmpfile, directory, name);
    if (error == 0)
        error = fs_write_all(tmpfile.fd, text, strlen(text));
    if (error == 0 && fchmod(tmpfile.fd, 0644) < 0)
        error = -errno;
    if (error == 0)
        error = tmpfile_publish(&tmpfile, name);
    return error < 0 ? fail_at(name, error, "write", failure) : 0;
}

int
record_write_done(int root, const char *uuid, bool done, struct failure **failure)
{
    cleanup_free char *name = xasprintf("%s.json", uuid);
    cleanup_close int directory =
        fs_make_directories(root, VIRT_SEED_STATEDIR, STATEDIR_MODE);

    if (directory < 0)
        return fail_at(name, directory, "write", failure);
    if (done)
        return write_record(directory, name, failure);
    if (unlinkat(directory, name, 0) < 0 && errno != ENOENT)
        return fail_at(name, errno, "remove", failure);
    return 0;
}
