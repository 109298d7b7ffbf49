/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration, the secrets and the directories: their owners and modes. */
#include "config.h"

#include "base/fs.h"
#include "base/scope.h"
#include "cli/doctor/doctor.h"
#include "host/own-directory.h"
#include "host/secret.h"

#define SUBJECT "directories"

struct directory {
    const char *path;
    const char *passers; /* who must be able to pass through; NULL if nobody must */
    bool lasting;        /* what is in it cannot be made again */
};

static void
say_closed(struct doctor *doctor, const char *path, const char *passers, mode_t mode)
{
    cleanup_free char *fix = xasprintf("chmod a+x %s", path);

    doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, fix,
               "%s has mode %04o: %s must be able to pass through", path, mode & 07777,
               passers);
}

static void
check_directory(struct doctor *doctor, const struct directory *directory)
{
    cleanup_failure struct failure *failure = NULL;
    const char *path = directory->path;
    const uid_t owner = scope()->home ? scope()->owner : doctor->owner;
    cleanup_free char *own =
        xasprintf("ls -lA %s && chown root:root %s && chmod go-w %s", path, path, path);
    struct stat status;
    int error = fs_stat_in_root(doctor->root, path, &status);

    if (error == -ENOENT)
        doctor_add(doctor, DOCTOR_OK, SUBJECT, NULL, "%s does not exist yet", path);
    else if (error < 0)
        doctor_unread(doctor, error, SUBJECT, path);
    else if (!S_ISDIR(status.st_mode))
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT,
                   "move it away; the next start makes the directory",
                   "%s is not a directory", path);
    else if (own_directory_check(status.st_uid, status.st_mode, owner, path, &failure) <
                 0 &&
             directory->lasting)
        doctor_add(doctor, DOCTOR_PROBLEM, SUBJECT, own, "%s", failure->message);
    /* The failure's own hint is to remove it: the next start makes it again. */
    else if (doctor_take(doctor, DOCTOR_PROBLEM, SUBJECT, &failure))
        return;
    else if (directory->passers && (scope()->pass_mode & ~status.st_mode))
        say_closed(doctor, path, directory->passers, status.st_mode);
    else
        doctor_add(doctor, DOCTOR_OK, SUBJECT, NULL, "%s has the right owner and mode",
                   path);
}

static void
check_ways(struct doctor *doctor)
{
    cleanup_free char *reports = xstrdup(scope()->reportdir);
    cleanup_free char *fix = NULL;
    const char *path = scope()->rundir;
    struct stat status;

    for (const char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
        cleanup_free char *above = xstrndup(path, (size_t)(end - path));

        if (fs_stat_in_root(doctor->root, above, &status) == 0 &&
            !(status.st_mode & S_IXOTH)) {
            say_closed(doctor, above, "QEMU's user", status.st_mode);
            break;
        }
    }
    /* The shim's process that writes the report runs as QEMU's user, virtlogd as root. */
    *strrchr(reports, '/') = '\0';
    if (fs_stat_in_root(doctor->root, reports, &status) < 0 || (status.st_mode & S_IXOTH))
        return;
    fix = xasprintf("chmod 0711 %s", reports);
    doctor_add(doctor, doctor->shim_domain ? DOCTOR_PROBLEM : DOCTOR_NOTE, SUBJECT, fix,
               "%s has mode %04o: no reports arrive from guests whose emulator is "
               "virt-seed-qemu",
               reports, status.st_mode & 07777);
}

/* Return: whether it cannot be the name of a secret or key (secret_check_name()). */
static bool
is_no_name(const char *name)
{
    return strcmp(name, ".") == 0 || strncmp(name, "..", 2) == 0;
}

/* Each file of the secret must be closed to others. */
static void
check_keys(struct doctor *doctor, const char *secret, int directory)
{
    cleanup_closedir DIR *entries = fs_list(directory);
    const struct dirent *entry;

    while ((entry = fs_next(entries))) {
        cleanup_failure struct failure *failure = NULL;
        cleanup_free char *path = xasprintf("%s/%s", secret, entry->d_name);
        cleanup_close int fd = -1;

        if (is_no_name(entry->d_name))
            continue;
        fd = fs_open_regular_beneath(directory, entry->d_name, NULL);
        if (fd >= 0)
            secret_check_closed(fd, path, &failure);
        doctor_take(doctor, DOCTOR_PROBLEM, "secrets", &failure);
    }
}

/* Each secret below the directory, which may be missing, must be closed to others. */
static void
check_secrets_below(struct doctor *doctor, const char *path)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_close int directory = secret_open_directory(doctor->root, path, &failure);
    cleanup_closedir DIR *entries = directory < 0 ? NULL : fs_list(directory);
    const struct dirent *entry;

    if (failure && failure->code == FAILURE_SECRET_MISSING)
        return;
    if (!doctor_take(doctor, DOCTOR_PROBLEM, "secrets", &failure) && !entries)
        doctor_unread(doctor, errno, "secrets", path);
    while ((entry = fs_next(entries))) {
        cleanup_free char *secret = xasprintf("%s/%s", path, entry->d_name);
        cleanup_close int fd = -1;

        if (is_no_name(entry->d_name))
            continue;
        fd = secret_open_directory(doctor->root, secret, &failure);
        if (fd >= 0)
            check_keys(doctor, secret, fd);
        else if (failure->code != FAILURE_SECRET_MODE)
            failure_free(steal(failure));
        doctor_take(doctor, DOCTOR_PROBLEM, "secrets", &failure);
    }
}

void
doctor_files(struct doctor *doctor)
{
    const struct directory directories[] = {
        {scope()->rundir, "QEMU's user", false},
        {scope()->statedir, "readers of records", true},
        {scope()->reportdir, "QEMU's user", false},
        {scope()->confdir, NULL, true},
        {scope()->files, NULL, true},
    };
    cleanup_failure struct failure *failure = NULL;
    size_t before;

    config_read(&doctor->config, doctor->root, &failure);
    if (!doctor_take(doctor, DOCTOR_PROBLEM, "configuration", &failure)) {
        cleanup_buffer struct buffer files = {0};

        for (size_t i = 0; i < doctor->config.files.count; i++)
            buffer_printf(&files, "%s%s", i > 0 ? ", " : ": ",
                          doctor->config.files.list[i].path);
        doctor_add(doctor, DOCTOR_OK, "configuration", NULL,
                   "the configuration has no mistakes%s", files.data ? files.data : "");
    }
    for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
        if (i == 0 || strcmp(directories[i].path, directories[i - 1].path) != 0)
            check_directory(doctor, &directories[i]);
    }
    if (scope()->pass_mode & S_IXOTH)
        check_ways(doctor);
    before = doctor->problems + doctor->unseen_count;
    check_secrets_below(doctor, scope()->secrets);
    check_secrets_below(doctor, scope()->domain_secrets);
    if (doctor->problems + doctor->unseen_count == before)
        doctor_add(doctor, DOCTOR_OK, "secrets", NULL,
                   "all secrets are closed to others");
}
