/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Becomes ssh(1), which gets all that it must know of the guest as options.
 *
 * How it works: the guest is known by its UUID (HostKeyAlias) and its host keys. These are
 * words of a command that prints them (KnownHostsCommand): no file is left behind, and
 * whoever ssh runs as need not be allowed to read what we have read. No other known_hosts
 * counts. So another machine at the guest's address is refused, and nothing is asked.
 *
 * What comes from the guest is a word only in the strict form that store/guest-login.h
 * lets pass.
 */
#include "config.h"

#include <grp.h>
#include <signal.h>

#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/libvirt.h"
#include "cli/login.h"
#include "store/guest-report.h"
#include "store/record.h"

struct options {
    bool print;
};

/* Options of ssh_config(5), as "NAME VALUE". */
struct ssh_options {
    char **list;
    size_t count;
};

/* What ssh needs to know. */
struct target {
    const char *uuid;
    struct login_place place;
    struct ssh_options login; /* the port and the user, if they are known */
    struct ssh_options trust; /* by what the guest is recognized */
};

static void
add_option(struct ssh_options *options, char *option)
{
    texts_add(&options->list, &options->count, option);
}

static void
target_clear(struct target *target)
{
    texts_free(target->login.list, target->login.count);
    texts_free(target->trust.list, target->trust.count);
}

/* --- the command line --------------------------------------------------------------- */

/* The operands after the domain: options for ssh, and a command for the guest. */
struct words {
    size_t options_end;
    size_t command;
};

static int
split_words(struct words *words, const struct context *context, struct failure **failure)
{
    char **list = context->operands;
    const size_t count = context->operand_count;
    size_t i = 1;

    *words = (struct words){.options_end = 1, .command = 1};
    if (count < 2 || *list[1] != '-')
        return 0;
    while (i < count && strcmp(list[i], "--") != 0)
        i++;
    if (i == count)
        return failure_set(failure, FAILURE_USAGE,
                           "'%s' after the domain is an option for ssh, and no '--' ends "
                           "them\n"
                           "add '--' after ssh's options; virt-seed's own come before "
                           "the domain: virt-seed ssh --print %s",
                           list[1], list[0]);
    *words = (struct words){.options_end = i, .command = i + 1};
    return 0;
}

/* --- the guest ---------------------------------------------------------------------- */

/* Reads what the guest has said: in this boot, or else in the one that its record has. What
 * may not be read, it has not said. */
static void
read_said(struct guest_claim *claim, const struct context *context, const char *uuid)
{
    cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
    cleanup_record struct record record = {0};
    cleanup_failure struct failure *unread = NULL;
    cleanup_failure struct failure *unrecorded = NULL;
    time_t written;

    report_read(context->root, uuid, &report, &written, &unread);
    record_read(context->root, uuid, &record, &unrecorded);
    if (report.state != GUEST_STATE_NOTHING) {
        *claim = report.claim;
        report.claim = (struct guest_claim){0};
    } else {
        *claim = record.result.claim;
        record.result.claim = (struct guest_claim){0};
    }
}

static int
fail_place(const struct domain *domain, bool is_active, struct failure **failure)
{
    if (!is_active)
        return failure_set(failure, FAILURE_DOMAIN,
                           "domain '%s' is not running\nvirt-seed start %s", domain->name,
                           domain->name);
    if (login_needs_forwarding(domain))
        return failure_set(
            failure, FAILURE_NO_NETWORK,
            "domain '%s' has user networking, through which this host reaches no guest\n"
            "let passt forward a port (virsh edit %s): <backend type='passt'/> and "
            "<portForward proto='tcp' address='127.0.0.1'><range start='2222' "
            "to='22'/></portForward> in its <interface type='user'>",
            domain->name, domain->name);
    return failure_set(
        failure, FAILURE_NO_NETWORK,
        "no address of domain '%s' is known: it has no lease of libvirt's, "
        "and its guest has reported none\n"
        "wait until it is up: virt-seed wait %s; or look at its "
        "console: virsh console %s",
        domain->name, domain->name, domain->name);
}

