/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fnmatch.h>
#include <sys/xattr.h>

#include "base/fs.h"
#include "base/scope.h"
#include "host/own-directory.h"
#include "host/secret.h"

#define ALLOW "allow"

/* --- checks ----------------------------------------------------------------------- */

/* What Kubernetes allows for both (validation.IsConfigMapKey); in a mounted Secret, names
 * that begin with ".." are internal to Kubernetes. */
int
secret_check_name(const char *what, const char *name, struct failure **failure)
{
    static const char characters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    const size_t length = strlen(name);
    const bool is_reserved = strcmp(name, ".") == 0 || strncmp(name, "..", 2) == 0;
    const bool has_length = length > 0 && length <= LIMIT_SECRET_NAME;

    if (has_length && !is_reserved && strspn(name, characters) == length)
        return 0;
    return failure_set(
        failure, FAILURE_SECRET_NAME,
        "%s=\"%.64s\" is not a valid secret name\n"
        "use letters, digits, '-', '_' and '.', without '/' and without a leading '..': "
        "a secret is a directory in %s, and a key is a file in it",
        what, name, scope()->secrets);
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

static int
fail_to_read(int error, const char *path, struct failure **failure)
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
            "a secret is a directory with one regular file for each key: %s/NAME/KEY",
            path, scope()->secrets);
    case EACCES:
    case EPERM:
        return failure_set(failure, FAILURE_SECRET_UNREADABLE,
                           "no permission to read %s\n%s", path, scope_denied_hint());
    default:
        return failure_set_errno(failure, FAILURE_SECRET, error,
                                 "could not read %s\ncheck the file: ls -l %s", path,
                                 path);
    }
}

int
secret_check_closed(int fd, const char *path, struct failure **failure)
{
    /* For getxattr(2) of a descriptor that does not open the file. */
    cleanup_free char *link = xasprintf("/proc/self/fd/%d", fd);
    struct stat status;
    bool is_open;

    if (fstat(fd, &status) < 0)
        return fail_to_read(-errno, path, failure);
    if (status.st_uid != scope()->owner && status.st_uid != geteuid())
        return failure_set(
            failure, FAILURE_SECRET_MODE, "%s belongs to user %ld, expected %s\n%s %s",
            path, (long)status.st_uid, scope()->owner_name, scope()->own_hint, path);
    is_open = status.st_mode & 07;
    /* With an ACL (acl(5)), the group's permissions may be for any user. */
    if (status.st_mode & 070)
        is_open = is_open || status.st_gid != scope()->owner_group ||
                  getxattr(link, "system.posix_acl_access", NULL, 0) > 0;
    if (!is_open)
        return 0;
    return failure_set(failure, FAILURE_SECRET_MODE,
                       "%s has mode %04o: others may read or write it\n"
                       "run chmod go= %s, and treat the secret as leaked",
                       path, status.st_mode & 07777, path);
}

/* --- opening ---------------------------------------------------------------------- */

int
secret_open_directory(int root, const char *path, struct failure **failure)
{
    cleanup_close int fd = fs_open_directory_in_root(root, path);

    if (fd < 0)
        return fail_to_read(fd, path, failure);
    return secret_check_closed(fd, path, failure) < 0 ? -1 : steal_fd(fd);
}

int
secret_read_file(int directory, const char *name, const char *path, size_t limit,
                 struct buffer *content, struct failure **failure)
{
    cleanup_close int fd = fs_open_regular_beneath(directory, name, NULL);
    int error;

    if (fd < 0)
        return fail_to_read(fd, path, failure);
    if (secret_check_closed(fd, path, failure) < 0)
        return -1;
    error = fs_read_all(fd, limit, content);
    if (error == -EFBIG)
        return failure_set(failure, FAILURE_LIMIT,
                           "%s has more than %zu KiB\n"
                           "let the guest fetch large files itself",
                           path, limit / KIB);
    return error < 0 ? fail_to_read(error, path, failure) : 0;
}

