/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <signal.h>
#include <termios.h>

#include "cli/ask.h"

bool
ask_yes(const char *question)
{
    char answer[64] = "";

    fflush(stdout);
    fprintf(stderr, "%s [y/N] ", question);
    if (!fgets(answer, sizeof(answer), stdin))
        fputc('\n', stderr);
    answer[strcspn(answer, "\n")] = '\0';
    return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}

/* --- without an echo -------------------------------------------------------------------- */

/* A signal that would end the process, until the terminal has its echo again. */
static volatile sig_atomic_t caught;

static void
catch_signal(int number)
{
    caught = number;
}

static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/* Reads a line of a terminal, whose driver gives it whole. Return: 0 or -errno. */
static int
read_line(int terminal, char *line, size_t size)
{
    ssize_t length = read(terminal, line, size - 1);

    if (length < 0)
        return -errno;
    line[length] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return 0;
}

/* Return: 0 or -errno. */
static int
read_hidden(int terminal, char *line, size_t size)
{
    const struct sigaction action = {.sa_handler = catch_signal};
    struct sigaction before[ARRAY_SIZE(signals)];
    struct termios shown, hidden;
    int result;

    if (tcgetattr(terminal, &shown) < 0)
        return -errno;
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    caught = 0;
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        sigaction(signals[i], &action, &before[i]);
    tcsetattr(terminal, TCSAFLUSH, &hidden);
    result = read_line(terminal, line, size);
    tcsetattr(terminal, TCSAFLUSH, &shown);
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        sigaction(signals[i], &before[i], NULL);
    dprintf(terminal, "\n");
    if (caught != 0)
        raise(caught);
    return result;
}

/* --- passwords -------------------------------------------------------------------------- */

static int
ask_twice(int terminal, const char *whose, char *first, char *second, size_t size,
          struct failure **failure)
{
    int error;

    dprintf(terminal, "New password of %s: ", whose);
    error = read_hidden(terminal, first, size);
    if (error == 0 && *first) {
        dprintf(terminal, "The same again: ");
        error = read_hidden(terminal, second, size);
    }
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not read from the terminal");
    if (!*first)
        return failure_set(failure, FAILURE_USAGE,
                           "no password was given\n"
                           "run the command again, and type one");
    if (strcmp(first, second) == 0)
        return 0;
    return failure_set(failure, FAILURE_USAGE,
                       "the two passwords differ\n"
                       "run the command again, and type the same twice");
}

int
ask_password(const char *whose, struct buffer *password, struct failure **failure)
{
    cleanup_close int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    char first[LIMIT_PASSWORD + 2] = "";
    char second[sizeof(first)] = "";
    int result;

    if (terminal < 0)
        return failure_set_errno(failure, FAILURE_USAGE, errno,
                                 "could not open the terminal to ask for a password\n"
                                 "give a file, or '-' for standard input: "
                                 "--password-file=FILE");
    result = ask_twice(terminal, whose, first, second, sizeof(first), failure);
    if (result == 0)
        buffer_append_string(password, first);
    explicit_bzero(first, sizeof(first));
    explicit_bzero(second, sizeof(second));
    return result;
}
