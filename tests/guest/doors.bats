#!/usr/bin/env bats
# doors.bats: guests whose domains nobody wires apply their seeds, and report: one was created with
# virt-seed-qemu as its emulator, one is what VDSM's hook makes of a VM's XML.
#
# They boot side by side before the first test.
# shellcheck disable=SC2034,SC2154  # variables for and of vdsm.bash, and of common.bash

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../functional/vdsm
load ../../scripts/guest/guest
load common

shim1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
vdsm1=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
vdsms_serial=30353036-3837-4247-3831-303946454633

# request NAME: prints what the guest of that name asks for.
request() {
    cat <<END
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1">
  <ci:hostname>$1.example.org</ci:hostname>
  <ci:user-data>
#cloud-config
timezone: Asia/Tokyo
  </ci:user-data>
</ci:cloud-init>
END
}

setup_file() {
    common_start_lab
    start_with_shim
    start_by_vdsm
    # Both ways in which they say that cloud-init has ended.
    wait_for_report shim1
    wait_for_report vdsm1
    wait_until "$boot_seconds" has_result "$shim1"
    wait_until "$boot_seconds" has_result "$vdsm1"
}

# xml NAME UUID: prints the guest's domain; its <metadata> is read from standard input.
xml() {
    guest_overlay "$images" "$1"
    append=virt_seed_probe=stay guest_xml "$images" "$1" "$2" "$(console "$1")"
}

# QEMU's user must be able to reach the shim, under its installed name.
start_with_shim() {
    local emulator=$LAB_DIR/bin/virt-seed-qemu-system-x86_64

    mkdir -m 0755 "$LAB_DIR/bin"
    install -m 0755 "$builddir/virt-seed-qemu" "$emulator"
    request shim1 | xml shim1 $shim1 | sed "s|<devices>|&<emulator>$emulator</emulator>|" |
        lab_virsh create /dev/stdin
}

# The VM's serial is the engine's; the request is in a custom property, and nowhere else.
start_by_vdsm() {
    local sysinfo="<sysinfo type='smbios'><system><entry name='serial'>$vdsms_serial</entry>\
</system></sysinfo>"

    mkdir -p "$LAB_DIR/hooks/before_vm_start"
    cp "$builddir/virt-seed-vdsm" "$LAB_DIR/hooks/before_vm_start/50_virt_seed"
    mkdir -m 1777 "$LAB_DIR/exchange"
    vdsm_user=(setpriv --reuid=36 --regid=36 --clear-groups env TMPDIR="$LAB_DIR/exchange"
        LC_ALL=C.UTF-8)
    vdsm_run_hooks "$LAB_DIR/hooks" before_vm_start \
        "$(xml vdsm1 $vdsm1 </dev/null | sed "s|</os>|<smbios mode='sysinfo'/>&$sysinfo|")" \
        "cloudinit=$(request vdsm1 | base64 -w0)" || {
        echo "$vdsm_error" >&2
        return 1
    }
    lab_virsh define --validate /dev/stdin <<<"$vdsm_xml"
    lab_virsh start vdsm1
}

# report UUID: prints what the guest has reported to the host.
report() {
    lab_run cat "/var/log/libvirt/virt-seed/$1.report"
}

# assert_applied NAME LINE...: the guest's report has the lines that all guests here must have, and these.
assert_applied() {
    assert_reported "$1" 'datasource=DataSourceNoCloud [seed=dmi,/dev/sr0]' \
        'errors=[]' "hostname=$1" 'timezone=Asia/Tokyo' "${@:2}"
}

# has_result UUID: whether the guest has reported cloud-init's end to the host.
has_result() {
    report "$1" | tail -n 1 | jq -e .result >/dev/null 2>&1
}

# assert_stages UUID: the guest has reported each stage, and the end without errors.
assert_stages() {
    report "$1"
    run -0 report "$1"
    [[ ${#lines[@]} -ge 4 ]]
    tail -n 1 <<<"$output" | jq -e '."virt-seed" == 1 and .result.v1.errors == [] and
        ([.status.v1["init-local", "init", "modules-config", "modules-final"].finished] | all)'
    [[ $(jq -r .boot <<<"$output" | sort -u | wc -l) -eq 1 ]]
}

@test "virt-seed-qemu: cloud-init uses the seed of a guest that was created unwired" {
    assert_applied shim1 "instance-id=$shim1" 'product_serial=ds=nocloud;dsmode=net'
}

@test "virt-seed-qemu: the guest reports each stage, and libvirt accepts the port" {
    assert_stages "$shim1"
    run ! grep -F -e 'virt-seed-report' -e 'virt-seed-serial' <(lab_daemon_log)
}

@test "VDSM's hook: cloud-init uses the seed that a custom property requests" {
    assert_applied vdsm1 "instance-id=$vdsm1" "product_serial=$vdsms_serial ds=nocloud;dsmode=net"
}

@test "VDSM's hook: the guest reports each stage" {
    assert_stages "$vdsm1"
}

@test "guests that have ended leave nothing" {
    lab_virsh destroy shim1
    lab_virsh destroy vdsm1
    [[ $(lab_virsh list --all --name) = vdsm1 ]]
    run -0 lab_run find /run/libvirt/virt-seed /var/log/libvirt/virt-seed -mindepth 1
    [[ $output = "" ]]
}
