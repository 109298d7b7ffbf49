/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper: what libvirt runs at each step of each domain's life, also for domains that do
 * not use virt-seed: as root, or in a session as its user.
 *
 * How it works: libvirt holds the domain's lock meanwhile, so this links libc alone, decides
 * from the operation and from virt-seed's names in the XML whether there is anything to do,
 * and has an alarm, since libvirt has no time limit. Searching for bytes is enough, because
 * libvirt formats the XML from its parsed form, without character references and the like. At
 * restore and migrate it may be the caller's; a domain that is not found then counts as not
 * resumed. At release, the domain's files decide as well: the XML may have changed since the
 * start.
 *
 * The keeper reads the domain's identity and the paths in it (host/domain-text.h); everything
 * else is read by a maker, without rights (host/maker.h).
 *
 * It never calls libvirt, which would wait for the domain's lock. Nothing is ever printed on
 * standard output: at restore and migrate libvirt takes it for the domain's new XML. A
 * failure is two lines on standard error, which libvirt shows to the user of 'virsh start'.
 * At `started` the guest is already running, and libvirt kills it if a hook fails: then the
 * keeper fails only if the guest must end.
 */
#include "config.h"

#include "base/fs.h"
#include "base/names.h"
#include "base/process.h"
#include "host/datasource.h"
#include "host/domain-text.h"
#include "lifecycle/lifecycle.h"

/*
 * libvirt's operations at which virt-seed does something. It ignores all others: stopped,
 * reconnect (a failure would kill a running guest), attach, and any that libvirt adds.
 */
enum operation {
    OPERATION_PREPARE,
    OPERATION_START,   /* before there is a QEMU; the XML has the images' backing files */
    OPERATION_STARTED, /* the guest runs, and libvirt kills it if the hook fails */
    OPERATION_RELEASE,
    OPERATION_RESTORE,
    OPERATION_MIGRATE,
    OPERATION_NONE,
};

static const struct {
    const char *name;
    int (*run)(struct lifecycle *lifecycle, struct failure **failure);
} operations[] = {
    [OPERATION_PREPARE] = {"prepare", lifecycle_prepare},
    [OPERATION_START] = {"start", lifecycle_start},
    [OPERATION_STARTED] = {"started", lifecycle_started},
    [OPERATION_RELEASE] = {"release", lifecycle_release},
    [OPERATION_RESTORE] = {"restore", lifecycle_resume},
    [OPERATION_MIGRATE] = {"migrate", lifecycle_resume},
};

static enum operation
find_operation(const char *name)
{
    unsigned int i = 0;

    while (i < OPERATION_NONE && strcmp(operations[i].name, name) != 0)
        i++;
    return (enum operation)i;
}

/* --- whether the domain concerns virt-seed ------------------------------------------- */

/* When the XML is too large: what is searched for is shorter than the overlap. */
#define MAX_PIECES 16
#define OVERLAP 64

static bool
has(const struct buffer *xml, const char *needle)
{
    return xml->size > 0 && memmem(xml->data, xml->size, needle, strlen(needle));
}

/*
 * A domain does not concern virt-seed unless it names a seed's URL (wire/url.h), the
 * request's namespace (domain/vocabulary.h), or a path with one of virt-seed's
 * directories or the emulator shim. All directories have the same last component, with
 * which the shim's name begins, too; it is found whatever else is in the path.
 */
static bool
concerns_us(const struct buffer *xml)
{
    if (has(xml, SERIAL_NOCLOUD ";s=http://"))
        return true;
    /* In both of the others, so two searches rule out most domains. */
    return has(xml, "virt-seed") &&
           (has(xml, "urn:virt-seed:cloud-init:1") || has(xml, "/virt-seed"));
}

/*
 * Reads the XML; `ours` says whether it concerns virt-seed. If it is too large, looks
 * through all of it, in so many pieces, so that other domains still start. Return: 0 or
 * -errno; -EFBIG if it is too large and concerns virt-seed, or has too many pieces.
 */
