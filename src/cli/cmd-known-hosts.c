/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/login.h"
#include "domain/request.h"

struct options {
    struct option_values hosts;
};

/* What known_hosts gives no meaning of its own to: sshd(8), "SSH_KNOWN_HOSTS FILE
 * FORMAT". */
static int
check_host(const char *host, struct failure **failure)
{
    bool plain = *host && !strchr("#@|", *host) && !strpbrk(host, ",*?!");

    for (const char *at = host; *at; at++)
        plain = plain && *at > ' ' && *at < 0x7f;
    if (plain)
        return 0;
    return failure_set(failure, FAILURE_USAGE,
                       "--host has '%.64s', which is not a host name\n"
                       "give a name or an address, and with a port [ADDRESS]:PORT",
                       host);
}

static void
print_keys(const char *host, const char *keys)
{
    cleanup_free char *copy = xstrdup(keys);
    char *rest = NULL;

    for (const char *key = strtok_r(copy, "\n", &rest); key;
         key = strtok_r(NULL, "\n", &rest))
        printf("%s %s\n", host, key);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_definition struct definition definition = {0};
    cleanup_request struct request request = {0};
    cleanup_free char *keys = NULL;
    cleanup_free char *name = NULL;
    cleanup_free char *label = NULL;

    for (size_t i = 0; i < options->hosts.count; i++) {
        if (check_host(options->hosts.list[i].text, failure) < 0)
            return -1;
    }
    if (definition_load(&definition, context, DEFINITION_READ, failure) < 0)
        return -1;
    if (domain_require_uuid(&definition.domain, failure) == 0 &&
        request_read(&request, &definition.domain, failure) == 0)
        keys = login_read_host_keys(context, &request, failure);
    if (!keys)
        return failure_prefix(failure, "domain '%s'", definition.domain.name);
    /* Its whole name, its first label, and what the user adds. */
    name = request_hostname(&request);
    label = xstrndup(name, strcspn(name, "."));
    print_keys(name, keys);
    if (strcmp(name, label) != 0)
        print_keys(label, keys);
    for (size_t i = 0; i < options->hosts.count; i++)
        print_keys(options->hosts.list[i].text, keys);
    return STATUS_OK;
}

static const struct option_row rows[] = {
    OPTION(0, "host", "ADDRESS", hosts,
           "also print lines for this name or address; may be given several times"),
    OPTION_END,
};

const struct command cmd_known_hosts = {
    .name = "known-hosts",
    .operands = "DOMAIN|FILE|-",
    .summary = "print the guest's host keys for ssh",
    .help =
        "Prints the public host keys that the guest gets from its seed, as lines of\n"
        "known_hosts: for its host name, the first label of that, and the addresses that\n"
        "you give. ssh then knows the guest at its first connection:\n"
        "\n"
        "  virt-seed known-hosts web1 >>~/.ssh/known_hosts\n"
        "\n"
        "After the first start, any user can see the key of ssh-host-keys=\"generate\";\n"
        "those of <ssh-host-keys secret=...> are for users who can read the secret.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
