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

#include "base/names.h"
#include "base/scope.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/images.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "cli/login.h"
#include "cli/machine.h"
#include "cli/set.h"
#include "cli/waiting.h"
#include "domain/element.h"
#include "domain/guest-value.h"
#include "domain/request.h"
#include "domain/ssh-key.h"
#include "domain/uuid.h"
#include "domain/xml.h"
#include "store/guest-report.h"

#define DEFAULT_MEMORY (2 * 1024L) /* MiB */
#define DEFAULT_CPUS "2"
#define DEFAULT_DISK (10 * GIB)
#define DEFAULT_TIMEOUT "1800" /* seconds; an image without cloud-init never reports */
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
    struct image image; /* of the catalogue, or of a URL */
    struct source source;
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

/* Reads a size of the command line: a number and perhaps M, G or T; without one, it is in
 * `unit`. */
static int
read_size(const char *name, const char *text, uint64_t unit, const char *hint,
          uint64_t *size, struct failure **failure)
{
    static const char letters[] = "MGT";
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);
    const char *letter = *end ? strchr(letters, *end) : NULL;
    bool is_size;

    if (letter)
        unit = MIB << 10 * (letter - letters);
    /* Neither a sign nor a blank, which strtoull(3) takes, nor anything after the letter. */
    is_size = isdigit((unsigned char)*text) && !end[letter ? 1 : 0];
    if (!is_size || number == 0 || number > (UINT64_C(1) << 50) / unit)
        return failure_set(failure, FAILURE_USAGE,
                           "--%s has '%.64s', expected a size\ngive %s", name, text,
                           hint);
    *size = number * unit;
    return 0;
}

static int
read_sizes(struct making *making, struct failure **failure)
{
    const struct options *options = making->options;
    uint64_t memory = DEFAULT_MEMORY * MIB;

    if (options->memory &&
        read_size("memory", options->memory, MIB, "MiB as a number, or such as 4G",
                  &memory, failure) < 0)
        return -1;
    making->memory = xasprintf("%ju", (uintmax_t)(memory / MIB));
    if (!options->disk)
        return 0;
    return read_size("disk", options->disk, GIB, "GiB as a number, or such as 500M",
                     &making->size, failure);
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

/* --- the caller's keys ------------------------------------------------------------------ */

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
    const struct passwd *caller = login_find_caller(failure);
    cleanup_free char *path = NULL;
    cleanup_close int directory = -1;

    if (!caller)
        return -1;
    path = xasprintf("%s/.ssh", caller->pw_dir);
    directory = fs_open_directory_in_root(making->context->root, path);
    if (directory >= 0)
        add_keys_in(directory, caller->pw_uid, &making->keys);
    return 0;
}

/* Adds the caller's own keys if nobody could log in without them. */
static int
add_own_keys(struct making *making, struct writing *writing, bool is_first,
             struct failure **failure)
{
    cleanup_request struct request request = {0};
    const struct parts *parts = &request.parts;
    cleanup_free char *keys = NULL;
    bool has_key, has_password;

    if (request_read(&request, writing->domain, failure) < 0)
        return -1;
    has_key = request.ssh_key_count > 0 || parts_find(parts, PART_SSH_KEYS);
    has_password = parts_find(parts, PART_PASSWORD) ||
                   parts_find(parts, PART_ROOT_PASSWORD) ||
                   parts_find(parts, PART_ADMIN_PASSWORD);
    /* Nothing may stand beside raw user-data. */
    if (has_key || has_password || request.raw)
        return 0;
    /* All domains ask for the same. */
    if (is_first && read_own_keys(making, failure) < 0)
        return -1;
    keys = xstrdup(buffer_text(&making->keys));
    if (*keys)
        return set_add_keys(writing, "your keys in ~/.ssh", keys, failure);
    /* A document may have users of its own. */
    if (parts_find(parts, PART_USER_DATA))
        return 0;
    return failure_set(failure, FAILURE_REQUEST,
                       "nobody could log in: there is no key in ~/.ssh, and none was "
                       "given\n"
                       "give --ssh-key=FILE, --password-file=FILE or --user-data=FILE; "
                       "'ssh-keygen -t ed25519' makes a key");
}

