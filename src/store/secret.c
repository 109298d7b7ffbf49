/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <uuid.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/secret.h"

#define SECRETS SECRET_DIRECTORY
#define ALLOW "allow"

/* --- checks ----------------------------------------------------------------------- */

/* What Kubernetes allows for both (validation.IsConfigMapKey); in a mounted Secret, names
 * that begin with ".." are internal to Kubernetes. */
int
secret_check_name(const char *what, const char *name, struct failure **failure)
{
    size_t length = strlen(name);
    bool wrong = strcmp(name, ".") == 0 || strncmp(name, "..", 2) == 0;

    wrong = wrong || length == 0 || length > LIMIT_SECRET_NAME;
    for (const char *at = name; *at && !wrong; at++)
        wrong = !isascii(*at) || (!isalnum((unsigned char)*at) && !strchr("-_.", *at));
    if (!wrong)
        return 0;
    return failure_set(
        failure, FAILURE_SECRET_NAME,
        "%s=\"%.64s\" is not a valid secret name\n"
        "use letters, digits, '-', '_' and '.', without '/' and without a leading '..': "
        "the secret is a directory in " SECRETS,
        what, name);
}

int
secret_check_key(const char *key, struct failure **failure)
{
    if (strcmp(key, ALLOW) != 0)
        return secret_check_name("key", key, failure);
    return failure_set(failure, FAILURE_SECRET_NAME,
                       "key=\"" ALLOW "\" is the list of domains, not content\n"
                       "give the file with the content another name");
}

int
secret_check_closed(int fd, const char *path, struct failure **failure)
{
    /* For getxattr(2) of a descriptor that does not open the file. */
    cleanup_free char *link = xasprintf("/proc/self/fd/%d", fd);
    struct stat status;
    bool is_open;

    if (fstat(fd, &status) < 0)
        return failure_set_errno(failure, FAILURE_SECRET, errno, "could not check %s",
                                 path);
    if (status.st_uid != 0 && status.st_uid != geteuid())
        return failure_set(
            failure, FAILURE_SECRET_MODE,
            "%s belongs to user %ld, expected root\nrun chown root:root %s", path,
            (long)status.st_uid, path);
    is_open = status.st_mode & 07;
    /* With an ACL (acl(5)), the group's permissions may be for any user. */
    if (status.st_mode & 070)
        is_open = is_open || status.st_gid != 0 ||
                  getxattr(link, "system.posix_acl_access", NULL, 0) > 0;
    if (!is_open)
        return 0;
    return failure_set(failure, FAILURE_SECRET_MODE,
                       "%s has mode %04o: others may read or write it\n"
                       "run chmod go= %s, and treat the secret as leaked",
                       path, status.st_mode & 07777, path);
}

static int
fail_open(int error, const char *path, struct failure **failure)
{
    switch (-error) {
    case ENOENT:
        return failure_set(
            failure, FAILURE_SECRET_MISSING,
            "%s does not exist\ncreate it, closed to others: install -m 0600 FILE %s",
            path, path);
    case EXDEV:
        return failure_set(failure, FAILURE_SECRET,
                           "%s leads out of its directory\n"
                           "replace the symbolic link with a copy of the file",
                           path);
    case EINVAL:
    case EISDIR:
    case ENOTDIR:
        return failure_set(
            failure, FAILURE_SECRET,
            "%s is not a regular file\n"
            "a secret is a directory with one regular file for each key: " SECRETS
            "/NAME/KEY",
            path);
    case EACCES:
    case EPERM:
        return failure_set(failure, FAILURE_SECRET_UNREADABLE,
                           "no permission to read %s\nrun the command as root", path);
    default:
        return failure_set_errno(failure, FAILURE_SECRET, error,
                                 "could not open %s\ncheck the file: ls -l %s", path,
                                 path);
    }
}

/* --- opening ---------------------------------------------------------------------- */

int
secret_open_directory(int root, const char *path, struct failure **failure)
{
    cleanup_close int fd = fs_open_directory_in_root(root, path);

    if (fd < 0)
        return fail_open(fd, path, failure);
    return secret_check_closed(fd, path, failure) < 0 ? -1 : steal_fd(fd);
}

