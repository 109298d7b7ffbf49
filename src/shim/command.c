/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fnmatch.h>

#include "base/fs.h"
#include "base/names.h"
#include "shim/shim.h"

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

/* --- the emulator ----------------------------------------------------------------- */

/* The second is for Red Hat's qemu-kvm. */
static const char *const directories[] = {"/usr/bin", "/usr/libexec", "/usr/local/bin"};

/*
 * Finds the emulator by the name under which the shim was called, without its prefix, in
 * the directories that distributions use, never in PATH. Return: its path, owned by the
 * caller (free), or NULL.
 */
static char *
find_emulator(int root, const char *called, struct failure **failure)
{
    const char *name = fs_base_name(called);

    if (strncmp(name, SHIM_NAME, strlen(SHIM_NAME)) != 0) {
        failure_set(failure, FAILURE_USAGE,
                    "called as '%s', expected the name of an emulator after '%s'\n"
                    "set <emulator>%s/" SHIM_NAME "system-x86_64</emulator> in the "
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
                "no '%s' in /usr/bin, /usr/libexec or /usr/local/bin\n"
                "install it, or set another <emulator>",
                name);
    return NULL;
}

/* Return: the machine type, owned by the caller (free); NULL if there is none. QEMU
 * merges these options, so that one without a type changes something else. */
static char *
machine_type(char **given)
{
    struct option_at option;
    char *type = NULL;
    size_t index = 1;

    while ((option = arguments_next(given, &index)).name) {
        char *found = NULL;

        if (strcmp(option.name, "machine") == 0 || strcmp(option.name, "M") == 0)
            found = list_value(option.value, "type", "type");
        if (!found)
            continue;
        free(type);
        type = found;
    }
    return type;
}

static bool
boots_nothing(char **given)
{
    static const char *const options[] = {"version", "help", "h"};
    cleanup_free char *type = machine_type(given);
    const char *value;

    for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
        if (arguments_find(given, options[i], &value) > 0)
            return true;
    }
    return type && strcmp(type, "none") == 0;
}

static int
check_uuid(size_t count, const char *uuid, struct failure **failure)
{
    if (count == 0)
        failure_set(
            failure, FAILURE_DOMAIN_UUID,
            "no -uuid in the arguments, so it is not known which domain's seed to use");
    else if (count > 1)
        failure_set(failure, FAILURE_DOMAIN_UUID, "%zu -uuid in the arguments", count);
    else if (!text_is_uuid(uuid))
        failure_set(failure, FAILURE_DOMAIN_UUID,
                    "-uuid is '%.64s', expected a UUID as libvirt writes it", uuid);
    else
        return 0;
    return failure_hint(failure, "let libvirt start it: set this program as the "
                                 "domain's <emulator>, and do not use -uuid in "
                                 "<qemu:commandline>");
}

/* --- the shim order ----------------------------------------------------------------- */

static int
fail_open(const char *name, int error, struct failure **failure)
{
    failure_set_errno(failure, FAILURE_RUNDIR, error, "could not open %s/%s",
                      scope()->rundir, name);
    if (error == ENOENT)
        return failure_hint(
            failure, "virt-seed-hook creates it: check that the hook is in "
                     "/etc/libvirt/hooks/qemu.d, reload libvirt's daemon if the hook "
                     "is new, and start the domain with libvirt");
    if (error == EACCES)
        return failure_hint(failure, "check AppArmor's rules or SELinux's boolean "
                                     "virt_seed_emulator, see virt-seed-qemu(8)");
    return failure_hint(failure, "remove it, and find out what put it there");
}

/* Return: whether the content is valid (base/names.h). */
static bool
order_parse(const struct buffer *content, char **word, bool *reports)
{
    const char *end = memchr(content->data, '\n', content->size);
    size_t length = end ? (size_t)(end - content->data) : 0;
    size_t rest = end ? content->size - length - 1 : 0;

    if (!end || length > LIMIT_SERIAL)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (content->data[i] < ' ' || content->data[i] > '~')
            return false;
    }
    *reports = rest > 0;
    if (*reports && (rest != strlen(SHIM_ORDER_REPORT) ||
                     memcmp(end + 1, SHIM_ORDER_REPORT, rest) != 0))
        return false;
    *word = xstrndup(content->data, length);
    return true;
}

/*
 * Reads UUID.shim, which rundir_write_shim_order() has written: the word to add to the
 * serial, or "", owned by the caller (free), and whether the guest reports. The latter
 * depends only on the domain's XML, so that it has the same devices on every host where
 * it is restored or migrated.
 */
