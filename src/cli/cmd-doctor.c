/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json.h"
#include "base/scope.h"
#include "cli/cli.h"
#include "cli/doctor/doctor.h"
#include "cli/io.h"

/* The subjects are in doctor/. libvirt comes first, because others use what it says. */
static const struct {
    void (*look)(struct doctor *doctor);
    bool of_system; /* nothing in a session depends on it */
} subjects[] = {
    {doctor_libvirt, false}, {doctor_hook, false},    {doctor_files, false},
    {doctor_user, true},     {doctor_apparmor, true}, {doctor_selinux, true},
    {doctor_server, true},
};

static const char *const state_words[] = {
    [DOCTOR_OK] = "ok",
    [DOCTOR_NOTE] = "note",
    [DOCTOR_UNKNOWN] = "unknown",
    [DOCTOR_PROBLEM] = "problem",
};

void
doctor_add(struct doctor *doctor, enum doctor_state state, const char *subject,
           const char *fix, const char *format, ...)
{
    cleanup_free char *message = NULL;
    va_list arguments;

    va_start(arguments, format);
    message = xvasprintf(format, arguments);
    va_end(arguments);
    json_add(doctor->diagnoses,
             json_pack("{s:s, s:s, s:o, s:o}", "subject", subject, "state",
                       state_words[state], "message", json_outside_string(message), "fix",
                       fix ? json_outside_string(fix) : json_null()));
    doctor->problems += state == DOCTOR_PROBLEM;
}

bool
doctor_take(struct doctor *doctor, enum doctor_state state, const char *subject,
            struct failure **failure)
{
    if (!*failure)
        return false;
    doctor_add(doctor, state, subject, (*failure)->hint, "%s", (*failure)->message);
    failure_free(steal(*failure));
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

    if ((abs(error) == EACCES || abs(error) == EPERM) && geteuid() != scope()->owner)
        doctor_unseen(doctor, path);
    else
        doctor_add(doctor, DOCTOR_PROBLEM, subject, fix, "could not look at %s: %s", path,
                   strerror(abs(error)));
}

static void
print_text(const struct doctor *doctor, bool verbose)
{
    const json_t *diagnosis;
    bool unknown = false;
    size_t i;

    json_array_foreach(doctor->diagnoses, i, diagnosis) {
        const char *state = json_string_value(json_object_get(diagnosis, "state"));
        const char *fix = json_string_value(json_object_get(diagnosis, "fix"));

        unknown = unknown || strcmp(state, state_words[DOCTOR_UNKNOWN]) == 0;
        if (strcmp(state, state_words[DOCTOR_OK]) == 0 && !verbose)
            continue;
        print_outside_line(stdout, "%s: %s: %s", state,
                           json_string_value(json_object_get(diagnosis, "subject")),
                           json_string_value(json_object_get(diagnosis, "message")));
        if (fix)
            print_outside_line(stdout, "  fix: %s", fix);
    }
    if (doctor->problems > 0 || doctor->context->quiet)
        return;
    fputs("no problems found", stdout);
    puts(unknown ? ", but not everything could be checked" : "");
}

static void
doctor_clear(struct doctor *doctor)
{
    json_decref(doctor->diagnoses);
    free(doctor->nocloud_net_domain);
    free(doctor->shim_domain);
    texts_free(doctor->unseen, doctor->unseen_count);
    config_clear(&doctor->config);
    if (doctor->connection)
        virConnectClose(doctor->connection);
    *doctor = (struct doctor){0};
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    __attribute__((cleanup(doctor_clear))) struct doctor doctor = {
        .context = context,
        .root = context->root,
        .diagnoses = json_array(),
    };
    cleanup_buffer struct buffer unseen = {0};
    struct stat root, own;

    if (fstat(context->root, &root) == 0) {
        doctor.owner = root.st_uid;
        doctor.live = stat("/", &own) == 0 && root.st_dev == own.st_dev &&
                      root.st_ino == own.st_ino;
    }
    /* As sd_booted(3). */
    doctor.systemd =
        doctor.live && !scope()->home && access("/run/systemd/system/", F_OK) == 0;
    for (size_t i = 0; i < ARRAY_SIZE(subjects); i++) {
        if (!scope()->home || !subjects[i].of_system)
            subjects[i].look(&doctor);
    }
    /* Everything that only root can see is one diagnosis, with one fix. */
    for (size_t i = 0; i < doctor.unseen_count; i++)
        buffer_printf(&unseen, "%s%s", i > 0 ? ", " : "", doctor.unseen[i]);
    if (doctor.unseen_count > 0)
        doctor_add(&doctor, DOCTOR_UNKNOWN, "root", "run it as root: virt-seed doctor",
                   "only root can see %s", unseen.data);
    if (context->json)
        json_print(json_pack("{s:i, s:O}", "problems", (int)doctor.problems, "diagnoses",
                             doctor.diagnoses));
    else
        print_text(&doctor, context->verbose);
    return doctor.problems > 0 ? STATUS_FAILURE : STATUS_OK;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "find what is wrong with this host, and how to fix it",
    .help =
        "Checks what virt-seed needs on this host: the hook, and whether libvirt has\n"
        "noticed it; libvirt's daemons; owners and modes; AppArmor and SELinux; the\n"
        "metadata server, if it is used. Prints each problem with its fix, and changes\n"
        "nothing. Exit status 1 if there is a problem.\n",
    .takes = TAKES_JSON | TAKES_VERBOSE,
    .run = run,
};
