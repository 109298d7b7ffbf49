/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: everything that can fail for a reason of the user's is looked at first. Then
 * each domain's disk is made under a temporary name, and its XML; nothing can be seen of
 * either. At last the domains are defined, one after another, and each disk gets its name
 * once its domain is defined: so whenever the command is killed, a disk has its domain, or a
 * temporary name, which `gc` removes. Whatever fails before the first start takes back all
 * of them.
 */
#include "config.h"

#include <sys/statvfs.h>

#include <libvirt/virterror.h>
#include <uuid.h>

#include "base/names.h"
#include "base/scope.h"
#include "cli/catalogue.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/image-fetch.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "cli/login.h"
#include "cli/machine.h"
#include "cli/pool.h"
#include "cli/set.h"
#include "cli/waiting.h"
#include "domain/element.h"
#include "domain/guest-value.h"
#include "domain/request.h"
#include "domain/ssh-key.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "store/guest-report.h"

#define DEFAULT_MEMORY (2 * 1024L) /* MiB */
#define DEFAULT_CPUS "2"
#define DEFAULT_DISK (10 * GIB)
#define DEFAULT_SYSTEMS "linux2022 linux2020 generic"

struct options {
    struct settings settings; /* the first member */
    const char *memory, *cpus, *disk, *network, *osinfo, *pool, *checksum;
    bool no_start;
    struct waiting_options waiting;
};

/* One of the domains. */
struct machine {
    const char *name;
    char uuid[UUID_LENGTH + 1];
    char *target;        /* the disk's name in the pool's directory */
    struct tmpfile disk; /* before that */
    bool has_disk;       /* it has its name */
    struct definition definition;
    struct new_passwords passwords;
    char *generated; /* the password that was made for it, or NULL */
};

struct making {
    const struct context *context;
    const struct options *options;
    virConnectPtr connection;
    struct pool pool;
    struct image image;   /* of the catalogue, or of a URL */
    struct cached cached; /* its file in the pool */
    int file;             /* of an image that is a file here, or -1 */
    bool is_qcow2;
    uint64_t size; /* of the disks, in bytes */
    char *memory;  /* in MiB */
    const char *network;
    struct buffer keys; /* the caller's own, or empty */
    struct set_contents contents;
    char **more; /* operands for virt-install */
    size_t more_count;
    struct machine *machines;
    size_t count;
};

/* --- what the user asks for ------------------------------------------------------------- */

/* Return: the size in bytes, or 0: a number and perhaps M, G or T; without one, it is in
 * `unit`. */
static uint64_t
parse_size(const char *text, uint64_t unit)
{
    static const char letters[] = "MGT";
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);
    const char *letter = *end ? strchr(letters, *end) : NULL;

    if (letter)
        unit = MIB << 10 * (letter - letters);
    /* Neither a sign nor a blank, which strtoull(3) takes, nor anything after the letter. */
    if (*text < '0' || *text > '9' || end[letter ? 1 : 0])
        return 0;
    return number > (UINT64_C(1) << 50) / unit ? 0 : number * unit;
}

static int
read_sizes(struct making *making, struct failure **failure)
{
    const struct options *options = making->options;
    uint64_t memory = DEFAULT_MEMORY * MIB;

    if (options->memory)
        memory = parse_size(options->memory, MIB);
    if (memory == 0)
        return failure_set(failure, FAILURE_USAGE,
                           "--memory has '%.64s', expected a size\n"
                           "give MiB as a number, or such as 4G",
                           options->memory);
    making->memory = xasprintf("%ju", (uintmax_t)(memory / MIB));
    making->size = options->disk ? parse_size(options->disk, GIB) : 0;
    if (options->disk && making->size == 0)
        return failure_set(failure, FAILURE_USAGE,
                           "--disk has '%.64s', expected a size\n"
                           "give GiB as a number, or such as 500M",
                           options->disk);
    return 0;
}

