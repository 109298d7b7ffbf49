# shellcheck shell=bash
# common.bash: what most test files here share; loaded after lab.bash and domains.bash.
#
# A file has one lab, with the hook, and no domain is left between two tests. A file that needs something
# else defines setup_file, teardown_file or teardown itself after the load.
#
# NAME-session.bats is a link to NAME.bats: the same tests, in an ordinary user's session. What differs is in
# these variables and functions:
#
#   scope               system or session
#   uri                 of libvirt's daemon
#   seeds, report_dir, state_dir, conf_dir, try_dir
#                       virt-seed's directories
#   images, qemu_run, qemu_log, qemu_home
#                       libvirt's: where disks are, QEMU's process ids, its logs, and a directory of its user's
#   outside             what precedes the path of a file below them, seen from outside the lab
#   owner, pass_mode    their owner, and the mode of those that others pass
#   as_owner COMMAND... runs it in the lab as that owner, as lab_run does
#   virt_seed           virt-seed, connected to the daemon; "${virt_seed[@]}" are its words, for as_owner
#   configure [LINE]    writes virt-seed.conf, or removes it

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}
scope=system
if [[ $BATS_TEST_FILENAME = *-session.bats ]]; then
    scope=session
    load session
fi

# shellcheck disable=SC2034,SC2154  # variables for those that source this, and session.bash's
common_set_scope() {
    if [[ $scope = system ]]; then
        uri=qemu:///system outside=${LAB_DIR-}/root owner=root pass_mode=711
        seeds=/run/libvirt/virt-seed report_dir=/var/log/libvirt/virt-seed state_dir=/var/lib/virt-seed
        conf_dir=/etc/virt-seed try_dir=/var/lib/libvirt/virt-seed images=/var/lib/libvirt/images
        qemu_run=/run/libvirt/qemu qemu_log=/var/log/libvirt/qemu qemu_home=/var/lib/libvirt/qemu
        virt_seed=("$builddir/virt-seed")
        return
    fi
    session_place runtime
    outside='' owner=$ann pass_mode=700
    report_dir=$state state_dir=$state conf_dir=$home/.config/virt-seed try_dir=$home/.cache/virt-seed
    images=$home/images qemu_run=$runtime/libvirt/qemu/run qemu_log=$home/.cache/libvirt/qemu/log qemu_home=$home
    virt_seed=("$builddir/virt-seed" -c "$uri")
    if [[ -n ${BATS_TEST_TMPDIR-} ]]; then
        chmod 0711 "$BATS_RUN_TMPDIR"
        chmod 0777 "$BATS_TEST_TMPDIR"
    fi
    # In the place of lab.bash's.
    lab_virsh() {
        her_virsh "$@"
    }
    lab_restart_libvirtd() {
        session_end_daemon TERM && session_start_daemon
    }
    lab_kill_libvirtd() {
        session_end_daemon KILL
    }
    lab_start_libvirtd() {
        session_start_daemon
    }
}

# Known when there is a lab.
if [[ -n ${LAB_DIR-} ]]; then
    common_set_scope
fi

setup_file() {
    common_start_lab
}

teardown_file() {
    lab_stop
}

teardown() {
    lab_reset
}

# common_start_lab: the tests of the file share one libvirtd.
common_start_lab() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    # A leak in a hook would be reported to the user who starts a domain.
    LAB_HOOK=$builddir/virt-seed-hook lab_start
    if [[ $scope = session ]]; then
        session_make_user
        common_set_scope
        session_start_daemon
        as_owner mkdir "$images"
    fi
}

as_owner() {
    if [[ $scope = session ]]; then
        her "$@"
    else
        lab_run "$@"
    fi
}

# shellcheck disable=SC2120  # some configure nothing
configure() {
    # shellcheck disable=SC2016  # for the shell in the lab
    as_owner sh -c 'if [ -n "$2" ]; then echo "$2" >"$1/virt-seed.conf"; else rm "$1/virt-seed.conf"; fi' sh \
        "$conf_dir" "${1-}"
}

# common_make_conf: makes the directories of the configuration.
common_make_conf() {
    # shellcheck disable=SC2016  # for the shell in the lab
    as_owner sh -c 'umask 022; mkdir -p "$1/files" && mkdir -p -m 0700 "$1/secrets"' sh "$conf_dir"
}

# system_only WHY: skips a test of the system's scope in a session.
system_only() {
    [[ $scope = system ]] || skip "$1"
}

# common_make_server: makes a host on which guests can fetch their seeds: the directory, as systemd-tmpfiles
# does, and a listener at the usual address.
common_make_server() {
    common_make_imds_directory
    common_listen
}

# common_make_imds_directory: the same without the listener.
common_make_imds_directory() {
    lab_run install -d -m 0711 /run/libvirt/virt-seed
    lab_run install -d -m 0750 /run/libvirt/virt-seed/imds
}

# common_listen, common_stop_listening: its process id is the lab's.
common_listen() {
    # shellcheck disable=SC2016  # the words are the inner shell's, in the lab
    lab_run bash -c 'exec 2>/run/listener.log 3>&- 4>&-; mkfifo -m 0600 /run/listener.port
        sleep infinity | python3 "$0" listen 80 169.254.169.254 >/run/listener.port &
        read -r _ </run/listener.port; rm /run/listener.port; echo $! >/run/listener.pid' \
        "$BATS_TEST_DIRNAME/../imds/raw.py"
}

common_stop_listening() {
    # shellcheck disable=SC2016  # the same
    lab_run sh -c 'kill "$(cat /run/listener.pid)"'
}

virt_seed() {
    as_owner "${virt_seed[@]}" "$@"
}
