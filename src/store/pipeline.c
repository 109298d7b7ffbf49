/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "store/domain-secret.h"
#include "store/host-key.h"
#include "store/pipeline.h"
#include "store/record.h"
#include "store/secret.h"

/* The keys that Kubernetes users write, in KubeVirt's order (pkg/cloud-init). Other parts
 * use the element's name. */
static const char *const default_keys[][3] = {
    [PART_USER_DATA] = {"userdata", "userData", NULL},
    [PART_VENDOR_DATA] = {"vendordata", "vendorData", NULL},
    [PART_NETWORK_CONFIG] = {"networkdata", "networkData", NULL},
};

/* --- files ------------------------------------------------------------------------ */

/* `directory` is the one with the file, or the first if none has it. */
static int
fail_file(const struct config *config, const char *directory, const char *name, int error,
          struct failure **failure)
{
    switch (-error) {
    case ENOENT:
        return failure_set(
            failure, FAILURE_FILE,
            "no such file in %s%s\n"
            "add the file, or correct the name '%.256s'",
            directory,
            config->file_directory_count > 1 ? " and the other file directories" : "",
            name);
    case EXDEV:
        return failure_set(
            failure, FAILURE_FILE,
            "the name leads out of %s\n"
            "file= and symbolic links must stay below %s; see virt-seed.conf(5) for "
            "adding directories",
            directory, directory);
    case EINVAL:
    case EISDIR:
        return failure_set(failure, FAILURE_FILE,
                           "not a regular file\nfile= names one file below %s",
                           directory);
    case EFBIG:
        return failure_set(failure, FAILURE_LIMIT,
                           "has more than %lu MiB\n"
                           "let the guest fetch large files itself",
                           LIMIT_PART / MIB);
    default:
        return failure_set_errno(failure, FAILURE_FILE, error,
                                 "could not read it\ncheck the file: ls -l %s/%.256s",
                                 directory, name);
    }
}

static int
read_file(struct part *part, int root, const struct config *config,
          struct failure **failure)
{
    const char *place = config->file_directories[0];
    int error = -ENOENT;

    for (size_t i = 0; i < config->file_directory_count; i++) {
        cleanup_close int directory =
            fs_open_directory_in_root(root, config->file_directories[i]);
        cleanup_close int fd = directory;

        if (directory >= 0)
            fd = fs_open_regular_beneath(directory, part->name, NULL);
        error = fd < 0 ? fd : fs_read_all(fd, LIMIT_PART, &part->data);
        if (error == -ENOTDIR)
            error = -ENOENT;
        if (error != -ENOENT) {
            place = config->file_directories[i];
            break;
        }
    }
    return error < 0 ? fail_file(config, place, part->name, error, failure) : 0;
}

/* --- secrets ---------------------------------------------------------------------- */

static void
take_key(void *data, const char *key, struct buffer *content)
{
    *part_add_entry(data, key) = steal_buffer(content);
}

static int
read_secret(struct part *part, int root, const struct domain *domain,
            struct failure **failure)
{
    const char *const given[] = {part->key ? part->key : part->element, NULL};
    const char *const *keys = given;
    const char *found;
    int result;

    if (part_is_whole_secret(part))
        return secret_read_all(root, domain, part->name, take_key, part, failure);
    if (!part->key && part->kind < ARRAY_SIZE(default_keys) &&
        default_keys[part->kind][0])
        keys = default_keys[part->kind];
    found = keys[0];
    result = secret_read(root, domain, part->name, keys, &part->data, &found, failure);
    if (!part->key)
        part->key = xstrdup(found);
    return result;
}

/* --- one part --------------------------------------------------------------------- */

int
pipeline_read_part(const struct pipeline *pipeline, const struct request *request,
                   struct part *part, struct failure **failure)
{
    const bool cold_boot = pipeline->policy == PIPELINE_COLD_BOOT;
    const bool resume = pipeline->policy == PIPELINE_RESUME;
    const struct domain *domain = request->domain;
    const int root = pipeline->root;
    int result = 0;

    switch (part->origin) {
    case PART_FILE:
        result = read_file(part, root, pipeline->config, failure);
        break;
    case PART_SECRET:
        result = read_secret(part, root, domain, failure);
        break;
    case PART_GENERATED:
        /* Commands do not make it. */
        if (cold_boot || resume)
            result = host_key_prepare(root, domain->uuid, cold_boot, part, failure);
        else
            result = host_key_read(root, domain->uuid, pipeline->migrates, part, failure);
        break;
    case PART_STORED:
        result = password_read(root, domain, part, failure);
        break;
    case PART_INLINE:
        break;
    }
    if (result < 0)
        return part_fail(part, failure);
    if (parts_check_size(&request->parts, failure) < 0)
        return -1;
    return resume ? 0 : seed_check_part(request, part, failure);
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

int
pipeline_read(const struct pipeline *pipeline, const struct domain *domain,
              struct request *request, struct failure **failure)
{
    const struct config *config = pipeline->config;
    cleanup_record struct record record = {0};

    if (request_read(request, domain, failure) < 0)
        return -1;
    if (!request->payload)
        add_defaults(request, config);
    if (request->until_done &&
        record_read(pipeline->root, domain->uuid, &record, failure) < 0) {
        if (pipeline->policy != PIPELINE_COLLECT)
            return -1;
        pipeline->found(pipeline->data, failure);
    }
    if (record.done)
        request_keep_identity(request);
    for (size_t i = 0; i < request->parts.count; i++) {
        struct part *part = request->parts.list[i];
        /* Reading it takes a permission, and the output is the same. */
        const bool is_unread = pipeline->hides && is_kept(part);
        cleanup_failure struct failure *too_large = NULL;

        if (!is_unread && pipeline_read_part(pipeline, request, part, failure) < 0 &&
            handle_failed_part(pipeline, part, failure) < 0)
            return -1;
        if (pipeline->hides)
            part_mask(part);
        /* Report the limit of the total size only once. */
        if (pipeline->policy == PIPELINE_COLLECT &&
            parts_check_size(&request->parts, &too_large) < 0)
            return 0;
    }
    return 0;
}
