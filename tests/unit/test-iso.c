/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seed as an image (image/image.h), and its publication (host/storage.h). */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "host/libvirt-host.h"
#include "host/storage.h"
#include "image/image.h"
#include "store/seed-file.h"
#include "unit.h"

#define BLOCK 2048

/* --- seeds and images ------------------------------------------------------------- */

/* Adds a document of `size` bytes, each of which differs from its neighbours. */
static void
add_document(struct seed *seed, const char *path, size_t size)
{
    struct document *document = seed_add_document(seed, path);
    char *bytes = buffer_reserve(&document->data, size);

    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    document->data.size = size;
}

/* What performance is judged by: 4 KiB of user-data, a short meta-data and
 * network-config. */
static void
make_seed(struct seed *seed)
{
    seed->label = xstrdup("cidata");
    add_document(seed, "meta-data", 100);
    add_document(seed, "user-data", 4096);
    add_document(seed, "network-config", 500);
}

static int
open_file(void **state, const char *name)
{
    int fd =
        openat(unit_directory(state), name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    return fd;
}

/* Writes the seed's image into a new file. Return: a descriptor, owned by the caller. */
static int
write_image(void **state, const char *name, const struct seed *seed)
{
    struct failure *failure = NULL;
    int fd = open_file(state, name);

    iso_write(fd, seed, &failure);
    assert_no_failure(failure);
    return fd;
}

static void
assert_verifies(int fd, const struct seed *seed)
{
    struct failure *failure = NULL;

    iso_verify(fd, seed, &failure);
    assert_no_failure(failure);
}

static void
assert_rejects(int fd, const struct seed *seed)
{
    struct failure *failure = NULL;

    assert_int_equal(iso_verify(fd, seed, &failure), -1);
    assert_failure(&failure, FAILURE_IMAGE);
}

/* --- determinism ------------------------------------------------------------------ */

static void
wait_for_another_second(void)
{
    time_t now = time(NULL);

    while (time(NULL) == now)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void
equal_seeds_give_equal_bytes(void **state)
{
    cleanup_seed struct seed seed = {0};
    cleanup_buffer struct buffer here = {0};
    cleanup_buffer struct buffer there = {0};

    make_seed(&seed);
    setenv("TZ", "UTC", 1);
    tzset();
    close(write_image(state, "here", &seed));
    wait_for_another_second();
    setenv("TZ", "<+09>-9", 1);
    tzset();
    umask(077);
    close(write_image(state, "there", &seed));
    here = unit_read_file(unit_directory(state), "here");
    there = unit_read_file(unit_directory(state), "there");
    assert_int_equal(here.size, there.size);
    assert_memory_equal(here.data, there.data, here.size);
}

static void
other_seeds_give_other_bytes(void **state)
{
    cleanup_seed struct seed seed = {0};
    cleanup_buffer struct buffer one = {0};
    cleanup_buffer struct buffer other = {0};

    make_seed(&seed);
    close(write_image(state, "one", &seed));
    seed.documents[1].data.data[4095] ^= 1;
    close(write_image(state, "other", &seed));
    one = unit_read_file(unit_directory(state), "one");
    other = unit_read_file(unit_directory(state), "other");
    assert_int_equal(one.size, other.size);
    assert_memory_not_equal(one.data, other.data, one.size);
}

/* --- sizes ------------------------------------------------------------------------ */

static void
holds_documents_of_every_size(void **state)
{
    const size_t sizes[] = {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, MIB, MIB + 1, LIMIT_PART};

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        cleanup_seed struct seed seed = {.label = xstrdup("cidata")};
        cleanup_close int fd = -1;

        add_document(&seed, "meta-data", sizes[i]);
        add_document(&seed, "user-data", 0);
        fd = write_image(state, "image", &seed);
        assert_verifies(fd, &seed);
    }
}

static void
holds_documents_in_folders(void **state)
{
    cleanup_seed struct seed seed = {.label = xstrdup("config-2")};
    cleanup_close int fd = -1;

    add_document(&seed, "openstack/latest/meta_data.json", 10);
    add_document(&seed, "openstack/latest/user_data", 20);
    add_document(&seed, "openstack/content/0000", 30);
    fd = write_image(state, "image", &seed);
    assert_verifies(fd, &seed);
}

/* What QEMU maps and a migration carries: the image has no padding at its end. */
static void
is_small(void **state)
{
    cleanup_seed struct seed seed = {0};
    cleanup_close int fd = -1;

    make_seed(&seed);
    fd = write_image(state, "image", &seed);
    assert_true(lseek(fd, 0, SEEK_END) > 0);
    assert_true(lseek(fd, 0, SEEK_END) <= 73728);
}

/* --- verification ----------------------------------------------------------------- */

static void
rejects_another_label(void **state)
{
    cleanup_seed struct seed seed = {0};
    cleanup_close int fd = -1;
    char byte = 'x';

    make_seed(&seed);
    fd = write_image(state, "image", &seed);
    seed.label[5] = 'b';
    assert_rejects(fd, &seed);
    seed.label[5] = 'a';
    assert_verifies(fd, &seed);
    /* The primary volume descriptor is block 16, its volume identifier begins at byte
     * 40. */
    assert_int_equal(pwrite(fd, &byte, 1, 16 * BLOCK + 40), 1);
    assert_rejects(fd, &seed);
}

/* Inverts one bit of the image, at the document's byte `offset`. */
static void
flip_bit(int fd, const struct document *document, size_t offset)
{
    cleanup_buffer struct buffer image = {0};
    char *found;
    char byte;

    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(fs_read_all(fd, LIMIT_SEED, &image), 0);
    found = memmem(image.data, image.size, document->data.data, document->data.size);
    assert_non_null(found);
    byte = found[offset] ^ 1;
    assert_int_equal(pwrite(fd, &byte, 1, found - image.data + (off_t)offset), 1);
}

static void
rejects_a_bit_that_fell_over(void **state)
{
    cleanup_seed struct seed seed = {0};

    make_seed(&seed);
    for (size_t i = 0; i < seed.document_count; i++) {
        const struct document *document = &seed.documents[i];
        const size_t offsets[] = {0, document->data.size / 2, document->data.size - 1};

        for (size_t j = 0; j < ARRAY_SIZE(offsets); j++) {
            cleanup_close int fd = write_image(state, "image", &seed);

            assert_verifies(fd, &seed);
            flip_bit(fd, document, offsets[j]);
            assert_rejects(fd, &seed);
        }
    }
}

static void
rejects_a_document_that_is_missing_or_of_another_size(void **state)
{
    cleanup_seed struct seed seed = {0};
    cleanup_seed struct seed wanted = {0};
    cleanup_close int fd = -1;

    make_seed(&seed);
    fd = write_image(state, "image", &seed);
    make_seed(&wanted);
    add_document(&wanted, "vendor-data", 1);
    assert_rejects(fd, &wanted);
    seed.documents[0].data.size--;
    assert_rejects(fd, &seed);
}

static void
rejects_what_is_no_whole_image(void **state)
{
    cleanup_seed struct seed seed = {0};
    cleanup_close int empty = open_file(state, "empty");
    cleanup_close int fd = -1;

    make_seed(&seed);
    assert_rejects(empty, &seed);
    fd = write_image(state, "image", &seed);
    assert_int_equal(ftruncate(fd, lseek(fd, 0, SEEK_END) - BLOCK), 0);
    assert_rejects(fd, &seed);
    assert_int_equal(ftruncate(fd, 17 * BLOCK), 0);
    assert_rejects(fd, &seed);
}

/* --- writing fails ---------------------------------------------------------------- */

static void
says_when_there_is_no_room(void **state)
{
    cleanup_seed struct seed seed = {0};
    cleanup_close int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
    cleanup_failure struct failure *failure = NULL;

    (void)state;
    make_seed(&seed);
    assert_int_equal(iso_write(fd, &seed, &failure), -1);
    assert_int_equal(failure->code, FAILURE_SYSTEM);
    assert_non_null(strstr(failure->message, "No space left"));
}

/* --- publishing ------------------------------------------------------------------- */

/* Publishes a seed as seed.iso. */
static void
publish(int dir, struct seed *seed)
{
    struct failure *failure = NULL;
    cleanup_close int image = -1;

    make_seed(seed);
    image = image_open(&failure);
    image_make(image, seed, &failure);
    assert_no_failure(failure);
    image_publish(dir, "seed.iso", NULL, NULL, image, &failure);
    assert_no_failure(failure);
}

static void
publishes_an_image_that_is_closed_to_others(void **state)
{
    int dir = unit_directory(state);
    cleanup_seed struct seed seed = {0};
    cleanup_close int fd = -1;
    struct stat status;

    unit_make_file(dir, "seed.iso", 0644, "old");
    publish(dir, &seed);
    assert_int_equal(unit_count_entries(dir), 1);
    assert_int_equal(fstatat(dir, "seed.iso", &status, 0), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
    fd = openat(dir, "seed.iso", O_RDONLY | O_CLOEXEC);
    assert_verifies(fd, &seed);
}

static void
leaves_the_old_image_where_it_cannot_publish(void **state)
{
    const struct user nobody = {.uid = 4000000000, .gid = 4000000000};
    int dir = unit_directory(state);
    cleanup_seed struct seed seed = {0};
    cleanup_buffer struct buffer content = {0};
    cleanup_close int image = -1;
    struct failure *failure = NULL;

    make_seed(&seed);
    image = image_open(&failure);
    image_make(image, &seed, &failure);
    assert_no_failure(failure);
    assert_int_equal(image_publish(dir, "none/seed.iso", NULL, NULL, image, &failure),
                     -1);
    failure_free(steal(failure));
    assert_int_equal(unit_count_entries(dir), 0);
    /* root may give files away. */
    if (geteuid() == 0)
        return;
    unit_make_file(dir, "seed.iso", 0644, "old");
    assert_int_equal(image_publish(dir, "seed.iso", NULL, &nobody, image, &failure), -1);
    failure_free(steal(failure));
    assert_int_equal(unit_count_entries(dir), 1);
    content = unit_read_file(dir, "seed.iso");
    unit_assert_content(&content, "old");
}

static void
gives_the_image_to_its_owner(void **state)
{
    const struct user owner = {.uid = geteuid() ? geteuid() : 1,
                               .gid = getegid() ? getegid() : 1};
    cleanup_seed struct seed seed = {0};
    cleanup_close int image = -1;
    struct failure *failure = NULL;
    struct stat status;

    make_seed(&seed);
    image = image_open(&failure);
    image_make(image, &seed, &failure);
    assert_no_failure(failure);
    image_publish(unit_directory(state), "seed.iso", NULL, &owner, image, &failure);
    assert_no_failure(failure);
    assert_int_equal(fstatat(unit_directory(state), "seed.iso", &status, 0), 0);
    assert_int_equal(status.st_uid, owner.uid);
    assert_int_equal(status.st_gid, owner.gid);
    assert_int_equal(status.st_mode, S_IFREG | 0400);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(equal_seeds_give_equal_bytes),
        unit_test_in_directory(other_seeds_give_other_bytes),
        unit_test_in_directory(holds_documents_of_every_size),
        unit_test_in_directory(holds_documents_in_folders),
        unit_test_in_directory(is_small),
        unit_test_in_directory(rejects_another_label),
        unit_test_in_directory(rejects_a_bit_that_fell_over),
        unit_test_in_directory(rejects_a_document_that_is_missing_or_of_another_size),
        unit_test_in_directory(rejects_what_is_no_whole_image),
        cmocka_unit_test(says_when_there_is_no_room),
        unit_test_in_directory(publishes_an_image_that_is_closed_to_others),
        unit_test_in_directory(leaves_the_old_image_where_it_cannot_publish),
        unit_test_in_directory(gives_the_image_to_its_owner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
