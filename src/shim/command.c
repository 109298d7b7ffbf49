/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/text.h"
#include "shim/arguments.h"
#include "shim/command.h"

/* Takes ownership of the argument. */
static void
command_add(struct command *command, char *argument)
{
    command->arguments = xreallocarray(command->arguments, command->count + 2,
                                       sizeof(*command->arguments));
    command->arguments[command->count++] = argument;
    command->arguments[command->count] = NULL;
}

static void
add_option(struct command *command, const char *option, char *value)
{
    command_add(command, xstrdup(option));
    command_add(command, value);
}

/* --- what is started -------------------------------------------------------------- */

/* Red Hat's qemu-kvm is in the second. */
static const char *const directories[] = {"/usr/bin", "/usr/libexec", "/usr/local/bin"};

/*
 * Finds the emulator by the name that the shim was called by, without its prefix, in the
 * directories where distributions put it; never by PATH.
 * Return: its path, owned by the caller (free), or NULL.
 */
static char *
find_emulator(int root, const char *called, struct failure **failure)
{
    const char *name = fs_base_name(called);

    if (strncmp(name, SHIM_NAME, strlen(SHIM_NAME)) != 0) {
        failure_set(failure, FAILURE_USAGE,
                    "called as '%s', expected the name of an emulator behind '%s'\n"
                    "put <emulator>%s/" SHIM_NAME "system-x86_64</emulator> into the "
                    "domain's <devices>",
                    name, SHIM_PREFIX, VIRT_SEED_BINDIR);
        return NULL;
    }
    name += strlen(SHIM_PREFIX);
    for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
        char *path = xasprintf("%s/%s", directories[i], name);

        if (faccessat(root, &path[1], X_OK, 0) == 0)
            return path;
        free(path);
    }
    failure_set(failure, FAILURE_SYSTEM,
                "there is no '%s' in /usr/bin, /usr/libexec or /usr/local/bin\n"
                "install it, or name another one in <emulator>",
                name);
    return NULL;
}

static bool
boots_nothing(char **given)
{
    static const char *const options[] = {"version", "help", "h"};
    cleanup_free char *type = NULL;
    const char *value;

    for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
        if (arguments_find(given, options[i], &value) > 0)
            return true;
    }
    if (arguments_find(given, "machine", &value) == 0 &&
        arguments_find(given, "M", &value) == 0)
        return false;
    type = list_value(value, "type", "type");
    return type && strcmp(type, "none") == 0;
}

static int
check_uuid(size_t count, const char *uuid, struct failure **failure)
{
    if (count == 0)
        failure_set(
            failure, FAILURE_DOMAIN_UUID,
            "there is no -uuid in the arguments, so no domain to find a seed for");
    else if (count > 1)
        failure_set(failure, FAILURE_DOMAIN_UUID, "-uuid is there %zu times", count);
    else if (!form_is_uuid(uuid))
        failure_set(failure, FAILURE_DOMAIN_UUID,
                    "-uuid is '%.64s', expected what libvirt gives", uuid);
    else
        return 0;
    return failure_hint(failure, "let libvirt start it: put this program into the "
                                 "domain's <emulator>, and nothing that has -uuid into "
                                 "<qemu:commandline>");
}

/* --- what is added ---------------------------------------------------------------- */

/* libvirt's disks have names of their own ("libvirt-1-format"), its devices aliases. */
static void
add_seed(struct command *command, const char *uuid, const struct place *place,
         bool reports)
{
    cleanup_free char *controller = place_scsi(place, !reports);

    add_option(command, "-blockdev",
               xasprintf("driver=raw,node-name=virt-seed,read-only=on,file.driver=file,"
                         "file.filename=%s/%s" SHIM_LINK_SUFFIX "%s",
                         VIRT_SEED_RUNDIR, uuid, uuid));
    /* One queue: the default follows the number of CPUs, which may change while the guest
     * runs and would not fit a migrated one then. */
    add_option(command, "-device",
               xasprintf("%s,id=virt-seed-scsi,num_queues=1", controller));
    add_option(command, "-device",
               xstrdup("scsi-cd,id=virt-seed,bus=virt-seed-scsi.0,drive=virt-seed"));
}

