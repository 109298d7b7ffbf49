/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the seed of the domain's next boot is made as the hook would make it, and
 * a transient domain (rehearsal.h) boots with it, on overlays. The rest is waiting for a
 * guest, as `wait` does.
 *
 * Nothing outlives the command: libvirt ends the domain when the connection that started
 * it is closed, even by a kill (VIR_DOMAIN_START_AUTODESTROY). Then only files are left,
 * in a directory whose lock is free; `gc` removes them.
 *
 * The guest's interfaces are connected to a socket of this process, which reads what
 * comes and never answers.
 */
#include "config.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/socket.h>

#include "base/names.h"
#include "base/process.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/images.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "cli/rehearsal.h"
#include "cli/waiting.h"
#include "domain/uuid.h"
#include "domain/xml.h"
#include "host/own-directory.h"
#include "host/report-file.h"
#include "store/seed-file.h"
#include "wire/wire.h"

/* How much of the guest's console is shown after a failure. */
#define CONSOLE_LINES 20
#define CONSOLE_BYTES (8 * KIB)

struct options {
    struct waiting_options waiting;
    bool network;
};

struct trial {
    const struct context *context;
    const struct options *options;
    virConnectPtr connection;     /* when it is closed, the rehearsal ends */
    struct definition definition; /* the domain's, and then the rehearsal's */
    struct rehearsal rehearsal;
    virDomainPtr domain; /* the rehearsal, once it was started */
    int listener;
    int listener_handle; /* libvirt's number */
    int accepted;        /* connections */
    struct waiting waiting;
    char *console; /* the last lines that the guest has printed by the end, or NULL */
    /* The thread that starts the rehearsal, and what it has to say. */
    const char *text; /* the XML */
    struct failure *start_failure;
    bool is_started; /* or has failed to */
};

/* --- its files ----------------------------------------------------------------------- */

static int
fail_file(const struct rehearsal *rehearsal, const char *what, const char *name,
          int error, struct failure **failure)
{
    return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not %s %s/%s/%s",
                             what, scope()->trydir, rehearsal->directory_name, name);
}

