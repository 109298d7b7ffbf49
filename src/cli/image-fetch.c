/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <sys/file.h>

#include <nettle/base16.h>
#include <nettle/nettle-meta.h>
#include <nettle/sha2.h>

#include "base/child.h"
#include "cli/images.h"

#define PART_SUFFIX ".part"
#define CHECKSUMS_LIMIT (1 * MIB)
#define CHECKSUMS_SECONDS 60
/* Long enough for any line that moves at all; curl gives up sooner on one that does not. */
#define IMAGE_SECONDS (12 * 60 * 60)
#define IMAGE_LIMIT (100 * GIB)
#define CURL_MEMORY (1024 * MIB)
/* Of curl: the server has no ranges, so it cannot go on where it ended. */
#define CURL_RANGE_ERROR 33

/* --- digests --------------------------------------------------------------------------- */

/* Return: the algorithm of the digest with which the text begins, by how many digits it has,
 * or NULL; `after` is what follows it. */
static const struct nettle_hash *
find_hash(const char *text, const char *after)
{
    const struct nettle_hash *const hashes[] = {&nettle_sha256, &nettle_sha512};
    const size_t length = strspn(text, "0123456789abcdef");

    for (size_t i = 0; i < ARRAY_SIZE(hashes) && strcmp(text + length, after) == 0; i++) {
        if (length == BASE16_ENCODE_LENGTH(hashes[i]->digest_size))
            return hashes[i];
    }
    return NULL;
}

/* Return: whether the file's content has the digest. */
static bool
has_digest(int fd, const char *digest)
{
    const struct nettle_hash *hash = xchecked((void *)find_hash(digest, ""));
    cleanup_free void *context = xmalloc(hash->context_size);
    cleanup_free uint8_t *block = xmalloc(MIB);
    uint8_t bytes[SHA512_DIGEST_SIZE];
    char text[BASE16_ENCODE_LENGTH(SHA512_DIGEST_SIZE) + 1] = "";
    off_t at = 0;
    ssize_t size;

    hash->init(context);
    while ((size = pread(fd, block, MIB, at)) > 0) {
        hash->update(context, (size_t)size, block);
        at += size;
    }
    hash->digest(context, hash->digest_size, bytes);
    base16_encode_update(text, hash->digest_size, bytes);
    return size == 0 && strcmp(text, digest) == 0;
}

