/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt-seed: the command that people type. Each command is a file of its own,
 * cmd-NAME.c. */
#include "config.h"

#include <poll.h>

#include "base/fs.h"
#include "base/process.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/libvirt.h"

const struct command_row commands[] = {
    {&cmd_new, "From an image", "virt-seed new debian-13 web1"},
    {&cmd_images, NULL, "virt-seed images"},
    {&cmd_rm, NULL, "virt-seed rm web1"},

    {&cmd_set, "Configure guests",
     "virt-seed set web1 --user-data=web1.yaml --hostname=web1"},
    {&cmd_edit, NULL, "virt-seed edit web1 user-data"},
    {&cmd_wire, NULL, "virt-seed wire --in-place web1.xml"},
    {&cmd_unset, NULL, "virt-seed unset web1"},
    {&cmd_import, NULL, "virt-seed import kubevirt web1.yaml --set=web1"},

    {&cmd_check, "Look before you start", "virt-seed check web1.xml"},
    {&cmd_dump, NULL, "virt-seed dump web1 user-data"},
    {&cmd_pending, NULL, "virt-seed pending web1"},
    {&cmd_build, NULL, "virt-seed build --output=seed.iso web1.xml"},
    {&cmd_inspect, NULL, "virt-seed inspect seed.iso"},
    {&cmd_try, NULL, "virt-seed try --timeout=900 web1"},

    {&cmd_start, "Run guests", "virt-seed start --timeout=600 web1"},
    {&cmd_wait, NULL, "virt-seed wait --timeout=600 web1"},
    {&cmd_status, NULL, "virt-seed status"},
    {&cmd_update, NULL, "virt-seed update web1"},
    {&cmd_apply, NULL, "virt-seed apply --timeout=900 web1"},
    {&cmd_done, NULL, "virt-seed done web1"},
    {&cmd_ssh, NULL, "virt-seed ssh web1 hostname"},
    {&cmd_known_hosts, NULL, "virt-seed known-hosts --host=192.168.122.20 web1"},
    {&cmd_logs, NULL, "virt-seed logs web1"},

    {&cmd_doctor, "Maintenance", "virt-seed doctor"},
    {&cmd_gc, NULL, "virt-seed gc --dry-run"},

    {&cmd_complete, NULL, NULL},
    {NULL, NULL, NULL},
};

#define LIST_HINT "'virt-seed help --all' lists the commands"

bool
is_like(const char *name, const char *word)
{
    size_t left = strlen(name), right = strlen(word);

    if (right > 0 && strncmp(name, word, right) == 0)
        return true;
    for (; *name && *name == *word; name++, word++, left--, right--)
        ;
    for (; left > 0 && right > 0 && name[left - 1] == word[right - 1]; left--, right--)
        ;
    if (left == 2 && right == 2)
        return name[0] == word[1] && name[1] == word[0];
    return left <= 1 && right <= 1;
}

const struct command *
command_find(const char *name, struct failure **failure)
{
    const char *like = NULL;

    for (const struct command_row *row = commands; row->command; row++) {
        if (strcmp(row->command->name, name) == 0)
            return row->command;
        if (!like && row->command->summary && is_like(row->command->name, name))
            like = row->command->name;
    }
    failure_set(failure, FAILURE_USAGE, "unknown command '%s'", name);
    if (like)
        failure_hint(failure, "did you mean '%s'? " LIST_HINT, like);
    failure_hint(failure, LIST_HINT);
    return NULL;
}

/* `virt-seed help [COMMAND]`. */
static int
help(const char *name, struct failure **failure)
{
    const struct command *command = NULL;

    if (name && strcmp(name, "--all") == 0) {
        help_print_all(stdout);
        return STATUS_OK;
    }
    if (name && *name != '-' && strcmp(name, "help") != 0) {
        command = command_find(name, failure);
        if (!command)
            return -1;
    }
    help_print(stdout, command);
    return STATUS_OK;
}

static int
run(int argc, char **argv, struct failure **failure)
{
    struct context context = {.root_path = "/", .root = -1};
    const struct command *command;
    cleanup_free void *options = NULL;
    cleanup_close int root = -1;
    int result;

    result = arguments_read(&context, NULL, NULL, argc, argv, failure);
    if (result != 0)
        return result > 0 ? STATUS_OK : -1;
    if (context.operand_count == 0) {
        help_print(stderr, NULL);
        return STATUS_USAGE;
    }
    argc = (int)context.operand_count;
    argv = context.operands;
    if (strcmp(argv[0], "help") == 0)
        return help(argv[1], failure);
    command = command_find(argv[0], failure);
    if (!command)
        return -1;
    options = xcalloc(1, command->options_size + 1);
    result = arguments_read(&context, command, options, argc, argv, failure);
    if (result != 0)
        return result > 0 ? STATUS_OK : -1;
    root = fs_open_root(context.root_path);
    if (root < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, root,
                                 "could not open '%s'\n"
                                 "give --root a directory that you may read",
                                 context.root_path);
    context.root = root;
    if (libvirt_choose_scope(&context, failure) < 0)
        return -1;
    if (command->for_each)
        return definition_each(&context, options, command->run, failure);
    return command->run(&context, options, failure);
}

/* SIGPIPE is ignored, so a command finishes its changes even if nobody reads what it
 * prints; only then do we look at how printing went. */
static void
finish_output(struct failure **failure)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    bool is_closed, is_reason;

    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    is_closed = poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP));
    is_reason = !*failure || strstr((*failure)->message, strerror(EPIPE));
    /* The reader has seen enough: end in silence, as by SIGPIPE, unless something else
     * failed. */
    if (is_closed && is_reason) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    if (!*failure)
        failure_set(failure, FAILURE_SYSTEM, "could not write to standard output");
}

int
main(int argc, char **argv)
{
    cleanup_failure struct failure *failure = NULL;
    int status;

    if (process_begin() < 0)
        return STATUS_FAILURE;
    process_harden();
    status = run(argc, argv, &failure);
    finish_output(&failure);
    if (!failure)
        return status;
    print_failure(failure);
    if (failure->code == FAILURE_USAGE)
        return STATUS_USAGE;
    return status > STATUS_OK ? status : STATUS_FAILURE;
}