/* Makes the directory, and locks it, so that `gc` leaves it alone. */
static int
open_files(struct rehearsal *rehearsal, int root, struct failure **failure)
{
    rehearsal->qemu = qemu_user_find(root);
    rehearsal->parent =
        own_directory_open(root, scope()->trydir, scope()->pass_mode, failure);
    if (rehearsal->parent < 0)
        return -1;
    uuid_make(rehearsal->directory_name);
    if (mkdirat(rehearsal->parent, rehearsal->directory_name, scope()->pass_mode) == 0)
        rehearsal->directory = openat(rehearsal->parent, rehearsal->directory_name,
                                      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (rehearsal->directory < 0 || flock(rehearsal->directory, LOCK_EX | LOCK_NB) < 0)
        return fail_file(rehearsal, "make", "", errno, failure);
    /* `gc` may have found it before it was locked. */
    if (!fs_is_named(rehearsal->directory, rehearsal->parent, rehearsal->directory_name))
        return fail_file(rehearsal, "make", "", ENOENT, failure);
    return 0;
}

static int
make_overlay(const struct rehearsal *rehearsal, int root, struct rehearsal_disk *disk,
             struct failure **failure)
{
    cleanup_close int base = fs_open_in_root(root, disk->path);
    cleanup_close int overlay = -1;
    struct stat status;

    if (base < 0 || fstat(base, &status) < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, base < 0 ? base : errno,
                                 "could not open '%s'", disk->path);
    disk->base = steal_fd(base);
    disk->uid = status.st_uid;
    disk->gid = status.st_gid;
    overlay = openat(rehearsal->directory, disk->name,
                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (overlay < 0)
        return fail_file(rehearsal, "make", disk->name, errno, failure);
    if (disk_make_layer(overlay, disk->path, disk->format, disk->size, failure) < 0)
        return failure_prefix(failure, "could not make an overlay over '%s'", disk->path);
    /* What the guest writes is nobody else's, as on its own disk. */
    if (fchown(overlay, rehearsal->qemu.uid, rehearsal->qemu.gid) < 0)
        return fail_file(rehearsal, "give away", disk->name, errno, failure);
    return 0;
}

/* A domain that was never started may have no variables yet: libvirt makes them. */
static int
copy_nvram(const struct rehearsal *rehearsal, int root, struct failure **failure)
{
    const char *path = rehearsal->nvram;
    cleanup_buffer struct buffer content = {0};
    struct stat status;
    int error = path ? fs_stat_in_root(root, path, &status) : -ENOENT;

    if (error == -ENOENT)
        return 0;
    if (error == 0 && !S_ISREG(status.st_mode))
        return failure_set(failure, FAILURE_DOMAIN,
                           "the firmware's variables, '%s', are not a regular file\n"
                           "a rehearsal needs an <nvram> that is one",
                           path);
    if (error == 0)
        error = fs_read_in_root(root, path, LIMIT_NVRAM, &content);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not read '%s'",
                                 path);
    error = fs_replace_file(rehearsal->directory, REHEARSAL_NVRAM, content.data,
                            content.size, 0600, (gid_t)-1);
    if (error == 0 && fchownat(rehearsal->directory, REHEARSAL_NVRAM, rehearsal->qemu.uid,
                               rehearsal->qemu.gid, AT_SYMLINK_NOFOLLOW) < 0)
        error = -errno;
    if (error < 0)
        return fail_file(rehearsal, "write", REHEARSAL_NVRAM, error, failure);
    return 0;
}

/* Makes the overlays, the copy of the firmware's variables, and the seed. */
static int
make_files(struct rehearsal *rehearsal, int root, const struct seed *seed,
           struct failure **failure)
{
    cleanup_close int image = -1;

    for (size_t i = 0; i < rehearsal->disk_count; i++) {
        if (make_overlay(rehearsal, root, &rehearsal->disks[i], failure) < 0)
            return -1;
    }
    if (copy_nvram(rehearsal, root, failure) < 0)
        return -1;
    image = image_open(failure);
    if (image < 0 || image_make(image, seed, failure) < 0)
        return -1;
    return image_publish(rehearsal->directory, REHEARSAL_SEED, NULL, &rehearsal->qemu,
                         image, failure);
}

/* Makes the report, and allows the domain to use the files until its start is over. */
static int
begin_start(struct rehearsal *rehearsal, int root, struct failure **failure)
{
    rehearsal->lock = openat(rehearsal->directory, REHEARSAL_LOCK,
                             O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (rehearsal->lock < 0 || flock(rehearsal->lock, LOCK_EX | LOCK_NB) < 0)
        return fail_file(rehearsal, "lock", REHEARSAL_LOCK, errno, failure);
    if (renameat(rehearsal->parent, rehearsal->directory_name, rehearsal->parent,
                 rehearsal->uuid) < 0)
        return fail_file(rehearsal, "rename", "", errno, failure);
    memcpy(rehearsal->directory_name, rehearsal->uuid, sizeof(rehearsal->directory_name));
    return report_file_make(root, rehearsal->uuid, REPORT_BY_VIRTLOGD, false, failure);
}

/* Return: the last lines that the guest has printed, owned by the caller (free), or NULL. */
static char *
read_console(const struct rehearsal *rehearsal)
{
    cleanup_close int fd =
        fs_open_regular_beneath(rehearsal->directory, REHEARSAL_CONSOLE, NULL);
    off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    off_t start = end > (off_t)CONSOLE_BYTES ? end - (off_t)CONSOLE_BYTES : 0;
    char bytes[CONSOLE_BYTES];
    ssize_t count = end > 0 ? pread(fd, bytes, sizeof(bytes), start) : 0;
    cleanup_free char *text = xcalloc(sizeof(bytes) + 1, 1);
    size_t length = 0;
    int lines = 0;

    for (ssize_t i = 0; i < count; i++) {
        if (bytes[i] != '\r' && bytes[i] != '\0')
            text[length++] = bytes[i];
    }
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    while (length > 0 && (text[length - 1] != '\n' || ++lines < CONSOLE_LINES))
        length--;
    return count > 0 ? xstrdup(text + length) : NULL;
}

/* Gives the domain's disks back to their owners, which libvirt does not do for the image under
 * an overlay. If the domain has started meanwhile, it warns instead: they are libvirt's now. */
static void
give_back(const struct rehearsal *rehearsal, bool domain_runs)
{
    for (size_t i = 0; i < rehearsal->disk_count; i++) {
        const struct rehearsal_disk *disk = &rehearsal->disks[i];
        cleanup_failure struct failure *failure = NULL;

        if (disk->base < 0 || (!domain_runs && fchownat(disk->base, "", disk->uid,
                                                        disk->gid, AT_EMPTY_PATH) == 0))
            continue;
        failure_set(&failure, FAILURE_SYSTEM,
                    "could not give '%s' back to its owner%s\n"
                    "once the domain is shut off, run: chown %u:%u '%s'",
                    disk->path,
                    domain_runs ? ", since the domain was started meanwhile" : "",
                    disk->uid, disk->gid, disk->path);
        print_warning(failure);
    }
}

/* Removes everything, and warns of what cannot be removed. */
static void
remove_files(const struct rehearsal *rehearsal, int root)
{
    cleanup_failure struct failure *failure = NULL;
    int error;

    if (rehearsal->directory < 0)
        return;
    report_file_remove(root, rehearsal->uuid, &failure);
    error = fs_remove_tree(rehearsal->parent, rehearsal->directory_name);
    if (error < 0 && !failure)
        fail_file(rehearsal, "remove", "", error, &failure);
    if (failure)
        print_warning(failure);
}

/* --- the network ------------------------------------------------------------------ */

static void
drop(int handle, int fd, int events, void *data)
{
    char bytes[4096];
    ssize_t size = read(fd, bytes, sizeof(bytes));
    bool comes_later = size < 0 && (errno == EAGAIN || errno == EINTR);

    if (size <= 0 && !comes_later) {
        virEventRemoveHandle(handle);
        close(fd);
    }
}

/* Any user of the host could connect, too, but no more than there may be interfaces. */
static void
accept_interface(int handle, int fd, int events, void *data)
{
    struct trial *trial = data;
    int interface = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (interface >= 0 &&
        virEventAddHandle(interface, VIR_EVENT_HANDLE_READABLE, drop, NULL, NULL) < 0)
        close(interface);
    if (++trial->accepted < LIMIT_NICS)
        return;
    virEventRemoveHandle(handle);
    trial->listener_handle = -1;
}

static int
listen_for_interfaces(struct trial *trial, struct failure **failure)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct sockaddr *generic = (struct sockaddr *)&address;
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool listens;

    trial->listener = fd;
    listens = fd >= 0 && bind(fd, generic, length) == 0 && listen(fd, SOMAXCONN) == 0;
    if (!listens || getsockname(fd, generic, &length) < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not make the rehearsal's network");
    trial->listener_handle =
        virEventAddHandle(fd, VIR_EVENT_HANDLE_READABLE, accept_interface, trial, NULL);
    if (trial->listener_handle < 0)
        return libvirt_fail(failure, "could not make the rehearsal's network");
    trial->rehearsal.port = ntohs(address.sin_port);
    return 0;
}

/* --- the domain ------------------------------------------------------------------- */

static int
check_domain(const struct trial *trial, struct failure **failure)
{
    virDomainPtr domain = trial->definition.libvirt;
    const char *name = trial->definition.domain.name;
    cleanup_libvirt_domain virDomainPtr other =
        virDomainLookupByName(trial->definition.connection, trial->rehearsal.name);

    if (virDomainIsActive(domain) == 1)
        return failure_set(failure, FAILURE_DOMAIN,
                           "domain '%s' is running and writes to its disks\n"
                           "shut it down first; or see what would change with "
                           "'virt-seed pending'",
                           name);
    if (virDomainHasManagedSaveImage(domain, 0) == 1)
        return failure_set(failure, FAILURE_DOMAIN,
                           "domain '%s' is saved: its next start continues the guest, "
                           "and boots nothing\n"
                           "drop the saved state with 'virsh managedsave-remove'",
                           name);
    if (!other)
        return 0;
    return failure_set(failure, FAILURE_DOMAIN,
                       "domain '%s' already exists, and the rehearsal needs that name\n"
                       "wait until the other 'virt-seed try' has ended, or rename that "
                       "domain",
                       trial->rehearsal.name);
}

static int
replace_volume(const struct disk *disk, struct failure **failure)
{
    struct stat status;
    bool is_block;

    if (!disk->is_volume)
        return 0;
    if (!disk->source)
        return failure_set_at(failure, FAILURE_DOMAIN, xml_line(disk->node),
                              "libvirt does not find the volume '%s' of disk '%s'\n"
                              "'virsh pool-list --all' shows the storage pools",
                              disk->name, disk->target);
    if (stat(disk->source, &status) < 0)
        return 0;
    is_block = S_ISBLK(status.st_mode);
    if (!is_block && !S_ISREG(status.st_mode))
        return 0;
    xml_set_attribute(disk->node, "type", is_block ? "block" : "file");
    xml_set_attribute(xml_child(disk->node, "source"), is_block ? "dev" : "file",
                      disk->source);
    return 0;
}

/* libvirt finds a volume's size only by its path if the domain does not run. */
static int
find_size(const struct trial *trial, struct rehearsal_disk *disk,
          struct failure **failure)
{
    virDomainBlockInfo block;
    virStorageVolInfo info;
    virStorageVolPtr volume;
    int result;

    if (virDomainGetBlockInfo(trial->definition.libvirt, disk->target, &block, 0) == 0) {
        disk->size = block.capacity;
        return 0;
    }
    volume = virStorageVolLookupByPath(trial->connection, disk->path);
    result = volume ? virStorageVolGetInfo(volume, &info) : -1;
    if (volume)
        virStorageVolFree(volume);
    if (result < 0)
        return libvirt_fail(failure, "could not read the size of '%s'", disk->path);
    disk->size = info.capacity;
    return 0;
}

/*
 * Makes the seed of the domain's next boot, and then turns its definition into that of the
 * rehearsal. The seed is always on a drive: the metadata server and the emulator shim
 * serve the domain itself.
 */
static int
prepare_definition(struct trial *trial, struct seed *seed, struct failure **failure)
{
    const struct wire_options options = {0};
    struct rehearsal *rehearsal = &trial->rehearsal;
    struct domain *domain = &trial->definition.domain;
    xmlNode *devices = xml_child(domain->root, "devices");
    cleanup_request struct request request = {0};
    cleanup_wiring struct wiring wiring = {0};

    if (definition_make_seed(seed, &request, domain, trial->context, false, NULL,
                             failure) < 0)
        return -1;
    if (!request_wants_report(&request))
        return failure_set(failure, FAILURE_DOMAIN,
                           "its guest would not report how its boot went\n"
                           "remove report=\"no\" from its <cloud-init>; Windows and "
                           "oVirt's payloads cannot be rehearsed");
    if (request.datasource->over_http)
        request.datasource = datasource_find_label(seed->label);
    /* libvirt's own choice. */
    if (domain_uses_shim(domain))
        xml_remove(xml_child(devices, "emulator"));
    /* Of the definition, since the hook sees only the overlays. */
    if (domain_check_paths(domain, trial->context->root, failure) < 0)
        return -1;
    domain_read_labels(domain);
    for (size_t i = 0; i < domain->disk_count; i++) {
        if (replace_volume(&domain->disks[i], failure) < 0)
            return -1;
    }
    if (wire_domain(domain, &request, &options, &wiring, failure) < 0 ||
        rehearsal_rewrite(rehearsal, domain, failure) < 0)
        return -1;
    for (size_t i = 0; i < rehearsal->disk_count; i++) {
        if (find_size(trial, &rehearsal->disks[i], failure) < 0)
            return -1;
    }
    return 0;
}

/* --- from its start to its end ---------------------------------------------------- */

/* The main thread's part, once libvirt has started it or not. */
static void
take_start(int timer, void *data)
{
    struct trial *trial = data;

    virEventRemoveTimeout(timer);
    trial->is_started = true;
}

/* libvirt has no call that starts a domain and returns at once. */
static void *
run_start(void *data)
{
    struct trial *trial = data;

    trial->domain =
        virDomainCreateXML(trial->connection, trial->text, VIR_DOMAIN_START_AUTODESTROY);
    if (!trial->domain)
        libvirt_fail(&trial->start_failure, "the rehearsal '%s' could not be started",
                     trial->rehearsal.name);
    virEventAddTimeout(0, take_start, trial, NULL);
    return NULL;
}

static int
start(struct trial *trial, struct failure **failure)
{
    cleanup_free char *text = xml_format(trial->definition.doc);
    pthread_t thread;
    struct guest *guest;
    int error;

    trial->text = text;
    if (begin_start(&trial->rehearsal, trial->context->root, failure) < 0)
        return -1;
    error = pthread_create(&thread, NULL, run_start, trial);
    if (error != 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not make a thread");
    /* A connection whose events are not handled is closed by libvirt's daemon, which ends
     * the rehearsal. */
    while (!trial->is_started && virEventRunDefaultImpl() == 0)
        continue;
    pthread_join(thread, NULL);
    close_pointer(&trial->rehearsal.lock);
    trial->rehearsal.lock = -1;
    *failure = steal(trial->start_failure);
    if (*failure)
        return -1;
    guest = waiting_add(&trial->waiting, trial->rehearsal.uuid, failure);
    if (!guest)
        return -1;
    waiting_begin(guest);
    if (waiting_run(&trial->waiting, failure) < 0)
        return -1;
    trial->console = read_console(&trial->rehearsal);
    return 0;
}

static int
rehearse(struct trial *trial, struct failure **failure)
{
    const struct context *context = trial->context;
    struct rehearsal *rehearsal = &trial->rehearsal;
    cleanup_seed struct seed seed = {0};

    /* What follows the waiting may take longer than the timeout. */
    alarm(0);
    if (definition_load_domain(&trial->definition, context, context->operands[0],
                               DEFINITION_READ, failure) < 0)
        return -1;
    uuid_make(rehearsal->uuid);
    rehearsal->name = xasprintf("%s-try", trial->definition.domain.name);
    if (libvirt_require_own(trial->definition.connection, failure) < 0 ||
        check_domain(trial, failure) < 0)
        return -1;
    trial->connection = libvirt_connect(context->uri, false, failure);
    if (!trial->connection || open_files(rehearsal, context->root, failure) < 0)
        return -1;
    if (!trial->options->network && listen_for_interfaces(trial, failure) < 0)
        return -1;
    if (prepare_definition(trial, &seed, failure) < 0)
        return failure_prefix(failure, "domain '%s'", trial->definition.domain.name);
    if (make_files(rehearsal, context->root, &seed, failure) < 0)
        return -1;
    if (!context->quiet && !context->json) {
        for (size_t i = 0; i < rehearsal->left_out_count; i++)
            print_outside_line(stdout, "%s: without %s", rehearsal->name,
                               rehearsal->left_out[i]);
        fflush(stdout);
    }
    return start(trial, failure);
}

/* Removes everything. What cannot be removed is left to `gc`. */
static void
end(struct trial *trial)
{
    virDomainPtr original = trial->definition.libvirt;

    /* It may have ended by itself; otherwise, closing the connection ends it as well. */
    if (trial->domain) {
        virDomainDestroy(trial->domain);
        virDomainFree(trial->domain);
    }
    if (trial->connection)
        virConnectClose(trial->connection);
    give_back(&trial->rehearsal, original && virDomainIsActive(original) == 1);
    if (trial->listener_handle >= 0)
        virEventRemoveHandle(trial->listener_handle);
    close_pointer(&trial->listener);
    remove_files(&trial->rehearsal, trial->context->root);
    rehearsal_clear(&trial->rehearsal);
    definition_clear(&trial->definition);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    struct trial trial = {
        .context = context,
        .options = data,
        .rehearsal = REHEARSAL_NONE,
        .listener = -1,
        .listener_handle = -1,
    };
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, 0};
    const bool is_silent = context->quiet || context->json;
    struct waiting_options waiting = trial.options->waiting;
    cleanup_close int signals = -1;
    sigset_t before;
    int status;

    /* They end the command once everything is removed. */
    sigprocmask(SIG_SETMASK, NULL, &before);
    signals = process_catch_signals(numbers);
    waiting.logs = "see the end of its console";
    if (waiting_open(&trial.waiting, context, &waiting, failure) == 0)
        rehearse(&trial, failure);
    end(&trial);
    status = waiting_close(&trial.waiting, *failure);
    if (status != STATUS_OK && trial.console && !is_silent) {
        fputs("the end of the guest's console:\n", stderr);
        print_outside_text(stderr, trial.console, strlen(trial.console), "\n\t");
        fputc('\n', stderr);
    }
    free(trial.console);
    /* One that came while nothing waited for it ends us now. */
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

static const struct option_row rows[] = {
    OPTION(0, "network", NULL, network,
           "connect the guest to the domain's networks; without it, to none"),
    WAITING_ROWS,
    OPTION_END,
};

const struct command cmd_try = {
    .name = "try",
    .operands = "DOMAIN",
    .summary = "rehearse the next boot on copies of the disks",
    .help =
        "Boots the domain's next seed in a throw-away domain, DOMAIN-try, and waits for\n"
        "its guest as 'virt-seed wait' does, with the same exit status. The guest sees\n"
        "the same machine, but writes to overlays: the domain itself, which must be\n"
        "shut off, is neither started nor changed. Afterwards everything is removed.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON,
    .run = run,
};