/* Return: the digest in lower case, owned by the caller (free), or NULL. */
static char *
read_digest(const char *text)
{
    const char *colon = strchr(text, ':');
    char *digest = xstrdup(colon ? colon + 1 : text);
    const struct nettle_hash *hash;

    for (char *at = digest; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    hash = find_hash(digest, "");
    if (hash && (!colon || strncasecmp(text, hash->name, (size_t)(colon - text)) == 0))
        return digest;
    free(digest);
    return NULL;
}

/* Return: the digest that a line of a file of checksums has for the name, owned by the
 * caller (free), or NULL: "DIGEST  NAME" or "DIGEST *NAME" as sha256sum(1) writes it, with
 * --tag "SHA256 (NAME) = DIGEST", or a digest alone. A name of NULL is any. */
static char *
read_line(char *line, const char *name)
{
    static const char blanks[] = " \t\r*()=";
    char *digest = NULL;
    char *rest = NULL;
    bool is_alone = true;
    bool is_named = !name;

    for (char *word = strtok_r(line, blanks, &rest); word;
         word = strtok_r(NULL, blanks, &rest)) {
        char *found = read_digest(word);

        is_alone = is_alone && found;
        is_named = is_named || strcmp(fs_base_name(word), name) == 0;
        if (found) {
            free(digest);
            digest = found;
        }
    }
    if (!is_named && !is_alone)
        free(steal(digest));
    return digest;
}

static char *
find_digest(char *text, const char *name)
{
    char *rest = text;
    char *digest = NULL;

    for (char *line = strsep(&rest, "\n"); line && !digest; line = strsep(&rest, "\n"))
        digest = read_line(line, name);
    return digest;
}

/* --- curl ------------------------------------------------------------------------------- */

/* Runs curl, which appends what it fetches to the file, or to `output`. */
static int
run_curl(const char *url, int file, off_t offset, size_t limit, int seconds, bool quiet,
         struct buffer *output)
{
    static const char *const passed[] = {"http_proxy", "https_proxy",  "HTTPS_PROXY",
                                         "all_proxy",  "ALL_PROXY",    "no_proxy",
                                         "NO_PROXY",   "SSL_CERT_FILE"};
    const bool is_shown = !quiet && isatty(STDERR_FILENO);
    cleanup_free char *from = xasprintf("%jd", (intmax_t)offset);
    cleanup_free char *time = xasprintf("%d", seconds);
    const bool is_safe = strncmp(url, "https://", strlen("https://")) == 0;
    const char *const words[] = {
        "curl",
        "--disable", /* its configuration; only as the first word */
        "--fail",
        "--globoff",
        "--location",
        is_shown ? "--progress-bar" : "--silent",
        "--show-error",
        "--proto",
        "=http,https",
        "--proto-redir",
        is_safe ? "=https" : "=http,https",
        "--connect-timeout",
        "30",
        "--speed-limit",
        "1000",
        "--speed-time",
        "30",
        "--max-time",
        time,
        "--continue-at",
        from,
        "--url",
        url,
        NULL};
    const char *environment[ARRAY_SIZE(passed) + 1] = {NULL};
    const struct child curl = {
        .words = words,
        .environment = environment,
        .output = limit,
        .file = file,
        .shows_errors = true,
        .memory = CURL_MEMORY,
        .seconds = seconds + 30,
        .unprivileged = true,
    };
    size_t count = 0;
    int status;

    for (size_t i = 0; i < ARRAY_SIZE(passed); i++) {
        const char *value = getenv(passed[i]);

        if (value)
            environment[count++] = xasprintf("%s=%s", passed[i], value);
    }
    status = child_run(&curl, output);
    for (size_t i = 0; i < count; i++)
        free((char *)environment[i]);
    return status;
}

static int
fail_curl(const char *url, int status, struct failure **failure)
{
    if (status == CHILD_MISSING)
        return failure_set(failure, FAILURE_SYSTEM,
                           "could not run curl, which fetches images\n"
                           "install the package curl");
    if (status == CHILD_KILLED && errno != 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not write what was fetched from '%s'", url);
    if (status == CHILD_KILLED)
        return failure_set(failure, FAILURE_SYSTEM,
                           "fetching '%s' took too long, or it is too large\n"
                           "fetch it yourself, and give the file: ./NAME",
                           url);
    return failure_set(failure, FAILURE_SYSTEM,
                       "could not fetch '%s' (curl ends with %d)\n"
                       "run the command again; it goes on where this one ended",
                       url, status);
}

/* --- one image -------------------------------------------------------------------------- */

bool
image_is_partial(const char *name)
{
    return *name == '.' && find_hash(name + 1, PART_SUFFIX);
}

/* Return: the digest that the image must have, owned by the caller (free), or NULL. */
static char *
learn_digest(const struct image *image, const char *checksum, struct failure **failure)
{
    cleanup_buffer struct buffer text = {0};
    const char *name = strrchr(image->url, '/') + 1;
    bool is_its_own;
    char *digest;
    int status;

    if (checksum) {
        digest = read_digest(checksum);
        if (!digest)
            failure_set(failure, FAILURE_USAGE,
                        "--checksum has '%.160s', which is neither a SHA-256 nor a "
                        "SHA-512\n"
                        "give the 64 or 128 digits that the image's publisher names",
                        checksum);
        return digest;
    }
    status =
        run_curl(image->checksums, 0, 0, CHECKSUMS_LIMIT, CHECKSUMS_SECONDS, true, &text);
    if (status != 0) {
        fail_curl(image->checksums, status, failure);
        return NULL;
    }
    buffer_append_string(&text, "");
    /* NAME.sha256 may name the build that NAME stands for. */
    is_its_own = strncmp(strrchr(image->checksums, '/') + 1, name, strlen(name)) == 0;
    digest = find_digest(text.data, is_its_own ? NULL : name);
    if (!digest)
        failure_set(failure, FAILURE_SYSTEM,
                    "'%s' has no SHA-256 or SHA-512 of '%s'\n"
                    "look at it; an image can be given with --checksum, too",
                    image->checksums, name);
    return digest;
}

/* Opens the part, locked. Return: its descriptor, owned by the caller, or -1. */
static int
open_part(const struct pool *pool, const char *part, const struct image *image,
          struct failure **failure)
{
    int fd =
        openat(pool->directory, part,
               O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fs_is_named(fd, pool->directory, part))
        return fd;
    /* Or they have just completed it, and the name is gone. */
    if (fd >= 0 && (errno == EWOULDBLOCK || errno == ENOENT))
        failure_set(failure, FAILURE_SYSTEM,
                    "somebody else is fetching '%s' right now\n"
                    "wait until that is done, and run the command again",
                    image->name);
    else
        failure_set_errno(failure, FAILURE_SYSTEM, errno, "could not make %s/%s",
                          pool->path, part);
    close_pointer(&fd);
    return -1;
}

static int
fetch_part(int fd, const struct pool *pool, const char *part, const struct image *image,
           const char *digest, bool quiet, struct failure **failure)
{
    off_t offset = lseek(fd, 0, SEEK_END);
    int status;

    if (offset > 0 && has_digest(fd, digest))
        return 0;
    if (!quiet)
        fprintf(stderr, "fetching %s\n", image->url);
    status = run_curl(image->url, fd, offset, IMAGE_LIMIT, IMAGE_SECONDS, quiet, NULL);
    if (status == CURL_RANGE_ERROR && offset > 0 && ftruncate(fd, 0) == 0)
        status = run_curl(image->url, fd, 0, IMAGE_LIMIT, IMAGE_SECONDS, quiet, NULL);
    if (status != 0)
        return fail_curl(image->url, status, failure);
    if (has_digest(fd, digest))
        return 0;
    unlinkat(pool->directory, part, 0);
    return failure_set(failure, FAILURE_SYSTEM,
                       "what '%s' has is not what its checksum says: %s\n"
                       "it was removed; run the command again, and if this stays so, ask "
                       "the publisher",
                       image->url, digest);
}

/* The name under which the image was cached last is a link. */
static char *
make_link_name(const struct image *image)
{
    return xasprintf(".%s.image", image->name);
}

static void
remember(const struct pool *pool, const struct image *image, const char *target)
{
    cleanup_free char *name = make_link_name(image);

    if (strchr(name, '/'))
        return;
    unlinkat(pool->directory, name, 0);
    if (symlinkat(target, pool->directory, name) < 0)
        return;
}

char *
image_find_cached(const struct pool *pool, const struct image *image)
{
    cleanup_free char *name = make_link_name(image);
    char target[NAME_MAX + 1] = "";
    struct stat status;

    if (readlinkat(pool->directory, name, target, sizeof(target) - 1) < 0 ||
        fstatat(pool->directory, target, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL;
    return xstrdup(target);
}

/* If the server cannot be asked which image is the latest, the last one will do. */
static char *
choose_name(const struct pool *pool, const struct image *image, const char *checksum,
            char **digest, struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    char *name;

    *digest = learn_digest(image, checksum, &reason);
    if (*digest)
        return xasprintf("%s" QCOW2_SUFFIX, *digest);
    name = checksum ? NULL : image_find_cached(pool, image);
    if (!name) {
        *failure = steal(reason);
        return NULL;
    }
    print_warning(reason);
    fprintf(stderr, "virt-seed: note: '%s' is used as it was fetched last\n",
            image->name);
    return name;
}

int
image_fetch(struct source *source, const struct pool *pool, const struct image *image,
            const char *checksum, bool quiet, struct failure **failure)
{
    cleanup_free char *digest = NULL;
    cleanup_free char *part = NULL;
    cleanup_close int fd = -1;
    int result;

    source->name = choose_name(pool, image, checksum, &digest, failure);
    if (!source->name)
        return -1;
    fd = openat(pool->directory, source->name,
                O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno != ENOENT || !digest))
        return failure_set_errno(failure, FAILURE_SYSTEM, errno, "could not open %s/%s",
                                 pool->path, source->name);
    if (fd < 0) {
        part = xasprintf(".%s" PART_SUFFIX, digest);
        fd = open_part(pool, part, image, failure);
        if (fd < 0 || fetch_part(fd, pool, part, image, digest, quiet, failure) < 0)
            return -1;
    }
    result = image_check(source, fd, image->name, failure);
    if (result == 0 && strcmp(source->format, "qcow2") != 0)
        result = failure_set(failure, FAILURE_SYSTEM,
                             "the image is not in the format qcow2\n"
                             "fetch it yourself, and give the file: ./NAME");
    if (part && result < 0)
        unlinkat(pool->directory, part, 0);
    if (result < 0)
        return -1;
    if (part && (fchmod(fd, 0444) < 0 || fsync(fd) < 0 ||
                 renameat(pool->directory, part, pool->directory, source->name) < 0))
        return failure_set_errno(failure, FAILURE_SYSTEM, errno, "could not make %s/%s",
                                 pool->path, source->name);
    remember(pool, image, source->name);
    return 0;
}
