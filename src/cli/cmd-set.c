/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <getopt.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "cli/changes.h"
#include "cli/cli.h"
#include "cli/libvirt.h"
#include "cli/settings.h"
#include "cli/source.h"
#include "store/secret.h"
#include "wire/wire.h"

/* The secret comes first: the domain may start as soon as it is defined. */
static int
keep_password(const struct context *context, const struct source *source,
              const struct buffer *password, struct failure **failure)
{
    const struct secret_key key = {(char *)SETTINGS_PASSWORD_KEY, *password};

    if (source->connection && libvirt_require_local(source->connection, failure) < 0)
        return -1;
    return secret_replace(context->root, source->domain.name, &key, failure);
}

static int
set(const struct context *context, const struct arguments *arguments,
    struct source *source, struct failure **failure)
{
    cleanup_wiring struct wiring wiring = {0};
    cleanup_buffer struct buffer password = {0};
    size_t written;

    if (settings_write(&source->domain, arguments, &wiring, &password, failure) < 0)
        return -1;
    written = wiring.change_count;
    /* What is written must be what the hook can read: it is looked at before anything is
     * defined, and wired in the same definition. */
    if (changes_wire(source, context, arguments, &wiring, failure) < 0)
        return -1;
    source->request_alone = wiring.change_count == written;
    if (password.size > 0 && !arguments->print) {
        if (keep_password(context, source, &password, failure) < 0)
            return -1;
        wiring_note(&wiring, "secret '%s' has the key " SETTINGS_PASSWORD_KEY " now",
                    source->domain.name);
    }
    return changes_commit(source, context, arguments, "asks for that already", &wiring,
                          failure);
}

static int
run(const struct context *context, const struct arguments *arguments,
    struct failure **failure)
{
    cleanup_source struct source source = {0};
    struct arguments own = *arguments;

    if (own.print && (own.output || own.in_place)) {
        failure_set(failure, FAILURE_USAGE, "--print is in the place of -o and -i");
        failure_hint(failure, "choose one of them");
        return STATUS_USAGE;
    }
    if (own.print)
        own.output = "-";
    if (source_load(&source, context, &own, SOURCE_CHANGE, failure) < 0)
        return STATUS_FAILURE;
    return set(context, &own, &source, failure) < 0 ? STATUS_FAILURE : STATUS_OK;
}

static const struct option options[] = {
    {"user-data", required_argument, NULL, OPTION_SET_USER_DATA},
    {"vendor-data", required_argument, NULL, OPTION_SET_VENDOR_DATA},
    {"network-config", required_argument, NULL, OPTION_SET_NETWORK_CONFIG},
    {"meta-data", required_argument, NULL, OPTION_SET_META_DATA},
    {"ssh-key", required_argument, NULL, OPTION_SET_SSH_KEY},
    {"ssh-host-keys", required_argument, NULL, OPTION_SET_SSH_HOST_KEYS},
    {"hostname", required_argument, NULL, OPTION_SET_HOSTNAME},
    {"instance-id", required_argument, NULL, OPTION_SET_INSTANCE_ID},
    {"instance-id-policy", required_argument, NULL, OPTION_SET_INSTANCE_ID_POLICY},
    {"user", required_argument, NULL, OPTION_SET_USER},
    {"root-password-file", required_argument, NULL, OPTION_SET_ROOT_PASSWORD},
    {"secret", required_argument, NULL, OPTION_SET_SECRET},
    {"datasource", required_argument, NULL, OPTION_SET_DATASOURCE},
    {"domain", required_argument, NULL, OPTION_DOMAIN},
    {"print", no_argument, NULL, OPTION_PRINT},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"in-place", no_argument, NULL, OPTION_IN_PLACE},
    {"replace", no_argument, NULL, OPTION_REPLACE},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

const struct command cmd_set = {
    .name = "set",
    .usage = "[SETTING | OPTION]... DOMAIN|FILE|-",
    .summary = "write what the guest shall become, and wire the domain",
    .help =
        "Writes the <cloud-init> element of a domain and its wiring, in one definition.\n"
        "What a setting names is replaced, and all else stays; an empty value takes it\n"
        "away. A FILE's result goes to standard output, a DOMAIN of libvirt's is\n"
        "defined anew; a running one sees it at its next start.\n"
        "\n"
        "Settings; those with an asterisk may be given several times:\n"
        "      --user-data=FILE           a document for cloud-init *\n"
        "      --vendor-data=FILE         the same, which the user's overrides\n"
        "      --network-config=FILE      version 1 or 2, or network_data.json\n"
        "      --meta-data=KEY=VALUE      an entry of the metadata *\n"
        "      --ssh-key=FILE             the public keys of the default user *\n"
        "      --ssh-host-keys=generate   a host key that known-hosts prints\n"
        "      --hostname=NAME            instead of the domain's name\n"
        "      --instance-id=ID           instead of the domain's UUID\n"
        "      --instance-id-policy=content\n"
        "                                 a new one whenever the seed changes\n"
        "      --user=NAME                the default user's name\n"
        "      --root-password-file=FILE  becomes the secret DOMAIN/root-password\n"
        "      --secret=PART=NAME[/KEY]   take user-data, vendor-data, network-config,\n"
        "                                 meta-data, ssh-authorized-keys, ssh-host-keys\n"
        "                                 or admin-password from a secret of the host *\n"
        "      --datasource=NAME          nocloud, configdrive or nocloud-net\n"
        "\n"
        "      --print          print the XML; nothing is defined, no secret written\n"
        "  -o, --output=OUTPUT  write the XML to this file instead\n"
        "  -i, --in-place       write the XML back into FILE\n"
        "      --replace        put our seed in the place of another tool's\n"
        "      --domain=NAME    NAME is a domain, even where a file is called so\n"
        "      --json           say what was changed as JSON\n"
        "      --help           print this and exit\n",
    .options = options,
    .operands = 1,
    .run = run,
};
