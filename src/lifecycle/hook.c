/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt-seed-hook: libvirt's qemu hook, NAME OPERATION SUBOPERATION EXTRA, the domain's
 * XML on standard input.
 *
 * How it works: libvirt calls the hook several times in each domain's life, also for
 * domains that do not use virt-seed, and holds the domain's lock during the call. So this
 * program links only libc, and decides from the operation and from virt-seed's names in
 * the XML whether there is anything to do. If so, it becomes virt-seed-lifecycle, the
 * program next to it, with the XML in a memfd. At `started` the guest is already running,
 * and libvirt kills it if a hook fails: then a child becomes virt-seed-lifecycle, and
 * this program succeeds unless the child says that the guest must end. At `release`, the
 * domain's files decide as well: the XML may have changed since the start.
 *
 * Searching for bytes is enough, because libvirt formats the XML from its parsed form,
 * without character references and the like. At restore and migrate it may be another
 * one's; a domain that is not found then counts as not resumed.
 *
 * Nothing is ever printed on standard output: at restore and migrate libvirt takes it for
 * the domain's new XML, and keeps the old one if it is empty.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/process.h"
#include "base/text.h"
#include "lifecycle/operation.h"

/* When the XML is too large: what is searched for is shorter than the overlap. */
#define MAX_PIECES 16
#define OVERLAP 64

static bool
has(const struct buffer *xml, const char *needle)
{
    return xml->size > 0 && memmem(xml->data, xml->size, needle, strlen(needle));
}

/*
 * A domain does not concern virt-seed unless it names a seed's URL (wire/url.h), the
 * request's namespace (domain/vocabulary.h), or a path with one of virt-seed's
 * directories or the emulator shim. All directories have the same last component, with
 * which the shim's name begins, too; it is found whatever else is in the path.
 */
static bool
concerns_us(const struct buffer *xml)
{
    if (has(xml, "ds=nocloud;dsmode=net;s=http://"))
        return true;
    /* In both of the others, so two searches rule out most domains. */
    return has(xml, "virt-seed") &&
           (has(xml, "urn:virt-seed:cloud-init:1") || has(xml, "/virt-seed"));
}

static int
fail(const char *what, int error)
{
    fprintf(stderr,
            "virt-seed: error: %s: %s\n"
            "virt-seed: hint: reinstall virt-seed, or shrink the XML to 16 MiB\n",
            what, strerror(-error));
    return EXIT_FAILURE;
}

/* Passes the XML as standard input. */
static int
become_lifecycle(const struct buffer *xml, int count, char **given)
{
    char **arguments = xcalloc((size_t)count + 2, sizeof(*arguments));
    cleanup_close int fd = memfd_create("domain.xml", MFD_CLOEXEC);
    int error = fd < 0 ? -errno : fs_write_all(fd, xml->data, xml->size);
    char *program;

    if (error == 0 && (lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, STDIN_FILENO) < 0))
        error = -errno;
    if (error < 0)
        return fail("could not pass on the domain's XML", error);
    program = process_path_beside("virt-seed-lifecycle");
    if (!program)
        return fail("could not find virt-seed-lifecycle", -errno);
    arguments[0] = program;
    /* A domain's name may begin with a dash. */
    arguments[1] = (char *)"--";
    for (int i = 1; i < count; i++)
        arguments[i + 1] = given[i];
    execv(program, arguments);
    return fail(program, -errno);
}

/* --- while the guest runs ----------------------------------------------------------- */

static void
end_well(int signal_number)
{
    _exit(EXIT_SUCCESS);
}

/*
 * Runs virt-seed-lifecycle in a child, so that its failures, such as a missing library or
 * a lack of memory, do not affect this process. The child has none of libvirt's
 * descriptors: libvirt would wait until it closes them, even after this process has given
 * up.
 */
static int
run_lifecycle(const struct buffer *xml, int count, char **given)
{
    pid_t child = fork();
    int status = 0;

    if (child < 0)
        return fail("could not create a process", -errno);
    if (child == 0) {
        alarm(LIMIT_HOOK_SECONDS);
        if (process_keep_descriptors(-1, -1) == 0)
            become_lifecycle(xml, count, given);
        _exit(EXIT_FAILURE);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != STATUS_END_GUEST)
        return EXIT_SUCCESS;
    fputs("virt-seed: error: the guest was ended, because another program changed its "
          "seed while it started\n"
          "virt-seed: hint: the journal says more: journalctl -t virt-seed\n",
          stderr);
    return STATUS_END_GUEST;
}

