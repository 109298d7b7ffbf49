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
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libvirt/libvirt.h>
#include <uuid/uuid.h>

#include "base/buffer.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/libvirt.h"
#include "cli/rehearsal.h"
#include "cli/waiting.h"
#include "domain/xml.h"
#include "image/image.h"
#include "store/forbidden-paths.h"
#include "store/own-directory.h"
#include "store/report-file.h"
#include "store/rundir.h"
#include "store/storage.h"
#include "wire/wire.h"

/* Others may pass, as QEMU's user must, but not list the rehearsals. */
#define TRYDIR_MODE 0711

/* How often something is looked at for which there is no event. */
#define WAKE_MILLISECONDS 200

/* How much of the guest's console is shown after a failure. */
#define CONSOLE_LINES 20
#define CONSOLE_BYTES (8 * KIB)

struct options {
    struct waiting_options waiting;
    bool network;
    bool files;
};

/* A disk of the domain, whose owner libvirt changes when a guest reads it. */
struct base {
    int fd; /* O_PATH */
    struct stat status;
};

struct trial {
    const struct context *context;
    const struct options *options;
    virConnectPtr connection;     /* when it is closed, the rehearsal ends */
    struct definition definition; /* the domain's, and then the rehearsal's */
    struct rehearsal rehearsal;
    virDomainPtr domain; /* the rehearsal, once it was started */
    int parent;          /* VIRT_SEED_TRYDIR */
    int directory;       /* the rehearsal's, locked */
    struct base *bases;
    size_t base_count;
    int signals; /* a descriptor: that end the command once everything is removed */
    int listener;
    int listener_handle; /* libvirt's number */
    int accepted;        /* connections */
    struct waiting waiting;
    char *console; /* the last lines that the guest has printed by the end, or NULL */
    /* The thread that starts the rehearsal, and what it has to say. */
    char *text; /* the XML */
    struct failure *start_failure;
    atomic_bool started;
};

/* --- the network ------------------------------------------------------------------ */

static void
drop(int handle, int fd, int events, void *data)
{
    char bytes[4096];
    ssize_t size = read(fd, bytes, sizeof(bytes));

    (void)events;
    (void)data;
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
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

    (void)events;
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
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    trial->listener = fd;
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 ||
        listen(fd, SOMAXCONN) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0)
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
    return 0;
}

/* Replaces a volume of a storage pool by its path. */
static int
resolve_volume(virConnectPtr connection, xmlNode *disk, struct failure **failure)
{
    xmlNode *source = xml_child(disk, "source");
    cleanup_free char *pool_name = xml_attribute(source, "pool");
    cleanup_free char *name = xml_attribute(source, "volume");
    virStoragePoolPtr pool;
    virStorageVolPtr volume = NULL;
    virStorageVolInfo info = {0};
    cleanup_free char *path = NULL;
    bool is_block;

    if (!pool_name || !name)
        return 0;
    pool = virStoragePoolLookupByName(connection, pool_name);
    if (pool)
        volume = virStorageVolLookupByName(pool, name);
    if (volume && virStorageVolGetInfo(volume, &info) == 0)
        path = virStorageVolGetPath(volume);
    if (volume)
        virStorageVolFree(volume);
    if (pool)
        virStoragePoolFree(pool);
    if (!path)
        return libvirt_fail(failure, "could not find the volume '%s' of the pool '%s'",
                            name, pool_name);
    is_block = info.type == VIR_STORAGE_VOL_BLOCK;
    if (!is_block && info.type != VIR_STORAGE_VOL_FILE)
        return 0;
    xml_set_attribute(disk, "type", is_block ? "block" : "file");
    xml_set_attribute(source, is_block ? "dev" : "file", path);
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
    if (request.datasource->served)
        request.datasource = datasource_find_label(seed->label);
    /* libvirt's own choice. */
    if (domain_uses_shim(domain))
        xml_remove(xml_child(devices, "emulator"));
    /* Of the definition, since the hook sees only the overlays. */
    if (forbidden_paths_check(trial->context->root, domain, failure) < 0)
        return -1;
    label_read_disks(domain);
    if (wire_domain(domain, &request, &options, &wiring, failure) < 0)
        return -1;
    for (xmlNode *disk = xml_child(devices, "disk"); disk;
         disk = xml_next(disk, "disk")) {
        if (resolve_volume(trial->connection, disk, failure) < 0)
            return -1;
    }
    return rehearsal_rewrite(&trial->rehearsal, domain, failure);
}

