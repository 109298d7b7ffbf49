/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Images read back: image/iso.h. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/memory.h"
#include "image/image.h"
#include "unit.h"

#define BLOCK 2048

/* Writes an image of the label with a document at each path, whose content is the path.
 * Return: a descriptor, owned by the caller. */
static int
write_image(void **state, const char *label, const char *const *paths)
{
    cleanup_seed struct seed seed = {.label = xstrdup(label)};
    struct failure *failure = NULL;
    int fd = openat(unit_directory(state), "image",
                    O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    for (; *paths; paths++)
        buffer_append_string(&seed_add_document(&seed, *paths)->data, *paths);
    iso_write(fd, &seed, &failure);
    assert_no_failure(failure);
    return fd;
}

static void
assert_refuses(int fd, enum failure_code code)
{
    cleanup_seed struct seed volume = {0};
    struct failure *failure = NULL;

    assert_int_equal(iso_read(fd, &volume, &failure), -1);
    assert_failure(&failure, code);
}

static void
reads_label_and_files(void **state)
{
    const char *const paths[] = {"openstack/content/0000",
                                 "openstack/latest/meta_data.json", "user-data", NULL};
    cleanup_close int fd = write_image(state, "config-2", paths);
    cleanup_seed struct seed volume = {0};
    struct failure *failure = NULL;

    iso_read(fd, &volume, &failure);
    assert_no_failure(failure);
    assert_string_equal(volume.label, "config-2");
    assert_int_equal(volume.document_count, 3);
    for (size_t i = 0; paths[i]; i++) {
        const struct document *file = seed_find_document(&volume, paths[i]);

        assert_non_null(file);
        assert_false(file->unread);
        assert_int_equal(file->data.size, strlen(paths[i]));
        unit_assert_content(&file->data, paths[i]);
    }
    assert_null(seed_find_document(&volume, "meta-data"));
    assert_null(seed_find_document(&volume, "openstack"));
}

static void
refuses_what_is_no_image(void **state)
{
    cleanup_close int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    cleanup_close int zeroes = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_refuses(fd, FAILURE_IMAGE);
    assert_refuses(zeroes, FAILURE_IMAGE);
}

/* A directory record that names the root as its own child would never end. */
static void
refuses_a_directory_that_contains_itself(void **state)
{
    const char *const paths[] = {"a/b", NULL};
    cleanup_close int fd = write_image(state, "cidata", paths);
    char root_record[34], block[BLOCK];
    uint32_t lba;
    const char *found;

    /* The root's record is at byte 156 of block 16; its first block at byte 2 of it. */
    assert_int_equal(pread(fd, root_record, 34, 16 * BLOCK + 156), 34);
    memcpy(&lba, root_record + 2, sizeof(lba));
    assert_int_equal(pread(fd, block, BLOCK, (off_t)lba * BLOCK), BLOCK);
    /* The record of "A" follows those of "." and "..". */
    found = memmem(block, BLOCK, "\1A", 2);
    assert_non_null(found);
    memcpy(block + (found - block) - 32 + 2, root_record + 2, 8);
    assert_int_equal(pwrite(fd, block, BLOCK, (off_t)lba * BLOCK), BLOCK);
    alarm(20);
    {
        cleanup_seed struct seed volume = {0};
        cleanup_failure struct failure *failure = NULL;

        assert_int_equal(iso_read(fd, &volume, &failure), -1);
    }
    alarm(0);
}

static void
refuses_what_is_no_seed_by_its_size(void **state)
{
    const char *const paths[] = {"meta-data", NULL};
    const char *const deep[] = {"a/b/c/d/e/f/g/h/i", NULL};
    cleanup_close int fd = write_image(state, "cidata", paths);
    cleanup_close int other = -1;

    assert_int_equal(ftruncate(fd, LIMIT_IMAGE), 0);
    {
        cleanup_seed struct seed volume = {0};
        struct failure *failure = NULL;

        iso_read(fd, &volume, &failure);
        assert_no_failure(failure);
    }
    assert_int_equal(ftruncate(fd, LIMIT_IMAGE + 1), 0);
    assert_refuses(fd, FAILURE_LIMIT);
    other = write_image(state, "cidata", deep);
    assert_refuses(other, FAILURE_LIMIT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(reads_label_and_files),
        cmocka_unit_test(refuses_what_is_no_image),
        unit_test_in_directory(refuses_a_directory_that_contains_itself),
        unit_test_in_directory(refuses_what_is_no_seed_by_its_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
