/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: what there is to say goes to systemd's journal with fields of its own,
 * and to syslog(3) if there is no journal. The events of a seed's life each have an id,
 * by which journalctl(1) finds them; virt-seed-hook(8) lists ids and fields.
 */
#include "config.h"

#include <stdarg.h>
#include <syslog.h>

#include "base/memory.h"
#include "base/text.h"
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

/* Logs the text after what it is about, "domain 'web1' (UUID): …"; `id` and `more` may be
 * NULL. */
static void
send_entry(const struct lifecycle *lifecycle, int priority, const char *id,
           const struct journal_field *more, const char *text)
{
    cleanup_free char *message =
        xasprintf("domain '%.256s' (%s): %s", lifecycle->domain->name,
                  lifecycle->domain->uuid, text);
    const char priority_text[] = {(char)('0' + priority), '\0'};
    const struct journal_field fields[] = {
        {"MESSAGE", message},
        {"MESSAGE_ID", id},
        {"PRIORITY", priority_text},
        {"SYSLOG_FACILITY", "3"},
        {"SYSLOG_IDENTIFIER", "virt-seed"},
        {"VIRT_SEED_DOMAIN", lifecycle->domain->name},
        {"VIRT_SEED_UUID", lifecycle->domain->uuid},
        {"VIRT_SEED_OPERATION", lifecycle->operation},
        {more ? more->name : "", more ? more->value : NULL},
    };

    if (journal_send(lifecycle->root, fields, ARRAY_SIZE(fields)) == 0)
        return;
    utf8_replace_controls(message);
    syslog(priority, "%s", message);
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
    lifecycle_log(lifecycle, "%s: %s%s%s", what, failure->message,
                  failure->hint ? "; " : "", failure->hint ? failure->hint : "");
}

void
lifecycle_log_event(const struct lifecycle *lifecycle, enum lifecycle_event event,
                    const struct journal_field *more, const char *text)
{
    send_entry(lifecycle, events[event].priority, events[event].id, more, text);
}
