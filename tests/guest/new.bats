#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# new.bats: from an image to a login, with a real guest on a network of libvirt's.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../../scripts/guest/guest
load common

network="<network><name>default</name><forward mode='nat'/><bridge name='virbr0' stp='on' delay='0'/>
    <ip address='192.168.122.1' netmask='255.255.255.0'>
        <dhcp><range start='192.168.122.2' end='192.168.122.254'/></dhcp></ip></network>"

setup_file() {
    type -P virt-install >/dev/null || skip "virt-install is not installed"
    common_start_lab
    lab_run ip link set lo up
    lab_virsh net-define /dev/stdin <<<"$network"
    ssh-keygen -q -t ed25519 -N '' -f "$BATS_FILE_TMPDIR/key"
}

@test "new makes a guest from an image and waits until it is ready, and then says how to log in" {
    # The image has no boot loader.
    run -0 virt_seed new --memory=768 --cpus=1 --timeout="$boot_seconds" --ssh-key="$BATS_FILE_TMPDIR/key.pub" \
        --hostname=web1.example.org "$images/root.qcow2" web1 -- \
        --boot "kernel=$images/vmlinuz,initrd=$images/initrd.img,kernel_args=$(<"$images/cmdline") virt_seed_probe=stay"
    echo "$output"
    [[ $output = *"network 'default' started"* ]]
    [[ ${lines[-1]} =~ ^web1\ is\ ready:\ virt-seed\ ssh\ web1\ \(192\.168\.122\.[0-9]+\)$ ]]
    run -0 virt_seed status
    echo "$output"
    [[ $output = *web1*done* ]]
}

@test "ssh knows the guest, and runs a command in it without a question" {
    run -0 virt_seed ssh web1 -i "$BATS_FILE_TMPDIR/key" -- hostname </dev/null
    echo "$output"
    [[ $output = web1 ]]
}

@test "rm takes it away, with its disk" {
    disk=$images/web1.qcow2
    [[ -e $disk ]]
    run -0 virt_seed rm --yes web1
    [[ ! -e $disk ]]
    run -1 lab_virsh dominfo web1
}