/* --- the host --------------------------------------------------------------------------- */

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
    making->source.file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (making->source.file < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not open the image '%s'\n" FILE_HINT, path);
    return image_check(&making->source, making->source.file, path, failure);
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

    if (making->source.file < 0 || fstat(making->source.file, &status) < 0 ||
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
    const uint64_t image = making->source.size;

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

/* Makes the domain's XML of virt-install's. The element notes which disk is its own: `rm`
 * removes that. */
static int
make_definition(struct making *making, struct machine *machine, const char *xml,
                struct failure **failure)
{
    const bool is_first = machine == making->machines;
    struct definition *definition = &machine->definition;
    struct writing writing = {.domain = &definition->domain,
                              .contents = &making->contents,
                              .passwords = &machine->passwords};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_free char *path = xasprintf("%s/%s", making->pool.path, machine->target);
    int result;

    uuid_make(machine->uuid);
    definition->doc = machine_name(xml, machine->name, machine->uuid, is_first, path,
                                   making->source.format, failure);
    if (!definition->doc ||
        domain_read(&definition->domain, definition->doc, failure) < 0)
        return -1;
    result = set_write(&writing, &making->options->settings.values, &wiring, failure);
    machine->generated = writing.generated;
    if (result < 0 || add_own_keys(making, &writing, is_first, failure) < 0)
        return -1;
    xml_set_attribute(writing.element, REQUEST_MADE_DISK, path);
    if (definition_wire(definition, making->context,
                        (struct wire_options){.add_log = true}, &wiring, failure) < 0)
        return -1;
    return set_check_documents(&definition->domain, failure);
}

/* Fails if there is such a domain, or such a disk. */
static int
check_is_new(struct making *making, struct machine *machine, struct failure **failure)
{
    const char *name = machine->name;
    cleanup_libvirt_domain virDomainPtr domain =
        virDomainLookupByName(making->connection, name);
    struct stat status;

    if (domain)
        return failure_set(failure, FAILURE_DOMAIN,
                           "there is a domain '%s' already%s\n"
                           "choose another name, or remove it: virt-seed rm %s",
                           name, scope()->aside, name);
    if (virGetLastErrorCode() != VIR_ERR_NO_DOMAIN)
        return libvirt_fail(failure, "could not look for domain '%s'", name);
    machine->target = xasprintf("%s.%s", name, making->source.format);
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
    const struct options *options = making->options;
    const char *systems = making->image.osinfo ? making->image.osinfo : DEFAULT_SYSTEMS;
    cleanup_free char *uri = virConnectGetURI(making->connection);
    cleanup_free char *system = machine_choose_system(options->osinfo, systems, failure);
    const char *kind = machine_network_is_libvirts(making->network) ? "network=" : "";
    cleanup_free char *network = xasprintf("%s%s", kind, making->network);
    const char *const words[][2] = {
        {"--connect", uri},
        {"--name", making->machines[0].name},
        {"--memory", making->memory},
        {"--vcpus", options->cpus ? options->cpus : DEFAULT_CPUS},
        {"--osinfo", system},
        {"--network", network},
        {"--install", "no_install=yes"},
        {"--disk", "none"},
        {"--graphics", "none"},
        {"--sound", "none"},
    };
    cleanup_free char *xml = NULL;

    if (system)
        xml = machine_make(words, ARRAY_SIZE(words), making->more, making->more_count,
                           failure);
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
    if (making->source.file < 0 &&
        image_fetch(&making->source, &making->pool, &making->image,
                    making->options->checksum,
                    making->context->quiet || making->context->json, failure) < 0)
        return -1;
    if (check_space(making, failure) < 0 || choose_size(making, failure) < 0)
        return -1;
    for (size_t i = 0; i < making->count; i++) {
        struct machine *machine = &making->machines[i];

        if (disk_make(&machine->disk, &making->pool, machine->target, &making->source,
                      making->size, failure) < 0)
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
    const struct context *context = making->context;
    const char *made = context->dry_run ? "would be made:" : "made:";

    for (size_t i = 0; i < making->count; i++) {
        const struct machine *machine = &making->machines[i];

        if (!context->quiet && !context->json)
            print_outside_line(
                stdout, "%s: %s %s/%s (%ju %s), %s MiB of memory, network %s",
                machine->name, made, making->pool.path, machine->target, (uintmax_t)size,
                is_whole ? "GiB" : "MiB", making->memory, making->network);
        if (machine->generated && !context->dry_run)
            set_print_password(context, machine->name, machine->generated);
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
    struct waiting_options waiting = making->options->waiting;
    const bool speaks = !context.quiet && !context.json;
    int status;

    if (!waiting.timeout && !waiting.no_wait)
        waiting.timeout = DEFAULT_TIMEOUT;
    /* The names follow the image. */
    context.operands++;
    context.operand_count = making->count;
    status = waiting_start(&context, &waiting, failure);
    if (status == STATUS_OK && speaks && !waiting.no_wait)
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
    free(making->source.name);
    image_clear(&making->image);
    close_pointer(&making->source.file);
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
        set_check_sharing(&options->settings.values, making->count > 1, failure) < 0 ||
        find_image(making, failure) < 0)
        return -1;
    making->connection = libvirt_connect_here(context, false, failure);
    if (!making->connection || libvirt_require_own(making->connection, failure) < 0)
        return -1;
    if (check_network(making, failure) < 0 ||
        pool_open(&making->pool, making->connection,
                  options->pool ? options->pool : POOL_DEFAULT, context->dry_run,
                  failure) < 0)
        return -1;
    for (size_t i = 0; i < making->count; i++) {
        if (check_is_new(making, &making->machines[i], failure) < 0)
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
        .source = {.file = -1, .format = "qcow2"},
    };

    if (prepare(&making, failure) < 0 || make_definitions(&making, failure) < 0)
        return -1;
    if (!context->dry_run &&
        (make_disks(&making, failure) < 0 || define_all(&making, failure) < 0))
        return -1;
    say_made(&making);
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
    OPTION(0, "timeout", "SECONDS", waiting.timeout,
           "give up after SECONDS (default: " DEFAULT_TIMEOUT ")"),
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
