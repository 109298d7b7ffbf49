/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt-seed-hook: libvirt's qemu hook, NAME OPERATION SUBOPERATION EXTRA, the domain's
 * XML on standard input.
 *
 * How it works: libvirt calls the hook several times in each domain's life, also for
 * domains that never heard of us, and holds the domain's lock meanwhile. So this
 * program links libc alone and finds out whether there is anything to do: by the
 * operation, and by whether our name is in the XML. If there is, it becomes
 * virt-seed-lifecycle, the program next to it, with the XML in a memfd. At `started` the
 * guest runs already, and libvirt kills it if a hook fails: there a child becomes it, and
 * this program succeeds, whatever comes.
 *
 * A search for bytes is enough, because libvirt writes the XML again from what it has
 * parsed: character references and the like do not survive in it.
 *
 * Nothing is ever printed on standard output: at restore and migrate libvirt takes it
 * for the domain's XML, and an empty one leaves the XML as it is.
 */
#include "config.h"

#include <errno.h>
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
#include "lifecycle/operation.h"

/* The request's namespace (domain/vocabulary.h), the directories of the seeds and of the
 * reports, the emulator shim, and where a seed is served (wire/url.h): a domain that
 * names none of them is none of ours. The directories' last component finds them both,
 * also spelled with "//" or "/./". A test compares these with the schema and the
 * directories. */
static const char *const needles[] = {"urn:virt-seed:cloud-init:1", "/virt-seed/",
                                      "/" SHIM_NAME};
#define URL_NEEDLE "ds=nocloud;dsmode=net;s=http://"
/* What all but the last have: two searches tell most domains from ours. */
#define COMMON_NEEDLE "virt-seed"

static bool
has(const struct buffer *xml, const char *needle)
{
    return xml->size > 0 && memmem(xml->data, xml->size, needle, strlen(needle));
}

static bool
concerns_us(const struct buffer *xml)
{
    if (has(xml, URL_NEEDLE))
        return true;
    if (!has(xml, COMMON_NEEDLE))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(needles); i++) {
        if (has(xml, needles[i]))
            return true;
    }
    return false;
}

static int
fail(const char *what, int error)
{
    fprintf(
        stderr,
        "virt-seed: error: %s: %s\n"
        "virt-seed: hint: see that virt-seed is installed whole, and how large the XML "
        "is (16 MiB at most)\n",
        what, strerror(-error));
    return EXIT_FAILURE;
}

/* The XML becomes its standard input. */
static int
become_lifecycle(const struct buffer *xml, int count, char **given)
{
    char *program = process_path_beside("virt-seed-lifecycle");
    char **arguments = xcalloc((size_t)count + 2, sizeof(*arguments));
    cleanup_close int fd = memfd_create("domain.xml", MFD_CLOEXEC);
    int error = fd < 0 ? -errno : fs_write_all(fd, xml->data, xml->size);

    if (error == 0 && (lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, STDIN_FILENO) < 0))
        error = -errno;
    if (error < 0)
        return fail("could not hand on the domain's XML", error);
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
    (void)signal_number;
    _exit(EXIT_SUCCESS);
}

/*
 * A child becomes virt-seed-lifecycle: whatever happens to that, a library that is
 * missing, memory that is used up, is not ours. It has no descriptor of libvirt's, who
 * would wait for its end otherwise, even after we have given up.
 */
static int
run_lifecycle(const struct buffer *xml, int count, char **given)
{
    pid_t child = fork();

    if (child < 0)
        return fail("could not make a process", -errno);
    if (child == 0) {
        alarm(LIMIT_HOOK_SECONDS);
        if (process_keep_descriptors(-1, -1) == 0)
            become_lifecycle(xml, count, given);
        _exit(EXIT_FAILURE);
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return EXIT_SUCCESS;
}

static int
run(bool guest_runs, int argc, char **argv)
{
    /* Not freed: the process ends, or becomes another, with it. */
    static struct buffer xml;
    int error = process_open_standard();

    if (error == 0)
        error = fs_read_all(STDIN_FILENO, LIMIT_DOMAIN_XML, &xml);
    /* If the XML is too large, its beginning decides: a domain that is not ours still
     * starts. */
    if (error < 0 && (error != -EFBIG || concerns_us(&xml)))
        return fail("could not read the domain's XML", error);
    if (!concerns_us(&xml))
        return EXIT_SUCCESS;
    return guest_runs ? run_lifecycle(&xml, argc, argv)
                      : become_lifecycle(&xml, argc, argv);
}

int
main(int argc, char **argv)
{
    /* Session daemons run the same hooks, as their user. */
    const enum operation operation =
        argc >= 3 && geteuid() == 0 ? operation_find(argv[2]) : OPERATION_NONE;
    const bool guest_runs = operation == OPERATION_STARTED;
    int status;

    if (operation == OPERATION_NONE)
        return EXIT_SUCCESS;
    if (guest_runs) {
        signal(SIGALRM, end_well);
        /* When there is no memory left. */
        signal(SIGABRT, end_well);
    }
    /* Both survive execve: no wait without end, and errors where a signal would kill. */
    alarm(LIMIT_HOOK_SECONDS);
    signal(SIGXFSZ, SIG_IGN);
    status = run(guest_runs, argc, argv);
    return guest_runs ? EXIT_SUCCESS : status;
}