static int
read_key(int secret, const char *name, const char *key, size_t limit,
         struct buffer *content, struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s/%s", scope()->secrets, name, key);

    return secret_read_file(secret, key, path, limit, content, failure);
}

/* --- who may ---------------------------------------------------------------------- */

/* Return: whether it is a UUID, in upper or lower case. */
static bool
is_uuid(const char *text)
{
    return strlen(text) == UUID_LENGTH && !text[strspn(text, "0123456789abcdefABCDEF-")];
}

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
        line[strcspn(line, "#")] = '\0';
        line = text_trim(line);
        if (is_uuid(line) && strcasecmp(line, user->uuid) == 0)
            return 0;
        /* A line that is a UUID means only that domain, not one with such a name. */
        if (*line && !is_uuid(line) && fnmatch(line, user->name, 0) == 0)
            return 0;
    }
    return failure_set(failure, FAILURE_SECRET_DENIED,
                       "the domain may not use the secret '%s'\n"
                       "add its UUID or a pattern of its name to %s/%s/" ALLOW,
                       name, scope()->secrets, name);
}

/* --- reading ---------------------------------------------------------------------- */

/* Return: the secret's directory, which the domain may use, or -1. */
static int
open_allowed(int root, const struct secret_user *user, const char *name,
             struct failure **failure)
{
    cleanup_free char *path = xasprintf("%s/%s", scope()->secrets, name);
    cleanup_close int secrets = -1;
    cleanup_close int secret = -1;

    if (secret_check_name("secret", name, failure) < 0)
        return -1;
    secrets = fs_open_directory_in_root(root, scope()->secrets);
    if (secrets < 0 && secrets != -ENOENT)
        return fail_to_read(secrets, scope()->secrets, failure);
    if (secrets >= 0 && secret_check_closed(secrets, scope()->secrets, failure) < 0)
        return -1;
    secret = secrets < 0 ? secrets : fs_open_beneath(secrets, name, O_DIRECTORY);
    if (secret == -ENOENT)
        return failure_set(
            failure, FAILURE_SECRET_MISSING,
            "%s does not exist\ncreate it for this domain alone: install -d -m 0700 %s %s && "
            "echo %s | install -m 0600 /dev/stdin %s/allow && install -m 0600 FILE %s/KEY",
            path, scope()->secrets, path, *user->uuid ? user->uuid : "UUID", path, path);
    if (secret < 0)
        return fail_to_read(secret, path, failure);
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
    cleanup_free char *path = xasprintf("%s/%s", scope()->secrets, name);
    cleanup_close int secret = open_allowed(root, user, name, failure);
    size_t total = 0;
    struct dirent **keys = NULL;
    int count, result = 0;

    if (secret < 0)
        return -1;
    count = scandirat(secret, ".", &keys, is_key, alphasort);
    if (count < 0)
        return fail_to_read(-errno, path, failure);
    if (count == 0)
        result = failure_set(failure, FAILURE_SECRET_MISSING,
                             "%s has no key\n"
                             "put one file for each key there, mode 0600",
                             path);
    else if (count > LIMIT_ENTRIES)
        result = failure_set(failure, FAILURE_LIMIT,
                             "%s has %d keys, at most %d\n"
                             "spread them over several secrets",
                             path, count, LIMIT_ENTRIES);
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
                                 "the keys of %s have more than %lu MiB together\n"
                                 "let the guest fetch large files itself",
                                 path, LIMIT_PART / MIB);
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
                             "check it: ls -ld %s; only %s may write there",
                             what, path, path, scope()->owner_name);
}

int
secret_make_directory(int root, const char *path, struct failure **failure)
{
    cleanup_close int fd = own_directory_make(root, path, 0700);

    if (fd < 0)
        return secret_fail("make or read", path, fd, failure);
    return secret_check_closed(fd, path, failure) < 0 ? -1 : steal_fd(fd);
}
