/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether libvirt runs the hook.
 *
 * How it works: libvirt looks for hooks when its daemon starts and when it is told to
 * reload, and remembers whether there were any. It cannot be asked what it remembers, so
 * this is inferred from the start time of the daemon and the age of the hooks, from seeds
 * that the hook has made since, and from systemd: the state of a unit that stays active
 * changes only when it is reloaded. A signal that did not come from systemd leaves no trace.
 */
#include "config.h"

#include "base/fs.h"
#include "base/scope.h"
#include "cli/doctor/doctor.h"
#include "store/leftovers.h"
#include "store/libvirt-daemon.h"
#include "store/record.h"

#define SUBJECT "hook"
#define HOOKS VIRT_SEED_HOOKDIR "/qemu.d"
#define LINK HOOKS "/50-virt-seed"
#define PROGRAM "virt-seed-hook"
#define HELPER "virt-seed-maker"
#define MAKE_LINK "mkdir -p " HOOKS " && ln -sf " VIRT_SEED_SBINDIR "/" PROGRAM " " LINK

/* What libvirt finds when it looks for hooks. */
struct hooks {
    size_t own;             /* how many of them are virt-seed's */
    char *program;          /* the last one of those leads to it; owned */
    struct timespec oldest; /* since when there has been a hook */
};

static bool
is_before(const struct timespec *one, const struct timespec *other)
{
    return one->tv_sec < other->tv_sec ||
           (one->tv_sec == other->tv_sec && one->tv_nsec < other->tv_nsec);
}

static void
take_hook(struct hooks *hooks, const struct doctor *doctor, const char *path)
{
    cleanup_close int fd = fs_open_in_root(doctor->root, path);
    cleanup_free char *self = xasprintf("/proc/self/fd/%d", fd);
    char program[LIMIT_PATH + 1];
    ssize_t length = fd < 0 ? -1 : readlink(self, program, sizeof(program) - 1);
    struct stat status, link;

    if (length < 0 || fstat(fd, &status) < 0 ||
        fstatat(doctor->root, path + 1, &link, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (!S_ISREG(status.st_mode) || !(status.st_mode & 0111))
        return;
    if (hooks->oldest.tv_sec == 0 || is_before(&link.st_ctim, &hooks->oldest))
        hooks->oldest = link.st_ctim;
    program[length] = '\0';
    if (strcmp(fs_base_name(program), PROGRAM) != 0)
        return;
    hooks->own++;
    free(hooks->program);
    hooks->program = xstrdup(program);
}

/* Finds those in the directory. Return: 0 or -errno. */
static int
find_hooks(struct hooks *hooks, const struct doctor *doctor)
{
    cleanup_close int directory = fs_open_directory_in_root(doctor->root, HOOKS);
    cleanup_closedir DIR *entries = directory < 0 ? NULL : fs_list(directory);
    const struct dirent *entry;

    if (directory < 0)
        return directory;
    while ((entry = fs_next(entries))) {
        cleanup_free char *path = xasprintf(HOOKS "/%s", entry->d_name);

        take_hook(hooks, doctor, path);
    }
    return -errno;
}

static void
say_missing(struct doctor *doctor)
{
    struct stat status;

    if (fs_stat_in_root(doctor->root, VIRT_SEED_SBINDIR "/" PROGRAM, &status) < 0)
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, "install virt-seed",
                   "%s is missing: libvirt makes no seeds",
                   VIRT_SEED_SBINDIR "/" PROGRAM);
    else if (fstatat(doctor->root, &LINK[1], &status, AT_SYMLINK_NOFOLLOW) < 0)
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, MAKE_LINK,
                   "%s is missing: libvirt makes no seeds", LINK);
    else if (fs_stat_in_root(doctor->root, LINK, &status) < 0)
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, MAKE_LINK,
                   "%s leads nowhere: libvirt makes no seeds", LINK);
    else if (!(status.st_mode & 0111))
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, "chmod 0755 " LINK,
                   "%s has mode %04o and is not executable: libvirt ignores it, and "
                   "makes no seeds",
                   LINK, status.st_mode & 07777);
    else
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, MAKE_LINK,
                   "%s does not lead to %s: libvirt makes no seeds", LINK, PROGRAM);
}

/* `path` is the resolved one, as the kernel reports it, so it includes the root. */
static void
check_program(struct doctor *doctor, const char *path)
{
    cleanup_free char *fix = xasprintf("chown root:root %s && chmod 0755 %s", path, path);
    struct stat status;
    int error = stat(path, &status) < 0 ? errno : 0;

    if (error == ENOENT)
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, "install virt-seed again",
                   "%s is missing: each start of a domain that asks for a seed fails",
                   path);
    else if (error > 0)
        doctor_unread(doctor, error, SUBJECT, path);
    else if (status.st_uid != doctor->owner || (status.st_mode & 022))
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, fix,
                   "%s belongs to user %ld and has mode %04o: libvirt runs it as root, "
                   "and others may change it",
                   path, (long)status.st_uid, status.st_mode & 07777);
    else if (!(status.st_mode & 0111))
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, fix,
                   "%s has mode %04o and is not executable: each start of a domain that "
                   "asks for a seed fails",
                   path, status.st_mode & 07777);
}

