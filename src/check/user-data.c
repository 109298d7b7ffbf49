/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of user-data and vendor-data, and values in cloud-configs that YAML reads
 * differently from what cloud-init's modules expect. Unknown keys are left to cloud-init's
 * schema (schema.c). */
#include "config.h"

#include "base/json.h"
#include "check/check.h"

/* Return: the format of user-data or vendor-data; USER_DATA_UNKNOWN for other parts, and if
 * it is empty or masked. */
static enum user_data_kind
document_kind(const struct part *part)
{
    if (part->kind != PART_USER_DATA && part->kind != PART_VENDOR_DATA)
        return USER_DATA_UNKNOWN;
    if (part->data.size == 0 || part->masked || part->raw)
        return USER_DATA_UNKNOWN;
    return user_data_kind(part->data.data, part->data.size);
}

/* 'locale: false' leaves the locale alone. */
static bool
is_no_locale(const struct check *check, const struct yaml_node *node)
{
    return rule_no_text(check, node) &&
           !(node->type == YAML_BOOLEAN && !node->value.boolean);
}

/* A mapping of users is by their names, so {name: bob} is a user 'name'. */
static bool
is_one_user(const struct check *check, const struct yaml_node *node)
{
    return yaml_get(node, "name") != NULL;
}

static const struct rule rules[] = {
    {PATHS("locale"), is_no_locale, EXPECTS_TEXT},
    {PATHS("users"), is_one_user, WARNING_YAML_TYPE,
     "is a mapping, whose keys cloud-init takes for the users' names",
     "write a list: - name: NAME"},
    {PATHS("hostname", "fqdn", "timezone", "password", "phone_home.url", "final_message",
           "runcmd.*", "bootcmd.*", "chpasswd.list", "chpasswd.users.*.name",
           "chpasswd.users.*.password", "groups.*", "users.*", "users.*.name",
           "users.*.gecos", "users.*.passwd", "users.*.hashed_passwd",
           "users.*.plain_text_passwd", "users.*.primary_group", "users.*.expiredate",
           "users.*.inactive", "write_files.*.path", "write_files.*.content",
           "write_files.*.owner", "write_files.*.permissions"),
     RULE_TEXT},
    {PATHS("runcmd.*.*", "bootcmd.*.*", "packages.*.*", "mounts.*.*"), RULE_AS_WRITTEN},
    {PATHS("users.*.lock_passwd", "users.*.no_create_home", "users.*.system"),
     RULE_BOOLEAN},
    {.paths = NULL},
};

bool
check_is_cloud_config(const struct part *part)
{
    if (part->kind != PART_VALUE)
        return document_kind(part) == USER_DATA_CLOUD_CONFIG;
    if (part->data.size == 0 || part->masked ||
        strcmp(part->element, "custom_script") != 0)
        return false;
    return user_data_kind(part->data.data, part->data.size) == USER_DATA_CLOUD_CONFIG ||
           user_data_lacks_header(part->data.data, part->data.size);
}

/* --- documents and their parts ----------------------------------------------------- */

struct walk {
    const struct check *check;
    const struct part *part;
    check_piece *visit;
    void *context;
};

static int
visit_piece(void *data, const struct user_data_piece *piece, struct failure **failure)
{
    const struct walk *walk = data;
    struct part part = *walk->part;

    /* Borrowed, like all of it. */
    part.data = (struct buffer){.data = (char *)piece->data, .size = piece->size};
    part.number = piece->number;
    walk->visit(walk->check, &part, piece->kind, walk->context);
    return 0;
}

bool
check_each_piece(const struct check *check, const struct part *part, check_piece *visit,
                 void *context)
{
    cleanup_failure struct failure *ignored = NULL;
    struct walk walk = {check, part, visit, context};

    if (check_is_cloud_config(part)) {
        visit(check, part, USER_DATA_CLOUD_CONFIG, context);
        return true;
    }
    return document_kind(part) != USER_DATA_UNKNOWN &&
           user_data_walk(part->data.data, part->data.size, visit_piece, &walk,
                          &ignored) == 0;
}

/* --- what cloud-init would drop ---------------------------------------------------- */

/* What the parts of user-data, or of vendor-data, have been so far. */
struct progress {
    json_t *keys;        /* a set of those at the top of cloud-configs */
    bool keys_uncertain; /* there may be others */
    bool has_handler;    /* a part-handler may know other types */
};

static void
add_keys(struct progress *progress, const struct yaml_node *root)
{
    yaml_foreach(item, root) {
        if (item->key && item->key->type != YAML_MERGE)
            json_set(progress->keys, item->key->text, json_null());
        else
            progress->keys_uncertain = true;
    }
}

/* Return: whether the JSON pointer leads below a key that there is. */
static bool
has_key_of(const struct progress *progress, const char *pointer, bool adds)
{
    const char *key = pointer + (*pointer == '/');
    const size_t length = strcspn(key, "/");
    cleanup_free char *name = xstrndup(key, length);

    if (!*pointer || strchr(name, '~') || (adds && !key[length])) {
        json_set(progress->keys, name, json_null());
        return true;
    }
    return json_object_get(progress->keys, name);
}

