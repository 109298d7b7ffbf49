/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeds files to a fuzz target, for `make check` and for looking at one finding: those
 * given as arguments, or those of the directories given, or, where nothing is given, the
 * corpus of the target that the program is named after. A rule that does not hold ends
 * it.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "fuzz.h"

static void
replay_file(const char *path)
{
    cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
    cleanup_buffer struct buffer content = {0};
    cleanup_free uint8_t *exact = NULL;

    fuzz_require(fd >= 0);
    fuzz_require(fs_read_all(fd, 2 * LIMIT_DOMAIN_XML, &content) == 0);
    /* Without the NUL after a buffer, so that a sanitizer sees the end of it. */
    exact = xmalloc(content.size);
    if (content.size > 0)
        memcpy(exact, content.data, content.size);
    printf("# %s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(exact, content.size);
    printf("ok %s\n", path);
}

static int
is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static size_t
replay_directory(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_visible, alphasort);

    fuzz_require(count >= 0);
    for (int i = 0; i < count; i++) {
        cleanup_free char *file = xasprintf("%s/%s", path, entries[i]->d_name);

        replay_file(file);
        free(entries[i]);
    }
    free(entries);
    return (size_t)count;
}

static size_t
replay(const char *path)
{
    struct stat status;

    if (stat(path, &status) < 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 0;
    }
    if (S_ISDIR(status.st_mode))
        return replay_directory(path);
    replay_file(path);
    return 1;
}

static char *
own_corpus(const char *program)
{
    const char *target = strrchr(program, '-');
    const char *source = getenv("top_srcdir");

    fuzz_require(target);
    return xasprintf("%s/tests/fuzz/corpus/%s", source ? source : ".", target + 1);
}

static int
count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

int
main(int argc, char **argv)
{
    cleanup_free char *corpus = own_corpus(argv[0]);
    char *const own[] = {corpus};
    char *const *paths = argc > 1 ? argv + 1 : own;
    int descriptors;

    /* Whatever is opened only once is open after the first run. */
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    descriptors = count_descriptors();
    for (int i = 0; i < (argc > 1 ? argc - 1 : 1); i++) {
        if (replay(paths[i]) == 0)
            return EXIT_FAILURE;
    }
    fuzz_require(count_descriptors() == descriptors);
    return EXIT_SUCCESS;
}