/* The disk has the name, too. */
static int
check_name(const struct making *making, const char *name, struct failure **failure)
{
    const size_t length = strlen(name);
    const bool is_file_name = strcspn(name, "/\t\r\n") == length && length <= 200;
    /* "" is one, too. */
    const bool begins_badly = strchr(".-", *name);

    if (begins_badly || !is_file_name || !element_can_hold(name, length))
        return failure_set(failure, FAILURE_USAGE,
                           "'%.64s' cannot be the name of a new domain\n"
                           "give one without slashes that does not begin with a dot",
                           name);
    for (size_t i = 0; i < making->count; i++) {
        if (strcmp(making->machines[i].name, name) == 0)
            return failure_set(failure, FAILURE_USAGE,
                               "'%.64s' was named twice\ngive each name once", name);
    }
    return 0;
}

/* The operands are an image, names, and from the first that begins with '-' options for
 * virt-install. */
static int
read_names(struct making *making, struct failure **failure)
{
    const struct context *context = making->context;

    for (size_t i = 1; i < context->operand_count; i++) {
        char *name = context->operands[i];
        struct machine *machine;

        if (*name == '-') {
            making->more = &context->operands[i];
            making->more_count = context->operand_count - i;
            break;
        }
        if (check_name(making, name, failure) < 0)
            return -1;
        machine = array_add(making->machines, making->count);
        machine->name = name;
        machine->disk = TMPFILE_NONE;
        machine->passwords = NEW_PASSWORDS_NONE;
    }
    if (making->count > 0)
        return 0;
    return failure_set(failure, FAILURE_USAGE,
                       "missing argument: NAME\nvirt-seed new IMAGE NAME…");
}

/* Several guests cannot have the same name or address. */
static int
check_sharing(const struct making *making, struct failure **failure)
{
    const struct option_values *values = &making->options->settings.values;

    for (size_t i = 0; making->count > 1 && i < values->count; i++) {
        const char *name = values->list[i].row->name;
        const char *text = values->list[i].text;
        const bool is_address = strcmp(name, "ip") == 0 && strncmp(text, "dhcp", 4) != 0;

        if (*text && (is_address || strcmp(name, "hostname") == 0))
            return failure_set(failure, FAILURE_USAGE,
                               "%zu guests cannot all have --%s='%.64s'\n"
                               "make each of them by a command of its own, or omit --%s",
                               making->count, name, text, name);
    }
    return 0;
}

/* --- the caller's keys ------------------------------------------------------------------ */

/* Settings by which somebody can log in, and the beginning that their value must have. */
static const struct login_setting {
    const char *name, *beginning;
    enum login {
        LOGIN_SURE = 1,     /* a key or a password */
        LOGIN_POSSIBLE = 2, /* documents, which may have users of their own */
        LOGIN_ALONE = 4,    /* raw user-data, beside which nothing may stand */
    } kind;
} login_settings[] = {
    {"ssh-key", "", LOGIN_SURE},
    {"password", "", LOGIN_SURE},
    {"password-file", "", LOGIN_SURE},
    {"password-generate", "", LOGIN_SURE},
    {"root-password", "", LOGIN_SURE},
    {"root-password-file", "", LOGIN_SURE},
    {"secret", "ssh-authorized-keys=", LOGIN_SURE},
    {"secret", "admin-password=", LOGIN_SURE},
    {"user-data", "", LOGIN_POSSIBLE},
    {"secret", "user-data=", LOGIN_POSSIBLE},
    {"user-data-raw", "", LOGIN_ALONE},
};

/* Return: the kinds of those that are given. */
static unsigned int
find_login_settings(const struct option_values *values)
{
    unsigned int kinds = 0;

    for (size_t i = 0; i < values->count; i++) {
        const struct option_value *value = &values->list[i];

        for (size_t j = 0; *value->text && j < ARRAY_SIZE(login_settings); j++) {
            const struct login_setting *setting = &login_settings[j];

            if (strcmp(value->row->name, setting->name) == 0 &&
                strncmp(value->text, setting->beginning, strlen(setting->beginning)) == 0)
                kinds |= setting->kind;
        }
    }
    return kinds;
}

