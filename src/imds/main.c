/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt-seed-imds: the metadata server. It serves seeds over HTTP, each to its own guest,
 * from the tree that the hook keeps for it (store/imds-tree.h). server.h says how it works,
 * peer.h whom it believes.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/process.h"
#include "imds/server.h"

#define DEFAULT_LISTEN VIRT_SEED_IMDS_ADDRESS ":80"

#define STATUS_USAGE 2

struct options {
    const char *listen[LIMIT_IMDS_LISTENERS + 1];
    size_t listen_count;
    const char *root;
    bool by_mac;
    bool verbose;
};

static int
usage(void)
{
    fputs(
        "Usage: virt-seed-imds [OPTION...]\n"
        "\n"
        "Serves the cloud-init seeds of running domains over HTTP, each to its own guest.\n"
        "\n"
        "Options:\n"
        "      --listen ADDRESS:PORT  listen there (default: what systemd hands over, or\n"
        "                             " DEFAULT_LISTEN "); may be given more than once\n"
        "      --by-mac               serve guests without a token, too, which are known by\n"
        "                             their MAC address alone; see virt-seed-imds(8) first\n"
        "      --root DIRECTORY       look for the host's files below it\n"
        "      --verbose              say what is served, not only what is refused\n"
        "      --help                 print this and exit\n"
        "      --version              print the version and exit\n",
        stdout);
    return EXIT_SUCCESS;
}

static int
run(const struct options *options, struct failure **failure)
{
    cleanup_close int root = fs_open_root(options->root);
    const struct http_options http = {
        .root = root, .by_mac = options->by_mac, .verbose = options->verbose};
    cleanup_listeners struct listeners listeners = {.count = 0};

    if (root < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, root, "could not open '%s'",
                                 options->root);
    if (listeners_inherit(&listeners, failure) < 0)
        return -1;
    for (size_t i = 0; i < options->listen_count; i++) {
        if (listeners_add(&listeners, options->listen[i], failure) < 0)
            return -1;
    }
    if (listeners.count == 0 && listeners_add(&listeners, DEFAULT_LISTEN, failure) < 0)
        return -1;
    return server_run(&listeners, &http, failure);
}

enum {
    OPTION_BY_MAC,
    OPTION_HELP,
    OPTION_LISTEN,
    OPTION_ROOT,
    OPTION_VERBOSE,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"by-mac", no_argument, NULL, OPTION_BY_MAC},
    {"help", no_argument, NULL, OPTION_HELP},
    {"listen", required_argument, NULL, OPTION_LISTEN},
    {"root", required_argument, NULL, OPTION_ROOT},
    {"verbose", no_argument, NULL, OPTION_VERBOSE},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static int
fail_usage(void)
{
    fputs("Try 'virt-seed-imds --help'.\n", stderr);
    return STATUS_USAGE;
}

int
main(int argc, char **argv)
{
    cleanup_failure struct failure *failure = NULL;
    struct options options = {.root = "/"};
    int option;

    if (process_open_standard() < 0)
        return EXIT_FAILURE;
    process_harden();
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case OPTION_BY_MAC:
            options.by_mac = true;
            break;
        case OPTION_HELP:
            return usage();
        case OPTION_LISTEN:
            /* One too many is refused where they are opened. */
            if (options.listen_count <= LIMIT_IMDS_LISTENERS)
                options.listen[options.listen_count++] = optarg;
            break;
        case OPTION_ROOT:
            options.root = optarg;
            break;
        case OPTION_VERBOSE:
            options.verbose = true;
            break;
        case OPTION_VERSION:
            return puts(PACKAGE_STRING) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        default:
            return fail_usage();
        }
    }
    if (optind < argc) {
        fprintf(stderr, "virt-seed: error: '%s': no argument is expected\n",
                argv[optind]);
        return fail_usage();
    }
    if (run(&options, &failure) == 0)
        return EXIT_SUCCESS;
    print_failure(failure);
    return failure->code == FAILURE_USAGE ? STATUS_USAGE : EXIT_FAILURE;
}