static int
find_place(struct login_place *place, const struct context *context, virDomainPtr running,
           const struct domain *domain, const struct guest_login *said,
           struct failure **failure)
{
    const bool is_active = virDomainIsActive(running) > 0;
    cleanup_connection virConnectPtr connection = NULL;
    cleanup_libvirt_domain virDomainPtr writable = NULL;
    cleanup_failure struct failure *denied = NULL;

    login_find_place(place, running, domain, said);
    if (*place->address)
        return 0;
    /* Only the agent needs a connection that may change things. */
    connection = is_active ? libvirt_connect_here(context, false, &denied) : NULL;
    if (connection)
        writable = virDomainLookupByUUIDString(connection, domain->uuid);
    if (writable)
        login_ask_agent(place, writable, domain);
    return *place->address ? 0 : fail_place(domain, is_active, failure);
}

/* Return: the lines of its host keys, owned by the caller (free), or NULL. */
static char *
find_host_keys(const struct context *context, const struct request *request,
               const struct guest_login *said, struct failure **failure)
{
    cleanup_failure struct failure *unknown = NULL;
    cleanup_buffer struct buffer lines = {0};
    char *keys = request ? login_read_host_keys(context, request, &unknown) : NULL;

    if (keys)
        return keys;
    for (size_t i = 0; i < said->host_key_count; i++)
        buffer_printf(&lines, "%s\n", said->host_keys[i]);
    if (lines.size > 0)
        return xstrdup(lines.data);
    failure_set(
        failure, FAILURE_SSH_KEY,
        "its host key is not known: none comes from its seed, and its guest has not "
        "reported one that you may read\n"
        "wait until it is up (virt-seed wait), or set ssh-host-keys=\"generate\" "
        "before its first start");
    return NULL;
}