/* Return: whether the file has keys, and nothing else that matters. */
static bool
are_keys(const struct buffer *content)
{
    cleanup_free char *copy = xstrdup(buffer_text(content));
    cleanup_failure struct failure *failure = NULL;
    char *rest = copy;
    int number = 0;
    int count = 0;

    if (!element_can_hold(buffer_text(content), content->size))
        return false;
    for (char *key; (key = ssh_key_next(&rest, &number)); count++) {
        if (ssh_key_check(key, &failure) < 0 || ssh_key_decode(key, &failure) < 0)
            return false;
    }
    return count > 0;
}

/* Adds the keys in the directory: of those files alone that the user owns. */
static void
add_keys_in(int directory, uid_t user, struct buffer *keys)
{
    cleanup_closedir DIR *entries = fs_list(directory);
    const struct dirent *entry;

    while (entries && (entry = fs_next(entries))) {
        const char *dot = strrchr(entry->d_name, '.');
        cleanup_buffer struct buffer content = {0};
        cleanup_close int fd = -1;
        struct stat status;

        if (!dot || strcmp(dot, ".pub") != 0 || strstr(entry->d_name, "-cert.pub"))
            continue;
        fd = fs_open_regular_beneath(directory, entry->d_name, &status);
        if (fd < 0 || status.st_uid != user ||
            fs_read_all(fd, LIMIT_PART, &content) < 0 || !are_keys(&content)) {
            print_outside_line(stderr,
                               "virt-seed: note: ~/.ssh/%s is left out: it is not "
                               "the user's own file of public keys",
                               entry->d_name);
            continue;
        }
        buffer_append(keys, content.data, content.size);
        buffer_append_string(keys, "\n");
    }
}

/* Reads the caller's ~/.ssh/NAME.pub; under sudo, those of the user who called it. */
static int
read_own_keys(struct making *making, struct failure **failure)
{
    const int root = making->context->root;
    const struct passwd *caller = login_find_caller(failure);
    cleanup_free char *path = NULL;
    cleanup_close int place = -1;
    cleanup_close int directory = -1;

    if (!caller)
        return -1;
    path = xasprintf("%s/.ssh", caller->pw_dir);
    place = fs_open_directory_in_root(root, path);
    if (place >= 0)
        directory = fs_open_beneath(place, ".", O_DIRECTORY);
    if (directory >= 0)
        add_keys_in(directory, caller->pw_uid, &making->keys);
    return 0;
}

static int
find_login(struct making *making, struct failure **failure)
{
    const unsigned int given = find_login_settings(&making->options->settings.values);

    if (given & (LOGIN_SURE | LOGIN_ALONE))
        return 0;
    if (read_own_keys(making, failure) < 0)
        return -1;
    if (making->keys.size > 0 || (given & LOGIN_POSSIBLE))
        return 0;
    return failure_set(failure, FAILURE_REQUEST,
                       "nobody could log in: there is no key in ~/.ssh, and none was "
                       "given\n"
                       "give --ssh-key=FILE, --password-file=FILE or --user-data=FILE; "
                       "'ssh-keygen -t ed25519' makes a key");
}

/* --- the host --------------------------------------------------------------------------- */

static int
check_is_new(const struct making *making, const char *name, struct failure **failure)
{
    cleanup_libvirt_domain virDomainPtr domain =
        virDomainLookupByName(making->connection, name);

    if (domain)
        return failure_set(failure, FAILURE_DOMAIN,
                           "there is a domain '%s' already%s\n"
                           "choose another name, or remove it: virt-seed rm %s",
                           name, scope()->aside, name);
    if (virGetLastErrorCode() == VIR_ERR_NO_DOMAIN)
        return 0;
    return libvirt_fail(failure, "could not look for domain '%s'", name);
}