static int
read_xml(struct buffer *xml, bool *ours)
{
    int error = fs_read_all(STDIN_FILENO, LIMIT_DOMAIN_XML, xml);
    const bool is_too_large = error == -EFBIG;

    *ours = concerns_us(xml);
    for (int piece = 1; piece < MAX_PIECES; piece++) {
        if (error != -EFBIG || *ours)
            break;
        memmove(xml->data, xml->data + xml->size - OVERLAP, OVERLAP);
        xml->size = OVERLAP;
        error = fs_read_all(STDIN_FILENO, LIMIT_DOMAIN_XML, xml);
        *ours = concerns_us(xml);
    }
    return is_too_large && *ours ? -EFBIG : error;
}

static bool
has_files(const char *root_path, const char *uuid)
{
    const struct {
        const char *directory;
        const char *suffix;
    } files[] = {
        {scope()->rundir, SEED_SUFFIX},   {scope()->rundir, SHIM_ORDER_SUFFIX},
        {scope()->imds_tree, ""},         {scope()->reportdir, REPORT_SUFFIX},
        {scope()->reportdir, LOG_SUFFIX}, {scope()->statedir, NEXT_RECORD_SUFFIX},
    };
    cleanup_buffer struct buffer path = {0};

    /* At each end of each domain: printf(3) would cost more than all else here. */
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        if (!files[i].directory)
            continue;
        path.size = 0;
        buffer_append_string(&path, root_path);
        buffer_append_string(&path, files[i].directory);
        buffer_append_string(&path, "/");
        buffer_append_string(&path, uuid);
        buffer_append_string(&path, files[i].suffix);
        if (faccessat(AT_FDCWD, path.data, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    }
    return false;
}

/* --- always report before exiting --------------------------------------------------- */

static volatile sig_atomic_t status_of_failure = EXIT_FAILURE;

#define SECONDS DECIMAL(LIMIT_HOOK_SECONDS)
static const char too_late[] =
    "virt-seed: error: the hook took more than " SECONDS " seconds\n"
    "virt-seed: hint: look for a file system that does not respond, or a very large "
    "domain XML\n";

static void
end_well(int signal_number)
{
    _exit(EXIT_SUCCESS);
}

/* --- one operation ---------------------------------------------------------------- */

static void
log_refusal(const struct lifecycle *lifecycle, enum operation operation,
            const struct failure *failure)
{
    const struct journal_field code = {"VIRT_SEED_FAILURE",
                                       failure_code_name(failure->code)};
    const bool has_started = operation == OPERATION_STARTED;
    cleanup_free char *why = failure_text(failure);
    cleanup_free char *text = xasprintf(
        "%s: %s", has_started ? "guest ended at its start" : "start refused", why);

    lifecycle_log_event(lifecycle, LIFECYCLE_START_REFUSED, &code, text);
}

/* Return: libvirt's word for the guest's end, or NULL: "NAME release end WORD". */
static const char *
find_end(char *const *arguments)
{
    if (!arguments[2] || !arguments[3] || strcmp(arguments[3], "-") == 0)
        return NULL;
    return arguments[3];
}

static int
open_root(const char *path, struct failure **failure)
{
    const int root = fs_open_root(path);

    if (root < 0)
        return failure_set_errno(
            failure, FAILURE_SYSTEM, root,
            "could not open '%s'\n"
            "check that it is a directory, and that not too many files are open",
            path);
    return root;
}

static int
run_on_domain(const char *root_path, const struct buffer *xml, enum operation operation,
              char *const *arguments, struct failure **failure)
{
    cleanup_domain_identity struct domain_identity identity = {0};
    cleanup_close int root = open_root(root_path, failure);
    struct lifecycle lifecycle = {
        .root = root,
        .argument = arguments[0],
        .name = arguments[0],
        .operation = arguments[1],
        .xml = xml,
    };

    if (root < 0)
        return -1;
    if (operations[operation].run == lifecycle_resume)
        return lifecycle_resume(&lifecycle, failure);
    if (operation == OPERATION_RELEASE)
        lifecycle.end = find_end(arguments);
    if (domain_identity_read(&identity, xml, failure) < 0)
        return -1;
    lifecycle.name = identity.name;
    lifecycle.uuid = identity.uuid;
    if (operations[operation].run(&lifecycle, failure) == 0)
        return 0;
    if (operation == OPERATION_STARTED)
        status_of_failure = EXIT_FAILURE;
    /* The user sees the failure; the journal keeps it for everyone else. */
    if (operation != OPERATION_RELEASE)
        log_refusal(&lifecycle, operation, *failure);
    return -1;
}

/* Return: whether the domain, whose XML does not concern virt-seed, has files of it. */
static bool
has_begun(const char *root_path, const struct buffer *xml)
{
    cleanup_domain_identity struct domain_identity identity = {0};
    cleanup_failure struct failure *ignored = NULL;

    return domain_identity_read(&identity, xml, &ignored) == 0 &&
           has_files(root_path, identity.uuid);
}

static void
choose_session(const char *root_path, struct failure **failure)
{
    cleanup_close int root = open_root(root_path, failure);

    if (root >= 0)
        scope_use_session(root, geteuid(), failure);
}

static int
run(const char *root_path, bool is_session, enum operation operation,
    char *const *arguments, struct failure **failure)
{
    /* Not wiped: the process ends, and wiping touches all that was reserved for a pipe. */
    static struct buffer xml;
    cleanup_failure struct failure *no_session = NULL;
    bool concerns;
    int error;

    /* Already the XML may contain passwords. */
    process_harden();
    if (is_session)
        choose_session(root_path, &no_session);
    /* Of an XML that is too large, release needs only the beginning. */
    if (operation == OPERATION_RELEASE) {
        error = fs_read_all(STDIN_FILENO, LIMIT_DOMAIN_XML, &xml);
        concerns = concerns_us(&xml) || has_begun(root_path, &xml);
        if (error == -EFBIG)
            error = 0;
    } else {
        error = read_xml(&xml, &concerns);
    }
    if (error < 0)
        return failure_set_errno(
            failure, FAILURE_SYSTEM, error,
            "could not read the domain's XML\n"
            "it may have at most %lu MiB: put large documents into files",
            LIMIT_DOMAIN_XML / MIB);
    if (!concerns)
        return 0;
    if (no_session) {
        *failure = steal(no_session);
        return -1;
    }
    return run_on_domain(root_path, &xml, operation, arguments, failure);
}

int
lifecycle_run(const char *root_path, bool is_session, char *const *arguments)
{
    const enum operation operation = find_operation(arguments[1]);
    cleanup_failure struct failure *failure = NULL;

    if (operation == OPERATION_NONE)
        return EXIT_SUCCESS;
    if (operation == OPERATION_STARTED) {
        status_of_failure = EXIT_SUCCESS;
        /* abort(3) when memory runs out. */
        signal(SIGABRT, end_well);
    }
    process_limit_time(LIMIT_HOOK_SECONDS, too_late, &status_of_failure);
    if (process_begin() < 0)
        return status_of_failure;
    if (run(root_path, is_session, operation, arguments, &failure) == 0)
        return EXIT_SUCCESS;
    print_failure(failure);
    /* libvirt discards the messages of a hook that succeeds. */
    if (status_of_failure == EXIT_SUCCESS) {
        cleanup_close int root = fs_open_root(root_path);
        const struct lifecycle lifecycle = {
            .root = root, .name = arguments[0], .operation = arguments[1]};

        lifecycle_log_failure(&lifecycle, arguments[1], failure);
    }
    return status_of_failure;
}
