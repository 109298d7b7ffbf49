#!/usr/bin/env bash
# lab-namespace.bash: the first process of a lab, in the namespaces it was started in.
#
# Started by lab_start (lab.bash), never by hand: it covers the places where libvirt and virt-seed
# keep files, says that it is ready, and stays. When it ends, everything in the lab ends with it,
# since it is process 1 of the lab's PID namespace.

set -eu

lab=$1
host_name=$2

# The directories that a lab has for itself; what is in them lies below $lab/root.
private_dirs=(
    /etc/libvirt /etc/virt-seed
    /var/lib/libvirt /var/lib/virt-seed /var/cache/libvirt /var/log/libvirt
)

# Some of those do not exist on the host. With an overlay over each parent they can be made
# without a trace there; its upper half is a tmpfs, as /tmp may be an overlay itself.
cover_parents() {
    local parent upper

    mount -t tmpfs -o mode=0755 lab "$lab/overlay"
    for parent in /etc /var/lib /var/cache /var/log; do
        upper=$lab/overlay/${parent//\//_}
        mkdir "$upper" "$upper.work"
        mount -t overlay -o "lowerdir=$parent,upperdir=$upper,workdir=$upper.work" lab "$parent"
    done
}

bind_private_dirs() {
    local dir

    for dir in "${private_dirs[@]}"; do
        mkdir -p "$lab/root$dir" "$dir"
        mount --bind "$lab/root$dir" "$dir"
    done
}

# All of /run is the lab's: no D-Bus there, so libvirtd finds neither the host's machined nor its
# firewalld. For the same reason it gets no cgroups, in which its guests would leave directories.
isolate_from_host_services() {
    mount -t tmpfs -o mode=0755 lab /run
    mkdir -m 1777 /run/lock
    if mountpoint -q /sys/fs/cgroup; then
        umount -R -l /sys/fs/cgroup
    fi
    # The old sysfs shows the network devices of the host.
    mount -t sysfs sysfs /sys
}

# The tests' domains are emulated everywhere, so KVM is not to be seen. What covers it must be
# closed to QEMU's user (/dev/null is not): libvirtd, finding a /dev/kvm that is open to it and
# does not work, probes QEMU again at every look-up, which takes seconds.
hide_kvm() {
    if [[ -e /dev/kvm ]]; then
        install -m 0000 /dev/null "$lab/overlay/no-kvm"
        mount --bind "$lab/overlay/no-kvm" /dev/kvm
    fi
}

# libvirtd resolves its host's name at start: without an entry that may wait for a name server.
name_host() {
    hostname "$host_name"
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$host_name" >/etc/hosts
}

# As after an installation.
add_user() {
    grep -q '^virt-seed:' /etc/passwd || echo 'virt-seed:x:990:990::/:/usr/sbin/nologin' >>/etc/passwd
}

# Before /proc is replaced it still shows the process id by which the host knows this process.
read -r pid _ </proc/self/stat
namespace=$(readlink /proc/self/ns/mnt)

umask 022
mount --make-rprivate /
mount -t proc proc /proc
cover_parents
bind_private_dirs
isolate_from_host_services
hide_kvm
name_host
add_user
ip link set lo up

echo "$pid $namespace" >"$lab/holder.new"
mv "$lab/holder.new" "$lab/holder"

# The daemons' children are handed to this process when their parents end. bash collects them; a
# QEMU that stayed a zombie would count as running, for libvirt too.
while :; do
    sleep infinity &
    wait
done