/* --- files ------------------------------------------------------------------------ */

static int
fail_file(const struct trial *trial, const char *what, const char *name, int error,
          struct failure **failure)
{
    return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not %s %s/%s", what,
                             trial->rehearsal.directory, name);
}

static int
make_directory(struct trial *trial, struct failure **failure)
{
    struct rehearsal *rehearsal = &trial->rehearsal;
    uuid_t uuid;

    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, rehearsal->uuid);
    rehearsal->directory = xasprintf("%s/%s", VIRT_SEED_TRYDIR, rehearsal->uuid);
    trial->parent =
        own_directory_open(trial->context->root, VIRT_SEED_TRYDIR, TRYDIR_MODE, failure);
    if (trial->parent < 0)
        return -1;
    if (mkdirat(trial->parent, rehearsal->uuid, TRYDIR_MODE) == 0)
        trial->directory =
            openat(trial->parent, rehearsal->uuid, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return trial->directory < 0 || flock(trial->directory, LOCK_EX | LOCK_NB) < 0
               ? fail_file(trial, "make", "", errno, failure)
               : 0;
}

/* libvirt finds a volume's size only by its path if the domain does not run. */
static int
find_size(const struct trial *trial, const struct rehearsal_disk *disk,
          unsigned long long *bytes)
{
    virDomainBlockInfo block;
    virStorageVolInfo info;
    virStorageVolPtr volume;
    int result;

    if (virDomainGetBlockInfo(trial->definition.libvirt, disk->target, &block, 0) == 0) {
        *bytes = block.capacity;
        return 0;
    }
    volume = virStorageVolLookupByPath(trial->connection, disk->path);
    result = volume ? virStorageVolGetInfo(volume, &info) : -1;
    if (volume)
        virStorageVolFree(volume);
    if (result == 0)
        *bytes = info.capacity;
    return result;
}

/* qemu-img does not open the disk: it gets its size from libvirt. */
static int
make_overlay(struct trial *trial, const struct rehearsal_disk *disk,
             const struct image_owner *owner, struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s", trial->rehearsal.directory, disk->name);
    cleanup_free char *size = NULL;
    cleanup_buffer struct buffer output = {0};
    unsigned long long bytes = 0;
    struct base base;

    if (find_size(trial, disk, &bytes) < 0)
        return libvirt_fail(failure, "could not read the size of '%s'", disk->path);
    base.fd = fs_open_in_root(trial->context->root, disk->path);
    if (base.fd < 0 || fstat(base.fd, &base.status) < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, base.fd < 0 ? base.fd : errno,
                                 "could not open '%s'", disk->path);
    *array_add(trial->bases, trial->base_count) = base;
    size = xasprintf("%llu", bytes);
    {
        char *words[] = {(char *)"qemu-img",
                         (char *)"create",
                         (char *)"-q",
                         (char *)"-u",
                         (char *)"-f",
                         (char *)"qcow2",
                         (char *)"-F",
                         disk->format,
                         (char *)"-b",
                         disk->path,
                         path,
                         size,
                         NULL};
        const struct child child = {
            .words = words,
            .documents = (const int[]){-1},
            .output = LIMIT_QEMU_IMG_OUTPUT,
            .memory = LIMIT_QEMU_IMG_MEMORY,
            .seconds = LIMIT_QEMU_IMG_SECONDS,
        };
        int status = child_run(&child, &output);

        if (status == CHILD_MISSING)
            return failure_set(failure, FAILURE_SYSTEM,
                               "qemu-img is not installed\n"
                               "install it: apt install qemu-utils");
        if (status != 0)
            return failure_set(failure, FAILURE_SYSTEM,
                               "qemu-img could not make an overlay over '%s': %.*s",
                               disk->path,
                               (int)(output.data ? strcspn(output.data, "\n") : 0),
                               output.data ? output.data : "");
    }
    return fchownat(trial->directory, disk->name, owner->uid, owner->gid,
                    AT_SYMLINK_NOFOLLOW) < 0
               ? fail_file(trial, "give away", disk->name, errno, failure)
               : 0;
}

