/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/json.h"
#include "cli/io.h"

int
io_read(const char *path, size_t limit, const char *hint, struct buffer *content,
        struct failure **failure)
{
    cleanup_free char *name = path ? xasprintf("'%s'", path) : xstrdup("standard input");
    cleanup_close int opened = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
    const bool in_mib = limit % MIB == 0;
    int error = -errno;

    if (!path)
        error = fs_read_all(STDIN_FILENO, limit, content);
    else if (opened >= 0)
        error = fs_read_all(opened, limit, content);
    if (error == 0)
        return 0;
    if (error == -EFBIG)
        return failure_set(failure, FAILURE_LIMIT,
                           "%s has more than %zu %s\ngive a smaller file", name,
                           in_mib ? limit / MIB : limit, in_mib ? "MiB" : "bytes");
    return failure_set_errno(failure, FAILURE_SYSTEM, error, "could not read %s\n%s",
                             name, hint);
}

bool
output_is_standard(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

int
output_open(struct output *output, const char *path, struct failure **failure)
{
    char *resolved = realpath(path, NULL);
    cleanup_free char *directory = NULL;
    const char *slash;
    struct stat status;

    *output =
        (struct output){.path = resolved ? resolved : xstrdup(path), .directory = -1};
    slash = strrchr(output->path, '/');
    directory =
        slash ? xstrndup(output->path, (size_t)(slash - output->path + 1)) : xstrdup(".");
    output->name = slash ? slash + 1 : output->path;
    output->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (output->directory < 0)
        return failure_set_errno(failure, FAILURE_SYSTEM, errno,
                                 "could not open '%s'\n"
                                 "make the directory, or name another",
                                 directory);
    if (fstatat(output->directory, output->name, &status, 0) < 0)
        return 0;
    if (S_ISDIR(status.st_mode) || !*output->name)
        return failure_set(failure, FAILURE_SYSTEM,
                           "'%s' is a directory\nname a file in it", path);
    output->stream = !S_ISREG(status.st_mode);
    return 0;
}

void
output_close(struct output *output)
{
    if (output->directory >= 0)
        close(output->directory);
    free(output->path);
    *output = (struct output){.directory = -1};
}

/* Return: 0 or -errno. */
static int
write_file(const struct output *output, const char *data, size_t size)
{
    cleanup_tmpfile struct tmpfile tmpfile = TMPFILE_NONE;
    struct stat status;
    mode_t mode = 0600;
    bool exists = fstatat(output->directory, output->name, &status, 0) == 0;
    int error;

    if (exists)
        mode = status.st_mode & 07777;
    error = tmpfile_open(&tmpfile, output->directory, output->name);
    if (error == 0)
        error = fs_write_all(tmpfile.fd, data, size);
    if (error == 0 && exists && fchown(tmpfile.fd, status.st_uid, status.st_gid) < 0) {
        /* Only root can give a file away; what others write is theirs. */
        if (errno != EPERM && errno != EINVAL)
            error = -errno;
    }
    if (error == 0 && fchmod(tmpfile.fd, mode) < 0)
        error = -errno;
    return error == 0 ? tmpfile_publish(&tmpfile, output->name) : error;
}

int
output_write(const char *path, const char *data, size_t size, struct failure **failure)
{
    cleanup_output struct output output = {.directory = -1};
    cleanup_close int stream = -1;
    int error;

    if (output_is_standard(path)) {
        path = "standard output";
        error = fwrite(data, 1, size, stdout) == size && fflush(stdout) == 0 ? 0 : -errno;
    } else {
        if (output_open(&output, path, failure) < 0)
            return -1;
        if (output.stream)
            stream = openat(output.directory, output.name, O_WRONLY | O_CLOEXEC);
        if (!output.stream)
            error = write_file(&output, data, size);
        else
            error = stream < 0 ? -errno : fs_write_all(stream, data, size);
    }
    if (error == 0)
        return 0;
    return failure_set_errno(failure, FAILURE_SYSTEM, error,
                             "could not write %s\n"
                             "make sure that there is room, and that you may write there",
                             path);
}

json_t *
json_with_version(json_t *object)
{
    json_t *versioned = json_pack("{s:i}", "version", 1);

    json_must(json_object_update(versioned, object));
    json_decref(object);
    return versioned;
}

void
json_print(json_t *value)
{
    json_t *item;
    size_t i;

    xchecked(value);
    json_array_foreach(value, i, item) {
        json_must(json_array_set_new(value, i, json_with_version(json_incref(item))));
    }
    if (json_is_object(value))
        value = json_with_version(value);
    /* Nothing that a terminal obeys, or that reverses what follows; any program reads the
     * same from it. */
    json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    putchar('\n');
    json_decref(value);
}

char *
local_time(time_t seconds)
{
    struct tm calendar = {0};
    char text[64];

    localtime_r(&seconds, &calendar);
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &calendar);
    return xstrdup(text);
}

/* One write: standard error is unbuffered. */
void
print_outside_text(FILE *stream, const char *text, size_t size, const char *allowed)
{
    cleanup_buffer struct buffer safe = {0};

    for (size_t i = 0; i < size;) {
        bool is_fit;
        const size_t length = utf8_next(text + i, size - i, &is_fit);

        if (is_fit || (text[i] && strchr(allowed, text[i])))
            buffer_append(&safe, &text[i], length);
        else
            buffer_append(&safe, "?", 1);
        i += length;
    }
    if (safe.size > 0)
        fwrite(safe.data, 1, safe.size, stream);
}

void
print_outside_string(FILE *stream, const char *text)
{
    print_outside_text(stream, text, strlen(text), "");
}

void
print_outside_line(FILE *stream, const char *format, ...)
{
    cleanup_free char *line = NULL;
    va_list arguments;

    va_start(arguments, format);
    line = xvasprintf(format, arguments);
    va_end(arguments);
    print_outside_string(stream, line);
    putc('\n', stream);
}
