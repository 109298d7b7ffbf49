/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: first everything is taken away that some option names, then each option
 * adds; so of one that is given several times all values stay. Whether the result makes sense is for
 * request_read() to say.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include <libxml/tree.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "cli/element-edit.h"
#include "cli/settings.h"
#include "domain/request-write.h"
#include "domain/request.h"
#include "domain/xml.h"
#include "import/element.h"

struct writing {
    const struct domain *domain;
    xmlNode *element;
    struct buffer *password;
};

/* --- files ------------------------------------------------------------------------ */

/* A FIFO is welcome: `set` may be given the output of another program. */
static int
read_file(const char *path, size_t limit, struct buffer *content,
          struct failure **failure)
{
    cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int error = fd < 0 ? -errno : fs_read_all(fd, limit, content);

    if (error == -EFBIG) {
        failure_set(failure, FAILURE_LIMIT, "'%s' has more than %zu bytes", path, limit);
        return failure_hint(failure, "give a smaller file");
    }
    if (error < 0) {
        failure_set_errno(failure, FAILURE_SYSTEM, error, "could not read '%s'", path);
        return failure_hint(failure, "name a file that you may read");
    }
    return 0;
}

/* --- what an option takes away, and adds -------------------------------------------- */

struct row {
    int option;
    const char *name;  /* the option's, without dashes */
    const char *below; /* where its element is: NULL is <cloud-init> itself */
    const char *element;
    /* NULL where elements of that name are taken away. */
    void (*take_away)(struct writing *writing, const struct row *row, const char *value);
    int (*add)(struct writing *writing, const struct row *row, const char *value,
               struct failure **failure);
};

static int
check_text(const struct row *row, const char *text, struct failure **failure)
{
    if (element_can_hold(text, strlen(text)))
        return 0;
    failure_set(failure, FAILURE_REQUEST, "--%s has characters that XML cannot hold",
                row->name);
    return failure_hint(failure, "write UTF-8 without control characters");
}

static int
add_text(struct writing *writing, const struct row *row, const char *value,
         struct failure **failure)
{
    xmlNode *parent = writing->element;

    if (check_text(row, value, failure) < 0)
        return -1;
    if (row->below)
        parent = element_find_or_add(parent, row->below);
    element_indent(element_add_text(parent, row->element, value));
    return 0;
}

static int
add_document(struct writing *writing, const struct row *row, const char *value,
             struct failure **failure)
{
    cleanup_buffer struct buffer content = {0};

    if (read_file(value, LIMIT_PART, &content, failure) < 0)
        return -1;
    element_indent(
        element_add_data(writing->element, row->element, content.data, content.size));
    return 0;
}

/* Of <cloud-init> itself, with the option's name. */
static void
remove_attribute(struct writing *writing, const struct row *row, const char *value)
{
    (void)value;
    element_unset(writing->element, row->name);
}

static int
add_attribute(struct writing *writing, const struct row *row, const char *value,
              struct failure **failure)
{
    if (check_text(row, value, failure) < 0)
        return -1;
    element_set(writing->element, row->name, value);
    return 0;
}

static int
add_instance_id(struct writing *writing, const struct row *row, const char *value,
                struct failure **failure)
{
    if (add_text(writing, row, value, failure) < 0)
        return -1;
    element_set(element_find(writing->element, row->element), "policy", "fixed");
    return 0;
}

static int
add_instance_id_policy(struct writing *writing, const struct row *row, const char *value,
                       struct failure **failure)
{
    if (check_text(row, value, failure) < 0)
        return -1;
    element_set(element_indent(element_add(writing->element, row->element)), "policy",
                value);
    return 0;
}

/* Only the entry of that key; KEY= takes it away. */
static void
remove_entry(struct writing *writing, const struct row *row, const char *value)
{
    xmlNode *parent = element_find(writing->element, row->element);
    cleanup_free char *key = xstrndup(value, strcspn(value, "="));
    xmlNode *next;

    for (xmlNode *entry = parent ? xml_first_element(parent) : NULL; entry;
         entry = next) {
        next = xml_next_element(entry);
        if (xml_attribute_is(entry, "name", key))
            xml_remove(entry);
    }
    element_remove_if_empty(parent);
}