/* A domain that was never started may have no variables yet: libvirt makes them. */
static int
copy_nvram(const struct trial *trial, const struct image_owner *owner,
           struct failure **failure)
{
    const char *path = trial->rehearsal.nvram;
    cleanup_buffer struct buffer content = {0};
    cleanup_close int fd = -1;
    int error = path ? fs_read_in_root(trial->context->root, path, LIMIT_NVRAM, &content)
                     : -ENOENT;

    if (error == -ENOENT)
        return 0;
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not read '%s'",
                                 path);
    fd = openat(trial->directory, REHEARSAL_NVRAM,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    error = fd < 0 ? -errno : fs_write_all(fd, content.data, content.size);
    if (error == 0 && fchown(fd, owner->uid, owner->gid) < 0)
        error = -errno;
    return error < 0 ? fail_file(trial, "write", REHEARSAL_NVRAM, error, failure) : 0;
}

static int
make_files(struct trial *trial, const struct seed *seed, struct failure **failure)
{
    const struct rehearsal *rehearsal = &trial->rehearsal;
    struct image_owner owner;

    rundir_seed_owner(trial->context->root, &owner.uid, &owner.gid);
    for (size_t i = 0; i < rehearsal->disk_count; i++) {
        if (make_overlay(trial, &rehearsal->disks[i], &owner, failure) < 0)
            return -1;
    }
    if (copy_nvram(trial, &owner, failure) < 0 ||
        image_publish(trial->directory, REHEARSAL_SEED, &owner, seed, failure) < 0)
        return -1;
    return report_file_make(trial->context->root, rehearsal->uuid, REPORT_BY_VIRTLOGD,
                            false, failure);
}

/* Return: the last lines that the guest has printed, owned by the caller (free), or
 * NULL. */
static char *
read_console(const struct trial *trial)
{
    cleanup_close int fd =
        fs_open_regular_beneath(trial->directory, REHEARSAL_CONSOLE, NULL);
    off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    off_t start = end > (off_t)CONSOLE_BYTES ? end - (off_t)CONSOLE_BYTES : 0;
    char bytes[CONSOLE_BYTES];
    ssize_t count = end > 0 ? pread(fd, bytes, sizeof(bytes), start) : 0;
    char *text = count > 0 ? xcalloc((size_t)count + 1, 1) : NULL;
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
    if (text)
        memmove(text, text + length, strlen(text + length) + 1);
    return text;
}

/* --- libvirt's event loop ------------------------------------------------------------- */

static void
wake(int timer, void *data)
{
    (void)timer;
    (void)data;
}

/* Waits at most so many seconds, or, if there are none, as long as it takes. A connection
 * whose events are not handled is closed by libvirt's daemon, which ends the rehearsal. */
static void
wait_until(const struct trial *trial, bool (*is_over)(const struct trial *trial),
           int seconds)
{
    const int64_t end = clock_milliseconds() + seconds * 1000L;
    int timer = virEventAddTimeout(WAKE_MILLISECONDS, wake, NULL, NULL);

    while (!is_over(trial) && (seconds == 0 || clock_milliseconds() < end) &&
           virEventRunDefaultImpl() == 0)
        continue;
    virEventRemoveTimeout(timer);
}

/* --- what it has changed ------------------------------------------------------------ */

static int
run_virt_diff(const struct trial *trial, char *const *words, struct buffer *output)
{
    const struct child child = {
        .words = words,
        .documents = (const int[]){-1},
        .output = LIMIT_VIRT_DIFF_OUTPUT,
        .memory = LIMIT_VIRT_DIFF_MEMORY,
        .seconds = LIMIT_VIRT_DIFF_SECONDS,
        .interrupt = trial->signals,
        .silent = true,
    };

    return child_run(&child, output);
}

