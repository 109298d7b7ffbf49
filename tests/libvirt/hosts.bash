# shellcheck shell=bash disable=SC2154  # builddir is common.bash's
# hosts.bash: two hosts, between which guests migrate; a library to source, with lab.bash.
#
# Two labs are the hosts. Their network namespaces are joined by a veth pair, over which the
# guest's memory travels; virsh reaches each libvirtd by its socket, seen through /proc.
#
#   hosts_start                     make both, with the hook of $builddir; sets source_lab and destination_lab
#   hosts_start_destination         make the second one next to the lab that LAB_DIR is
#   hosts_stop_destination          end it
#   hosts_stop                      end both
#   on_source COMMAND...            run a function of lab.bash's, or another, for the first host
#   on_destination COMMAND...       for the second
#   migrate NAME [OPTION...]        move the guest from the first to the second; options are virsh's
#   migrate_back NAME [OPTION...]   the other way

hosts_start() {
    LAB_HOOK=$builddir/virt-seed-hook lab_start host-a && hosts_start_destination && unset LAB_DIR
}

hosts_start_destination() {
    export source_lab=$LAB_DIR
    LAB_HOOK=$builddir/virt-seed-hook lab_start host-b || return
    export destination_lab=$LAB_DIR
    LAB_DIR=$source_lab

    ip link add name vs-a netns "$(_hosts_holder "$source_lab")" type veth \
        peer name vs-b netns "$(_hosts_holder "$destination_lab")" &&
        on_source lab_run ip address add 10.9.0.1/24 dev vs-a &&
        on_source lab_run ip link set vs-a up &&
        on_destination lab_run ip address add 10.9.0.2/24 dev vs-b &&
        on_destination lab_run ip link set vs-b up
}

# The link is not gone as soon as the other end's namespace is.
hosts_stop_destination() {
    [[ -d ${destination_lab-} ]] || return 0
    on_source lab_run ip link delete vs-a
    LAB_DIR=$destination_lab lab_stop
}

hosts_stop() {
    hosts_stop_destination
    LAB_DIR=$source_lab lab_stop
}

on_source() {
    LAB_DIR=$source_lab "$@"
}

on_destination() {
    LAB_DIR=$destination_lab "$@"
}

migrate() {
    virsh -c "$(_hosts_uri "$source_lab")" migrate --live "$1" "$(_hosts_uri "$destination_lab")" \
        --migrateuri tcp://10.9.0.2 "${@:2}"
}

migrate_back() {
    virsh -c "$(_hosts_uri "$destination_lab")" migrate --live "$1" "$(_hosts_uri "$source_lab")" \
        --migrateuri tcp://10.9.0.1 "${@:2}"
}

_hosts_uri() {
    echo "qemu+unix:///system?socket=/proc/$(_hosts_holder "$1")/root/run/libvirt/libvirt-sock"
}

# The process that holds a lab, as the host numbers it.
_hosts_holder() {
    cut -d' ' -f1 "$1/holder"
}
