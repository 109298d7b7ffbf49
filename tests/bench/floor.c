/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a seed costs at the least: reads standard input to its end, writes a file of the
 * image's size under a temporary name, reads it back, compares, and renames it.
 *
 * Usage: floor FILE SIZE
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A domain's XML fits into it; its last bytes represent all that was read. */
static char input[64 * 1024];
static char written[64 * 1024];
static char read_back[64 * 1024];

static void
fail(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void
read_input(void)
{
    ssize_t count;

    do
        count = read(STDIN_FILENO, input, sizeof(input));
    while (count > 0);
    if (count < 0)
        fail("standard input");
}

static size_t
chunk_of(size_t remaining)
{
    return remaining < sizeof(written) ? remaining : sizeof(written);
}

static void
write_file(int fd, size_t size)
{
    memset(written, 'x', sizeof(written));
    for (size_t done = 0; done < size; done += chunk_of(size - done)) {
        size_t wanted = chunk_of(size - done);

        if (write(fd, written, wanted) != (ssize_t)wanted)
            fail("write");
    }
}

static void
compare_file(int fd, size_t size)
{
    for (size_t done = 0; done < size; done += chunk_of(size - done)) {
        size_t wanted = chunk_of(size - done);

        if (pread(fd, read_back, wanted, (off_t)done) != (ssize_t)wanted ||
            memcmp(read_back, written, wanted) != 0)
            fail("read");
    }
}

int
main(int argc, char **argv)
{
    char temporary[4096];
    size_t size;
    int fd;

    if (argc != 3) {
        fputs("Usage: floor FILE SIZE\n", stderr);
        return 2;
    }
    size = strtoul(argv[2], NULL, 10);
    read_input();
    snprintf(temporary, sizeof(temporary), "%s.new", argv[1]);
    fd = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        fail(temporary);
    write_file(fd, size);
    compare_file(fd, size);
    if (close(fd) < 0 || rename(temporary, argv[1]) < 0)
        fail(argv[1]);
    return EXIT_SUCCESS;
}
