#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# medium.bats: the medium of a running guest is replaced; what cloud-init makes of it when the guest is
# reset.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../../scripts/guest/guest
load common

update_uuid=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
scrub_uuid=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57

# Each seed writes one file once for each instance, and one at every boot. They are flushed to the disk soon,
# so that a reset does no harm.
user_data() {
    cat <<END
#cloud-config
write_files:
  - {path: /etc/virt-seed-probe/once, content: "$1"}
bootcmd:
  - mkdir -p /etc/virt-seed-probe
  - echo "$1" >/etc/virt-seed-probe/always
  - echo 100 | tee /proc/sys/vm/dirty_writeback_centisecs /proc/sys/vm/dirty_expire_centisecs
${2-}
END
}

setup_file() {
    common_start_lab
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# start_guest NAME UUID: starts it with the user-data in the working directory.
start_guest() {
    guest_overlay "$images" "$1"
    append=virt_seed_probe=stay guest_xml "$images" "$1" "$2" "$(console "$1")" </dev/null |
        virt_seed --quiet set - --hostname=first --user-data="$PWD/user-data" |
        lab_virsh define --validate /dev/stdin
    lab_virsh start "$1"
}

# wait_for_boot NAME NUMBER: waits until the guest has reported that often, and everything is on its disk.
wait_for_boot() {
    wait_for_report "$@"
    # The journal of the file system is written every five seconds.
    sleep 10
}

@test "update applies to the same instance what pending said" {
    # The mount locks the tray.
    user_data first '  - mount /dev/sr0 /mnt' >user-data
    start_guest update1 $update_uuid
    wait_for_boot update1 1
    assert_reported update1 hostname=first 'text=/etc/virt-seed-probe/once: first' \
        'text=/etc/virt-seed-probe/always: first'
    run -0 lab_virsh qemu-monitor-command update1 --hmp 'info block'
    [[ $output = *'Removable device: locked'* ]]

    user_data second >user-data
    virt_seed set update1 --hostname=second --user-data="$PWD/user-data"
    run -0 virt_seed pending update1
    [[ $output = *'the same instance: of what changed, cloud-init takes the host name'* ]]
    virt_seed update update1
    guest_reset update1
    wait_for_boot update1 2
    assert_reported update1 "instance-id=$update_uuid" hostname=second \
        'text=/etc/virt-seed-probe/once: first' 'text=/etc/virt-seed-probe/always: second'

    # With another instance-id, everything is applied.
    virt_seed set update1 --instance-id=third
    run -0 virt_seed update update1
    [[ $output = *'It is another instance'* ]]
    guest_reset update1
    wait_for_boot update1 3
    assert_reported update1 instance-id=third hostname=second \
        'text=/etc/virt-seed-probe/once: second'
    lab_virsh destroy update1
}

@test "a guest whose seed was scrubbed is not a new instance after a reset" {
    user_data first >user-data
    # Each boot adds a line with its host key.
    cat >>user-data <<'END'
  - mkdir -p /var/lib/cloud/scripts/per-boot
  - echo '#!/bin/sh' >/var/lib/cloud/scripts/per-boot/keys
  - echo 'cut -d" " -f2 /etc/ssh/ssh_host_ed25519_key.pub >>/etc/virt-seed-probe/keys' >>/var/lib/cloud/scripts/per-boot/keys
  - chmod +x /var/lib/cloud/scripts/per-boot/keys
END
    start_guest scrub1 $scrub_uuid
    run -0 virt_seed wait --scrub --timeout="$boot_seconds" scrub1
    [[ $output = *'scrub1: scrubbed'* ]]
    wait_for_boot scrub1 1
    run -0 virt_seed inspect "/run/libvirt/virt-seed/$scrub_uuid.iso"
    [[ $output = *'user-data: 0 bytes'* ]]

    guest_reset scrub1
    wait_for_boot scrub1 2
    assert_reported scrub1 "instance-id=$scrub_uuid" hostname=first \
        'text=/etc/virt-seed-probe/once: first'
    # Both have the same key.
    last_report scrub1 | grep '^text=/etc/virt-seed-probe/keys: ' >keys
    [[ $(wc -l <keys) -eq 2 && $(sort -u keys | wc -l) -eq 1 ]]
    lab_virsh destroy scrub1
}