int
secret_read_file(int directory, const char *name, const char *path, size_t limit,
                 struct buffer *content, struct failure **failure)
{
    cleanup_close int fd = fs_open_regular_beneath(directory, name, NULL);
    int error;

    if (fd < 0)
        return fail_open(fd, path, failure);
    if (secret_check_closed(fd, path, failure) < 0)
        return -1;
    error = fs_read_all(fd, limit, content);
    if (error == -EFBIG)
        return failure_set(failure, FAILURE_LIMIT,
                           "%s has more than %zu KiB\n"
                           "let the guest fetch large files itself",
                           path, limit / KIB);
    if (error < 0)
        return failure_set_errno(failure, FAILURE_SECRET, error,
                                 "could not read %s\ncheck the file: ls -l %s", path,
                                 path);
    return 0;
}

static int
read_key(int secret, const char *name, const char *key, size_t limit,
         struct buffer *content, struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s/%s", SECRETS, name, key);

    return secret_read_file(secret, key, path, limit, content, failure);
}

/* --- who may ---------------------------------------------------------------------- */

static int
check_allowed(int secret, const char *name, const struct secret_user *user,
              struct failure **failure)
{
    cleanup_buffer struct buffer list = {0};
    struct stat status;
    char *rest;

    /* A broken link is an unreadable list, not a missing one. */
    if (fstatat(secret, ALLOW, &status, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        return 0;
    if (read_key(secret, name, ALLOW, LIMIT_CONFIG, &list, failure) < 0)
        return -1;
    rest = list.data;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        uuid_t uuid;
        bool matches;

        line += strspn(line, " \t");
        line[strcspn(line, " \t\r#")] = '\0';
        /* A line that is a UUID means only that domain, not one with such a name. */
        if (uuid_parse(line, uuid) == 0)
            matches = strcasecmp(line, user->uuid) == 0;
        else
            matches = *line && fnmatch(line, user->name, 0) == 0;
        if (matches)
            return 0;
    }
    return failure_set(failure, FAILURE_SECRET_DENIED,
                       "domain '%s' may not use the secret '%s'\n"
                       "add its UUID or a pattern of its name to " SECRETS "/%s/" ALLOW,
                       user->name, name, name);
}

/* --- reading ---------------------------------------------------------------------- */

/* Return: the secret's directory, which the domain may use, or -1. */
static int
open_allowed(int root, const struct secret_user *user, const char *name,
             struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s", SECRETS, name);
    cleanup_close int secrets = -1;
    cleanup_close int secret = -1;

    if (secret_check_name("secret", name, failure) < 0)
        return -1;
    secrets = fs_open_directory_in_root(root, SECRETS);
    if (secrets < 0 && secrets != -ENOENT)
        return fail_open(secrets, SECRETS, failure);
    if (secrets >= 0 && secret_check_closed(secrets, SECRETS, failure) < 0)
        return -1;
    secret = secrets < 0 ? secrets : fs_open_beneath(secrets, name, O_DIRECTORY);
    if (secret == -ENOENT)
        return failure_set(
            failure, FAILURE_SECRET_MISSING,
            "%s does not exist\ncreate it, closed to others: install -d -m 0700 " SECRETS
            " "
            "%s && install -m 0600 FILE %s/KEY",
            path, path, path);
    if (secret < 0)
        return fail_open(secret, path, failure);
    if (secret_check_closed(secret, path, failure) < 0 ||
        check_allowed(secret, name, user, failure) < 0)
        return -1;
    return steal_fd(secret);
}

int
secret_read(int root, const struct secret_user *user, const char *name,
            const char *const *keys, struct buffer *content, const char **found,
            struct failure **failure)
{
    cleanup_failure struct failure *missing = NULL;
    cleanup_close int secret = -1;

