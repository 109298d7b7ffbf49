/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maker's user; AppArmor and SELinux: whether they let libvirt run the hook and the
 * emulator shim, and confine the maker. */
#include "config.h"

#include <sys/xattr.h>

#include "base/fs.h"
#include "base/scope.h"
#include "base/user.h"
#include "cli/doctor/doctor.h"
#include "domain/vocabulary.h"
#include "store/libvirt-daemon.h"

#define HOOK VIRT_SEED_SBINDIR "/virt-seed-hook"
#define PROFILES "/sys/kernel/security/apparmor/profiles"
#define MAKER_PROFILE "virt-seed-maker"
#define SELINUX "/sys/fs/selinux"
#define UNCONFINED_TYPE ":virtd_t:"
/* The beginning of each type in virt-seed's policy module. */
#define OWN_TYPE ":virt_seed_"

/* Return: the file's first word, owned by the caller (free); or NULL, with -errno in
 * `error`, unless that is NULL. */
static char *
read_word(int root, const char *path, int *error)
{
    cleanup_buffer struct buffer text = {0};
    int result = fs_read_in_root(root, path, LIMIT_PROC, &text);

    if (result == 0 && text.size > 0)
        return xstrndup(text.data, strcspn(text.data, " \n"));
    if (error)
        *error = result < 0 ? result : -ENODATA;
    return NULL;
}

/* Without it, seeds are made all the same. */
void
doctor_user(struct doctor *doctor)
{
    if (user_find(doctor->root, MAKER_USER).is_known)
        doctor_add(doctor, DOCTOR_OK, "user", NULL, "there is a user " MAKER_USER);
    else
        doctor_add(doctor, DOCTOR_NOTE, "user", "systemd-sysusers",
                   "there is no user " MAKER_USER ": the hook reads what domains ask for "
                   "as nobody, whom it shares with other programs");
}

static void
unread_profile(struct doctor *doctor, const char *path, int error)
{
    /* Then the daemon has ended. */
    if (error == -ENOENT || error == -ESRCH)
        return;
    if (geteuid() != scope()->owner && (error == -EACCES || error == -EPERM))
        doctor_unseen(doctor, "the AppArmor profile of libvirt's daemon");
    else
        doctor_add(doctor, DOCTOR_UNKNOWN, "apparmor", "aa-status",
                   "could not read libvirt's profile, %s: %s", path, strerror(-error));
}

static void
check_profile(struct doctor *doctor)
{
    cleanup_free char *path =
        xasprintf("/proc/%ld/attr/current", (long)doctor->daemon.pid);
    /* The directories from which libvirt's profile lets its daemon run programs. */
    static const char *const directories[] = {"/bin", "/sbin", "/usr/bin", "/usr/sbin",
                                              NULL};
    cleanup_free char *profile = NULL;
    int error = 0;
    if (doctor->daemon.pid == 0)
        return;
    profile = read_word(doctor->root, path, &error);
    if (!profile) {
        unread_profile(doctor, path, error);
        return;
    }
    if (strcmp(profile, "unconfined") == 0)
        doctor_add(doctor, DOCTOR_OK, "apparmor", NULL, "AppArmor does not confine %s",
                   doctor->daemon.name);
    else if (word_is_in(VIRT_SEED_SBINDIR, directories))
        doctor_add(doctor, DOCTOR_OK, "apparmor", NULL,
                   "AppArmor's profile of %s lets it run the hook", doctor->daemon.name);
    else
        doctor_add(
            doctor, DOCTOR_PROBLEM, "apparmor", "install virt-seed with the prefix /usr",
            "AppArmor's profile '%s' does not let libvirt run programs in %s: the hook "
            "fails, and so does each start",
            profile, VIRT_SEED_SBINDIR);
}

