/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fnmatch.h>

#include "base/json.h"
#include "base/names.h"
#include "seed/ssh-host-keys.h"
#include "seed/writers.h"
#include "seed/yaml.h"

/* --- users and passwords ---------------------------------------------------------- */

/* Without "default", the image's own user would not be created. */
static void
set_users(json_t *config, const struct initialization *initialization)
{
    const char *name = initialization->user_name;
    cleanup_json json_t *list = json_pack("[s]", "default");

    for (size_t i = 0; i < initialization->user_count; i++) {
        const struct initialization_user *user = &initialization->users[i];
        json_t *object = json_pack("{s:s}", "name", user->name);

        json_set_texts(object, "ssh_authorized_keys", user->ssh_keys,
                       user->ssh_key_count);
        json_add(list, object);
    }
    if (name)
        json_set(config, "user", json_pack("{s:s}", "name", name));
    if (initialization->user_count > 0)
        json_set(config, "users", json_incref(list));
    if (initialization->root_has_keys || (name && strcmp(name, "root") == 0))
        json_set(config, "disable_root", json_false());
}

/* The form of a hash from crypt(5): '$', the method, '$', its parts. In shadow(5), a colon
 * would end it. */
static bool
is_hash(const char *password)
{
    static const char pattern[] = "$@(1|2a|2b|2y|5|6|7|y|gy)$*$*";

    return !strpbrk(password, ": *!\\") && fnmatch(pattern, password, FNM_EXTMATCH) == 0;
}

static void
add_password(json_t *list, const char *user, const struct part *part)
{
    cleanup_free char *password = part_word(part);
    const char *type = is_hash(password) ? "hash" : "text";

    json_add(list, json_pack("{s:s, s:o, s:s}", "name", user, "password",
                             json_outside_string(password), "type", type));
}

/*
 * Uses chpasswd's "users": "list" is deprecated, and plain_text_passwd alone would not do,
 * because the lock_passwd of the image's own user has precedence and locks it again.
 */
static void
set_passwords(json_t *config, const struct initialization *initialization)
{
    cleanup_json json_t *list = json_array();

    if (initialization->root_password)
        add_password(list, "root", initialization->root_password);
    for (size_t i = 0; i < initialization->user_count; i++) {
        const struct initialization_user *user = &initialization->users[i];

        if (user->password)
            add_password(list, user->name, user->password);
    }
    if (json_array_size(list) == 0)
        return;
    json_set(config, "chpasswd", json_pack("{s:b, s:O}", "expire", 0, "users", list));
    json_set(config, "ssh_pwauth", json_true());
}

/* Return: the default user's own options. Those of "user" must have a name; without one, the
 * image chooses it, and its options are in system_info. */
static json_t *
options_of_default_user(json_t *config)
{
    json_t *user = json_object_get(config, "user");
    json_t *system = json_object();

    if (user)
        return user;
    user = json_object();
    json_set(system, "default_user", user);
    json_set(config, "system_info", system);
    return user;
}

/*
 * Adds the hashes that 'virt-seed set' stored. The image chooses the default user's name:
 * "password" needs none, and works in all versions, also if user-data names another default
 * user; but cloud-init ignores it if chpasswd has "users".
 */
static void
add_stored_passwords(json_t *config, const struct part *user, const struct part *root)
{
    json_t *chpasswd = json_object_get(config, "chpasswd");
    json_t *users, *options;

    if (!chpasswd) {
        chpasswd = json_pack("{s:b}", "expire", 0);
        json_set(config, "chpasswd", chpasswd);
    }
    if (root && !json_object_get(chpasswd, "users"))
        json_set(chpasswd, "users", json_array());
    users = json_object_get(chpasswd, "users");
    if (root) {
        cleanup_free char *hash = part_word(root);

        json_add(users, json_pack("{s:s, s:s, s:s}", "name", "root", "password", hash,
                                  "type", "hash"));
    }
    if (user) {
        cleanup_free char *hash = part_word(user);

        json_set_string(config, "password", hash);
        if (!users)
            return;
        options = options_of_default_user(config);
        json_set_string(options, "hashed_passwd", hash);
        json_set(options, "lock_passwd", json_false());
    }
}

/* cloud-init before 22.2 does not know chpasswd's "users", and would turn on password
 * log-in with no password set. All versions take passwords from the list of users, too,
 * and root's, who exists. There must be a list already: it replaces the image's own. */
