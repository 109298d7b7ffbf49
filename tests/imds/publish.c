/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fills the metadata server's tree as the hook does, for tests and for scripts/bench.
 *
 *   publish ROOT add UUID TOKEN MACS DIRECTORY
 *   publish ROOT many COUNT DIRECTORY
 *   publish ROOT remove UUID
 *
 * MACS is a list with commas; one followed by '@' is user networking's. The documents are the files of DIRECTORY. `many` adds domains with user
 * networking whose UUID and token end with their number:
 * 00000000-0000-0000-0000-00000000002a, 0...02a.
 *
 * It begins as the programs do, so that tests/hostile/fault sees where its own calls
 * begin.
 */
#include "config.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/failure.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "host/imds-tree.h"
#include "host/rundir.h"
#include "seed/seed.h"

#define MACS_LIMIT 16

static struct seed documents;
static size_t directory_length;

static int
add_document(const char *path, const struct stat *status, int type, struct FTW *place)
{
    cleanup_close int fd = -1;

    (void)status;
    (void)place;
    if (type != FTW_F)
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    return fs_read_all(fd, LIMIT_SEED,
                       &seed_add_document(&documents, path + directory_length + 1)->data);
}

static int
add(int tree, const char *uuid, const char *token, char *macs, struct failure **failure)
{
    struct imds_mac list[MACS_LIMIT];
    struct imds_domain domain = {
        .token = (char *)token, .macs = list, .seed = &documents};
    char *rest = macs;
    char *mac;

    while ((mac = strsep(&rest, ",")) && domain.mac_count < MACS_LIMIT) {
        enum imds_link link = strchr(mac, '@') ? IMDS_LINK_USER : IMDS_LINK_NEIGHBOUR;

        mac[strcspn(mac, "@")] = '\0';
        snprintf(list[domain.mac_count].mac, sizeof(list->mac), "%s", mac);
        list[domain.mac_count++].link = link;
    }
    return imds_tree_publish(tree, uuid, &domain, failure);
}

static int
add_many(int tree, unsigned long count, struct failure **failure)
{
    for (unsigned long i = 0; i < count; i++) {
        cleanup_free char *uuid = xasprintf("00000000-0000-0000-0000-%012lx", i);
        cleanup_free char *token = xasprintf("%032lx", i);
        char mac[] = "52:54:00:00:00:01@";

        if (add(tree, uuid, token, mac, failure) < 0)
            return -1;
    }
    return 0;
}

static int
run(int argc, char **argv, struct failure **failure)
{
    const char *operation = argv[2];
    cleanup_close int root = fs_open_root(argv[1]);
    cleanup_close int rundir = root < 0 ? -1 : rundir_open(root, failure);
    cleanup_close int tree = rundir < 0 ? -1 : imds_tree_open(rundir, failure);

    if (tree < 0)
        return -1;
    if (strcmp(operation, "remove") == 0)
        return imds_tree_remove(rundir, argv[3], failure);
    directory_length = strlen(argv[argc - 1]);
    if (nftw(argv[argc - 1], add_document, 8, FTW_PHYS) != 0)
        return failure_set(failure, FAILURE_FILE, "could not read %s", argv[argc - 1]);
    if (strcmp(operation, "many") == 0)
        return add_many(tree, strtoul(argv[3], NULL, 10), failure);
    return add(tree, argv[3], argv[4], argv[5], failure);
}

int
main(int argc, char **argv)
{
    cleanup_failure struct failure *failure = NULL;
    int result = -1;

    if (process_begin() == 0 && argc >= 4)
        result = run(argc, argv, &failure);
    seed_clear(&documents);
    if (failure)
        print_failure(failure);
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
