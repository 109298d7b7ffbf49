/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt-seed-vdsm: VDSM's hook "50_virt_seed" at before_vm_start.
 *
 * How it works: only at this point does VDSM read the XML back from its hooks before it
 * defines the domain. So a VM that asks for a seed, in its metadata or with a custom
 * property, is wired here, as VDSM's user, at every start. The seed itself is made a
 * moment later by libvirt's hook, as root, and again when the guest is restored or
 * migrated, since by then the domain's XML has the request and the wiring.
 *
 * VDSM shows our standard error to the engine's user, and waits for us without a limit.
 * Any failure stops the start: a guest that asks for a seed does not boot without one.
 */
#include "config.h"

#include "base/fs.h"
#include "base/process.h"
#include "domain/element.h"
#include "domain/part.h"
#include "domain/request.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "store/configuration.h"
#include "wire/wire.h"

/* VDSM's exit statuses (lib/vdsm/hook/hooking.py): done; failed, do not run further
 * hooks. 1 would mean: failed, run further hooks. */
#define STATUS_DONE 0
#define STATUS_STOP 2

static const volatile sig_atomic_t late_status = STATUS_STOP;

#define SECONDS DECIMAL(LIMIT_HOOK_SECONDS)
static const char too_late[] =
    "virt-seed: error: wiring took more than " SECONDS " seconds\n"
    "virt-seed: hint: check for a storage domain that does not respond\n";

/* --- the exchange file -------------------------------------------------------------- */

/*
 * VDSM's exchange file: the domain's XML, which each hook in turn may read and replace.
 * VDSM creates it with mkstemp(3), passes its path in this variable, and reads it back
 * from there (lib/vdsm/common/hooks.py).
 */
#define VARIABLE "_hook_domxml"

struct exchange {
    const char *path;   /* borrowed from the environment */
    const char *name;   /* its last component */
    int directory;      /* that it is in; owned */
    struct stat status; /* of the file when it was read */
    struct buffer text;
};

static void
exchange_clear(struct exchange *exchange)
{
    buffer_clear(&exchange->text);
    close_pointer(&exchange->directory);
}

static int
fail_errno(const struct exchange *exchange, int error, const char *what,
           struct failure **failure)
{
    return failure_set_errno(failure, FAILURE_SYSTEM, error,
                             "could not %s '%s'\n"
                             "check with 'df' and 'ls -l' that there is free space, and "
                             "that VDSM's user may write there",
                             what, exchange->path);
}

/* Reads the file; it must be a regular file that the caller owns and may write. */
static int
exchange_read(struct exchange *exchange, struct failure **failure)
{
    const char *path = getenv(VARIABLE);
    cleanup_free char *directory = NULL;
    cleanup_close int fd = -1;
    int error;

    if (!path || !*path)
        return failure_set(failure, FAILURE_USAGE,
                           "the environment has no " VARIABLE ": not run by VDSM\n"
                           "VDSM runs this hook before a VM starts; to wire a libvirt "
                           "domain, run 'virt-seed wire'");
    exchange->path = path;
    exchange->name = fs_base_name(path);
    directory = xstrndup(path, (size_t)(exchange->name - path));
    exchange->directory = fs_open_root(*directory ? directory : ".");
    if (exchange->directory < 0)
        return fail_errno(exchange, exchange->directory, "open the directory of",
                          failure);
    /* Opened for writing, too: a read-only file must not be replaced. */
    fd = openat(exchange->directory, exchange->name,
                O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &exchange->status) < 0)
        return fail_errno(exchange, errno, "open", failure);
    /* The XML that VDSM starts must be a file that VDSM wrote. */
    if (!S_ISREG(exchange->status.st_mode) || exchange->status.st_uid != geteuid())
        return failure_set(failure, FAILURE_SYSTEM,
                           "'%s' is not a regular file owned by user %u\n"
                           "let VDSM run this hook: it creates the file that " VARIABLE
                           " names, as the user that runs its hooks",
                           path, geteuid());
    error = fs_read_all(fd, LIMIT_DOMAIN_XML, &exchange->text);
    return error < 0 ? fail_errno(exchange, error, "read", failure) : 0;
}

/* Replaces the file's content atomically; owner, group and mode stay. */
static int
exchange_replace(const struct exchange *exchange, const char *text,
                 struct failure **failure)
{
    int error =
        fs_replace_file(exchange->directory, exchange->name, text, strlen(text),
                        exchange->status.st_mode & 07777, exchange->status.st_gid);

    return error < 0 ? fail_errno(exchange, error, "replace", failure) : 0;
}

/* --- the custom property ------------------------------------------------------------ */

/*
 * The custom property "cloudinit", which VDSM passes to its hooks in the environment: a
 * <cloud-init> element or user-data, in base64. No message contains any of it.
 */
#define PROPERTY_NAME "cloudinit"
#define PROPERTY "custom property '" PROPERTY_NAME "'"

static int
fail_property(const char *what, const char *hint, struct failure **failure)
{
    return failure_set(failure, FAILURE_REQUEST,
                       PROPERTY " %s\n"
                                "%s",
                       what, hint);
}

