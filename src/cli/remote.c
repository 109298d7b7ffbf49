/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a command that reads files of the domain's host cannot do so from here.
 * If the URI is qemu+ssh://HOST/…, the command line is built again from the command's
 * table, with the URI that libvirt has on that host, and this program becomes ssh, which
 * runs it there. So output, exit status and signals are those of the command on that
 * host.
 *
 * A login shell parses the line, so each word is quoted. ssh would take a host or a user
 * that begins with a dash for an option, so these are refused.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libxml/uri.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/definition.h"

#define SCHEME "qemu+ssh"

/* What the URI says about how to reach the host; owned. */
struct way {
    char *user; /* NULL if it has none */
    char *host;
    char *port;    /* NULL if it has none */
    char *uri;     /* of libvirt's daemon, on that host */
    char *program; /* instead of ssh; like those below, a parameter of libvirt's URIs */
    char *key_file;
    bool no_verify;
    bool no_tty;
};

static void
way_clear(struct way *way)
{
    free(way->user);
    free(way->host);
    free(way->port);
    free(way->uri);
    free(way->program);
    free(way->key_file);
}

static int
fail_uri(const char *uri, const char *what, struct failure **failure)
{
    return failure_set(failure, FAILURE_USAGE,
                       "'%.256s' %s\ngive " SCHEME "://[USER@]HOST[:PORT]/system", uri,
                       what);
}

/* One KEY=VALUE of the URI's query, decoded. */
static int
take_parameter(struct way *way, const char *uri, const char *key, const char *value,
               struct failure **failure)
{
    if (strcmp(key, "command") == 0 && !way->program)
        way->program = xstrdup(value);
    else if (strcmp(key, "keyfile") == 0 && !way->key_file)
        way->key_file = xstrdup(value);
    else if (strcmp(key, "no_verify") == 0)
        way->no_verify = strcmp(value, "1") == 0;
    else if (strcmp(key, "no_tty") == 0)
        way->no_tty = strcmp(value, "1") == 0;
    else if (strcmp(key, "socket") == 0)
        return fail_uri(uri, "names another socket, which virt-seed cannot use there",
                        failure);
    /* The others are about libvirt's own protocol, which is not used here. */
    return 0;
}

static int
read_uri(struct way *way, const char *text, const xmlURI *uri, struct failure **failure)
{
    cleanup_free char *query = uri->query_raw ? xstrdup(uri->query_raw) : NULL;
    const char *server = uri->server;
    size_t length = strlen(server);
    char *rest = query;

    if (uri->path && strcmp(uri->path, "/system") != 0 &&
        strcmp(uri->path, "/session") != 0)
        return fail_uri(text, "has a path that is not /system or /session", failure);
    way->uri = xasprintf("qemu://%s", uri->path ? uri->path : "/system");
    /* ssh takes an IPv6 address without its brackets. */
    way->host = *server == '[' && server[length - 1] == ']'
                    ? xstrndup(server + 1, length - 2)
                    : xstrdup(server);
    way->user = uri->user ? xstrdup(uri->user) : NULL;
    way->port = uri->port > 0 ? xasprintf("%d", uri->port) : NULL;
    if (*way->host == '-' || (way->user && *way->user == '-'))
        return fail_uri(text, "has a user or a host that begins with a dash", failure);
    for (char *word = strsep(&rest, "&;"); word; word = strsep(&rest, "&;")) {
        char *value = strchr(word, '=');
        cleanup_free char *decoded =
            value ? xmlURIUnescapeString(value + 1, 0, NULL) : NULL;

        if (value)
            *value = '\0';
        if (take_parameter(way, text, word, decoded ? decoded : "", failure) < 0)
            return -1;
    }
    return 0;
}

/* --- the remote command line -------------------------------------------------------- */

static void
add_word(struct buffer *line, const char *word)
{
    cleanup_free char *quoted = xshellquote(word);

    buffer_printf(line, "%s%s", line->size > 0 ? " " : "", quoted);
}

static void
add_option(struct buffer *line, const struct option_row *row, const char *value)
{
    cleanup_free char *word =
        xasprintf("--%s%s%s", row->name, value ? "=" : "", value ? value : "");

    add_word(line, word);
}

/* Builds the command line again, for the daemon at `uri`. */
static void
make_line(struct buffer *line, const struct context *context,
          const struct command *command, const void *options, const char *uri)
{
    cleanup_free char *connect = xasprintf("--connect=%s", uri);

    add_word(line, "virt-seed");
    add_word(line, connect);
    if (strcmp(context->root_path, "/") != 0) {
        cleanup_free char *root = xasprintf("--root=%s", context->root_path);

        add_word(line, root);
    }
    if (context->quiet)
        add_word(line, "--quiet");
    add_word(line, command->name);
    for (const struct option_row *row = command->options; row && row->name; row++) {
        const void *member = (const char *)options + row->offset;
        const struct option_values *values = member;

        if (row->kind == OPTION_FLAG && *(const bool *)member)
            add_option(line, row, NULL);
        else if (row->kind == OPTION_TEXT && *(const char *const *)member)
            add_option(line, row, *(const char *const *)member);
        for (size_t i = 0; row->kind == OPTION_LIST && i < values->count; i++) {
            if (values->list[i].row == row)
                add_option(line, row, values->list[i].text);
        }
    }
    add_word(line, "--");
    for (size_t i = 0; i < context->operand_count; i++)
        add_word(line, context->operands[i]);
}

static int
run_ssh(const struct way *way, const struct buffer *line, struct failure **failure)
{
    const char *words[20];
    size_t count = 0;

    words[count++] = way->program ? way->program : "ssh";
    if (way->port) {
        words[count++] = "-p";
        words[count++] = way->port;
    }
    if (way->user) {
        words[count++] = "-l";
        words[count++] = way->user;
    }
    if (way->key_file) {
        words[count++] = "-i";
        words[count++] = way->key_file;
    }
    if (way->no_verify) {
        words[count++] = "-o";
        words[count++] = "StrictHostKeyChecking=no";
    }
    if (way->no_tty) {
        words[count++] = "-o";
        words[count++] = "BatchMode=yes";
    }
    /* Without a terminal, the remote command would not draw its progress. */
    words[count++] =
        !way->no_tty && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? "-t" : "-T";
    words[count++] = "--";
    words[count++] = way->host;
    words[count++] = line->data;
    words[count] = NULL;
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(words[0], (char *const *)words);
    return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                             "could not run '%s'\ninstall ssh, or run the command on %s",
                             words[0], way->host);
}

int
remote_run(const struct context *context, const struct command *command,
           const void *options, struct failure **failure)
{
    const char *text = context->uri ? context->uri : getenv("LIBVIRT_DEFAULT_URI");
    xmlURI *uri = text && command->runs_on_host ? xmlParseURI(text) : NULL;
    __attribute__((cleanup(way_clear))) struct way way = {.host = NULL};
    cleanup_buffer struct buffer line = {0};
    bool is_file = command->takes_file && context->operand_count > 0 &&
                   definition_is_file(context->operands[0]);
    int result = 0;

    if (uri && !is_file && uri->scheme && strcmp(uri->scheme, SCHEME) == 0 &&
        uri->server && *uri->server)
        result = read_uri(&way, text, uri, failure);
    xmlFreeURI(uri);
    if (result < 0 || !way.host)
        return result;
    make_line(&line, context, command, options, way.uri);
    if (!context->quiet) {
        print_outside_line(stderr, "on %s: %s", way.host, line.data);
        fflush(stderr);
    }
    return run_ssh(&way, &line, failure);
}
