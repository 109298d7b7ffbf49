/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands where systemd's journal listens, while a command runs, and writes the entries
 * that came to a file: a line NAME=VALUE for each field, a blank line after each entry.
 * Line ends in a value are written as "\n". Of the protocol it reads the form with a
 * length only, in which nothing in a value can be taken for another field.
 *
 * Usage: journal-socket SOCKET FILE COMMAND [ARGUMENT…]
 */
#include "config.h"

#include <endian.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void
fail(const char *what)
{
    perror(what);
    exit(99);
}

static void
malformed(const char *what)
{
    fprintf(stderr, "journal-socket: an entry is malformed: %s\n", what);
    exit(99);
}

/* An address has room for short paths only: it is bound by its directory's descriptor. */
static int
listen_at(char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char *slash = strrchr(path, '/');
    int directory;

    if (!slash)
        malformed(path);
    *slash = '\0';
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        fail(path);
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%.60s",
             directory, slash + 1);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        fail(address.sun_path);
    return fd;
}

static int
run(char **command)
{
    pid_t child = fork();
    int status;

    if (child < 0)
        fail("fork");
    if (child == 0) {
        execvp(command[0], command);
        fail(command[0]);
    }
    if (waitpid(child, &status, 0) < 0)
        fail("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

/* Return: where the next field begins. */
static const char *
write_field(FILE *file, const char *field, const char *end)
{
    const char *line_end = memchr(field, '\n', (size_t)(end - field));
    uint64_t length;

    if (!line_end || memchr(field, '=', (size_t)(line_end - field)) ||
        (size_t)(end - line_end) < 1 + sizeof(length))
        malformed("no name, or no length");
    memcpy(&length, line_end + 1, sizeof(length));
    length = le64toh(length);
    fprintf(file, "%.*s=", (int)(line_end - field), field);
    field = line_end + 1 + sizeof(length);
    if (length >= (uint64_t)(end - field) || field[length] != '\n')
        malformed("a value that is shorter than its length");
    for (; length > 0; length--, field++)
        fputs(*field == '\n' ? "\\n" : (char[]){*field, '\0'}, file);
    fputc('\n', file);
    return field + 1;
}

int
main(int argc, char **argv)
{
    static char entry[1 << 20];
    ssize_t size;
    FILE *file;
    int fd, status;

    if (argc < 4)
        malformed("usage: journal-socket SOCKET FILE COMMAND [ARGUMENT…]");
    fd = listen_at(argv[1]);
    file = fopen(argv[2], "we");
    if (!file)
        fail(argv[2]);
    status = run(&argv[3]);
    while ((size = recv(fd, entry, sizeof(entry), MSG_DONTWAIT)) >= 0) {
        for (const char *field = entry; field < entry + size;)
            field = write_field(file, field, entry + size);
        fputc('\n', file);
    }
    return status;
}