/*
 * Reads the XML; `ours` says whether it concerns virt-seed. If it is too large, looks
 * through all of it, in so many pieces, so that other domains still start. Return: 0 or
 * -errno; -EFBIG if it is too large and concerns virt-seed, or has too many pieces.
 */
static int
read_xml(struct buffer *xml, bool *ours)
{
    int error = fs_read_all(STDIN_FILENO, LIMIT_DOMAIN_XML, xml);
    const bool is_too_large = error == -EFBIG;

    *ours = concerns_us(xml);
    for (int piece = 1; piece < MAX_PIECES; piece++) {
        if (error != -EFBIG || *ours)
            break;
        memmove(xml->data, xml->data + xml->size - OVERLAP, OVERLAP);
        xml->size = OVERLAP;
        error = fs_read_all(STDIN_FILENO, LIMIT_DOMAIN_XML, xml);
        *ours = concerns_us(xml);
    }
    return is_too_large && *ours ? -EFBIG : error;
}

/* --- when the guest has ended ------------------------------------------------------- */

/* The UUID is the second element that libvirt writes, before anything that is a user's.
 * Return: its place in the XML, or NULL. */
static const char *
find_uuid(const struct buffer *xml)
{
    static const char start[] = "<uuid>";
    const char *tag =
        xml->size > 0 ? memmem(xml->data, xml->size, start, strlen(start)) : NULL;
    char uuid[UUID_LENGTH + 1];

    if (!tag)
        return NULL;
    snprintf(uuid, sizeof(uuid), "%s", tag + strlen(start));
    return text_is_uuid(uuid) ? tag + strlen(start) : NULL;
}

static bool
has_files(const char *uuid)
{
    static const struct {
        const char *directory;
        const char *suffix;
    } files[] = {
        {VIRT_SEED_RUNDIR, SEED_SUFFIX},
        {VIRT_SEED_RUNDIR, SHIM_ORDER_SUFFIX},
        {VIRT_SEED_RUNDIR "/imds", ""},
        {VIRT_SEED_REPORTDIR, REPORT_SUFFIX},
    };
    char path[256];

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        snprintf(path, sizeof(path), "%s/%.36s%s", files[i].directory, uuid,
                 files[i].suffix);
        if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    }
    return false;
}

/* Of an XML that is too large, the name and the UUID are passed on. */
static int
run_release(int argc, char **argv)
{
    /* Not freed: the process ends or becomes another one. */
    static struct buffer xml;
    const char *uuid;
    int error;

    if (process_begin() < 0)
        return EXIT_FAILURE;
    error = fs_read_all(STDIN_FILENO, LIMIT_DOMAIN_XML, &xml);
    uuid = find_uuid(&xml);
    if (!concerns_us(&xml) && !(uuid && has_files(uuid)))
        return EXIT_SUCCESS;
    if (error == -EFBIG && uuid) {
        xml.size = (size_t)(uuid - xml.data) + UUID_LENGTH;
        buffer_append_string(&xml, "</uuid></domain>");
        error = 0;
    }
    if (error < 0)
        return fail("could not read the domain's XML", error);
    return become_lifecycle(&xml, argc, argv);
}

static int
run(bool guest_runs, int argc, char **argv)
{
    /* Not freed: the process ends or becomes another one. */
    static struct buffer xml;
    int error = process_begin();
    bool ours = false;

    if (error == 0)
        error = read_xml(&xml, &ours);
    if (error < 0)
        return fail("could not read the domain's XML", error);
    if (!ours)
        return EXIT_SUCCESS;
    if (guest_runs)
        return run_lifecycle(&xml, argc, argv);
    return become_lifecycle(&xml, argc, argv);
}

int
main(int argc, char **argv)
{
    /* Session daemons run the same hooks as an unprivileged user. */
    const enum operation operation =
        argc >= 3 && geteuid() == 0 ? operation_find(argv[2]) : OPERATION_NONE;
    const bool guest_runs = operation == OPERATION_STARTED;
    int status;

    if (operation == OPERATION_NONE)
        return EXIT_SUCCESS;
    if (guest_runs) {
        signal(SIGALRM, end_well);
        /* abort(3) when memory runs out. */
        signal(SIGABRT, end_well);
    }
    /* Both survive execve(2): a time limit, and an error instead of a fatal signal. The
     * child's limit is over first, since it may have decided to end the guest. */
    alarm(LIMIT_HOOK_SECONDS + (guest_runs ? 1 : 0));
    signal(SIGXFSZ, SIG_IGN);
    if (operation == OPERATION_RELEASE)
        return run_release(argc, argv);
    status = run(guest_runs, argc, argv);
    return guest_runs && status != STATUS_END_GUEST ? EXIT_SUCCESS : status;
}
