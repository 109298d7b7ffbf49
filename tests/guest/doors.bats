#!/usr/bin/env bats
# doors.bats: guests whose domains nobody wires apply their seeds, and report: one was created with
# virt-seed-qemu as its emulator, one is what VDSM's hook makes of a VM's XML.
#
# They boot side by side before the first test.
# shellcheck disable=SC2034,SC2154  # variables for and of vdsm.bash

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../functional/vdsm
load ../../scripts/guest/guest

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}
guest=${VIRT_SEED_GUEST:?the directory that scripts/build-guest made}

# Under software emulation on a slow machine; a boot takes half a minute otherwise.
boot_seconds=400

shim1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
vdsm1=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
vdsms_serial=30353036-3837-4247-3831-303946454633

# request NAME: what the guest of that name is to become.
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
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    LAB_HOOK=$builddir/virt-seed-hook lab_start
    export images=$LAB_DIR/root/var/lib/libvirt/images

    guest_provide "$guest" "$images"
    start_by_shim
    start_by_vdsm
    wait_for "$shim1" shim1
    wait_for "$vdsm1" vdsm1
}

teardown_file() {
    lab_stop
}

# xml NAME UUID: the guest's domain, its <metadata> on standard input.
xml() {
    guest_overlay "$images" "$1"
    append=virt_seed_probe=stay guest_xml "$images" "$1" "$2" "$images/$1.console"
}

# QEMU's user must be able to come to the shim, under its installed name.
start_by_shim() {
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

# report UUID: what the guest has reported to the host.
report() {
    lab_run cat "/var/log/libvirt/virt-seed/$1.report"
}

# has_ended UUID NAME: cloud-init in the guest has, and both of the guest's ways to say so are done.
has_ended() {
    guest_has_reported "$images/$2.console" &&
        report "$1" | tail -n 1 | jq -e .result >/dev/null 2>&1
}

wait_for() {
    local second

    for ((second = 0; second < boot_seconds; second++)); do
        if has_ended "$@"; then
            return
        fi
        sleep 1
    done
    echo "the guest '$2' did not report within $boot_seconds seconds" >&2
    tail -n 30 "$images/$2.console" >&2
    report "$1" >&2
    return 1
}

# assert_applied NAME LINE...: what every guest here must show, and lines of its own.
assert_applied() {
    local name=$1 line report

    shift
    report=$(guest_report "$images/$name.console")
    echo "$report"
    for line in 'datasource=DataSourceNoCloud [seed=dmi,/dev/sr0][dsmode=net]' 'errors=[]' \
        "hostname=$name" 'timezone=Asia/Tokyo' "$@"; do
        grep -qxF -e "$line" <<<"$report"
    done
}

# assert_reported UUID: each stage, and the end without errors.
assert_reported() {
    report "$1"
    run -0 report "$1"
    [[ ${#lines[@]} -ge 4 ]]
    tail -n 1 <<<"$output" | jq -e '."virt-seed" == 1 and .result.v1.errors == [] and
        ([.status.v1["init-local", "init", "modules-config", "modules-final"].finished] | all)'
    [[ $(jq -r .boot <<<"$output" | sort -u | wc -l) -eq 1 ]]
}

@test "virt-seed-qemu: cloud-init takes the seed of a guest that was created unwired" {
    assert_applied shim1 "instance-id=$shim1" 'product_serial=ds=nocloud;dsmode=net'
}

@test "virt-seed-qemu: the guest reports each stage, and libvirt does not mind the port" {
    assert_reported "$shim1"
    run ! grep -F -e 'virt-seed-report' -e 'virt-seed-serial' <(lab_daemon_log)
}

@test "VDSM's hook: cloud-init takes the seed that a custom property asks for" {
    assert_applied vdsm1 "instance-id=$vdsm1" "product_serial=$vdsms_serial ds=nocloud;dsmode=net"
}

@test "VDSM's hook: the guest reports each stage" {
    assert_reported "$vdsm1"
}

@test "nothing of guests that have ended is left" {
    lab_virsh destroy shim1
    lab_virsh destroy vdsm1
    [[ $(lab_virsh list --all --name) = vdsm1 ]]
    run -0 lab_run find /run/libvirt/virt-seed /var/log/libvirt/virt-seed -mindepth 1
    [[ $output = "" ]]
}