/* Starts the network if it is one of libvirt's that does not run. */
static int
check_network(struct making *making, struct failure **failure)
{
    virNetworkPtr network;
    int result = 0;

    making->network = making->options->network;
    if (!making->network)
        making->network = scope()->home ? "user" : "default";
    if (!machine_network_is_libvirts(making->network) ||
        machine_is_given(making->more, making->more_count, "--network"))
        return 0;
    network = virNetworkLookupByName(making->connection, making->network);
    if (!network)
        return failure_set(failure, FAILURE_LIBVIRT,
                           "there is no network '%s'%s\n"
                           "'virsh net-list --all' shows them; or give --network "
                           "bridge=NAME, or --network user",
                           making->network, scope()->aside);
    if (virNetworkIsActive(network) == 0 && !making->context->dry_run) {
        if (virNetworkCreate(network) < 0)
            result = libvirt_fail(failure, "could not start the network '%s'",
                                  making->network);
        else if (!making->context->quiet)
            fprintf(stderr, "network '%s' started\n", making->network);
    }
    virNetworkFree(network);
    return result;
}

/* --- the image -------------------------------------------------------------------------- */

static int
open_file(struct making *making, const char *path, struct failure **failure)
{
    making->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (making->file < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not open the image '%s'\n" FILE_HINT, path);
    return image_check(making->file, path, &making->is_qcow2, &making->cached.size,
                       failure);
}

/* Finds out which image it is; does not fetch it yet. */
static int
find_image(struct making *making, struct failure **failure)
{
    const char *operand = making->context->operands[0];
    const char *checksum = making->options->checksum;
    const bool is_url = strstr(operand, "://");

    if (!is_url && strchr(operand, '/'))
        return open_file(making, operand, failure);
    making->is_qcow2 = true;
    if (!is_url) {
        if (catalogue_find(&making->image, making->context->root, operand, failure) < 0)
            return -1;
        if (making->image.url)
            return 0;
        return failure_set(failure, FAILURE_CONFIG,
                           "the image '%s' is not there for this host's architecture\n"
                           "'virt-seed images' lists those that are",
                           operand);
    }
    making->image.name = xstrdup(operand);
    making->image.url = xstrdup(operand);
    if (!checksum)
        return failure_set(failure, FAILURE_USAGE,
                           "nothing says whether what '%s' has is the image you mean\n"
                           "give its SHA-256 or SHA-512 as its publisher names it, with "
                           "--checksum=DIGITS",
                           operand);
    return 0;
}

/* Of what is copied. */
static int
check_space(const struct making *making, struct failure **failure)
{
    struct statvfs space;
    struct stat status;
    uint64_t needed;

    if (making->file < 0 || fstat(making->file, &status) < 0 ||
        fstatvfs(making->pool.directory, &space) < 0)
        return 0;
    needed = (uint64_t)status.st_blocks * 512 * making->count;
    if (needed < (uint64_t)space.f_bavail * space.f_frsize)
        return 0;
    return failure_set(failure, FAILURE_SYSTEM,
                       "%s has %ju MiB left, and the new disks need %ju MiB\n"
                       "make room, or name another pool with --pool",
                       making->pool.path,
                       (uintmax_t)((uint64_t)space.f_bavail * space.f_frsize / MIB),
                       (uintmax_t)(needed / MIB));
}

static int
choose_size(struct making *making, struct failure **failure)
{
    const uint64_t image = making->cached.size;

    if (making->size == 0)
        making->size = image > DEFAULT_DISK ? image : DEFAULT_DISK;
    if (making->size >= image)
        return 0;
    return failure_set(failure, FAILURE_USAGE,
                       "--disk is %ju MiB, and the image needs %ju MiB\n"
                       "give a larger one, or omit --disk",
                       (uintmax_t)(making->size / MIB), (uintmax_t)(image / MIB));
}

/* --- one domain ------------------------------------------------------------------------- */

/* Notes in the element which disk is its own: `rm` removes that. */
static int
write_request(struct making *making, struct machine *machine, const char *path,
              struct wiring *wiring, struct failure **failure)
{
    struct definition *definition = &machine->definition;
    struct writing writing = {.domain = &definition->domain,
                              .contents = &making->contents,
                              .passwords = &machine->passwords};
    int result;

    result = set_write(&writing, &making->options->settings.values, wiring, failure);
    machine->generated = writing.generated;
    if (result < 0)
        return -1;
    if (making->keys.size > 0) {
        cleanup_free char *keys = xstrdup(making->keys.data);

        if (set_add_keys(&writing, "your keys in ~/.ssh", keys, failure) < 0)
            return -1;
    }
    xml_set_attribute(writing.element, REQUEST_MADE_DISK, path);
    if (definition_wire(definition, making->context,
                        (struct wire_options){.add_log = true}, wiring, failure) < 0)
        return -1;
    return set_check_documents(&definition->domain, failure);
}

static int
make_definition(struct making *making, struct machine *machine, const char *xml,
                struct failure **failure)
{
    struct definition *definition = &machine->definition;
    cleanup_wiring struct wiring wiring = {0};
    cleanup_free char *path = xasprintf("%s/%s", making->pool.path, machine->target);
    uuid_t uuid;

    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, machine->uuid);
    definition->doc =
        machine_name(xml, machine->name, machine->uuid, machine == making->machines, path,
                     making->is_qcow2 ? "qcow2" : "raw", failure);
    if (!definition->doc ||
        domain_read(&definition->domain, definition->doc, failure) < 0)
        return -1;
    return write_request(making, machine, path, &wiring, failure);
}

