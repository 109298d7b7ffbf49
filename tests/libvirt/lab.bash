# shellcheck shell=bash
# lab.bash: a private libvirtd with real QEMU guests, for tests; a library to source.
#
# How it works
#
# A lab is a directory, LAB_DIR, and one process, lab-namespace.bash, that holds mount, PID,
# network and UTS namespaces. There libvirt's and virt-seed's directories below /etc and /var are
# the ones below LAB_DIR/root, /run is empty, and KVM, cgroups and the network are out of sight.
# So the lab's libvirtd neither sees nor disturbs the host's, and nothing outlives the lab: when
# the process ends, the kernel ends every daemon and guest in the namespaces, and the mounts go.
#
# All state is in LAB_DIR, which is exported: bats runs each test in a process of its own. A bats
# file calls lab_start in setup_file and lab_stop in teardown_file; a script says 'trap lab_stop
# EXIT'. Two labs can run side by side: LAB_DIR=$other lab_virsh list.
#
# The daemon is libvirtd, or virtqemud if there is no libvirtd; VIRT_SEED_LAB_DAEMON, a program's name or
# path, overrides that. 'libvirtd' here means either of them.
#
#   lab_start [NAME]           make a lab whose host name is NAME; sets LAB_DIR
#   LAB_HOOK=PROGRAM lab_start the same, PROGRAM being libvirt's qemu hook from the start
#   lab_stop                   end the lab and all that runs in it; harmless when there is none
#   lab_run COMMAND...         run a command in the lab, in the caller's working directory
#   lab_virsh ARGUMENT...      virsh, connected to the lab's libvirtd
#   lab_install_hook PROGRAM   make PROGRAM (an absolute path) libvirt's qemu hook
#   lab_make_secret NAME KEY CONTENT
#                              give virt-seed a secret of the host's, in place of the one it had
#   lab_restart_libvirtd       restart libvirtd; guests go on running
#   lab_kill_libvirtd          kill libvirtd, as a crash would; guests go on running
#   lab_start_libvirtd         start it after that
#   lab_reset                  destroy and undefine every domain, between two tests
#   lab_daemon_name            print the daemon's name: libvirtd or virtqemud
#   lab_daemon_log             print what libvirtd logged

_lab_source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../wait.bash
source "$_lab_source_dir/../wait.bash"

