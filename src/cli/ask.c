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

/* Appends a line of a terminal, whose driver gives it whole. Return: 0 or -errno. */
static int
read_line(int terminal, struct buffer *line)
{
    char *room = buffer_reserve(line, LIMIT_PASSWORD + 1);
    const ssize_t length = read(terminal, room, LIMIT_PASSWORD + 1);

    if (length < 0)
        return -errno;
    room[length] = '\0';
    room[strcspn(room, "\n")] = '\0';
    line->size += strlen(room);
    return 0;
}

/* Return: 0 or -errno. */
static int
read_hidden(int terminal, struct buffer *line)
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
    result = read_line(terminal, line);
    tcsetattr(terminal, TCSAFLUSH, &shown);
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        sigaction(signals[i], &before[i], NULL);
    dprintf(terminal, "\n");
    if (caught != 0)
        raise(caught);
    return result;
}

/* --- passwords -------------------------------------------------------------------------- */

int
ask_password(const char *whose, struct buffer *password, struct failure **failure)
{
    cleanup_close int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    cleanup_buffer struct buffer again = {0};
    int error;

    if (terminal < 0)
        return failure_set_errno(failure, FAILURE_USAGE, errno,
                                 "could not open the terminal to ask for a password\n"
                                 "give a file, or '-' for standard input: "
                                 "--password-file=FILE");
    dprintf(terminal, "New password of %s: ", whose);
    error = read_hidden(terminal, password);
    if (error == 0 && password->size > 0) {
        dprintf(terminal, "The same again: ");
        error = read_hidden(terminal, &again);
    }
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not read from the terminal");
    if (password->size == 0)
        return failure_set(failure, FAILURE_USAGE,
                           "no password was given\n"
                           "run the command again, and type one");
    if (buffer_is_same(password, &again))
        return 0;
    return failure_set(failure, FAILURE_USAGE,
                       "the two passwords differ\n"
                       "run the command again, and type the same twice");
}
