/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/texts.h"
#include "cli/doctor/doctor.h"
#include "cli/systemd.h"

void
doctor_begin(struct doctor *doctor, const struct context *context)
{
    struct stat root, own;

    *doctor = (struct doctor){.context = context, .root = context->root};
    if (fstat(context->root, &root) < 0)
        return;
    doctor->owner = root.st_uid;
    doctor->live =
        stat("/", &own) == 0 && root.st_dev == own.st_dev && root.st_ino == own.st_ino;
    doctor->systemd = doctor->live && systemd_is_running();
}

void
doctor_clear(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->count; i++) {
        free(doctor->list[i].message);
        free(doctor->list[i].fix);
    }
    free(doctor->list);
    free(doctor->served);
    free(doctor->by_shim);
    texts_free(doctor->unseen, doctor->unseen_count);
    config_clear(&doctor->config);
    if (doctor->connection)
        virConnectClose(doctor->connection);
    *doctor = (struct doctor){0};
}

/* Takes over both texts. */
static void
add(struct doctor *doctor, enum doctor_state state, const char *subject, char *message,
    char *fix)
{
    doctor->list = xreallocarray(doctor->list, doctor->count + 1, sizeof(*doctor->list));
    doctor->list[doctor->count++] = (struct diagnosis){
        .state = state, .subject = subject, .message = message, .fix = fix};
    doctor->problems += state == DOCTOR_PROBLEM;
}

void
doctor_add(struct doctor *doctor, enum doctor_state state, const char *subject,
           const char *fix, const char *format, ...)
{
    va_list arguments;
    char *message;

    va_start(arguments, format);
    message = xvasprintf(format, arguments);
    va_end(arguments);
    add(doctor, state, subject, message, fix ? xstrdup(fix) : NULL);
}

bool
doctor_take(struct doctor *doctor, enum doctor_state state, const char *subject,
            struct failure **failure)
{
    struct failure *taken = *failure;

    if (!taken)
        return false;
    add(doctor, state, subject, steal(taken->message), steal(taken->hint));
    failure_free(taken);
    *failure = NULL;
    return true;
}

void
doctor_unseen(struct doctor *doctor, const char *what)
{
    if (!texts_have(doctor->unseen, doctor->unseen_count, what))
        texts_add(&doctor->unseen, &doctor->unseen_count, xstrdup(what));
}

void
doctor_unread(struct doctor *doctor, int error, const char *subject, const char *path)
{
    cleanup_free char *fix = xasprintf("ls -ld %s", path);

    if ((abs(error) == EACCES || abs(error) == EPERM) && geteuid() != 0)
        doctor_unseen(doctor, path);
    else
        doctor_add(doctor, DOCTOR_PROBLEM, subject, fix, "could not look at %s: %s", path,
                   strerror(abs(error)));
}

char *
doctor_systemctl(const char *action, const char *unit)
{
    return xasprintf("systemctl %s %s", action, unit);
}