lab_start() {
    local host_name=${1:-virt-seed-lab}

    _lab_check_host || return
    # Not below TMPDIR: QEMU's user must be able to come here.
    LAB_DIR=$(mktemp -d /tmp/virt-seed-lab.XXXXXX) || return
    export LAB_DIR

    if ! { _lab_configure && _lab_hold_namespaces "$host_name" && _lab_start_daemons; }; then
        echo "lab_start: the lab '$host_name' did not come up" >&2
        cat "$LAB_DIR"/*.log >&2 2>/dev/null
        lab_daemon_log >&2
        lab_stop
        return 1
    fi
}

lab_stop() {
    local pid

    [[ -d ${LAB_DIR-} ]] || return 0
    if pid=$(_lab_holder); then
        kill -KILL "$pid" || :
        # The holder is gone when everything else in its PID namespace is.
        wait_until 10 _lab_is_gone "$pid" ||
            echo "lab_stop: process $pid does not end" >&2
    fi
    rm -rf --one-file-system "$LAB_DIR"
    unset LAB_DIR
}

# Words like NAME=VALUE before the command are put into its environment. Process ids are the lab's.
lab_run() {
    local pid

    if ! pid=$(_lab_holder); then
        echo "lab_run: no lab is running" >&2
        return 125
    fi
    nsenter --target "$pid" --mount --uts --net --pid -- env -C "$PWD" -- "$@"
}

lab_make_secret() {
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run sh -c 'secret=/etc/virt-seed/secrets/$1
        mkdir -p -m 0755 /etc/virt-seed
        install -d -m 0700 /etc/virt-seed/secrets "$secret"
        install -m 0600 /dev/stdin "$secret/$2"' sh "$1" "$2" <<<"$3"
}

lab_virsh() {
    lab_run LC_ALL=C.UTF-8 virsh -c qemu:///system "$@"
}

# libvirtd looks once, when it starts, whether there is a hook at all; a hook that takes the place
# of another is noticed without a restart.
lab_install_hook() {
    local program=$1 hook=$LAB_DIR/root/etc/libvirt/hooks/qemu.d/50-virt-seed
    local had_hook=no

    if [[ -x $hook ]]; then
        had_hook=yes
    fi
    _lab_link_hook "$program" || return
    if [[ $had_hook = no ]]; then
        lab_restart_libvirtd
    fi
}

lab_restart_libvirtd() {
    local pid

    pid=$(lab_run cat "/run/$(lab_daemon_name).pid") && lab_run kill "$pid" &&
        wait_until 60 _lab_daemon_is_gone "$pid" && lab_start_libvirtd
}

lab_start_libvirtd() {
    _lab_daemon "$(_lab_daemon_program)" && wait_until 60 _lab_libvirtd_answers
}

lab_kill_libvirtd() {
    local pid

    pid=$(lab_run cat "/run/$(lab_daemon_name).pid") && lab_run kill -KILL "$pid" &&
        wait_until 60 _lab_daemon_is_gone "$pid"
}

lab_reset() {
    local uuid

    for uuid in $(lab_virsh list --uuid); do
        # It may have ended by itself meanwhile.
        lab_virsh destroy "$uuid" >/dev/null || :
    done
    for uuid in $(lab_virsh list --all --uuid); do
        lab_virsh undefine --managed-save --snapshots-metadata --nvram "$uuid" >/dev/null
    done
}

lab_daemon_name() {
    basename "$(_lab_daemon_program)"
}

lab_daemon_log() {
    local log=$LAB_DIR/root/var/log/libvirt/daemon.log

    if [[ -e $log ]]; then
        cat "$log"
    fi
}

# What follows is this file's own.

_lab_check_host() {
    local program

    if [[ $EUID -ne 0 ]]; then
        echo "lab_start: only root can make a lab" >&2
        return 1
    fi
    for program in "$(_lab_daemon_program)" virtlogd virsh qemu-system-x86_64 unshare nsenter ip hostname; do
        if ! type -P "$program" >/dev/null; then
            echo "lab_start: '$program' is not installed" >&2
            return 1
        fi
    done
}

_lab_configure() (
    umask 022
    # QEMU's user must be able to pass.
    chmod 0711 "$LAB_DIR" &&
        mkdir -p "$LAB_DIR"/{overlay,root/etc/libvirt/hooks/qemu.d,root/var/lib/libvirt/images} &&
        _lab_write_daemon_conf >"$LAB_DIR/root/etc/libvirt/$(lab_daemon_name).conf" &&
        _lab_write_client_conf >"$LAB_DIR/root/etc/libvirt/libvirt.conf" &&
        _lab_write_qemu_conf >"$LAB_DIR/root/etc/libvirt/qemu.conf" &&
        { [[ -z ${LAB_HOOK-} ]] || _lab_link_hook "$LAB_HOOK"; }
)

# host_uuid: two labs on one machine are two hosts, between which a guest can migrate.
# unix_sock_rw_perms: a daemon that was built without polkit lets nobody in but root.
_lab_write_daemon_conf() {
    cat <<END
auth_unix_ro = "none"
auth_unix_rw = "none"
unix_sock_rw_perms = "0777"
host_uuid = "$(</proc/sys/kernel/random/uuid)"
log_outputs = "3:file:/var/log/libvirt/daemon.log"
END
}

# How libvirt was built decides which daemon a client talks to.
_lab_write_client_conf() {
    if [[ $(lab_daemon_name) = libvirtd ]]; then
        echo 'remote_mode = "legacy"'
    else
        echo 'remote_mode = "direct"'
    fi
}

# No AppArmor or SELinux labels, since their tools act on the host. Files are still handed to QEMU's
# user (dynamic_ownership is the default), but their former owners are not remembered: that takes
# extended attributes, which not every file system has. No /dev of its own for each guest: what
# hides /dev/kvm is a mount that libvirt cannot move there.
_lab_write_qemu_conf() {
    cat <<'END'
security_driver = "none"
remember_owner = 0
namespaces = [ ]
END
}

_lab_link_hook() {
    local program=$1

    if [[ $program != /* || ! -x $program ]]; then
        echo "lab: the hook '$program' is not an executable's absolute path" >&2
        return 1
    fi
    ln -sfn "$program" "$LAB_DIR/root/etc/libvirt/hooks/qemu.d/50-virt-seed"
}

# bats waits for whoever holds its descriptors 3 and 4, so nothing that stays may inherit them. A
# holder that comes too late, after lab_stop, ends itself: it cannot write down its process id.
_lab_hold_namespaces() {
    local host_name=$1 starter

    unshare --mount --uts --net --pid --fork --kill-child \
        bash "$_lab_source_dir/lab-namespace.bash" "$LAB_DIR" "$host_name" \
        </dev/null >"$LAB_DIR/namespace.log" 2>&1 3>&- 4>&- &
    starter=$!
    # Its end is lab_stop's doing; the shell need not report it.
    disown "$starter"
    wait_until 60 _lab_holder_is_decided "$starter"
    _lab_holder >/dev/null
}

_lab_holder_is_decided() {
    [[ -e $LAB_DIR/holder ]] || _lab_is_gone "$1"
}

# Prints the holder's process id. The namespace tells it from a later process of the same id.
_lab_holder() {
    local pid namespace

    [[ -e ${LAB_DIR-}/holder ]] && read -r pid namespace <"$LAB_DIR/holder" &&
        [[ $(readlink "/proc/$pid/ns/mnt") = "$namespace" ]] && echo "$pid"
}

_lab_is_gone() {
    ! kill -0 "$1" 2>/dev/null
}

_lab_daemon_is_gone() {
    ! lab_run test -e "/proc/$1"
}

# Prints the program of libvirt's daemon.
_lab_daemon_program() {
    if [[ -n ${VIRT_SEED_LAB_DAEMON-} ]]; then
        echo "$VIRT_SEED_LAB_DAEMON"
    elif type -P libvirtd >/dev/null || ! type -P virtqemud >/dev/null; then
        echo libvirtd
    else
        echo virtqemud
    fi
}

_lab_start_daemons() {
    _lab_daemon virtlogd && lab_start_libvirtd
}

_lab_libvirtd_answers() {
    lab_run timeout 30 virsh -c qemu:///system uri >/dev/null 2>&1
}

# A service's environment, not the test's: hooks and QEMU inherit from it.
_lab_daemon() (
    umask 022
    lab_run env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$1" --daemon \
        </dev/null >>"$LAB_DIR/daemons.log" 2>&1 3>&- 4>&-
)