static int
order_read(int root, const char *uuid, char **word, bool *reports,
           struct failure **failure)
{
    const size_t limit = LIMIT_SERIAL + 1 + strlen(SHIM_ORDER_REPORT);
    cleanup_free char *name = xasprintf("%s" SHIM_ORDER_SUFFIX, uuid);
    /* O_PATH: QEMU's user may not list it. The path without its slash is below root. */
    cleanup_close int directory =
        openat(root, &scope()->rundir[1], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    cleanup_close int fd = -1;
    cleanup_buffer struct buffer content = {0};
    struct stat parent, file;
    const char *wrong = NULL;

    if (directory >= 0)
        fd = openat(directory, name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(directory, &parent) < 0 || fstat(fd, &file) < 0)
        return fail_open(name, errno, failure);
    /* QEMU's user must not have been able to write or replace it. */
    if (!S_ISREG(file.st_mode))
        wrong = "is not a regular file";
    else if (parent.st_mode & 022)
        wrong = "is in a directory that is writable by others";
    else if (file.st_uid != parent.st_uid)
        wrong = "does not belong to the owner of its directory";
    else if (file.st_mode & 022)
        wrong = "is writable by others";
    else if (fs_read_all(fd, limit, &content) < 0 ||
             !order_parse(&content, word, reports))
        wrong =
            "is not a line of printable ASCII, with or without 'report' on a second one";
    if (!wrong)
        return 0;
    return failure_set(failure, FAILURE_RUNDIR,
                       "%s/%s %s\n"
                       "remove it, and find out what put it there; the hook creates it "
                       "again at the next start",
                       scope()->rundir, name, wrong);
}

/* --- the controllers' addresses ----------------------------------------------------- */

/*
 * Fixed, so that they are the same after a restore or a migration: slot 0x1c of the first
 * PCI bus, function 0 for the seed and function 1 for the report; on s390x, the device
 * numbers fe.0.f01c and fe.0.f01d.
 */
#define CONTROLLERS_PCI_SLOT 0x1c
#define SCSI_CCW_NUMBER "fe.0.f01c"
#define SERIAL_CCW_NUMBER "fe.0.f01d"

/* libvirt's own names of the machines (qemuDomainMachineIsQ35 and its neighbours). */
static const struct machine {
    const char *pattern;
    const char *bus; /* the first PCI bus; NULL on s390x */
} machines[] = {
    {"q35", "pcie.0"},           {"pc-q35-*", "pcie.0"}, {"pc", "pci.0"},
    {"pc-i440fx-*", "pci.0"},    {"virt", "pcie.0"},     {"virt-*", "pcie.0"},
    {"pseries", "pci.0"},        {"pseries-*", "pci.0"}, {"s390-ccw-virtio", NULL},
    {"s390-ccw-virtio-*", NULL},
};

static bool
has_our_address(const char *device, const char *bus)
{
    cleanup_free char *address = list_value(device, "addr", NULL);
    cleanup_free char *device_bus = list_value(device, "bus", NULL);
    cleanup_free char *number = list_value(device, "devno", NULL);

    if (!bus)
        return number && (strcmp(number, SCSI_CCW_NUMBER) == 0 ||
                          strcmp(number, SERIAL_CCW_NUMBER) == 0);
    if (!address || (device_bus && strcmp(device_bus, bus) != 0))
        return false;
    return strtoul(address, NULL, 16) == CONTROLLERS_PCI_SLOT;
}

static void
fail_taken(const char *device, const char *bus, struct failure **failure)
{
    cleanup_free char *id = list_value(device, "id", NULL);
    cleanup_free char *driver = list_value(device, "driver", "driver");
    cleanup_free char *place = NULL;

    if (!driver)
        driver = xstrdup("a device");
    if (bus)
        place = xasprintf("slot 0x%x of '%s'", CONTROLLERS_PCI_SLOT, bus);
    else
        place = xstrdup("device number " SCSI_CCW_NUMBER " or " SERIAL_CCW_NUMBER);
    failure_set(failure, FAILURE_BUS,
                "%s, which virt-seed-qemu needs for the seed, is taken by '%s'\n"
                "give that device another <address>; or set QEMU itself as the "
                "<emulator>, and run 'virt-seed wire'",
                place, id ? id : driver);
}

/* Finds the machine that the command starts. Fails if the shim does not know the
 * controllers' addresses on it, or if a device has one of them, even one needed only for
 * a report. */
static const struct machine *
find_machine(char **given, struct failure **failure)
{
    cleanup_free char *type = machine_type(given);
    const struct machine *machine = NULL;
    struct option_at option;
    size_t index = 1;

    for (size_t i = 0; type && !machine && i < ARRAY_SIZE(machines); i++) {
        if (fnmatch(machines[i].pattern, type, 0) == 0)
            machine = &machines[i];
    }
    if (!machine) {
        failure_set(
            failure, FAILURE_DOMAIN,
            "virt-seed-qemu does not support machine '%s'\n"
            "use q35, pc, virt, pseries or s390-ccw-virtio; or set QEMU itself as the "
            "<emulator>, and run 'virt-seed wire'",
            type ? type : "");
        return NULL;
    }
    while ((option = arguments_next(given, &index)).name) {
        if (strcmp(option.name, "device") == 0 &&
            has_our_address(option.value, machine->bus)) {
            fail_taken(option.value, machine->bus, failure);
            return NULL;
        }
    }
    return machine;
}

/* --- the added devices ------------------------------------------------------------ */

/* These names do not conflict with libvirt's, "libvirt-1-format" and devices' aliases. */
static void
add_seed(struct command *command, const char *uuid, const char *bus, bool reports)
{
    cleanup_free char *controller = NULL;
    cleanup_free char *seed = second_name(uuid);

    if (bus)
        controller = xasprintf("virtio-scsi-pci,bus=%s,addr=0x%x%s", bus,
                               CONTROLLERS_PCI_SLOT, reports ? ",multifunction=on" : "");
    else
        controller = xstrdup("virtio-scsi-ccw,devno=" SCSI_CCW_NUMBER);
    add_option(command, "-blockdev",
               xasprintf("driver=raw,node-name=virt-seed,read-only=on,file.driver=file,"
                         "file.filename=%s/%s",
                         scope()->rundir, seed));
    /* One queue: the default depends on the number of CPUs. If that changes while the
     * guest runs, the guest could not be migrated. */
    add_option(command, "-device",
               xasprintf("%s,id=virt-seed-scsi,num_queues=1", controller));
    add_option(command, "-device",
               xstrdup("scsi-cd,id=virt-seed,bus=virt-seed-scsi.0,drive=virt-seed"));
}

/*
 * The port has no id: with one, QEMU would send libvirt, which does not know the port, an
 * event whenever the guest opens it. Port 0 is reserved for a console, so there are two.
 *
 * The devices are the same even if the report cannot be kept; else the guest could not be
 * restored on such a host.
 */
static void
add_report(struct command *command, int root, const char *uuid, const char *bus,
           char **given)
{
    cleanup_free char *controller = NULL;
    int pipe = report_begin(root, uuid, given, &command->warning);

    if (bus)
        controller = xasprintf("virtio-serial-pci,bus=%s,addr=0x%x.0x1", bus,
                               CONTROLLERS_PCI_SLOT);
    else
        controller = xstrdup("virtio-serial-ccw,devno=" SERIAL_CCW_NUMBER);
    if (pipe >= 0) {
        /* libvirt 11 compares the opaque of each set, and crashes if there is none. */
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

/* Return: the serial in the given arguments, owned by the caller (free), or NULL. */
static char *
find_serial(char **given)
{
    struct option_at option;
    char *serial = NULL;
    size_t index = 1;

    while ((option = arguments_next(given, &index)).name) {
        cleanup_free char *type = NULL;
        cleanup_free char *found = NULL;

        if (strcmp(option.name, "smbios") != 0)
            continue;
        type = list_value(option.value, "type", NULL);
        found = list_value(option.value, "serial", NULL);
        if (!found || !type || strcmp(type, "1") != 0)
            continue;
        free(serial);
        serial = steal(found);
    }
    return serial;
}

/* QEMU takes each field of SMBIOS's table 1 from the last -smbios that has it. So this
 * one changes only the serial: the user's, with our word appended. */
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
        return failure_set(
            failure, FAILURE_SERIAL,
            "the SMBIOS serial would have %zu characters, expected at most "
            "%d\n"
            "shorten your own serial",
            strlen(serial), LIMIT_SERIAL);
    escaped = list_escape(serial);
    add_option(command, "-smbios", xasprintf("type=1,serial=%s", escaped));
    return 0;
}

/* --- the command ------------------------------------------------------------------ */

int
command_make(struct command *command, int root, char **given, struct failure **failure)
{
    char *program = find_emulator(root, given[0], failure);
    const struct machine *machine = NULL;
    cleanup_free char *word = NULL;
    bool reports = false;
    const char *uuid;
    size_t count;

    if (!program)
        return -1;
    command_add(command, program);
    for (size_t i = 1; given[i]; i++)
        command_add(command, xstrdup(given[i]));
    count = arguments_find(given, "uuid", &uuid);
    if (count == 0 && boots_nothing(given))
        return 0;
    if (check_uuid(count, uuid, failure) == 0)
        machine = find_machine(given, failure);
    if (!machine || order_read(root, uuid, &word, &reports, failure) < 0 ||
        add_serial(command, given, word, failure) < 0)
        return -1;
    add_seed(command, uuid, machine->bus, reports);
    if (reports)
        add_report(command, root, uuid, machine->bus, given);
    return 0;
}

void
command_clear(struct command *command)
{
    texts_free(command->arguments, command->count);
    failure_free(command->warning);
    *command = (struct command){0};
}