static int
name_disk(struct making *making, struct machine *machine, struct failure **failure)
{
    struct stat status;

    machine->target =
        xasprintf("%s%s", machine->name, making->is_qcow2 ? QCOW2_SUFFIX : RAW_SUFFIX);
    if (making->pool.directory < 0 || fstatat(making->pool.directory, machine->target,
                                              &status, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    return failure_set(failure, FAILURE_SYSTEM,
                       "there is a disk %s/%s already\n"
                       "choose another name, or remove it",
                       making->pool.path, machine->target);
}

/* --- all of them, or none --------------------------------------------------------------- */

static int
define(struct making *making, struct machine *machine, struct failure **failure)
{
    struct definition *definition = &machine->definition;
    cleanup_free char *text = xml_format(definition->doc);
    const bool has_password = machine->passwords.hashes[PASSWORD_OF_USER] ||
                              machine->passwords.hashes[PASSWORD_OF_ROOT];
    int error;

    if (has_password && new_passwords_write(&machine->passwords, making->context->root,
                                            machine->uuid, failure) < 0)
        return -1;
    definition->libvirt = virDomainDefineXMLFlags(making->connection, text, 0);
    if (!definition->libvirt)
        return libvirt_fail(failure, "libvirt rejected the definition of '%s'",
                            machine->name);
    error = tmpfile_publish_new(&machine->disk, machine->target);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not make %s/%s",
                                 making->pool.path, machine->target);
    machine->has_disk = true;
    return has_password ? new_passwords_publish(&machine->passwords, failure) : 0;
}

static void
take_back(struct making *making)
{
    for (size_t i = 0; i < making->count; i++) {
        struct machine *machine = &making->machines[i];

        if (machine->has_disk)
            unlinkat(making->pool.directory, machine->target, 0);
        if (!machine->definition.libvirt)
            continue;
        virDomainUndefineFlags(machine->definition.libvirt, VIR_DOMAIN_UNDEFINE_NVRAM);
        passwords_remove_unused(making->context->root, machine->uuid,
                                &(const struct parts){0});
    }
}

/* Makes what libvirt will be given; nothing of it can be seen yet. */
static int
make_definitions(struct making *making, struct failure **failure)
{
    cleanup_free char *uri = virConnectGetURI(making->connection);
    const struct machine_options machine = {
        .uri = uri,
        .name = making->machines[0].name,
        .memory = making->memory,
        .cpus = making->options->cpus ? making->options->cpus : DEFAULT_CPUS,
        .network = making->network,
        .osinfo = making->options->osinfo,
        .systems = making->image.osinfo ? making->image.osinfo : DEFAULT_SYSTEMS,
        .more = making->more,
        .more_count = making->more_count,
    };
    cleanup_free char *xml = machine_make(&machine, failure);

    if (!xml)
        return -1;
    for (size_t i = 0; i < making->count; i++) {
        if (make_definition(making, &making->machines[i], xml, failure) < 0)
            return -1;
    }
    return 0;
}

static int
make_disks(struct making *making, struct failure **failure)
{
    if (making->file < 0 &&
        image_fetch(&making->cached, &making->pool, &making->image,
                    making->options->checksum,
                    making->context->quiet || making->context->json, failure) < 0)
        return -1;
    if (check_space(making, failure) < 0 || choose_size(making, failure) < 0)
        return -1;
    for (size_t i = 0; i < making->count; i++) {
        struct machine *machine = &making->machines[i];

        if (disk_make(&machine->disk, &making->pool, machine->target, &making->cached,
                      making->file, making->is_qcow2, making->size, failure) < 0)
            return -1;
    }
    return 0;
}

static int
define_all(struct making *making, struct failure **failure)
{
    for (size_t i = 0; i < making->count; i++) {
        if (define(making, &making->machines[i], failure) < 0) {
            take_back(making);
            return -1;
        }
    }
    virStoragePoolRefresh(making->pool.libvirt, 0);
    return 0;
}

/* --- afterwards ------------------------------------------------------------------------- */

static void
say_made(const struct making *making)
{
    const bool is_whole = making->size % GIB == 0;
    const uint64_t size = making->size / (is_whole ? GIB : MIB);
    const char *made = making->context->dry_run ? "would be made:" : "made:";

    for (size_t i = 0; i < making->count; i++) {
        const struct machine *machine = &making->machines[i];

        print_outside_line(stdout, "%s: %s %s/%s (%ju %s), %s MiB of memory, network %s",
                           machine->name, made, making->pool.path, machine->target,
                           (uintmax_t)size, is_whole ? "GiB" : "MiB", making->memory,
                           making->network);
    }
}

static void
say_ready(const struct making *making)
{
    for (size_t i = 0; i < making->count; i++) {
        const struct machine *machine = &making->machines[i];
        const struct definition *definition = &machine->definition;
        cleanup_guest_report struct guest_report report = GUEST_REPORT_EMPTY;
        cleanup_failure struct failure *unread = NULL;
        struct login_place place;
        time_t written;

        report_read(making->context->root, machine->uuid, &report, &written, &unread);
        login_find_place(&place, definition->libvirt, &definition->domain,
                         &report.claim.login);
        if (*place.address)
            print_outside_line(stdout, "%s is ready: virt-seed ssh %s (%s)",
                               machine->name, machine->name, place.address);
        else
            print_outside_line(stdout, "%s is ready: virsh console %s", machine->name,
                               machine->name);
    }
}

static int
start_all(const struct making *making, struct failure **failure)
{
    struct context context = *making->context;
    const bool speaks = !context.quiet && !context.json;
    cleanup_free char **names = NULL;
    int status;

    context.operand_count = 0;
    for (size_t i = 0; i < making->count; i++)
        *array_add(names, context.operand_count) = (char *)making->machines[i].uuid;
    context.operands = names;
    status = waiting_start(&context, &making->options->waiting, failure);
    if (status == STATUS_OK && speaks && !making->options->waiting.no_wait)
        say_ready(making);
    return status;
}

/* --- the command ------------------------------------------------------------------------ */

static void
clear(struct making *making)
{
    for (size_t i = 0; i < making->count; i++) {
        struct machine *machine = &making->machines[i];

        tmpfile_close(&machine->disk);
        free(machine->target);
        new_passwords_clear(&machine->passwords);
        set_forget_password(&machine->generated);
        definition_clear(&machine->definition);
    }
    free(making->machines);
    buffer_clear(&making->keys);
    set_contents_clear(&making->contents);
    free(making->memory);
    free(making->cached.name);
    image_clear(&making->image);
    close_pointer(&making->file);
    pool_close(&making->pool);
    if (making->connection)
        virConnectClose(making->connection);
}

/* What needs no libvirt comes first. */
static int
prepare(struct making *making, struct failure **failure)
{
    const struct options *options = making->options;
    const struct context *context = making->context;
    bool reads_input;

    if (read_names(making, failure) < 0 || read_sizes(making, failure) < 0 ||
        set_check_values(context, &options->settings.values, &reads_input, failure) < 0 ||
        waiting_check_options(&options->waiting, failure) < 0 ||
        check_sharing(making, failure) < 0 || find_login(making, failure) < 0 ||
        find_image(making, failure) < 0)
        return -1;
    making->connection = libvirt_connect_here(context, false, failure);
    if (!making->connection || libvirt_require_own(making->connection, failure) < 0)
        return -1;
    for (size_t i = 0; i < making->count; i++) {
        if (check_is_new(making, making->machines[i].name, failure) < 0)
            return -1;
    }
    if (check_network(making, failure) < 0 ||
        pool_open(&making->pool, making->connection,
                  options->pool ? options->pool : POOL_DEFAULT, context->dry_run,
                  failure) < 0)
        return -1;
    for (size_t i = 0; i < making->count; i++) {
        if (name_disk(making, &making->machines[i], failure) < 0)
            return -1;
    }
    return making->context->dry_run ? choose_size(making, failure) : 0;
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    __attribute__((cleanup(clear))) struct making making = {
        .context = context,
        .options = data,
        .pool = POOL_NONE,
        .file = -1,
    };

    if (prepare(&making, failure) < 0 || make_definitions(&making, failure) < 0)
        return -1;
    if (!context->dry_run &&
        (make_disks(&making, failure) < 0 || define_all(&making, failure) < 0))
        return -1;
    if (!context->quiet && !context->json)
        say_made(&making);
    for (size_t i = 0; i < making.count && !context->dry_run; i++) {
        const struct machine *machine = &making.machines[i];

        if (machine->generated)
            set_print_password(context, machine->name, machine->generated);
    }
    if (context->dry_run || making.options->no_start)
        return STATUS_OK;
    return start_all(&making, failure);
}

static const struct option_row rows[] = {
    OPTION(0, "memory", "SIZE", memory, "in MiB, or such as 4G (default: 2G)"),
    OPTION(0, "cpus", "NUMBER", cpus, "of the guest (default: " DEFAULT_CPUS ")"),
    OPTION(0, "disk", "SIZE", disk,
           "in GiB, or such as 500M (default: the image's, at least 10)"),
    OPTION(0, "network", "NETWORK", network,
           "a network of libvirt's (default: default), or as for virt-install"),
    OPTION(0, "osinfo", "ID", osinfo,
           "the guest's system, as virt-install --osinfo names it"),
    OPTION(0, "pool", "POOL", pool, "where images and disks are (default: default)"),
    OPTION(0, "checksum", "DIGITS", checksum, "the image's SHA-256 or SHA-512"),
    OPTION(0, "no-start", NULL, no_start, "only define the domains"),
    OPTION(0, "no-wait", NULL, waiting.no_wait, "do not wait for the guests"),
    WAITING_ROWS,
    OPTION_END_WITH(set_rows),
};

const struct command cmd_new = {
    .name = "new",
    .operands = "IMAGE NAME…",
    .summary = "make guests from an image, start them, and wait",
    .help =
        "Makes a domain of each NAME with a disk that begins with IMAGE, writes what its\n"
        "guest is to become, starts it and waits until it is ready. IMAGE is a name that\n"
        "'virt-seed images' lists, a URL, or a file, which has a slash. Without a key and\n"
        "a password, the guest takes your own keys, ~/.ssh/*.pub. What follows -- is for\n"
        "virt-install. If something fails before the start, nothing stays.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON | TAKES_DRY_RUN,
    .run = run,
};