/* libxml2's message is not used: it may quote the value. */
static xmlDoc *
parse_element(const struct buffer *text, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    cleanup_xml xmlDoc *doc = xml_parse(text->data, text->size, PROPERTY, &reason);

    if (!doc) {
        failure_set(failure, reason->code,
                    PROPERTY
                    " is not well-formed XML (line %d)\n"
                    "encode only the <cloud-init> element, with its namespace and "
                    "without a document type",
                    reason->line);
        return NULL;
    }
    if (!vocabulary_is(xmlDocGetRootElement(doc), "cloud-init")) {
        fail_property("is not a <cloud-init> element in virt-seed's namespace",
                      "use the namespace \"" REQUEST_NAMESPACE "\"; see virt-seed-xml(5)",
                      failure);
        return NULL;
    }
    return steal(doc);
}

/* Return: a document with the request as its root, owned by the caller, or NULL. */
static xmlDoc *
read_value(const char *value, struct failure **failure)
{
    cleanup_buffer struct buffer text = {0};
    const char *begin;

    if (base64_decode(&text, value) < 0) {
        fail_property("is not base64",
                      "encode the element or the user-data with 'base64 -w0 FILE'",
                      failure);
        return NULL;
    }
    begin = text.data + strspn(text.data, " \t\r\n");
    /* The first word decides, as in cloud-init. */
    if (*begin == '#' || strncasecmp(begin, "content-type:", 13) == 0 ||
        strncasecmp(begin, "mime-version:", 13) == 0) {
        xmlDoc *doc = request_new();
        xmlNode *root = xmlDocGetRootElement(doc);

        /* It stays in base64. */
        xml_set_attribute(element_add_text(root, "user-data", value), "encoding",
                          "base64");
        return doc;
    }
    if (*begin == '<')
        return parse_element(&text, failure);
    fail_property(
        "is neither XML nor user-data",
        "encode a <cloud-init> element, or user-data that begins with '#' or a MIME "
        "header",
        failure);
    return NULL;
}

/* Writes the request from the property's `value` into the domain's <metadata>, where
 * libvirt's hook finds it. A domain that already has the same request stays unchanged; a
 * different one is an error. */
static int
property_write(struct domain *domain, const char *value, struct failure **failure)
{
    cleanup_xml xmlDoc *doc = read_value(value, failure);
    const xmlNode *present = request_find(domain);
    const xmlNode *element;

    if (!doc)
        return -1;
    element = xmlDocGetRootElement(doc);
    if (!present)
        request_insert(domain, element);
    else if (!request_is_same(present, element))
        return fail_property("asks for another seed than the <cloud-init> in <metadata>",
                             "keep one of them: a guest can have only one seed", failure);
    return 0;
}

/* --- wiring ----------------------------------------------------------------------- */

static int
wire(struct domain *domain, const char *property, struct failure **failure)
{
    /* The engine's own cloud-init is a disk by now. It is not replaced: the user asked
     * for both. */
    struct wire_options options = {
        .foreign_hint = "keep one of them: leave the engine's Initial Run empty and "
                        "remove the CD, or remove virt-seed's request",
    };
    cleanup_config struct config config = {0};
    cleanup_request struct request request = {0};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_close int root = -1;

    if (property && property_write(domain, property, failure) < 0)
        return -1;
    /* Without a request there may be oVirt's payload, which VDSM handles. */
    if (!request_find(domain))
        return 0;
    if (request_read(&request, domain, failure) < 0)
        return -1;
    domain_read_labels(domain);
    /* Only if needed: VDSM's user may not be allowed to read the file. */
    if (request.datasource->over_http) {
        root = fs_open_root("/");
        if (root < 0)
            return failure_set_errno(failure, FAILURE_SYSTEM, root, "could not open '/'");
        if (config_read(&config, root, failure) < 0)
            return -1;
    }
    options.imds_address = config.imds_address;
    return wire_domain(domain, &request, &options, &wiring, failure);
}

/* --- all of it -------------------------------------------------------------------- */

static int
run(struct failure **failure)
{
    const char *property = getenv(PROPERTY_NAME);
    __attribute__((cleanup(exchange_clear))) struct exchange exchange = {.directory = -1};
    const struct buffer *given = &exchange.text;
    cleanup_domain struct domain domain = {0};
    cleanup_xml xmlDoc *doc = NULL;
    cleanup_free char *before = NULL;
    cleanup_free char *after = NULL;

    if (property && !*property)
        property = NULL;
    if (exchange_read(&exchange, failure) < 0)
        return -1;
    /* Most VMs ask for nothing. */
    if (!property &&
        (given->size == 0 ||
         !memmem(given->data, given->size, REQUEST_NAMESPACE, strlen(REQUEST_NAMESPACE))))
        return 0;
    doc = xml_parse(given->data, given->size, exchange.path, failure);
    if (!doc || domain_read(&domain, doc, failure) < 0)
        return -1;
    before = xml_format(doc);
    if (wire(&domain, property, failure) < 0)
        return failure_prefix(failure, "VM '%s'", domain.name);
    after = xml_format(doc);
    if (strcmp(before, after) == 0)
        return 0;
    return exchange_replace(&exchange, after, failure);
}

int
main(int argc, char **argv)
{
    cleanup_failure struct failure *failure = NULL;

    if (process_begin() < 0)
        return STATUS_STOP;
    process_harden();
    process_limit_time(LIMIT_HOOK_SECONDS, too_late, &late_status);
    if (argc > 1)
        failure_set(&failure, FAILURE_USAGE,
                    "'%s': this hook takes no arguments\n"
                    "VDSM runs it; see virt-seed-vdsm(8)",
                    argv[1]);
    if (!failure && run(&failure) == 0)
        return STATUS_DONE;
    print_failure(failure);
    return STATUS_STOP;
}
