/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/random.h>

#include "base/names.h"
#include "host/answer.h"
#include "host/domain-secret.h"
#include "host/record-file.h"
#include "seed/ssh-host-keys.h"
#include "store/pipeline.h"
#include "store/record.h"

/* The keys that Kubernetes users write, in KubeVirt's order (pkg/cloud-init). Other parts
 * use the element's name. */
static const char *const default_keys[][3] = {
    [PART_USER_DATA] = {"userdata", "userData", NULL},
    [PART_VENDOR_DATA] = {"vendordata", "vendorData", NULL},
    [PART_NETWORK_CONFIG] = {"networkdata", "networkData", NULL},
};

/* --- what a part needs -------------------------------------------------------------- */

static void
add_need(struct needs *needs, const struct part *part)
{
    const char *const given[] = {part->key ? part->key : part->element, NULL};
    const char *const *keys = given;
    struct need *need;

    switch (part->origin) {
    case PART_FILE:
        needs_add(needs, NEED_FILE, part->name);
        break;
    case PART_SECRET:
        if (part_is_whole_secret(part)) {
            needs_add(needs, NEED_WHOLE_SECRET, part->name);
            break;
        }
        if (!part->key && part->kind < ARRAY_SIZE(default_keys) &&
            default_keys[part->kind][0])
            keys = default_keys[part->kind];
        need = needs_add(needs, NEED_SECRET, part->name);
        for (size_t i = 0; i < NEED_KEYS && keys[i]; i++)
            need->keys[i] = xstrdup(keys[i]);
        break;
    case PART_GENERATED:
        needs_add(needs, NEED_HOST_KEY, NULL);
        break;
    case PART_STORED:
        needs_add(needs, NEED_PASSWORD, part->element);
        break;
    case PART_INLINE:
        break;
    }
}

/* --- the answers ---------------------------------------------------------------------- */

/* Makes a key. Return: 0 or -errno. */
static int
generate(struct buffer *key)
{
    struct {
        uint8_t secret[OPENSSH_SECRET_SIZE];
        uint32_t check;
    } random;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return -errno;
    openssh_key_append(key, random.secret, random.check);
    explicit_bzero(&random, sizeof(random));
    return 0;
}

/* Adds the private key and the public key, which is made from it, to the part. `key`, unless
 * NULL, gets what has to be published. */
static int
take_host_key(const struct domain *domain, struct part *part, struct need *need,
              struct host_key *key, struct failure **failure)
{
    struct buffer *private = part_add_entry(part, HOST_KEY_NAME);
    cleanup_free char *public = NULL;
    int error = 0;

    *private = steal_buffer(&need->entries[0].content);
    if (need->word == NEED_WORD_MAKE)
        error = generate(private);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SECRET, error,
                                 "could not make a host key");
    public = openssh_key_public(buffer_text(private));
    if (!public)
        return failure_set(
            failure, FAILURE_SSH_KEY,
            "%s/%s/" HOST_KEY_NAME " is not an OpenSSH private key\n"
            "restore it from a backup; if it is lost, remove it, and the next start makes "
            "a new one",
            scope()->domain_secrets, domain->uuid);
    if (key && need->word == NEED_WORD_MAKE)
        buffer_append(&key->private, private->data, private->size);
    if (key)
        key->public = xasprintf("%s virt-seed\n", public);
    buffer_printf(part_add_entry(part, HOST_KEY_PUBLIC_NAME), "%s virt-seed\n", public);
    return 0;
}

static int
fail_file(const struct need *need, struct failure **failure)
{
    switch (-need->error) {
    case ENOENT:
        return failure_set(failure, FAILURE_FILE,
                           "no such file in %s\n"
                           "add the file, or correct the name '%.256s'",
                           need->place, need->name);
    case EXDEV:
        return failure_set(
            failure, FAILURE_FILE,
            "the name leads out of %s\n"
            "file= and symbolic links must stay below %s; see virt-seed.conf(5) for "
            "adding directories",
            need->place, need->place);
    case EINVAL:
    case EISDIR:
        return failure_set(failure, FAILURE_FILE,
                           "not a regular file\nfile= names one file below %s",
                           need->place);
    case EFBIG:
        return failure_set(failure, FAILURE_LIMIT,
                           "has more than %lu MiB\n"
                           "let the guest fetch large files itself",
                           LIMIT_PART / MIB);
    default:
        return failure_set_errno(failure, FAILURE_FILE, need->error,
                                 "could not read it\ncheck the file: ls -l %s/%.256s",
                                 need->place, need->name);
    }
}

