/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs commands, again and again or many of them, and prints what they cost.
 *
 * Usage: runner rounds N PLAN
 *        runner batch JOBS PLAN
 *
 * PLAN is a file with a line for each command, the fields separated by tabs: a label, the
 * label of an earlier command to compare it with (or of itself), a file for standard
 * input, the program, its arguments. Their output is thrown away.
 *
 * How it works: `rounds` runs every command once in each round, in an order of chance, so
 * that whatever else the machine does, and what a command leaves in its caches, meets all
 * of them alike. A ratio is that of two times of one round. A first round warms up and
 * does not count. Printed is, for each command and separated by tabs,
 *
 *     label, wall time in ms: median, 10th and 90th percentile; CPU time in ms: median;
 *     resident memory in KiB: maximum; ratio: median, 10th and 90th percentile
 *
 * `batch` runs every command once, JOBS at a time, and prints how many ended in a second.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_COMMANDS 40
#define MAX_ROUNDS 1000
#define MAX_ARGUMENTS 40
#define MAX_LINE 4096

struct command {
    char line[MAX_LINE];
    const char *label;
    const char *base;
    const char *input;
    char *arguments[MAX_ARGUMENTS + 1];
    double wall[MAX_ROUNDS];
    double cpu[MAX_ROUNDS];
    long memory;
};

/* Static, and small where it is not touched: a child's peak of memory begins with
 * ours. */
static struct command commands[MAX_COMMANDS];
static size_t command_count;

__attribute__((format(printf, 1, 2), noreturn)) static void
fail(const char *format, ...)
{
    va_list arguments;

    fputs("runner: error: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    putc('\n', stderr);
    exit(EXIT_FAILURE);
}

/* --- the plan --------------------------------------------------------------------- */

/* Return: whether there was one more command. */
static bool
read_command(FILE *plan, struct command *command)
{
    char *rest = command->line;
    size_t count = 0;

    if (!fgets(command->line, sizeof(command->line), plan))
        return false;
    rest[strcspn(rest, "\n")] = '\0';
    command->label = strsep(&rest, "\t");
    command->base = strsep(&rest, "\t");
    command->input = strsep(&rest, "\t");
    while (rest && count < MAX_ARGUMENTS)
        command->arguments[count++] = strsep(&rest, "\t");
    command->arguments[count] = NULL;
    if (count == 0 || rest)
        fail("'%s': too few fields, or too many", command->label);
    return true;
}

static FILE *
open_plan(const char *path)
{
    FILE *plan = fopen(path, "re");

    if (!plan)
        fail("%s: %s", path, strerror(errno));
    return plan;
}

static void
read_plan(const char *path)
{
    FILE *plan = open_plan(path);

    while (command_count < MAX_COMMANDS && read_command(plan, &commands[command_count]))
        command_count++;
    if (!feof(plan))
        fail("%s: more than %d commands", path, MAX_COMMANDS);
    fclose(plan);
}

static const struct command *
find_command(const char *label)
{
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i].label, label) == 0)
            return &commands[i];
    }
    fail("no command '%s'", label);
}

/* --- running ---------------------------------------------------------------------- */

static pid_t
start(const struct command *command, bool quiet)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int error;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, command->input, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (quiet)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    error = posix_spawnp(&child, command->arguments[0], &actions, NULL,
                         command->arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        fail("'%s': %s", command->label, strerror(error));
    return child;
}

/* Runs it once more, so that its messages can be read. */
__attribute__((noreturn)) static void
fail_command(const struct command *command)
{
    pid_t child = start(command, false);

    waitpid(child, NULL, 0);
    fail("'%s' failed", command->label);
}

static double
milliseconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double
milliseconds(const struct timeval *time)
{
    return (double)time->tv_sec * 1e3 + (double)time->tv_usec / 1e3;
}

static void
measure(struct command *command, size_t round)
{
    double begin = milliseconds_now();
    pid_t child = start(command, true);
    struct rusage usage;
    int status;

    if (wait4(child, &status, 0, &usage) < 0)
        fail("wait4: %s", strerror(errno));
    command->wall[round] = milliseconds_now() - begin;
    command->cpu[round] = milliseconds(&usage.ru_utime) + milliseconds(&usage.ru_stime);
    if (usage.ru_maxrss > command->memory)
        command->memory = usage.ru_maxrss;
    if (status != 0)
        fail_command(command);
}

/* Every command once, in an order of chance. */
static void
run_round(size_t round)
{
    size_t order[MAX_COMMANDS];

    for (size_t i = 0; i < command_count; i++) {
        size_t place = (size_t)random() % (i + 1);

        order[i] = order[place];
        order[place] = i;
    }
    for (size_t i = 0; i < command_count; i++)
        measure(&commands[order[i]], round);
}

/* --- printing --------------------------------------------------------------------- */

static int
compare(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;

    return (a > b) - (a < b);
}

/* Sorts the values and prints their median, 10th and 90th percentile. */
static void
print_quantiles(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare);
    printf("\t%.3f\t%.3f\t%.3f", values[count / 2], values[count / 10],
           values[count - 1 - count / 10]);
}

static void
print_command(const struct command *command, size_t rounds)
{
    const struct command *base = find_command(command->base);
    static double values[MAX_ROUNDS];

    printf("%s", command->label);
    memcpy(values, command->wall, sizeof(values));
    print_quantiles(values, rounds);
    memcpy(values, command->cpu, sizeof(values));
    qsort(values, rounds, sizeof(*values), compare);
    printf("\t%.3f\t%ld", values[rounds / 2], command->memory);
    for (size_t i = 0; i < rounds; i++)
        values[i] = command->wall[i] / base->wall[i];
    print_quantiles(values, rounds);
    putchar('\n');
}

/* --- the two ways ----------------------------------------------------------------- */

static void
run_rounds(size_t rounds, const char *path)
{
    if (rounds < 1 || rounds > MAX_ROUNDS)
        fail("from 1 to %d rounds are possible", MAX_ROUNDS);
    read_plan(path);
    run_round(0);
    for (size_t round = 0; round < rounds; round++)
        run_round(round);
    for (size_t i = 0; i < command_count; i++)
        print_command(&commands[i], rounds);
}

static void
run_batch(size_t jobs, const char *path)
{
    FILE *plan = open_plan(path);
    struct command *command = &commands[0];
    double begin = milliseconds_now();
    size_t running = 0, ended = 0;
    int status;

    while (read_command(plan, command)) {
        start(command, true);
        running++;
        while (running >= jobs) {
            if (wait(&status) < 0 || status != 0)
                fail_command(command);
            running--;
            ended++;
        }
    }
    for (; running > 0; running--, ended++) {
        if (wait(&status) < 0 || status != 0)
            fail_command(command);
    }
    printf("%.0f\n", (double)ended / (milliseconds_now() - begin) * 1e3);
    fclose(plan);
}

int
main(int argc, char **argv)
{
    size_t number = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;

    if (argc == 4 && strcmp(argv[1], "rounds") == 0) {
        run_rounds(number, argv[3]);
        return EXIT_SUCCESS;
    }
    if (argc == 4 && number > 0 && strcmp(argv[1], "batch") == 0) {
        run_batch(number, argv[3]);
        return EXIT_SUCCESS;
    }
    fputs("Usage: runner rounds N PLAN\n"
          "       runner batch JOBS PLAN\n",
          stderr);
    return 2;
}
