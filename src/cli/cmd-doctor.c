/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>

#include <jansson.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/print.h"
#include "cli/cli.h"
#include "cli/doctor/doctor.h"
#include "cli/json.h"
#include "seed/json.h"

struct options {
    bool verbose;
    bool json;
};

/* A subject is one file in doctor/ and one row here; what libvirt says comes first, which others
 * look at. */
static void (*const subjects[])(struct doctor *doctor) = {
    doctor_libvirt, doctor_hook,      doctor_files,  doctor_confinement,
    doctor_server,  doctor_leftovers, doctor_others,
};

static const char *
state_word(enum doctor_state state)
{
    static const char *const words[] = {
        [DOCTOR_OK] = "ok",
        [DOCTOR_NOTE] = "note",
        [DOCTOR_UNKNOWN] = "unknown",
        [DOCTOR_PROBLEM] = "problem",
    };

    return words[state];
}

/* All that takes root to see is one diagnosis, with one thing to do. */
static void
add_unseen(struct doctor *doctor)
{
    cleanup_buffer struct buffer list = {0};

    for (size_t i = 0; i < doctor->unseen_count; i++) {
        if (i > 0)
            buffer_append_string(&list, ", ");
        buffer_append_string(&list, doctor->unseen[i]);
    }
    if (doctor->unseen_count > 0)
        doctor_add(doctor, DOCTOR_UNKNOWN, "root", "run it as root: virt-seed doctor",
                   "only root can see %s", list.data);
}

/* --- output --------------------------------------------------------------------------- */

static void
print_json(const struct doctor *doctor)
{
    json_t *list = json_array();

    for (size_t i = 0; i < doctor->count; i++) {
        const struct diagnosis *diagnosis = &doctor->list[i];

        json_must(json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:o}", "subject", diagnosis->subject,
                            "state", state_word(diagnosis->state), "message",
                            json_outside_string(diagnosis->message), "fix",
                            diagnosis->fix ? json_outside_string(diagnosis->fix)
                                           : json_null())));
    }
    json_print(
        json_pack("{s:i, s:o}", "problems", (int)doctor->problems, "diagnoses", list));
}

static void
print_text(const struct doctor *doctor, bool verbose)
{
    bool unknown = false;

    for (size_t i = 0; i < doctor->count; i++) {
        const struct diagnosis *diagnosis = &doctor->list[i];

        unknown = unknown || diagnosis->state == DOCTOR_UNKNOWN;
        if (diagnosis->state == DOCTOR_OK && !verbose)
            continue;
        printf("%s: %s: ", state_word(diagnosis->state), diagnosis->subject);
        print_outside_string(stdout, diagnosis->message);
        putchar('\n');
        if (diagnosis->fix) {
            fputs("  fix: ", stdout);
            print_outside_string(stdout, diagnosis->fix);
            putchar('\n');
        }
    }
    if (doctor->problems == 0 && !doctor->context->quiet)
        puts(unknown ? "no problems found in what could be seen" : "no problems found");
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_doctor struct doctor doctor = {0};

    (void)failure;
    doctor_begin(&doctor, context);
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        subjects[i](&doctor);
    add_unseen(&doctor);
    if (options->json)
        print_json(&doctor);
    else
        print_text(&doctor, options->verbose);
    return doctor.problems > 0 ? STATUS_FAILURE : STATUS_OK;
}

static const struct option_row rows[] = {
    OPTION(0, "verbose", NULL, verbose, "also print what is as it should be"),
    OPTION(0, "json", NULL, json, "print everything as JSON"),
    OPTION_END,
};

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "say what is wrong with this host, and how to fix it",
    .help =
        "Looks at what virt-seed needs of this host: the hook, and whether libvirt has\n"
        "noticed it; libvirt's daemons; owners and modes; AppArmor and SELinux; the\n"
        "metadata server, if it is used. Prints a line for each problem, with what\n"
        "fixes it. Changes nothing. Exit status 1 if there is a problem.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .run = run,
};