    for (const char *const *key = keys; *key; key++) {
        if (secret_check_key(*key, failure) < 0)
            return -1;
    }
    secret = open_allowed(root, user, name, failure);
    if (secret < 0)
        return -1;
    for (const char *const *key = keys; *key; key++) {
        cleanup_failure struct failure *reason = NULL;

        if (read_key(secret, name, *key, LIMIT_PART, content, &reason) == 0) {
            if (found)
                *found = *key;
            return 0;
        }
        if (reason->code != FAILURE_SECRET_MISSING) {
            *failure = steal(reason);
            return -1;
        }
        if (!missing)
            missing = steal(reason);
    }
    /* Report the first missing key. */
    *failure = steal(missing);
    return -1;
}

/* Not a key: Kubernetes's internal files ("..data"), editors' backups, the list of
 * domains. */
static int
is_key(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, ALLOW) != 0 &&
           entry->d_type != DT_DIR;
}

int
secret_read_all(int root, const struct secret_user *user, const char *name,
                void (*take)(void *data, const char *key, struct buffer *content),
                void *data, struct failure **failure)
{
    cleanup_close int secret = open_allowed(root, user, name, failure);
    size_t total = 0;
    struct dirent **keys = NULL;
    int count, result = 0;

    if (secret < 0)
        return -1;
    count = scandirat(secret, ".", &keys, is_key, alphasort);
    if (count < 0)
        return failure_set_errno(failure, FAILURE_SECRET, errno, "could not list %s/%s",
                                 SECRETS, name);
    if (count == 0) {
        result = failure_set(failure, FAILURE_SECRET_MISSING,
                             "%s/%s has no key\n"
                             "put one file for each key there, mode 0600",
                             SECRETS, name);
    } else if (count > LIMIT_ENTRIES) {
        result = failure_set(failure, FAILURE_LIMIT,
                             "%s/%s has %d keys, at most %d\n"
                             "spread them over several secrets",
                             SECRETS, name, count, LIMIT_ENTRIES);
    }
    for (int i = 0; i < count; i++) {
        cleanup_buffer struct buffer content = {0};
        cleanup_free struct dirent *key = keys[i];

        if (result == 0 &&
            (secret_check_key(key->d_name, failure) < 0 ||
             read_key(secret, name, key->d_name, LIMIT_PART, &content, failure) < 0))
            result = -1;
        total += content.size;
        if (result == 0 && total > LIMIT_PART)
            result = failure_set(failure, FAILURE_LIMIT,
                                 "the keys of %s/%s have more than %lu MiB together\n"
                                 "let the guest fetch large files itself",
                                 SECRETS, name, LIMIT_PART / MIB);
        if (result == 0)
            take(data, key->d_name, &content);
    }
    free(keys);
    return result;
}

/* --- writing ------------------------------------------------------------------------ */

int
secret_fail(const char *what, const char *path, int error, struct failure **failure)
{
    return failure_set_errno(failure, FAILURE_SECRET, error,
                             "could not %s %s\n"
                             "check it: ls -ld %s; only root may write there",
                             what, path, path);
}

int
secret_make_directory(int root, const char *path, struct failure **failure)
{
    cleanup_close int fd = fs_make_directories(root, path, 0700);

    if (fd < 0)
        return secret_fail("make or read", path, fd, failure);
    return secret_check_closed(fd, path, failure) < 0 ? -1 : steal_fd(fd);
}

/* Opens the secret, or makes it. `has_keys` says whether it has a key, or a list of
 * domains. Return: a descriptor, owned by the caller, or -1. */
static int
open_to_write(int root, const char *name, bool *has_keys, struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s", SECRETS, name);
    cleanup_close int configuration = fs_make_directories(root, VIRT_SEED_CONFDIR, 0755);
    cleanup_close int secrets = -1;
    cleanup_close int secret = -1;
    cleanup_closedir DIR *dir = NULL;
    const struct dirent *entry;

    if (configuration < 0)
        return secret_fail("make or read", VIRT_SEED_CONFDIR, configuration, failure);
    secrets = secret_make_directory(root, SECRETS, failure);
    secret = secrets < 0 ? -1 : secret_make_directory(root, path, failure);
    if (secret < 0)
        return -1;
    dir = fs_list(secret);
    do
        entry = fs_next(dir);
    while (entry && entry->d_name[0] == '.');
    if (!entry && errno != 0)
        return secret_fail("make or read", path, errno, failure);
    *has_keys = entry;
    return steal_fd(secret);
}