static int
check_virt_diff(const struct trial *trial, struct failure **failure)
{
    char *const words[] = {(char *)"virt-diff", (char *)"--version", NULL};
    cleanup_buffer struct buffer output = {0};

    return run_virt_diff(trial, words, &output) == 0
               ? 0
               : failure_set(failure, FAILURE_SYSTEM,
                             "--files needs virt-diff of libguestfs\n"
                             "install it: apt install guestfs-tools");
}

static bool
has_ended(const struct trial *trial)
{
    return virDomainIsActive(trial->domain) != 1;
}

/* So that its files are on the disks. One that does not shut down is ended: its journal
 * has them. */
static void
shut_down(const struct trial *trial)
{
    virDomainShutdown(trial->domain);
    wait_until(trial, has_ended, LIMIT_SHUTDOWN_SECONDS);
    virDomainDestroy(trial->domain);
}

/* Prints the files below /etc that are new, gone, or not the same. Their content may be
 * secret. */
static int
print_files(const struct trial *trial, struct failure **failure)
{
    static const struct {
        const char *mark;
        const char *word;
    } marks[] = {{"+ ", "added"}, {"- ", "removed"}, {"= ", "changed"}};
    const struct rehearsal *rehearsal = &trial->rehearsal;
    cleanup_buffer struct buffer output = {0};
    char **words = NULL;
    size_t count = 0;
    char *rest;
    int status;

    texts_add(&words, &count, xstrdup("virt-diff"));
    for (size_t i = 0; i < rehearsal->disk_count; i++) {
        const struct rehearsal_disk *disk = &rehearsal->disks[i];

        texts_add(&words, &count, xasprintf("--format=%s", disk->format));
        texts_add(&words, &count, xstrdup("-a"));
        texts_add(&words, &count, xstrdup(disk->path));
        texts_add(&words, &count, xstrdup("--format=qcow2"));
        texts_add(&words, &count, xstrdup("-A"));
        texts_add(&words, &count, xasprintf("%s/%s", rehearsal->directory, disk->name));
    }
    texts_add(&words, &count, NULL);
    /* Without it, libguestfs would ask libvirt for a machine of its own. */
    setenv("LIBGUESTFS_BACKEND", "direct", 0);
    status = run_virt_diff(trial, words, &output);
    texts_free(words, count);
    rest = output.data;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        const char *path = strstr(line, " /etc/");

        /* "= - 0644   61 /etc/hosts" */
        for (size_t i = 0; path && i < ARRAY_SIZE(marks); i++) {
            if (strncmp(line, marks[i].mark, strlen(marks[i].mark)) == 0 &&
                strncmp(line + 2, "- ", 2) == 0)
                print_outside_line(stdout, "%s %s", marks[i].word, path + 1);
        }
    }
    return status == 0 ? 0
                       : failure_set(failure, FAILURE_SYSTEM,
                                     "virt-diff could not compare the disks\n"
                                     "find out why: libguestfs-test-tool");
}

/* --- from its start to its end ---------------------------------------------------- */

static bool
has_started(const struct trial *trial)
{
    return trial->started;
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
    trial->started = true;
    return NULL;
}

static int
start(struct trial *trial, struct failure **failure)
{
    pthread_t thread;
    struct waited *waited;
    size_t size;
    int error;

    trial->text = xml_format(trial->definition.doc, &size, failure);
    if (!trial->text)
        return -1;
    error = pthread_create(&thread, NULL, run_start, trial);
    if (error != 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, error,
                                 "could not make a thread");
    wait_until(trial, has_started, 0);
    pthread_join(thread, NULL);
    *failure = steal(trial->start_failure);
    if (*failure)
        return -1;
    waited = waiting_add(&trial->waiting, trial->rehearsal.uuid, failure);
    if (!waited)
        return -1;
    waiting_begin(waited);
    if (waiting_run(&trial->waiting, failure) < 0)
        return -1;
    trial->console = read_console(trial);
    if (!trial->options->files || trial->waiting.follow.signal != 0)
        return 0;
    shut_down(trial);
    return print_files(trial, failure);
}