/* Each start works without the maker's profile. */
static void
check_maker_profile(struct doctor *doctor)
{
    cleanup_buffer struct buffer text = {0};
    const int error = fs_read_in_root(doctor->root, PROFILES, MIB, &text);

    buffer_append(&text, "", 1);
    if (geteuid() != scope()->owner && (error == -EACCES || error == -EPERM))
        doctor_unseen(doctor, "the profiles of AppArmor");
    else if (error == 0 && strstr(text.data, MAKER_PROFILE " (enforce)\n"))
        doctor_add(doctor, DOCTOR_OK, "apparmor", NULL,
                   "AppArmor confines " MAKER_PROFILE);
    else if (error == 0)
        doctor_add(doctor, DOCTOR_NOTE, "apparmor",
                   "apparmor_parser -r /etc/apparmor.d/" MAKER_PROFILE,
                   "AppArmor does not confine " MAKER_PROFILE
                   ", which reads what domains ask for: its profile is not enforced");
}

void
doctor_apparmor(struct doctor *doctor)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_free char *driver = NULL;

    if (!apparmor_is_enabled(doctor->root)) {
        doctor_add(doctor, DOCTOR_OK, "apparmor", NULL, "AppArmor is off");
        return;
    }
    check_profile(doctor);
    check_maker_profile(doctor);
    qemu_conf_get(doctor->root, "security_driver", &driver);
    if (driver && strcmp(driver, "none") == 0)
        return;
    apparmor_check_shim(doctor->root, &failure);
    if (!doctor_take(doctor, doctor->shim_domain ? DOCTOR_PROBLEM : DOCTOR_NOTE, "shim",
                     &failure))
        doctor_add(doctor, DOCTOR_OK, "shim", NULL,
                   "AppArmor lets libvirt run virt-seed-qemu");
}

/* Return: whether the hook has a type from virt-seed's policy; without the policy,
 * another type is shown. */
static bool
has_own_type(struct doctor *doctor)
{
    cleanup_close int fd = fs_open_in_root(doctor->root, HOOK);
    cleanup_free char *path = xasprintf("/proc/self/fd/%d", fd);
    char label[256] = "";

    return fd >= 0 && getxattr(path, "security.selinux", label, sizeof(label) - 1) > 0 &&
           strstr(label, OWN_TYPE);
}

/* In EL 9, the domain of libvirt's daemon is not confined, and neither is what it runs.
 * In newer policies, and in Debian's, it is confined and cannot give a seed to a guest; no
 * boolean changes that. */
void
doctor_selinux(struct doctor *doctor)
{
    cleanup_free char *enforcing = read_word(doctor->root, SELINUX "/enforce", NULL);
    cleanup_free char *path =
        xasprintf("/proc/%ld/attr/current", (long)doctor->daemon.pid);
    cleanup_free char *daemon = NULL;
    const char *fix = "install virt-seed-selinux";
    struct stat status;
    const bool is_debian =
        fs_stat_in_root(doctor->root, "/etc/debian_version", &status) == 0;

    if (doctor->daemon.pid > 0)
        daemon = read_word(doctor->root, path, NULL);
    /* Debian has no package of the module. */
    if (is_debian)
        fix = "build and load the policy module: man virt-seed-selinux";
    if (!enforcing)
        doctor_add(doctor, DOCTOR_OK, "selinux", NULL, "SELinux is off");
    else if (strcmp(enforcing, "1") != 0)
        doctor_add(doctor, DOCTOR_OK, "selinux", NULL, "SELinux is permissive");
    else if (has_own_type(doctor))
        doctor_add(doctor, DOCTOR_OK, "selinux", NULL,
                   "virt-seed's SELinux policy module is loaded, and covers the hook");
    else if (!is_debian && daemon && strstr(daemon, UNCONFINED_TYPE))
        doctor_add(doctor, DOCTOR_OK, "selinux", NULL,
                   "SELinux runs %s, and with it the hook, in virtd_t",
                   doctor->daemon.name);
    else
        doctor_add(doctor, DOCTOR_PROBLEM, "selinux", fix,
                   "SELinux is enforcing without virt-seed's policy module: domains that "
                   "have a seed cannot start");
}