/* `exists` says whether the key already exists; other content is a failure. */
static int
compare_key(int secret, const char *name, const struct secret_key *key, bool *exists,
            struct failure **failure)
{
    cleanup_buffer struct buffer content = {0};
    cleanup_failure struct failure *reason = NULL;

    read_key(secret, name, key->name, LIMIT_PART, &content, &reason);
    *exists = !reason;
    if (!reason && buffer_is_same(&content, &key->content))
        return 0;
    if (reason && reason->code == FAILURE_SECRET_MISSING)
        return 0;
    if (reason && reason->code != FAILURE_LIMIT) {
        *failure = steal(reason);
        return -1;
    }
    return failure_set(failure, FAILURE_SECRET,
                       "%s/%s/%s already exists with other content\n"
                       "remove it, or omit --secrets to keep it",
                       SECRETS, name, key->name);
}

static int
write_key(int secret, const char *name, const struct secret_key *key,
          struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s/%s", SECRETS, name, key->name);
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    /* secret_read_all() ignores names that begin with a dot. */
    int error = tmpfile_open(&tmpfile, secret, "..import");

    if (error == 0)
        error = fs_write_all(tmpfile.fd, key->content.data, key->content.size);
    if (error == 0)
        error = tmpfile_publish(&tmpfile, key->name);
    return error < 0 ? secret_fail("make or read", path, error, failure) : 0;
}

int
secret_write(int root, const char *name, const struct secret_key *keys, size_t key_count,
             struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s", SECRETS, name);
    cleanup_close int secret = -1;
    const char *missing = NULL;
    bool had_keys = false, exists;

    if (secret_check_name("secret", name, failure) < 0)
        return -1;
    for (size_t i = 0; i < key_count; i++) {
        if (secret_check_key(keys[i].name, failure) < 0)
            return -1;
    }
    secret = open_to_write(root, name, &had_keys, failure);
    if (secret < 0)
        return -1;
    for (size_t i = 0; i < key_count; i++) {
        if (compare_key(secret, name, &keys[i], &exists, failure) < 0)
            return -1;
        if (!exists)
            missing = keys[i].name;
    }
    /* It may be somebody else's secret of the same name, which other domains read whole. */
    if (missing && had_keys)
        return failure_set(failure, FAILURE_SECRET,
                           "%s already exists, without the key '%s'\n"
                           "remove it, or omit --secrets and add the key yourself",
                           path, missing);
    for (size_t i = 0; i < key_count && missing; i++) {
        if (write_key(secret, name, &keys[i], failure) < 0)
            return -1;
    }
    return 0;
}

/* --- undoing ------------------------------------------------------------------------ */

void
secret_undo_note(struct secret_undo *undo, const char *name)
{
    cleanup_close int secrets = fs_open_directory_in_root(undo->root, SECRETS);
    cleanup_failure struct failure *invalid = NULL;
    struct stat status;
    bool is_new = secrets == -ENOENT;

    if (secret_check_name("secret", name, &invalid) < 0)
        return;
    if (secrets >= 0 && fstatat(secrets, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        is_new = errno == ENOENT;
    if (is_new)
        texts_add(&undo->names, &undo->count, xstrdup(name));
}

void
secret_undo_all(struct secret_undo *undo)
{
    cleanup_close int secrets = fs_open_directory_in_root(undo->root, SECRETS);

    for (size_t i = 0; secrets >= 0 && i < undo->count; i++)
        fs_remove_tree(secrets, undo->names[i]);
    secret_undo_drop(undo);
}

void
secret_undo_drop(struct secret_undo *undo)
{
    texts_free(undo->names, undo->count);
    *undo = (struct secret_undo){.root = undo->root};
}