static int
rehearse(struct trial *trial, struct failure **failure)
{
    const struct context *context = trial->context;
    const struct options *options = trial->options;
    struct rehearsal *rehearsal = &trial->rehearsal;
    cleanup_seed struct seed seed = {0};

    /* What follows the waiting may take longer than the timeout. */
    alarm(0);
    if (options->files && check_virt_diff(trial, failure) < 0)
        return -1;
    if (definition_load_domain(&trial->definition, context, context->operands[0],
                               DEFINITION_READ, failure) < 0)
        return -1;
    if (libvirt_require_system(trial->definition.connection, failure) < 0 ||
        check_domain(trial, failure) < 0)
        return -1;
    rehearsal->name = xasprintf("%s-try", trial->definition.domain.name);
    trial->connection = libvirt_connect(context->uri, false, failure);
    if (!trial->connection || make_directory(trial, failure) < 0 ||
        (!options->network && listen_for_interfaces(trial, failure) < 0))
        return -1;
    if (prepare_definition(trial, &seed, failure) < 0)
        return failure_prefix(failure, "domain '%s'", trial->definition.domain.name);
    if (make_files(trial, &seed, failure) < 0)
        return -1;
    if (!context->quiet && !options->waiting.json) {
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
    cleanup_failure struct failure *failure = NULL;

    /* It may have ended by itself. */
    if (trial->domain) {
        virDomainDestroy(trial->domain);
        virDomainFree(trial->domain);
    }
    if (trial->connection)
        virConnectClose(trial->connection);
    /* libvirt does that only for the disks of the domain itself. */
    for (size_t i = 0; i < trial->base_count; i++) {
        const struct base *base = &trial->bases[i];

        if (fchownat(base->fd, "", base->status.st_uid, base->status.st_gid,
                     AT_EMPTY_PATH) < 0)
            print_outside_line(
                stderr, "virt-seed: warning: could not give '%s' back to its owner",
                trial->rehearsal.disks[i].path);
        close(base->fd);
    }
    free(trial->bases);
    if (trial->listener_handle >= 0)
        virEventRemoveHandle(trial->listener_handle);
    close_pointer(&trial->listener);
    if (trial->directory >= 0) {
        report_file_remove(trial->context->root, trial->rehearsal.uuid, &failure);
        fs_remove_tree(trial->parent, trial->rehearsal.uuid);
    }
    close_pointer(&trial->directory);
    close_pointer(&trial->parent);
    rehearsal_clear(&trial->rehearsal);
    definition_clear(&trial->definition);
    if (failure)
        print_warning(failure);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    struct trial trial = {
        .context = context,
        .options = data,
        .parent = -1,
        .directory = -1,
        .listener = -1,
        .listener_handle = -1,
    };
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, 0};
    struct waiting_options waiting = trial.options->waiting;
    sigset_t before;
    int status;

    sigprocmask(SIG_SETMASK, NULL, &before);
    trial.signals = process_catch_signals(numbers);
    waiting.logs = "see the end of its console";
    if (waiting_open(&trial.waiting, context, &waiting, failure) == 0)
        rehearse(&trial, failure);
    end(&trial);
    status = waiting_close(&trial.waiting, *failure);
    if (status != STATUS_OK && trial.console && !context->quiet &&
        !trial.options->waiting.json) {
        fputs("the end of the guest's console:\n", stderr);
        print_outside_text(stderr, trial.console, strlen(trial.console), "\n\t");
        fputc('\n', stderr);
    }
    free(trial.console);
    free(trial.text);
    if (trial.signals >= 0)
        close(trial.signals);
    /* One that came while nothing waited for it ends us now. */
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

static const struct option_row rows[] = {
    OPTION(0, "network", NULL, network,
           "connect the guest to the domain's networks, not to nothing"),
    OPTION(0, "files", NULL, files,
           "list the files below /etc that the guest has changed"),
    OPTION(0, "timeout", "SECONDS", waiting.timeout, "wait no longer than that"),
    OPTION(0, "json", NULL, waiting.json,
           "print each event as an object of JSON, one a line"),
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
    .runs_on_host = true,
    .run = run,
};