static int
add_entry(struct writing *writing, const struct row *row, const char *value,
          struct failure **failure)
{
    size_t length = strcspn(value, "=");
    cleanup_free char *key = xstrndup(value, length);
    xmlNode *parent;

    if (length == 0 || !value[length]) {
        failure_set(failure, FAILURE_USAGE, "--%s has '%.64s', expected KEY=VALUE",
                    row->name, value);
        return failure_hint(failure, "give a key, '=' and its value");
    }
    if (check_text(row, value, failure) < 0)
        return -1;
    if (!value[length + 1])
        return 0;
    parent = element_find_or_add(writing->element, "meta-data");
    element_set(element_indent(element_add_text(parent, "entry", value + length + 1)),
                "name", key);
    return 0;
}

/* Each line of authorized_keys, or of a .pub file, that is no comment. */
static int
add_ssh_keys(struct writing *writing, const struct row *row, const char *value,
             struct failure **failure)
{
    cleanup_buffer struct buffer content = {0};
    xmlNode *parent = element_find_or_add(writing->element, row->below);
    char *rest = NULL, *line;

    if (read_file(value, LIMIT_PART, &content, failure) < 0)
        return -1;
    if (!element_can_hold(content.data, content.size))
        return check_text(row, "\001", failure);
    for (line = content.size > 0 ? strtok_r(content.data, "\r\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (*line && *line != '#')
            element_indent(element_add_text(parent, row->element, line));
    }
    return 0;
}

/* Every local user may read the XML: the password goes into a secret of the host. */
static int
add_root_password(struct writing *writing, const struct row *row, const char *value,
                  struct failure **failure)
{
    struct buffer *password = writing->password;
    xmlNode *node;

    buffer_clear(password);
    if (read_file(value, LIMIT_PASSWORD + 1, password, failure) < 0)
        return -1;
    if (password->size == 0 || strspn(password->data, "\r\n") == password->size) {
        failure_set(failure, FAILURE_REQUEST, "'%s' holds no password", value);
        return failure_hint(failure, "write the password into it, in one line");
    }
    node = element_indent(
        element_add(element_find_or_add(writing->element, row->below), row->element));
    element_set(node, "secret", writing->domain->name);
    element_set(node, "key", SETTINGS_PASSWORD_KEY);
    return 0;
}

/* --- --secret PART=NAME[/KEY] ----------------------------------------------------- */

static const struct {
    const char *name;
    bool has_children; /* beside what comes from the secret */
} secret_parts[] = {
    {"user-data", false},      {"vendor-data", false},   {"network-config", false},
    {"meta-data", true},       {"ssh-host-keys", false}, {"ssh-authorized-keys", true},
    {"admin-password", false},
};

/* Return: the index of the part that the value begins with, or -1. */
static int
secret_part(const char *value)
{
    const size_t count = sizeof(secret_parts) / sizeof(secret_parts[0]);
    size_t length = strcspn(value, "=");

    for (size_t i = 0; i < count && value[length]; i++) {
        if (strlen(secret_parts[i].name) == length &&
            strncmp(secret_parts[i].name, value, length) == 0)
            return (int)i;
    }
    return -1;
}

static void
remove_secret(struct writing *writing, const struct row *row, const char *value)
{
    int part = secret_part(value);
    xmlNode *node =
        part < 0 ? NULL : element_find(writing->element, secret_parts[part].name);

    (void)row;
    if (!node)
        return;
    if (!secret_parts[part].has_children) {
        element_remove_all(writing->element, secret_parts[part].name);
        return;
    }
    element_unset(node, "secret");
    element_unset(node, "key");
    element_unset(node, "file");
    element_remove_if_empty(node);
}

static int
add_secret(struct writing *writing, const struct row *row, const char *value,
           struct failure **failure)
{
    int part = secret_part(value);
    const char *equals = value + strcspn(value, "=");
    const char *slash = strchr(equals, '/');
    cleanup_free char *secret = NULL;
    xmlNode *node;