/* Fails because this host has none of what is kept for the domain. */
static int
fail_missing(const struct pipeline *pipeline, const struct domain *domain,
             const struct need *need, struct failure **failure)
{
    const bool is_key = need->kind == NEED_HOST_KEY;
    const bool has_booted = pipeline->migrates || pipeline->policy == PIPELINE_RESUME;
    cleanup_free char *path =
        domain_secret_path(domain->uuid, is_key ? HOST_KEY_NAME : need->name);
    cleanup_free char *directory = domain_secret_path(domain->uuid, "");
    cleanup_free char *name = xshellquote(domain->name);

    if (!is_key)
        return failure_set(
            failure, FAILURE_SECRET_MISSING,
            "%s does not exist: this host has no password for the domain\n"
            "set it: virt-seed set %s --%s-file=FILE; or copy it from the host that has "
            "it: rsync -aR HOST:%s /",
            path, name, need->name, directory);
    if (!has_booted)
        return failure_set(
            failure, FAILURE_SECRET_MISSING,
            "%s does not exist: the domain's host key has not been made yet\n"
            "start the domain: its first start makes the key",
            path);
    return failure_set(
        failure, FAILURE_SECRET_MISSING,
        "%s does not exist: the host key that the guest got at its first start\n"
        "copy it from the host where it was made: rsync -aR HOST:%s /",
        path, directory);
}

static int
take_password(const struct domain *domain, struct part *part, struct need *need,
              struct failure **failure)
{
    cleanup_free char *path = domain_secret_path(domain->uuid, need->name);
    cleanup_free char *name = xshellquote(domain->name);

    part->data = steal_buffer(&need->entries[0].content);
    if (*buffer_text(&part->data) == '$')
        return 0;
    return failure_set(failure, FAILURE_SECRET,
                       "%s does not contain a password's hash\n"
                       "set the password again: virt-seed set %s --%s-file=FILE",
                       path, name, need->name);
}

/* Moves the answer into the part. Stores a secret's key in the part; on failure the first
 * key that was tried. */
static int
take_answer(const struct pipeline *pipeline, const struct domain *domain,
            struct part *part, struct need *need, struct failure **failure)
{
    const bool is_one_secret = need->kind == NEED_SECRET;

    if (is_one_secret && !part->key)
        part->key = xstrdup(need->failure ? need->keys[0] : need->entries[0].key);
    if (need->error < 0)
        return fail_file(need, failure);
    if (need->failure) {
        *failure = steal(need->failure);
        return -1;
    }
    if (need->word == NEED_WORD_MISSING)
        return fail_missing(pipeline, domain, need, failure);
    if (need->kind == NEED_HOST_KEY)
        return take_host_key(domain, part, need, pipeline->key, failure);
    if (need->kind == NEED_PASSWORD)
        return take_password(domain, part, need, failure);
    if (need->kind != NEED_WHOLE_SECRET) {
        part->data = steal_buffer(&need->entries[0].content);
        return 0;
    }
    for (size_t i = 0; i < need->entry_count; i++)
        *part_add_entry(part, need->entries[i].key) =
            steal_buffer(&need->entries[i].content);
    return 0;
}

/* `need` is NULL if the part's bytes are in the domain's XML. */
static int
read_part(const struct pipeline *pipeline, const struct request *request,
          struct part *part, struct need *need, struct failure **failure)
{
    if (need && take_answer(pipeline, request->domain, part, need, failure) < 0)
        return part_fail(part, failure);
    if (parts_check_size(&request->parts, failure) < 0)
        return -1;
    if (pipeline->policy == PIPELINE_RESUME)
        return 0;
    return seed_check_part(request, part, failure);
}

/* Return: whether virt-seed keeps it for the domain; only root can read it. */
static bool
is_kept(const struct part *part)
{
    return part->origin == PART_GENERATED || part->origin == PART_STORED;
}

/* Does what the policy says. A generated part may not exist yet. Return: 0, with the failure
 * cleared, to continue with the next part. */
static int
handle_failed_part(const struct pipeline *pipeline, struct part *part,
                   struct failure **failure)
{
    enum failure_code code = (*failure)->code;
    bool missing = part->origin == PART_GENERATED && code == FAILURE_SECRET_MISSING;
    bool unreadable = code == FAILURE_SECRET_UNREADABLE;

    if (pipeline->policy == PIPELINE_COLLECT) {
        bool is_no_fault = unreadable ? is_kept(part) : missing && !pipeline->migrates;

        if (is_no_fault)
            failure_free(steal(*failure));
        else
            pipeline->found(pipeline->data, failure);
        return 0;
    }
    if (pipeline->policy != PIPELINE_MASK || (!missing && !unreadable))
        return -1;
    if (missing || *pipeline->denied)
        failure_free(steal(*failure));
    else
        *pipeline->denied = steal(*failure);
    part_mask(part);
    return 0;
}

/* --- all of it -------------------------------------------------------------------- */

/*
 * In vendor-data, so that user-data overrides it. As a key 'user', cloud-init would make
 * this user in addition to those that user-data lists without "default"
 * (distros/ug_util.py).
 */
