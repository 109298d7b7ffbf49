/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/scope.h"
#include "base/user.h"

static const struct scope of_system = {
    .uri = "qemu:///system",
    .place = "of this host (qemu:///system)",
    .aside = "",
    .rundir = VIRT_SEED_RUNDIR,
    .reportdir = VIRT_SEED_REPORTDIR,
    .statedir = VIRT_SEED_STATEDIR,
    .domain_secrets = VIRT_SEED_STATEDIR "/secrets",
    .confdir = VIRT_SEED_CONFDIR,
    .files = VIRT_SEED_CONFDIR "/files",
    .secrets = VIRT_SEED_CONFDIR "/secrets",
    .trydir = VIRT_SEED_TRYDIR,
    .definitions = VIRT_SEED_DEFINITIONS,
    .socketdir = VIRT_SEED_SOCKETDIR,
    .qemu_home = VIRT_SEED_QEMU_HOME,
    .pid_directory = VIRT_SEED_RUNSTATEDIR,
    .imds_tree = VIRT_SEED_RUNDIR "/imds",
    .pass_mode = 0711,
    .conf_mode = 0755,
    .owner_name = "root",
    .own_hint = "run chown root:root",
};

static struct scope of_session = {
    .uri = "qemu:///session",
    .place = "in your session (qemu:///session)",
    .aside = " in your session (qemu:///session)",
    .host_confdir = VIRT_SEED_CONFDIR,
    .pass_mode = 0700,
    .conf_mode = 0700,
    .owner_group = (gid_t)-1,
    .owner_name = "your own user",
    .own_hint = "make it yourself; look at it first: ls -ld",
};

static const struct scope *chosen = &of_system;

const struct scope *
scope(void)
{
    return chosen;
}

const char *
scope_denied_hint(void)
{
    if (chosen == &of_session)
        return "look at the owners and modes of your own directories";
    if (geteuid() != 0)
        return "run the command as root";
    /* Only a policy denies root anything. */
    return "restore the labels for SELinux: restorecon -RFv " VIRT_SEED_CONFDIR
           " " VIRT_SEED_RUNDIR " " VIRT_SEED_STATEDIR " " VIRT_SEED_REPORTDIR;
}

/* --- a session ---------------------------------------------------------------------- */

/* The member takes the text over. It stays until the process ends, or chooses again. */
static void
set(const char **member, char *text)
{
    free((char *)*member);
    *member = text;
}

/* All directories end with "/virt-seed" (host/forbidden-paths.c). */
bool
scope_use_directories(const char *home, const char *runtime)
{
    set(&of_session.home, fs_plain_path(home));
    set(&of_session.runtime, runtime ? fs_plain_path(runtime) : NULL);
    if (!of_session.home || (runtime && !of_session.runtime))
        return false;
    if (of_session.runtime)
        set(&of_session.pid_directory, xasprintf("%s/libvirt", of_session.runtime));
    else
        set(&of_session.pid_directory, xasprintf("%s/.cache/libvirt", of_session.home));
    set(&of_session.rundir, xasprintf("%s/virt-seed", of_session.pid_directory));
    set(&of_session.statedir, xasprintf("%s/.local/state/virt-seed", of_session.home));
    of_session.reportdir = of_session.statedir;
    set(&of_session.domain_secrets, xasprintf("%s/secrets", of_session.statedir));
    set(&of_session.confdir, xasprintf("%s/.config/virt-seed", of_session.home));
    set(&of_session.files, xasprintf("%s/files", of_session.confdir));
    set(&of_session.secrets, xasprintf("%s/secrets", of_session.confdir));
    set(&of_session.trydir, xasprintf("%s/.cache/virt-seed", of_session.home));
    set(&of_session.definitions, xasprintf("%s/.config/libvirt/qemu", of_session.home));
    chosen = &of_session;
    return true;
}

/* Return: the home, owned by the caller (free), or NULL. */
static char *
find_home(int root, uid_t user)
{
    const char *variable = getenv("HOME");
    char *home = user_find_home(root, user);
    struct stat status;

    if (home)
        return home;
    if (!variable || *variable != '/')
        return NULL;
    if (fs_stat_in_root(root, variable, &status) < 0)
        return NULL;
    if (!S_ISDIR(status.st_mode) || status.st_uid != user)
        return NULL;
    return xstrdup(variable);
}

/* Return: whether the directory, not a link to one, is the user's and closed to others. */
static bool
is_own_runtime(int root, const char *path, uid_t user)
{
    cleanup_close int fd =
        openat(root, &path[1], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) < 0)
        return false;
    return status.st_uid == user && (status.st_mode & 077) == 0;
}

int
scope_use_session(int root, uid_t user, struct failure **failure)
{
    cleanup_free char *home = find_home(root, user);
    cleanup_free char *runtime =
        xasprintf("%s/user/%lu", VIRT_SEED_RUNSTATEDIR, (unsigned long)user);
    const bool has_runtime = is_own_runtime(root, runtime, user);

    if (user == 0)
        return failure_set(
            failure, FAILURE_USAGE,
            "root has no session: what root writes in a user's directories, "
            "that user could lead elsewhere\n"
            "use the system's libvirt, with -c qemu:///system; or run this "
            "as the user whose session it is");
    if (!home || !scope_use_directories(home, has_runtime ? runtime : NULL))
        return failure_set(failure, FAILURE_SYSTEM,
                           "user %lu has no home directory to keep a session's files in\n"
                           "give the user one, in /etc/passwd or as HOME; or use the "
                           "system's libvirt: -c qemu:///system",
                           (unsigned long)user);
    of_session.owner = user;
    return 0;
}