static void
repeat_passwords(json_t *config)
{
    json_t *passwords = json_object_get(json_object_get(config, "chpasswd"), "users");
    json_t *default_user = json_object_get(config, "user");
    json_t *users = json_object_get(config, "users");
    size_t index, i;
    json_t *password, *user;

    if (!users)
        return;
    json_array_foreach(passwords, index, password) {
        json_t *name = json_object_get(password, "name");
        const char *type = json_string_value(json_object_get(password, "type"));
        json_t *found = NULL;

        json_array_foreach(users, i, user) {
            if (json_equal(json_object_get(user, "name"), name))
                found = user;
        }
        if (!found) {
            found = json_pack("{s:O}", "name", name);
            json_add(users, found);
        }
        json_set(found, strcmp(type, "hash") == 0 ? "hashed_passwd" : "plain_text_passwd",
                 json_incref(json_object_get(password, "password")));
        json_set(found, "lock_passwd", json_false());
        if (json_equal(json_object_get(default_user, "name"), name))
            json_set(default_user, "lock_passwd", json_false());
    }
}

/* --- the document ----------------------------------------------------------------- */

/* By default, write_files gives them to root, with mode 0644. */
static void
set_files(json_t *config, const struct initialization *initialization)
{
    json_t *list = json_array();

    for (size_t i = 0; i < initialization->file_count; i++) {
        const char *path = initialization->files[i].path;
        const struct part *content = initialization->files[i].content;
        const struct buffer *data = &content->data;
        cleanup_buffer struct buffer encoded = {0};
        const char *encoding = content->masked ? NULL : "b64";

        if (encoding)
            base64_encode(&encoded, data->data, data->size, 0);
        json_add(list, json_pack("{s:s, s:s*, s:s}", "path", path, "encoding", encoding,
                                 "content", buffer_text(encoding ? &encoded : data)));
    }
    json_set(config, "write_files", list);
}

static void
set_initialization(json_t *config, const struct request *request)
{
    const struct initialization *initialization = request->initialization;

    set_users(config, initialization);
    set_passwords(config, initialization);
    if (initialization->timezone)
        json_set_string(config, "timezone", initialization->timezone);
    if (initialization->locale)
        json_set_string(config, "locale", initialization->locale);
    if (initialization->file_count > 0 && !request->datasource->has_files)
        set_files(config, initialization);
    if (initialization->phone_home)
        json_set(config, "phone_home",
                 json_pack("{s:s, s:s, s:i}", "url", initialization->phone_home, "post",
                           "all", "tries", 10));
}

void
cloud_config_write(struct buffer *buffer, const struct request *request,
                   struct instance_id *id)
{
    const struct part *keys = parts_find(&request->parts, PART_SSH_HOST_KEYS);
    const struct part *password = parts_find(&request->parts, PART_PASSWORD);
    const struct part *root_password = parts_find(&request->parts, PART_ROOT_PASSWORD);
    enum initialization_choice renew = INITIALIZATION_UNSAID;
    cleanup_json json_t *config = json_object();

    if (request->initialization) {
        renew = request->initialization->regenerate_ssh_keys;
        set_initialization(config, request);
    }
    /* A guest that is given keys has no others: everyone who has the image knows the
     * image's. */
    if (keys || renew != INITIALIZATION_UNSAID)
        json_set(config, "ssh_deletekeys",
                 json_boolean(keys || renew == INITIALIZATION_YES));
    if (keys)
        json_set(config, "ssh_keys", ssh_host_keys_to_json(keys));
    if (json_object_size(config) == 0 && !password && !root_password)
        return;
    if (id->request->covers & COVER_USER_DATA) {
        cleanup_json json_t *covered = json_copy(config);

        /* That there are such keys and passwords, but not which. */
        if (keys && keys->origin == PART_GENERATED)
            json_set_string(covered, "ssh_keys", "generate");
        if (password)
            json_set_string(covered, PASSWORD_NAME, "stored");
        if (root_password)
            json_set_string(covered, ROOT_PASSWORD_NAME, "stored");
        instance_id_add_json(id, COVER_USER_DATA, "cloud-config", covered);
    }
    if (password || root_password)
        add_stored_passwords(config, password, root_password);
    /* After the instance-id, for it covers each password once. */
    repeat_passwords(config);
    buffer_append_string(buffer, "#cloud-config\n");
    yaml_text_append(buffer, config);
}
