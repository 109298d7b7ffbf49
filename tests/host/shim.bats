#!/usr/bin/env bats
# shim.bats: virt-seed-qemu as the emulator of domains that nobody wires, on a whole host.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
emulator=/usr/bin/virt-seed-qemu-system-x86_64

setup_file() {
    host_start
    host_allow_shim
}

# assert_seeded NAME UUID: QEMU has the seed in its drive, confined for itself, and may report.
assert_seeded() {
    local process

    run -0 on_host virsh qemu-monitor-command "$1" '{"execute": "query-block"}'
    jq -e --arg file "/run/libvirt/virt-seed/$2.libvirt-$2" '
        .return[] | select(.qdev == "virt-seed") | .inserted | .ro and .image.filename == $file' \
        <<<"$output"
    process=$(on_host cat "/run/libvirt/qemu/$1.pid")
    assert_confined "$process" "$2"
    [[ $(on_host stat -c '%U %a' "/var/log/libvirt/virt-seed/$2.report") = 'libvirt-qemu 640' ]]
    run on_host grep 'virt-seed: warning' "/var/log/libvirt/qemu/$1.log"
    [[ $output = '' ]]
    assert_no_denials
}

assert_nothing_left() {
    run -0 on_host find /run/libvirt/virt-seed /var/log/libvirt/virt-seed ! -type d
    [[ $output = '' ]]
}

@test "virsh create starts an unwired domain with its seed, and destroy leaves nothing" {
    metadata="<ci:cloud-init xmlns:ci='$namespace'/>" tiny_xml web1 $web1 | on_host virsh create /dev/stdin
    assert_seeded web1 $web1
    on_host virsh destroy web1
    assert_nothing_left
}

@test "virt-install makes a domain with its seed" {
    on_host qemu-img create -q -f qcow2 /var/lib/libvirt/images/web1.qcow2 1M
    on_host virt-install --name web1 --uuid $web1 --virt-type qemu --memory 32 --osinfo require=off \
        --import --disk /var/lib/libvirt/images/web1.qcow2 --network none --graphics none \
        --noautoconsole --boot emulator=$emulator
    assert_seeded web1 $web1
}

@test "managed save and start restore it without a restart of libvirtd" {
    local daemon

    host_need saving
    daemon=$(on_host systemctl show --property=MainPID libvirtd.service)
    on_host virsh managedsave web1
    assert_nothing_left
    on_host virsh start web1
    assert_seeded web1 $web1
    [[ $(on_host systemctl show --property=MainPID libvirtd.service) = "$daemon" ]]
    on_host virsh destroy web1
    assert_nothing_left
}
