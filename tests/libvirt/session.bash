# shellcheck shell=bash disable=SC2034,SC2154  # variables for those that source this, and theirs
# session.bash: the session of an ordinary user in the lab, "ann"; a library to source, with lab.bash. Her
# daemon and hook have no other environment than HOME, and her commands have another HOME.
#
#   session_make_user       make her, before the first test; sets $home
#   session_place home|runtime
#                           sets $uri, and $seeds and $state, where her seeds and reports are, without or with a
#                           run-time directory
#   begin home|runtime      the same, and starts her daemon
#   session_start_daemon, session_end_daemon SIGNAL
#                           start her daemon, or end it
#   her COMMAND...          run one of her commands
#   her_virsh ARGUMENT...   virsh, connected to her daemon
#   her_virt_seed ARGUMENT...
#                           virt-seed, connected to it
#   end_session             end everything that runs as her, and remove her files

ann=64100

session_make_user() {
    export home=$LAB_DIR/home/ann
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run sh -c 'install -d -m 0755 /run/user "${1%/*}" && install -d -o "$2" -g "$2" "$1"
        echo "ann:x:$2:$2::$1:/bin/sh" >>/etc/passwd && echo "ann:x:$2:" >>/etc/group' sh "$home" "$ann"
}

# as_ann WORD...: runs as her, with nothing in the environment but what the words say.
as_ann() {
    lab_run setpriv --reuid="$ann" --regid="$ann" --clear-groups env -i \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"
}

# her COMMAND...: one of her commands, with another home than the daemon's.
her() {
    as_ann HOME=/ ${runtime:+XDG_RUNTIME_DIR="$runtime"} "$@"
}

# She may not open a pipe of root's as /dev/stdin.
her_virsh() {
    if [[ " $* " = *' /dev/stdin '* ]]; then
        # shellcheck disable=SC2016  # the words are her shell's
        her sh -c 'cat | virsh "$@"' sh -c "$uri" "$@"
    else
        her virsh -c "$uri" "$@"
    fi
}

her_virt_seed() {
    her "$builddir/virt-seed" -c "$uri" "$@"
}

session_place() {
    home=$LAB_DIR/home/ann
    state=$home/.local/state/virt-seed
    runtime='' seeds=$home/.cache/libvirt/virt-seed
    uri="qemu:///session?socket=$home/.cache/libvirt/libvirt-sock"
    if [[ $1 = runtime ]]; then
        runtime=/run/user/$ann seeds=/run/user/$ann/libvirt/virt-seed uri=qemu:///session
    fi
}

begin() {
    session_place "$1"
    session_start_daemon
}

session_start_daemon() {
    if [[ -n $runtime ]]; then
        lab_run install -d -m 0700 -o "$ann" -g "$ann" "$runtime"
    fi
    as_ann HOME="$home" ${runtime:+XDG_RUNTIME_DIR="$runtime"} "$(lab_daemon_name)" --daemon \
        </dev/null >>"$LAB_DIR/ann.log" 2>&1 3>&- 4>&-
    wait_until 60 answers
}

session_end_daemon() {
    local pid

    pid=$(lab_run pgrep -u "$ann" -x "$(lab_daemon_name)") && lab_run kill -s "$1" "$pid" &&
        wait_until 60 _lab_daemon_is_gone "$pid"
}

answers() {
    her_virsh uri >/dev/null 2>&1
}

nothing_runs() {
    ! lab_run pkill -KILL -u "$ann"
}

end_session() {
    wait_until 60 nothing_runs
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run sh -c 'find "$2" -mindepth 1 -delete; rm -rf "/run/user/$1" /etc/virt-seed/*' sh "$ann" "$home"
}
