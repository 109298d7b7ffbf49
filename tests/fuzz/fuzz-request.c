/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the bytes are the request of a domain that is wired. The first line is the
 * attributes of <ci:cloud-init>, the rest is the content of the element.
 */
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "fuzz.h"
#include "image/image.h"

#define UUID "4dea22b3-1d52-d8f3-2516-782e98ab3fa0"

static const char before[] =
    "<domain type='kvm'><name>web1</name><uuid>" UUID "</uuid><metadata>"
    "<ci:cloud-init xmlns:ci='" REQUEST_NAMESPACE "' ";

static const char behind[] =
    "</ci:cloud-init></metadata><sysinfo type='smbios'><system>"
    "<entry name='serial'>ds=nocloud;dsmode=net</entry></system></sysinfo>"
    "<os><type arch='x86_64' machine='q35'>hvm</type><smbios mode='sysinfo'/></os>"
    "<devices><disk type='file' device='disk'><source file='/srv/web1.img'/>"
    "<target dev='vda' bus='virtio'/></disk><disk type='file' device='cdrom'>"
    "<source file='" VIRT_SEED_RUNDIR "/" UUID ".iso' startupPolicy='mandatory'/>"
    "<target dev='sda' bus='scsi'/></disk>"
    "<controller type='scsi' index='0' model='virtio-scsi'/></devices></domain>";

static struct buffer
domain_with(const uint8_t *data, size_t size)
{
    const uint8_t *line_end = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t attributes = line_end ? (size_t)(line_end - data) : size;
    struct buffer text = {0};

    buffer_append_string(&text, before);
    buffer_append(&text, data, attributes);
    buffer_append_string(&text, ">");
    buffer_append(&text, data + attributes, size - attributes);
    buffer_append_string(&text, behind);
    return text;
}

static struct buffer
make_image(const struct seed *seed)
{
    cleanup_close int fd = memfd_create("image", MFD_CLOEXEC);
    cleanup_failure struct failure *failure = NULL;
    struct buffer image = {0};

    fuzz_require(fd >= 0);
    fuzz_require(fuzz_succeeded(iso_write(fd, seed, &failure), &failure));
    fuzz_require(fuzz_succeeded(iso_verify(fd, seed, &failure), &failure));
    fuzz_require(lseek(fd, 0, SEEK_SET) == 0);
    fuzz_require(fs_read_all(fd, 2 * LIMIT_SEED, &image) == 0);
    return image;
}

/* Images take a thousand times as long as all the rest, so they are made of one input in
 * eight, always of the same ones. */
static bool
is_chosen(const uint8_t *data, size_t size)
{
    unsigned int hash = 0;

    for (size_t i = 0; i < size; i++)
        hash = hash * 31 + data[i];
    return size < 16 * KIB && hash % 8 == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_buffer struct buffer text = domain_with(data, size);
    cleanup_seed struct seed seed = {0};

    if (fuzz_make_seed(&text, &seed) && is_chosen(data, size)) {
        cleanup_buffer struct buffer one = make_image(&seed);
        cleanup_buffer struct buffer other = make_image(&seed);

        fuzz_require(one.size == other.size);
        fuzz_require(memcmp(one.data, other.data, one.size) == 0);
    }
    fuzz_wire(&text);
    return 0;
}