    if (part < 0) {
        failure_set(failure, FAILURE_USAGE, "--%s has '%.64s', expected PART=NAME[/KEY]",
                    row->name, value);
        return failure_hint(failure, "PART is user-data, vendor-data, network-config, "
                                     "meta-data, ssh-authorized-keys, ssh-host-keys or "
                                     "admin-password");
    }
    if (check_text(row, value, failure) < 0)
        return -1;
    if (!equals[1])
        return 0;
    secret =
        slash ? xstrndup(equals + 1, (size_t)(slash - equals - 1)) : xstrdup(equals + 1);
    node = secret_parts[part].has_children
               ? element_find_or_add(writing->element, secret_parts[part].name)
               : element_indent(element_add(writing->element, secret_parts[part].name));
    element_set(node, "secret", secret);
    if (slash)
        element_set(node, "key", slash + 1);
    return 0;
}

/* --- all of them ------------------------------------------------------------------ */

static const struct row rows[] = {
    {OPTION_SET_DATASOURCE, "datasource", NULL, NULL, remove_attribute, add_attribute},
    {OPTION_SET_HOSTNAME, "hostname", NULL, "hostname", NULL, add_text},
    {OPTION_SET_INSTANCE_ID, "instance-id", NULL, "instance-id", NULL, add_instance_id},
    {OPTION_SET_INSTANCE_ID_POLICY, "instance-id-policy", NULL, "instance-id", NULL,
     add_instance_id_policy},
    {OPTION_SET_META_DATA, "meta-data", NULL, "meta-data", remove_entry, add_entry},
    {OPTION_SET_NETWORK_CONFIG, "network-config", NULL, "network-config", NULL,
     add_document},
    {OPTION_SET_ROOT_PASSWORD, "root-password-file", "initialization", "root_password",
     NULL, add_root_password},
    {OPTION_SET_SECRET, "secret", NULL, NULL, remove_secret, add_secret},
    {OPTION_SET_SSH_HOST_KEYS, "ssh-host-keys", NULL, NULL, remove_attribute,
     add_attribute},
    {OPTION_SET_SSH_KEY, "ssh-key", "ssh-authorized-keys", "key", NULL, add_ssh_keys},
    {OPTION_SET_USER, "user", "initialization", "user_name", NULL, add_text},
    {OPTION_SET_USER_DATA, "user-data", NULL, "user-data", NULL, add_document},
    {OPTION_SET_VENDOR_DATA, "vendor-data", NULL, "vendor-data", NULL, add_document},
};

static const struct row *
row_of(const struct setting *setting)
{
    const struct row *row = rows;

    while (row->option != setting->option)
        row++;
    return row;
}

static void
take_away(struct writing *writing, const struct setting *setting)
{
    const struct row *row = row_of(setting);
    xmlNode *parent = writing->element;

    if (row->take_away) {
        row->take_away(writing, row, setting->value);
        return;
    }
    if (row->below)
        parent = element_find(parent, row->below);
    element_remove_all(parent, row->element);
    if (row->below)
        element_remove_if_empty(parent);
}

static int
write_settings(struct writing *writing, const struct arguments *arguments,
               struct failure **failure)
{
    for (size_t i = 0; i < arguments->setting_count; i++)
        take_away(writing, &arguments->settings[i]);
    for (size_t i = 0; i < arguments->setting_count; i++) {
        const struct setting *setting = &arguments->settings[i];
        const struct row *row = row_of(setting);

        if (*setting->value && row->add(writing, row, setting->value, failure) < 0)
            return -1;
    }
    return 0;
}

static void
note(const struct arguments *arguments, struct wiring *wiring)
{
    for (size_t i = 0; i < arguments->setting_count; i++) {
        const struct setting *setting = &arguments->settings[i];

        wiring_note(wiring, "--%s %s", row_of(setting)->name,
                    *setting->value ? "written" : "taken away");
    }
}

static xmlNode *
add_element(const struct domain *domain)
{
    cleanup_xml xmlDoc *doc = element_new();

    return request_insert(domain, xmlDocGetRootElement(doc));
}

int
settings_write(struct domain *domain, const struct arguments *arguments,
               struct wiring *wiring, struct buffer *password, struct failure **failure)
{
    xmlNode *present = request_find(domain);
    xmlNode *before = present ? xmlCopyNode(present, 1) : NULL;
    struct writing writing = {
        .domain = domain,
        .element = present ? present : add_element(domain),
        .password = password,
    };
    int result;

    if (!present)
        wiring_note(wiring, "<cloud-init> added to <metadata>");
    result = write_settings(&writing, arguments, failure);
    if (result == 0 && !request_is_same(before, writing.element))
        note(arguments, wiring);
    xmlFreeNode(before);
    return result;
}
