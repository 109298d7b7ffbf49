/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: messages go to systemd's journal with virt-seed's own fields, or to
 * the host's syslog if there is no journal. Each event in a seed's life has an id, by which
 * journalctl(1) finds it; virt-seed-hook(8) lists ids and fields.
 */
#include "config.h"

#include <endian.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>

#include "base/fs.h"
#include "lifecycle/lifecycle.h"

static const struct {
    const char *id;
    int priority;
} events[] = {
    [LIFECYCLE_SEED_MADE] = {"bb80d96170e7445ca06904e4c69f17a2", LOG_INFO},
    [LIFECYCLE_START_REFUSED] = {"9960e90c66014d13a070dd890b1a9ac6", LOG_ERR},
    [LIFECYCLE_SEED_REMOVED] = {"3c088c12b36d4ddb80a545b2b64244ae", LOG_INFO},
    [LIFECYCLE_GUEST_DONE] = {"6b12ef599a7b4d2680b6372430b4283d", LOG_INFO},
    [LIFECYCLE_GUEST_FAILED] = {"6b12ef599a7b4d2680b6372430b4283d", LOG_WARNING},
};

/* Sends a datagram to the socket of that name on the host whose "/" is the directory `root`.
 * Does not wait for a reader that is busy. Return: 0 or -errno; -ENOENT or -ECONNREFUSED if
 * nobody reads. */
static int
send_datagram(int root, const char *path, const char *name, const struct buffer *data)
{
    cleanup_close int directory = fs_open_directory_in_root(root, path);
    cleanup_close int fd = -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (directory < 0)
        return directory;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    /* The address only has room for a short path, and cannot contain a descriptor. */
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", directory,
             name);
    if (sendto(fd, data->data, data->size, MSG_DONTWAIT | MSG_NOSIGNAL,
               (const struct sockaddr *)&address, sizeof(address)) < 0)
        return -errno;
    return 0;
}

/*
 * Adds an entry to the journal, by its documented protocol
 * (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). libsystemd does the same, but would load
 * five more libraries and cost an operation a fifth of its instructions.
 *
 * Values are cut to LIMIT_MESSAGE bytes; invalid UTF-8 and control characters become '?'.
 */
static int
send_to_journal(int root, const struct journal_field *fields, size_t count)
{
    cleanup_buffer struct buffer entry = {0};

    for (size_t i = 0; i < count; i++) {
        cleanup_free char *value = NULL;
        uint64_t length;

        if (!fields[i].value)
            continue;
        value = xstrndup(fields[i].value, LIMIT_MESSAGE);
        utf8_replace_controls(value);
        /* The binary form, in which a newline in the value has no meaning. */
        length = htole64(strlen(value));
        buffer_printf(&entry, "%s\n", fields[i].name);
        buffer_append(&entry, &length, sizeof(length));
        buffer_printf(&entry, "%s\n", value);
    }
    return send_datagram(root, "/run/systemd/journal", "socket", &entry);
}

/* Logs the text after "domain 'web1' (UUID): "; `id` and `more` may be NULL. */
static void
send_entry(const struct lifecycle *lifecycle, int priority, const char *id,
           const struct journal_field *more, const char *text)
{
    const char *uuid = lifecycle->uuid ? lifecycle->uuid : "no UUID";
    cleanup_free char *message =
        xasprintf("domain '%.256s' (%s): %s", lifecycle->name, uuid, text);
    const char priority_text[] = {(char)('0' + priority), '\0'};
    const struct journal_field fields[] = {
        {"MESSAGE", message},
        {"MESSAGE_ID", id},
        {"PRIORITY", priority_text},
        {"SYSLOG_FACILITY", "3"},
        {"SYSLOG_IDENTIFIER", "virt-seed"},
        {"VIRT_SEED_DOMAIN", lifecycle->name},
        {"VIRT_SEED_UUID", lifecycle->uuid},
        {"VIRT_SEED_OPERATION", lifecycle->operation},
        {more ? more->name : "", more ? more->value : NULL},
    };
    const int error = send_to_journal(lifecycle->root, fields, ARRAY_SIZE(fields));
    cleanup_buffer struct buffer line = {0};

    /* A journal that is busy is also what reads /dev/log. */
    if (error == 0 || error == -EAGAIN)
        return;
    utf8_replace_controls(message);
    /* RFC 3164 without the time, which the reader adds. Not syslog(3): with its time zones,
     * it would be an eighth of a static program. */
    buffer_printf(&line, "<%d>virt-seed[%d]: %s", LOG_DAEMON | priority, (int)getpid(),
                  message);
    send_datagram(lifecycle->root, "/dev", "log", &line);
}

void
lifecycle_log(const struct lifecycle *lifecycle, const char *format, ...)
{
    cleanup_free char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = xvasprintf(format, arguments);
    va_end(arguments);
    send_entry(lifecycle, LOG_WARNING, NULL, NULL, text);
}

void
lifecycle_log_failure(const struct lifecycle *lifecycle, const char *what,
                      const struct failure *failure)
{
    cleanup_free char *text = failure_text(failure);

    lifecycle_log(lifecycle, "%s: %s", what, text);
}

void
lifecycle_log_event(const struct lifecycle *lifecycle, enum lifecycle_event event,
                    const struct journal_field *more, const char *text)
{
    send_entry(lifecycle, events[event].priority, events[event].id, more, text);
}