/* Only the hook makes seeds; `virt-seed update` replaces one. Return: 1 if there is a
 * seed since then, 0 if not, -1 if that cannot be seen. */
static int
find_seed_since(const struct doctor *doctor, const struct timespec *start)
{
    cleanup_leftovers struct leftovers leftovers = {0};
    cleanup_failure struct failure *failure = NULL;

    if (leftovers_find(doctor->root, &leftovers, &failure) < 0)
        return -1;
    for (size_t i = 0; i < leftovers.count; i++) {
        if (strcmp(leftovers.list[i].directory, scope()->rundir) == 0 &&
            leftovers.list[i].changed > start->tv_sec)
            return 1;
    }
    return 0;
}

/* Return: 1 if systemd has started or reloaded the daemon since then, 0 if not, -1 if it
 * does not tell. */
static int
find_reload_since(const struct doctor *doctor, const struct timespec *start)
{
    cleanup_free char *name = xasprintf("%s.service", doctor->daemon.name);
    cleanup_systemd_unit struct systemd_unit unit = {0};
    const uint64_t microseconds =
        (uint64_t)start->tv_sec * 1000000 + (uint64_t)start->tv_nsec / 1000;

    if (doctor->systemd)
        systemd_unit_read(&unit, name);
    if (unit.changed == 0)
        return -1;
    return unit.changed >= microseconds;
}

static void
check_noticed(struct doctor *doctor, const struct hooks *hooks)
{
    const struct libvirt_daemon *daemon = &doctor->daemon;
    cleanup_free char *started = record_time(daemon->started.tv_sec);
    cleanup_free char *made = record_time(hooks->oldest.tv_sec);
    cleanup_free char *fix = NULL;
    int seed, reload;

    if (daemon->pid == 0 || daemon->started.tv_sec == 0)
        return;
    seed = find_seed_since(doctor, &daemon->started);
    reload = find_reload_since(doctor, &hooks->oldest);
    if (doctor->systemd)
        fix = xasprintf("systemctl reload %s", daemon->name);
    else
        fix = xasprintf("kill -HUP %ld", (long)daemon->pid);
    if (!is_before(&daemon->started, &hooks->oldest))
        doctor_add(doctor, DOCTOR_OK, "hook-noticed", NULL,
                   "%s was started after the hook was installed", daemon->name);
    else if (seed > 0)
        doctor_add(doctor, DOCTOR_OK, "hook-noticed", NULL,
                   "the hook has made seeds since %s was started", daemon->name);
    else if (reload > 0)
        doctor_add(doctor, DOCTOR_OK, "hook-noticed", NULL,
                   "%s has been reloaded since the hook was installed", daemon->name);
    else if (geteuid() != scope()->owner && seed < 0)
        doctor_unseen(doctor, "whether libvirt has noticed the hook");
    else if (seed == 0 && reload == 0)
        doctor_add(
            doctor, DOCTOR_PROBLEM, "hook-noticed", fix,
            "%s has been running since %s, before the hook was installed (%s), and "
            "was not reloaded: a domain that asks for a seed may start without it",
            daemon->name, started, made);
    else
        doctor_add(
            doctor, DOCTOR_UNKNOWN, "hook-noticed", fix,
            "%s has been running since %s, before the hook was installed (%s); "
            "unless it was reloaded, which cannot be seen here, a domain that asks "
            "for a seed may start without it",
            daemon->name, started, made);
}

void
doctor_hook(struct doctor *doctor)
{
    struct hooks hooks = {0};
    cleanup_free char *helper = NULL;
    int error;

    take_hook(&hooks, doctor, VIRT_SEED_HOOKDIR "/qemu");
    error = find_hooks(&hooks, doctor);
    if (error < 0 && error != -ENOENT) {
        doctor_unread(doctor, error, SUBJECT, HOOKS);
    } else if (hooks.own == 0) {
        say_missing(doctor);
    } else {
        doctor_add(doctor, DOCTOR_OK, SUBJECT, NULL, "libvirt's hook is %s",
                   hooks.program);
        if (hooks.own > 1)
            doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, "ls -l " HOOKS,
                       "%zu hooks lead to %s, and libvirt runs each: remove all but %s",
                       hooks.own, PROGRAM, LINK);
        /* The program that the hook becomes is next to it. */
        helper =
            xasprintf("%.*s" HELPER, (int)(fs_base_name(hooks.program) - hooks.program),
                      hooks.program);
        check_program(doctor, hooks.program);
        check_program(doctor, helper);
        check_noticed(doctor, &hooks);
    }
    free(hooks.program);
}
