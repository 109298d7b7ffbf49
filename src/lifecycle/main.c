/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt-seed-lifecycle: what virt-seed-hook becomes when a domain concerns us. It gets the
 * same arguments, and the domain's XML on standard input.
 *
 * How it works: libvirt has no time limit for hooks and holds the domain's lock, so an
 * alarm ends this program. It cannot call libvirt, which would wait for that lock, and
 * does not link it. A failure is two lines on standard error, which libvirt shows to the
 * user of 'virsh start'.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/process.h"
#include "host/domain-text.h"
#include "lifecycle/lifecycle.h"
#include "lifecycle/operation.h"

static int (*const runs[])(struct lifecycle *lifecycle, struct failure **failure) = {
    [OPERATION_PREPARE] = lifecycle_prepare,
    [OPERATION_START] = lifecycle_start,
    [OPERATION_STARTED] = lifecycle_started,
    [OPERATION_RELEASE] = lifecycle_release,
};

/* --- always report before exiting --------------------------------------------------- */

static volatile sig_atomic_t status_of_failure = EXIT_FAILURE;

#define SECONDS DECIMAL(LIMIT_HOOK_SECONDS)
static const char too_late[] =
    "virt-seed: error: the hook took more than " SECONDS " seconds\n"
    "virt-seed: hint: look for a file system that does not respond, or a very large "
    "domain XML\n";

/* --- one operation ---------------------------------------------------------------- */

static void
log_refusal(const struct lifecycle *lifecycle, enum operation operation,
            const struct failure *failure)
{
    const struct journal_field code = {"VIRT_SEED_FAILURE",
                                       failure_code_name(failure->code)};
    cleanup_free char *text = xasprintf(
        "%s: %s%s%s",
        operation == OPERATION_STARTED ? "guest ended at its start" : "start refused",
        failure->message, failure->hint ? "; " : "", failure->hint ? failure->hint : "");

    lifecycle_log_event(lifecycle, LIFECYCLE_START_REFUSED, &code, text);
}

/* Return: libvirt's word for the guest's end, or NULL: "NAME release end WORD". */
static const char *
find_end(char *const *arguments)
{
    if (!arguments[2] || !arguments[3] || strcmp(arguments[3], "-") == 0)
        return NULL;
    return arguments[3];
}

static int
run_on_domain(int root, const struct buffer *xml, enum operation operation,
              char *const *arguments, struct failure **failure)
{
    cleanup_domain_identity struct domain_identity identity = {0};
    cleanup_config struct config config = {0};
    cleanup_failure struct failure *config_failure = NULL;
    struct lifecycle lifecycle = {
        .root = root,
        .config = &config,
        .argument = arguments[0],
        .operation = arguments[1],
        .xml = xml,
    };

    if (operation == OPERATION_RELEASE)
        lifecycle.end = find_end(arguments);
    if (domain_identity_read(&identity, xml, failure) < 0)
        return -1;
    lifecycle.name = identity.name;
    lifecycle.uuid = identity.uuid;
    /* A mistake there fails a start only if the start needs that setting. */
    if (operation == OPERATION_PREPARE && config_read(&config, root, &config_failure) < 0)
        lifecycle_log_failure(&lifecycle,
                              "continuing without this part of the configuration",
                              config_failure);
    if (runs[operation](&lifecycle, failure) == 0)
        return 0;
    if (operation == OPERATION_STARTED)
        status_of_failure = STATUS_END_GUEST;
    /* The user sees the failure; the journal keeps it for everyone else. */
    if (operation != OPERATION_RELEASE)
        log_refusal(&lifecycle, operation, *failure);
    return -1;
}

static int
run(const char *root_path, enum operation operation, char *const *arguments,
    struct failure **failure)
{
    cleanup_buffer struct buffer xml = {0};
    cleanup_close int root = fs_open_root(root_path);
    int error;

    if (root < 0)
        return failure_set_errno(
            failure, FAILURE_SYSTEM, root,
            "could not open '%s'\n"
            "check that it is a directory, and that not too many files are open",
            root_path);
    if (operation == OPERATION_RESTORE || operation == OPERATION_MIGRATE) {
        lifecycle_resume(&(struct lifecycle){.root = root,
                                             .argument = arguments[0],
                                             .name = arguments[0],
                                             .operation = arguments[1]});
        return 0;
    }
    error = fs_read_all(STDIN_FILENO, LIMIT_DOMAIN_XML, &xml);
    if (error < 0)
        return failure_set_errno(
            failure, FAILURE_SYSTEM, error,
            "could not read the domain's XML\n"
            "it may have at most %lu MiB: put large documents into files",
            LIMIT_DOMAIN_XML / MIB);
    if (xml.size == 0)
        return failure_set(failure, FAILURE_XML,
                           "standard input is empty\n"
                           "it must be the domain's XML, as libvirt passes it to a hook");
    return run_on_domain(root, &xml, operation, arguments, failure);
}

static void
usage(FILE *stream)
{
    fputs(
        "Usage: virt-seed-lifecycle [--root=DIR] NAME OPERATION [SUBOPERATION [EXTRA]]\n"
        "\n"
        "Does what libvirt's qemu hook has to do for a domain that asks for a seed; the\n"
        "domain's XML is read from standard input. virt-seed-hook runs it.\n"
        "\n"
        "  --root=DIR  look for the host's files below DIR\n"
        "  --help      print this and exit\n"
        "  --version   print the version and the libraries that are included, and exit\n",
        stream);
}

/* Security updates of these libraries reach the programs only when they are built again. */
static void
print_version(void)
{
    static const char included[] = INCLUDED_LIBRARIES;
    static const char hook_included[] = HOOK_INCLUDED_LIBRARIES;

    puts(PACKAGE_STRING);
    if (included[0] != '\0')
        printf("virt-seed-lifecycle includes %s\n", included);
    if (hook_included[0] != '\0')
        printf("virt-seed-hook and virt-seed-qemu include %s\n", hook_included);
}

int
main(int argc, char **argv)
{
    static const struct option options[] = {
        {"root", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    cleanup_failure struct failure *failure = NULL;
    enum operation operation;
    const char *root = "/";
    int option, index;

    if (process_begin() < 0)
        return EXIT_FAILURE;
    process_harden();
    process_limit_time(LIMIT_HOOK_SECONDS, too_late, &status_of_failure);
    openlog("virt-seed", LOG_PID, LOG_DAEMON);
    while ((option = getopt_long(argc, argv, "+", options, &index)) != -1) {
        if (option != '?' && option_is_abbreviated(argv, options[index].name))
            option = '?';
        switch (option) {
        case 'r':
            root = optarg;
            break;
        case 'h':
            usage(stdout);
            return EXIT_SUCCESS;
        case 'V':
            print_version();
            return EXIT_SUCCESS;
        default:
            usage(stderr);
            return 2;
        }
    }
    if (argc - optind < 2) {
        usage(stderr);
        return 2;
    }
    operation = operation_find(argv[optind + 1]);
    if (operation == OPERATION_NONE)
        return EXIT_SUCCESS;
    if (operation == OPERATION_STARTED)
        status_of_failure = EXIT_SUCCESS;
    if (run(root, operation, argv + optind, &failure) == 0)
        return EXIT_SUCCESS;
    print_failure(failure);
    /* libvirt discards the messages of a hook that succeeds. */
    if (status_of_failure == EXIT_SUCCESS) {
        cleanup_free char *name = failure_tidy(xstrdup(argv[optind]));

        syslog(LOG_WARNING, "domain '%.256s': %s: %s", name, argv[optind + 1],
               failure->message);
    }
    return status_of_failure;
}