/* In the command's words, '%%' is ssh's for '%', and printf(1) knows "\n". */
static void
set_trust(struct ssh_options *trust, const char *uuid, const char *keys)
{
    cleanup_buffer struct buffer command = {0};
    cleanup_free char *lines = xstrdup(keys);
    char *rest = NULL;

    buffer_append_string(&command, "KnownHostsCommand /usr/bin/printf %%s\\n");
    for (const char *line = strtok_r(lines, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        buffer_printf(&command, " \"%s %s\"", uuid, line);
    add_option(trust, xasprintf("HostKeyAlias %s", uuid));
    add_option(trust, xstrdup(command.data));
    add_option(trust, xstrdup("UserKnownHostsFile none"));
    add_option(trust, xstrdup("GlobalKnownHostsFile /dev/null"));
    add_option(trust, xstrdup("StrictHostKeyChecking yes"));
    add_option(trust, xstrdup("UpdateHostKeys no"));
}

/* --- what becomes of it --------------------------------------------------------------- */

/* Return: whether ssh takes it for a name and not for a pattern of names. */
static bool
is_host_name(const char *name)
{
    return *name != '-' && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
                                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
}

static void
print_block(const struct target *target, const char *name)
{
    printf("Host %s\n", is_host_name(name) ? name : target->uuid);
    printf("    HostName %s\n", target->place.address);
    for (size_t i = 0; i < target->login.count; i++)
        printf("    %s\n", target->login.list[i]);
    for (size_t i = 0; i < target->trust.count; i++)
        printf("    %s\n", target->trust.list[i]);
}

/* Under sudo, ssh is the caller's, with the caller's keys and configuration. */
static int
become_caller(struct failure **failure)
{
    const struct passwd *caller;

    if (geteuid() != 0)
        return 0;
    caller = login_find_caller(failure);
    if (!caller || caller->pw_uid == 0)
        return caller ? 0 : -1;
    if (initgroups(caller->pw_name, caller->pw_gid) < 0 ||
        setresgid(caller->pw_gid, caller->pw_gid, caller->pw_gid) < 0 ||
        setresuid(caller->pw_uid, caller->pw_uid, caller->pw_uid) < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, -errno, "could not become '%s'",
                                 caller->pw_name);
    setenv("HOME", caller->pw_dir, 1);
    setenv("USER", caller->pw_name, 1);
    setenv("LOGNAME", caller->pw_name, 1);
    return 0;
}

static void
add_arguments(char ***arguments, size_t *count, const struct ssh_options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        *array_add(*arguments, *count) = (char *)"-o";
        *array_add(*arguments, *count) = options->list[i];
    }
}

/* Return: -1; on success it does not return. The first of several values of an option
 * counts for ssh: what the user gives changes the user and the port, but not the trust. */
static int
run_ssh(const struct target *target, const struct words *words,
        const struct context *context, struct failure **failure)
{
    cleanup_free char **arguments = NULL;
    size_t count = 0;

    *array_add(arguments, count) = (char *)"ssh";
    add_arguments(&arguments, &count, &target->trust);
    for (size_t i = 1; i < words->options_end; i++)
        *array_add(arguments, count) = context->operands[i];
    add_arguments(&arguments, &count, &target->login);
    *array_add(arguments, count) = (char *)"--";
    *array_add(arguments, count) = (char *)target->place.address;
    for (size_t i = words->command; i < context->operand_count; i++)
        *array_add(arguments, count) = context->operands[i];
    *array_add(arguments, count) = NULL;
    if (become_caller(failure) < 0)
        return -1;
    /* An ignored signal would stay so. */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp("ssh", arguments);
    return failure_set_errno(failure, FAILURE_SYSTEM, -errno,
                             "could not run ssh\ninstall OpenSSH's client");
}

/* --- the command ---------------------------------------------------------------------- */

static const char *
find_user(const struct request *request, const struct guest_login *said)
{
    const struct initialization *initialization =
        request ? request->initialization : NULL;
    const char *asked = initialization ? initialization->user_name : NULL;

    return asked ? asked : said->user;
}

static int
log_in(const struct context *context, const struct options *options, virDomainPtr domain,
       const struct words *words, struct failure **failure)
{
    __attribute__((cleanup(guest_claim_clear))) struct guest_claim claim = {0};
    cleanup_definition struct definition running = {0};
    cleanup_request struct request read = {0};
    cleanup_failure struct failure *refused = NULL;
    cleanup_free char *keys = NULL;
    __attribute__((cleanup(target_clear))) struct target target = {0};
    const struct request *request = NULL;
    const char *user;

    if (definition_load_running(&running, domain, failure) < 0)
        return -1;
    if (!options->print && virDomainIsActive(domain) <= 0)
        return fail_place(&running.domain, false, failure);
    if (request_read(&read, &running.domain, &refused) == 0)
        request = &read;
    read_said(&claim, context, running.domain.uuid);
    if (find_place(&target.place, context, domain, &running.domain, &claim.login,
                   failure) < 0)
        return -1;
    keys = find_host_keys(context, request, &claim.login, failure);
    if (!keys)
        return failure_prefix(failure, "domain '%s'", running.domain.name);
    target.uuid = running.domain.uuid;
    set_trust(&target.trust, target.uuid, keys);
    user = find_user(request, &claim.login);
    if (target.place.port > 0)
        add_option(&target.login, xasprintf("Port %ld", target.place.port));
    if (user)
        add_option(&target.login, xasprintf("User %s", user));
    if (!options->print)
        return run_ssh(&target, words, context, failure);
    print_block(&target, running.domain.name);
    return STATUS_OK;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    struct words words;
    cleanup_connection virConnectPtr connection = NULL;
    cleanup_libvirt_domain virDomainPtr domain = NULL;

    if (split_words(&words, context, failure) < 0)
        return -1;
    connection = libvirt_connect_here(context, true, failure);
    if (connection)
        domain = libvirt_find_domain(connection, context->operands[0], failure);
    if (!domain)
        return -1;
    return log_in(context, data, domain, &words, failure);
}

static const struct option_row rows[] = {
    OPTION(0, "print", NULL, print, "print a block for ~/.ssh/config instead"),
    OPTION_END,
};

const struct command cmd_ssh = {
    .name = "ssh",
    .operands = "DOMAIN [[OPTION…] --] [COMMAND…]",
    .summary = "log in to a guest, or run a command in it",
    .help =
        "Runs ssh(1) with the guest's address, its user and its host keys, so that ssh\n"
        "asks nothing and refuses every other machine. The OPTIONs are ssh's own, and\n"
        "'--' ends them:\n"
        "\n"
        "  virt-seed ssh web1 -L 8080:localhost:80 --\n"
        "\n"
        "Under sudo, ssh runs as the user who called it. The exit status is ssh's.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_WORDS,
    .run = run,
};