/*
 * The port has no id: with one QEMU would tell libvirt, which does not know it, whenever the
 * guest opens it. Port 0 is a console's; so there are two.
 *
 * The devices are the same whatever becomes of what is written, or a guest could not be
 * restored where its report cannot be kept.
 */
static void
add_report(struct command *command, int root, const char *uuid, const struct place *place,
           char **given)
{
    cleanup_free char *controller = place_serial(place);
    int pipe = report_begin(root, uuid, given, &command->warning);

    if (pipe >= 0) {
        /* libvirt 11 compares each set's opaque, and crashes on one that has none. */
        add_option(command, "-add-fd",
                   xasprintf("set=%d,fd=%d,opaque=virt-seed-report", REPORT_FDSET, pipe));
        add_option(command, "-chardev",
                   xasprintf("file,id=virt-seed-report,path=/dev/fdset/%d,append=on",
                             REPORT_FDSET));
    } else {
        add_option(command, "-chardev", xstrdup("null,id=virt-seed-report"));
    }
    add_option(command, "-device",
               xasprintf("%s,id=virt-seed-serial,max_ports=2", controller));
    add_option(command, "-device",
               xstrdup("virtserialport,bus=virt-seed-serial.0,nr=1,"
                       "chardev=virt-seed-report,name=" REPORT_PORT));
}

/* Return: the serial that the command has so far, owned by the caller (free), or NULL. */
static char *
find_serial(char **given)
{
    struct option_at option;
    char *serial = NULL;
    size_t index = 1;

    while ((option = arguments_next(given, &index)).name) {
        cleanup_free char *type = NULL;
        char *found;

        if (strcmp(option.name, "smbios") != 0)
            continue;
        type = list_value(option.value, "type", NULL);
        found = list_value(option.value, "serial", NULL);
        if (!found || !type || strcmp(type, "1") != 0) {
            free(found);
            continue;
        }
        free(serial);
        serial = found;
    }
    return serial;
}

/* QEMU takes each field of its table of type 1 from the last -smbios that has it; so the
 * others stay, and the serial becomes the user's with our word behind it. */
static int
add_serial(struct command *command, char **given, const char *word,
           struct failure **failure)
{
    cleanup_free char *user = find_serial(given);
    cleanup_free char *serial = NULL;
    cleanup_free char *escaped = NULL;

    if (!*word)
        return 0;
    serial = user && *user ? xasprintf("%s %s", user, word) : xstrdup(word);
    if (strlen(serial) > LIMIT_SERIAL)
        return failure_set(failure, FAILURE_SERIAL,
                           "the SMBIOS serial would have %zu characters, at most %d\n"
                           "shorten your own serial",
                           strlen(serial), LIMIT_SERIAL);
    escaped = list_escape(serial);
    add_option(command, "-smbios", xasprintf("type=1,serial=%s", escaped));
    return 0;
}

static int
add_all(struct command *command, int root, char **given, const char *uuid,
        struct failure **failure)
{
    cleanup_order struct order order = {0};
    struct place place;

    if (place_find(&place, given, failure) < 0 ||
        order_read(&order, root, uuid, failure) < 0 ||
        add_serial(command, given, order.serial, failure) < 0)
        return -1;
    add_seed(command, uuid, &place, order.report);
    if (order.report)
        add_report(command, root, uuid, &place, given);
    return 0;
}

/* --- the command ------------------------------------------------------------------ */

int
command_make(struct command *command, int root, char **given, struct failure **failure)
{
    const char *uuid;
    size_t count;
    char *program = find_emulator(root, given[0], failure);

    if (!program)
        return -1;
    command_add(command, program);
    for (size_t i = 1; given[i]; i++)
        command_add(command, xstrdup(given[i]));
    count = arguments_find(given, "uuid", &uuid);
    if (count == 0 && boots_nothing(given))
        return 0;
    if (check_uuid(count, uuid, failure) < 0)
        return -1;
    return add_all(command, root, given, uuid, failure);
}

void
command_clear(struct command *command)
{
    texts_free(command->arguments, command->count);
    failure_free(command->warning);
    *command = (struct command){0};
}