static void
add_default_user(struct parts *parts, const struct host_default *user)
{
    struct part *part = parts_add_of_host(parts, PART_VENDOR_DATA, "default-user",
                                          user->value, user->file);

    part->origin = PART_INLINE;
    buffer_printf(&part->data,
                  "#cloud-config\nsystem_info: {default_user: {name: \"%s\"}}\n",
                  user->value);
}

static void
add_defaults(struct request *request, const struct config *config)
{
    const struct initialization *initialization = request->initialization;
    const struct host_default *keys = &config->default_keys;
    const struct host_default *vendor_data = &config->vendor_data;
    const bool names_user = initialization && initialization->user_name;

    if (keys->value && request->ssh_key_count == 0 &&
        !parts_find(&request->parts, PART_SSH_KEYS))
        parts_add_of_host(&request->parts, PART_SSH_KEYS, "default-ssh-keys", keys->value,
                          keys->file);
    if (vendor_data->value)
        parts_add_of_host(&request->parts, PART_VENDOR_DATA, "vendor-data",
                          vendor_data->value, vendor_data->file);
    if (config->default_user.value && !names_user && !domain_is_windows(request->domain))
        add_default_user(&request->parts, &config->default_user);
}

/* Return: whether the caller does not read the part: it takes a permission, and the output
 * is the same. */
static bool
is_unread(const struct pipeline *pipeline, const struct part *part)
{
    return pipeline->hides && is_kept(part);
}

int
pipeline_begin(const struct pipeline *pipeline, const struct host *host,
               const struct domain *domain, struct request *request, struct needs *needs,
               struct failure **failure)
{
    cleanup_record struct record record = {0};
    cleanup_buffer struct buffer text = {0};

    if (request_read(request, domain, failure) < 0)
        return -1;
    if (!request->payload && !request->raw)
        add_defaults(request, pipeline->config);
    if (request->until_done && (host->read_record(host->data, &text, failure) < 0 ||
                                record_parse(&record, &text, failure) < 0)) {
        if (pipeline->policy != PIPELINE_COLLECT)
            return -1;
        pipeline->found(pipeline->data, failure);
    }
    if (record.done)
        request_keep_identity(request);
    for (size_t i = 0; i < request->parts.count; i++) {
        if (!is_unread(pipeline, request->parts.list[i]))
            add_need(needs, request->parts.list[i]);
    }
    return 0;
}

int
pipeline_finish(const struct pipeline *pipeline, struct request *request,
                struct needs *needs, struct failure **failure)
{
    struct need *need = needs->list;

    for (size_t i = 0; i < request->parts.count; i++) {
        struct part *part = request->parts.list[i];
        const bool is_read = !is_unread(pipeline, part);
        const bool is_inline = part->origin == PART_INLINE;
        cleanup_failure struct failure *too_large = NULL;

        if (is_read &&
            read_part(pipeline, request, part, is_inline ? NULL : need, failure) < 0 &&
            handle_failed_part(pipeline, part, failure) < 0)
            return -1;
        if (is_read && !is_inline)
            need++;
        if (pipeline->hides)
            part_mask(part);
        /* Report the limit of the total size only once. */
        if (pipeline->policy == PIPELINE_COLLECT &&
            parts_check_size(&request->parts, &too_large) < 0)
            return 0;
    }
    return 0;
}

/* --- on this host ---------------------------------------------------------------------- */

static int
read_record(void *data, struct buffer *text, struct failure **failure)
{
    const struct answerer *answerer = data;

    return record_read_text(answerer->root, answerer->domain.uuid, text, failure);
}

struct host
answerer_host(struct answerer *answerer)
{
    return (struct host){
        .data = answerer, .read_record = read_record, .answer = answerer_answer};
}

static struct answerer
make_answerer(const struct pipeline *pipeline, int root, const struct domain *domain)
{
    return (struct answerer){
        .root = root,
        .config = &pipeline->config->files,
        .domain = {.uuid = domain->uuid, .name = domain->name},
    };
}

int
pipeline_read(const struct pipeline *pipeline, int root, const struct domain *domain,
              struct request *request, struct failure **failure)
{
    struct answerer answerer = make_answerer(pipeline, root, domain);
    const struct host host = answerer_host(&answerer);
    cleanup_needs struct needs needs = {0};

    if (pipeline_begin(pipeline, &host, domain, request, &needs, failure) < 0)
        return -1;
    host.answer(host.data, &needs);
    return pipeline_finish(pipeline, request, &needs, failure);
}

int
pipeline_read_part(const struct pipeline *pipeline, int root,
                   const struct request *request, struct part *part,
                   struct failure **failure)
{
    struct answerer answerer = make_answerer(pipeline, root, request->domain);
    const struct host host = answerer_host(&answerer);
    cleanup_needs struct needs needs = {0};

    add_need(&needs, part);
    host.answer(host.data, &needs);
    return read_part(pipeline, request, part, needs.list, failure);
}
