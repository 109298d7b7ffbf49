/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See unit.h. */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/xml.h"
#include "seed/seed.h"
#include "unit.h"

/* --- failures --------------------------------------------------------------------------
 */

/* A limit says what to do by itself. */
static bool
says_what_to_do(const struct failure *failure)
{
    return failure->hint ? *failure->hint != '\0'
                         : strstr(failure->message, "at most") != NULL;
}

void
unit_assert_failure(struct failure **failure, enum failure_code code, const char *file,
                    int line)
{
    if (!*failure) {
        print_error("expected a failure '%s', found none\n", failure_code_name(code));
        _fail(file, line);
    }
    if ((*failure)->code != code) {
        print_error("expected a failure '%s', found '%s': %s\n", failure_code_name(code),
                    failure_code_name((*failure)->code), (*failure)->message);
        _fail(file, line);
    }
    if (!says_what_to_do(*failure)) {
        print_error("the failure does not say what to do: '%s'\n", (*failure)->message);
        _fail(file, line);
    }
    failure_free(steal(*failure));
}

void
unit_assert_no_failure(const struct failure *failure, const char *file, int line)
{
    if (!failure)
        return;
    print_error("unexpected failure '%s': %s\n", failure_code_name(failure->code),
                failure->message);
    _fail(file, line);
}

/* --- a directory for the test ----------------------------------------------------------
 */

struct directory {
    char *path;
    int fd;
};

int
unit_directory_setup(void **state)
{
    const char *base = getenv("TMPDIR");
    struct directory *directory = xcalloc(1, sizeof(*directory));

    umask(022);
    directory->path = xasprintf("%s/virt-seed-unit.XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(directory->path))
        return -1;
    directory->fd = fs_open_root(directory->path);
    *state = directory;
    return directory->fd < 0 ? -1 : 0;
}

int
unit_directory_teardown(void **state)
{
    struct directory *directory = *state;
    int result = fs_remove_tree(AT_FDCWD, directory->path);

    close(directory->fd);
    free(directory->path);
    free(directory);
    return result;
}

int
unit_directory(void **state)
{
    const struct directory *directory = *state;

    return directory->fd;
}

void
unit_make_directory(int dir, const char *path, mode_t mode)
{
    cleanup_close int fd = fs_make_directories(dir, path, 0755);

    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
}

static void
make_parent(int dir, const char *path)
{
    const char *slash = strrchr(path, '/');
    cleanup_free char *parent = slash ? xstrndup(path, (size_t)(slash - path)) : NULL;
    cleanup_close int fd = parent ? fs_make_directories(dir, parent, 0755) : -1;

    assert_true(!parent || fd >= 0);
}

void
unit_make_file(int dir, const char *path, mode_t mode, const char *content)
{
    cleanup_close int fd = -1;

    make_parent(dir, path);
    fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fs_write_all(fd, content, strlen(content)), 0);
    assert_int_equal(fchmod(fd, mode), 0);
}

void
unit_make_link(int dir, const char *path, const char *target)
{
    make_parent(dir, path);
    assert_int_equal(symlinkat(target, dir, path), 0);
}

struct buffer
unit_read_file(int dir, const char *path)
{
    cleanup_close int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    struct buffer content = {0};

    assert_true(fd >= 0);
    assert_int_equal(fs_read_all(fd, LIMIT_SEED, &content), 0);
    return content;
}

size_t
unit_count_entries(int dir)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cleanup_closedir DIR *entries = fdopendir(copy);
    const struct dirent *entry;
    size_t count = 0;

    assert_non_null(entries);
    while ((entry = readdir(entries)))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    return count;
}

void
unit_assert_content(const struct buffer *buffer, const char *expected)
{
    assert_string_equal(buffer->data ? buffer->data : "", expected);
    assert_int_equal(buffer->size, strlen(expected));
}

/* The saved user and the real one stay. */
#define NOBODY 65534

void
unit_become_nobody(void **state)
{
    assert_int_equal(fchmod(unit_directory(state), 0755), 0);
    if (getuid() == 0)
        assert_int_equal(seteuid(NOBODY), 0);
}

void
unit_become_self(void)
{
    assert_int_equal(seteuid(getuid()), 0);
}

/* --- domains ---------------------------------------------------------------------------
 */

xmlDoc *
unit_parse(const char *text)
{
    struct failure *failure = NULL;
    xmlDoc *doc = xml_parse(text, strlen(text), "test", &failure);

    assert_no_failure(failure);
    return doc;
}

void
unit_domain_read(struct unit_domain *unit, const char *xml)
{
    struct failure *failure = NULL;

    unit->doc = unit_parse(xml);
    domain_read(&unit->domain, unit->doc, &failure);
    assert_no_failure(failure);
}

int
unit_request_read(struct unit_domain *unit, const char *request, struct failure **failure)
{
    cleanup_free char *xml =
        xasprintf("<domain type='kvm'><name>web1</name><uuid>" UNIT_UUID "</uuid>"
                  "<metadata xmlns:ci='" REQUEST_NAMESPACE "'>%s</metadata></domain>",
                  request);

    unit_domain_read(unit, xml);
    return request_read(&unit->request, &unit->domain, failure);
}

int
unit_check_parts(const struct request *request, struct failure **failure)
{
    for (size_t i = 0; i < request->parts.count; i++) {
        if (seed_check_part(request, request->parts.list[i], failure) < 0)
            return -1;
    }
    return 0;
}

void
unit_domain_clear(struct unit_domain *unit)
{
    request_clear(&unit->request);
    domain_clear(&unit->domain);
    xmlFreeDoc(unit->doc);
    *unit = (struct unit_domain){0};
}

void
unit_part_clear(struct part *part)
{
    for (size_t i = 0; i < part->entry_count; i++) {
        free(part->entries[i].key);
        buffer_clear(&part->entries[i].data);
    }
    free(part->entries);
}
