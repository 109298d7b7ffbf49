/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels of a domain's volumes: host/label.h. */
#include "config.h"

#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "image/image.h"
#include "unit.h"

/* Writes an image with that label. */
static void
write_image(void **state, const char *name, const char *label)
{
    cleanup_seed struct seed seed = {.label = xstrdup(label)};
    cleanup_close int fd =
        openat(unit_directory(state), name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct failure *failure = NULL;

    assert_true(fd >= 0);
    seed_add_document(&seed, "meta-data");
    iso_write(fd, &seed, &failure);
    assert_no_failure(failure);
}

/* Asserts what is noted of a disk with that file of the test's directory. */
static void
assert_label(void **state, const char *name, const char *format, enum need_word expected)
{
    cleanup_free char *xml =
        xasprintf("<domain type='kvm'><name>x</name><devices><disk device='disk'>"
                  "%s%s%s<source file='/proc/self/fd/%d/%s'/><target dev='vda'/></disk>"
                  "</devices></domain>",
                  format ? "<driver type='" : "", format ? format : "",
                  format ? "'/>" : "", unit_directory(state), name);
    cleanup_unit_domain struct unit_domain unit = {0};

    unit_domain_read(&unit, xml);
    domain_read_labels(&unit.domain);
    assert_int_equal(unit.domain.disks[0].label, expected);
}

static void
reads_the_label_of_a_raw_image(void **state)
{
    write_image(state, "cidata.img", "cidata");
    write_image(state, "debian.img", "Debian 12.1.0 amd64 n");
    assert_label(state, "cidata.img", "raw", NEED_WORD_LABEL_OF_SEED);
    write_image(state, "CONFIG-2.img", "CONFIG-2");
    write_image(state, "longer.img", "cidata2");
    assert_label(state, "cidata.img", NULL, NEED_WORD_LABEL_OF_SEED);
    assert_label(state, "CONFIG-2.img", "raw", NEED_WORD_LABEL_OF_SEED);
    assert_label(state, "debian.img", "raw", NEED_WORD_LABEL_OTHER);
    assert_label(state, "longer.img", "raw", NEED_WORD_LABEL_OTHER);
}

/* Writes the boot sector of a FAT volume with the label at that offset. */
static void
write_fat(void **state, const char *name, off_t offset, const char *label)
{
    cleanup_close int fd =
        openat(unit_directory(state), name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, label, strlen(label), offset), strlen(label));
    assert_int_equal(pwrite(fd, "\x55\xaa", 2, 510), 2);
}

static void
reads_the_label_of_a_fat_volume(void **state)
{
    write_fat(state, "fat12.img", 43, "CIDATA     ");
    write_fat(state, "fat32.img", 71, "config-2   ");
    write_fat(state, "other.img", 43, "BACKUP     ");
    assert_label(state, "fat12.img", "raw", NEED_WORD_LABEL_OF_SEED);
    assert_label(state, "fat32.img", "raw", NEED_WORD_LABEL_OF_SEED);
    assert_label(state, "other.img", "raw", NEED_WORD_LABEL_OTHER);
}

static void
reads_no_label_of_other_formats(void **state)
{
    write_image(state, "cidata.img", "cidata");
    assert_label(state, "cidata.img", "vmdk", NEED_WORD_NONE);
}

/* Without a volume it is no seed; too short, it may not be written yet. */
static void
sees_that_an_image_has_no_volume(void **state)
{
    const int dir = unit_directory(state);
    cleanup_close int fd = -1;

    unit_make_file(dir, "blank", 0644, "");
    fd = openat(dir, "blank", O_RDWR | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, 32839), 0);
    assert_label(state, "blank", "raw", NEED_WORD_NONE);
    assert_int_equal(ftruncate(fd, 32840), 0);
    assert_label(state, "blank", "raw", NEED_WORD_LABEL_OTHER);
}

/* Writes the beginning of a qcow2 image, of which the last field is the disk's size. */
static void
write_qcow2(void **state, const char *name, uint64_t size)
{
    cleanup_close int fd =
        openat(unit_directory(state), name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const uint64_t big_endian = htobe64(size);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "QFI\xfb\0\0\0\3", 8, 0), 8);
    assert_int_equal(pwrite(fd, &big_endian, sizeof(big_endian), 24), 8);
    assert_int_equal(ftruncate(fd, 200000), 0);
}

static void
sees_that_a_qcow2_image_is_too_large_for_a_seed(void **state)
{
    write_qcow2(state, "small", 128 << 20);
    write_qcow2(state, "large", (128 << 20) + 1);
    write_qcow2(state, "raw", 128 << 20);
    assert_label(state, "small", "qcow2", NEED_WORD_NONE);
    assert_label(state, "large", "qcow2", NEED_WORD_LABEL_OTHER);
    assert_label(state, "raw", "raw", NEED_WORD_NONE);
}

static void
passes_over_what_it_cannot_read(void **state)
{
    int dir = unit_directory(state);

    unit_make_file(dir, "empty", 0644, "");
    unit_make_file(dir, "text", 0644, "no volume");
    unit_make_directory(dir, "folder", 0755);
    assert_int_equal(mkfifoat(dir, "fifo", 0644), 0);
    alarm(5);
    assert_label(state, "none", "raw", NEED_WORD_NONE);
    assert_label(state, "empty", "raw", NEED_WORD_NONE);
    assert_label(state, "text", "raw", NEED_WORD_NONE);
    assert_label(state, "folder", "raw", NEED_WORD_NONE);
    assert_label(state, "fifo", "raw", NEED_WORD_NONE);
    alarm(0);
}

static void
passes_over_disks_without_a_file(void **state)
{
    cleanup_unit_domain struct unit_domain unit = {0};

    (void)state;
    unit_domain_read(&unit,
                     "<domain type='kvm'><name>x</name><devices><disk device='cdrom'>"
                     "<target dev='sda'/></disk></devices></domain>");
    domain_read_labels(&unit.domain);
    assert_int_equal(unit.domain.disks[0].label, NEED_WORD_NONE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(reads_the_label_of_a_raw_image),
        unit_test_in_directory(reads_the_label_of_a_fat_volume),
        unit_test_in_directory(reads_no_label_of_other_formats),
        unit_test_in_directory(sees_that_an_image_has_no_volume),
        unit_test_in_directory(sees_that_a_qcow2_image_is_too_large_for_a_seed),
        unit_test_in_directory(passes_over_what_it_cannot_read),
        cmocka_unit_test(passes_over_disks_without_a_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