/* Python's JSON also takes NaN and others, which are left to the guest. */
static void
check_patch(const struct check *check, const struct part *part, struct progress *progress)
{
    const char *text = buffer_text(&part->data);
    const char *end = text + part->data.size;
    const char *start = memmem(text, part->data.size, "[", 1);
    cleanup_json json_t *patch = NULL;
    size_t index;
    json_t *operation;

    if (start)
        patch = json_loadb(start, (size_t)(end - start), 0, NULL);
    if (!patch && !memmem(text, part->data.size, "NaN", 3) &&
        !memmem(text, part->data.size, "Infinity", 8))
        check_warn_of(check, WARNING_IGNORED, part, 0, "correct it: RFC 6902 says how",
                      " is not a JSON patch, so cloud-init drops it");
    json_array_foreach(patch, index, operation) {
        const char *word = json_string_value(json_object_get(operation, "op"));
        const char *path = json_string_value(json_object_get(operation, "path"));
        const char *from = json_string_value(json_object_get(operation, "from"));
        const bool adds = word && (strcmp(word, "add") == 0 || from);

        if (!path || progress->keys_uncertain)
            return;
        if ((!from || has_key_of(progress, from, false)) &&
            has_key_of(progress, path, adds))
            continue;
        check_warn_of(
            check, WARNING_IGNORED, part, 0,
            "put the cloud-config that it changes before it, or add the key first",
            ": operation %zu of the JSON patch finds nothing to change, so "
            "cloud-init drops the patch",
            index + 1);
        return;
    }
}

/* A line holds one URL; cloud-init asks for all of it. */
static void
check_include(const struct check *check, const struct part *part)
{
    cleanup_free char *text = xstrdup(buffer_text(&part->data));
    char *rest = text;
    int number = 0;

    for (char *line; (line = strsep(&rest, "\n"));) {
        number++;
        if (strncasecmp(line, "#include-once", strlen("#include-once")) == 0)
            line += strlen("#include-once");
        else if (strncasecmp(line, "#include", strlen("#include")) == 0)
            line += strlen("#include");
        line = text_trim(line);
        if (*line == '#' || *line == '/' || !*line)
            continue;
        if (strstr(line, "://") && !strpbrk(line, " \t"))
            continue;
        check_warn_of(
            check, WARNING_INCLUDE, part, number,
            "write one URL on each line, without a comment after it",
            ": not a URL alone, which ends cloud-init's init stage with an error");
        return;
    }
}

/* --- values ------------------------------------------------------------------------ */

/* Return: whether text that jinja would replace is there. */
static bool
looks_like_template(const struct buffer *data)
{
    static const char *const names[] = {"ds.meta_data.",  "v1.local_hostname",
                                        "v1.instance_id", "v1.region",
                                        "v1.cloud_name",  "v1.distro"};
    const char *at = data->data;
    const char *end = at + data->size;

    while ((at = memmem(at, (size_t)(end - at), "{{", 2))) {
        at += 2;
        while (at < end && (*at == ' ' || *at == '-'))
            at++;
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
            const size_t length = strlen(names[i]);

            if ((size_t)(end - at) >= length && memcmp(at, names[i], length) == 0)
                return true;
        }
    }
    return false;
}

static void
check_document(const struct check *check, const struct part *part,
               enum user_data_kind kind, void *context)
{
    struct progress *progress = context;
    cleanup_yaml struct yaml yaml = {0};
    const struct yaml_node *root =
        kind == USER_DATA_CLOUD_CONFIG ? rules_read(&yaml, part) : NULL;

    if (kind == USER_DATA_TEMPLATE)
        check_warn_of(check, WARNING_UNSEEN, part, 0,
                      "put what needs no metadata into a user-data element of its own",
                      " is a template, so what the guest makes of it was not checked");
    else if (kind == USER_DATA_GZIP || kind == USER_DATA_MIME)
        check_warn_of(
            check, WARNING_UNSEEN, part, 0,
            "put it into its own user-data element: virt-seed combines them",
            " is packed in a way that was not taken apart, so it was not checked");
    else if (kind == USER_DATA_UNKNOWN && !progress->has_handler)
        check_warn_of(
            check, WARNING_IGNORED, part, 0,
            "give it the type of its content, such as text/cloud-config",
            " has a type that cloud-init knows nothing of, and would be dropped");
    else if (kind == USER_DATA_INCLUDE || kind == USER_DATA_INCLUDE_ONCE)
        check_include(check, part);
    else if (kind == USER_DATA_JSONP)
        check_patch(check, part, progress);
    else if (looks_like_template(&part->data))
        check_warn_of(
            check, WARNING_IGNORED, part, 0,
            "begin with '## template: jinja', and put the present first line second",
            " has jinja's tags without the header of a template, so the guest gets "
            "them as they are");
    if (root) {
        rules_apply(check, part, root, rules);
        add_keys(progress, root);
    } else {
        progress->has_handler |= kind == USER_DATA_PART_HANDLER;
        progress->keys_uncertain |=
            kind != USER_DATA_SCRIPT && kind != USER_DATA_BOOTHOOK &&
            kind != USER_DATA_JSONP && kind != USER_DATA_CLOUD_CONFIG;
    }
}

static void
warn_of_raw(const struct check *check, const struct part *part)
{
    check_warn_of(
        check, WARNING_UNSEEN, part, 0,
        "look in the guest whether it worked; remove format= if it runs cloud-init",
        " is for another program than cloud-init (format=\"raw\"): it was not "
        "checked, the guest gets nothing else, and it sends no report");
}

static void
check_kind(const struct check *check, enum part_kind kind, struct progress *progress)
{
    for (size_t i = 0; i < check->request->parts.count; i++) {
        const struct part *part = check->request->parts.list[i];

        if (part->kind != kind)
            continue;
        if (part->raw)
            warn_of_raw(check, part);
        else
            check_each_piece(check, part, check_document, progress);
        progress->keys_uncertain |= part->masked;
    }
}

void
check_user_data(const struct check *check)
{
    cleanup_json json_t *keys = json_object(), *vendor_keys = json_object();
    struct progress user = {.keys = keys}, vendor = {.keys = vendor_keys};

    /* The custom script comes first. */
    check_kind(check, PART_VALUE, &user);
    check_kind(check, PART_USER_DATA, &user);
    check_kind(check, PART_VENDOR_DATA, &vendor);
}
