#!/usr/bin/env bats
# wiring.bats: libvirt and QEMU accept what 'virt-seed wire' makes of a definition.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

uuid=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
golden=$BATS_TEST_DIRNAME/../golden/wire

request() {
    echo "<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' $*/>"
}

# Software emulation works everywhere, hardware virtualisation does not.
emulated() {
    sed -E "s/<domain type=(.)kvm./<domain type=\1qemu\1/" "$1"
}

@test "libvirt validates and defines each golden result" {
    local case failed=0 count=0

    for case in "$golden"/*/out.xml; do
        count=$((count + 1))
        emulated "$case" >"$BATS_TEST_TMPDIR/case.xml"
        if ! lab_virsh define --validate "$BATS_TEST_TMPDIR/case.xml" >"$BATS_TEST_TMPDIR/log" 2>&1; then
            echo "$case:"
            cat "$BATS_TEST_TMPDIR/log"
            failed=$((failed + 1))
        fi
        lab_reset
    done
    echo "$count cases, $failed failed"
    [[ $count -ge 20 && $failed -eq 0 ]]
}

@test "a golden result that libvirt has formatted is still wired" {
    local case name failed=0

    for case in "$golden"/*/out.xml; do
        emulated "$case" >"$BATS_TEST_TMPDIR/case.xml"
        lab_virsh define "$BATS_TEST_TMPDIR/case.xml" >/dev/null
        name=$(lab_virsh list --all --name | head -n1)
        if [[ $(virt_seed wire -- "$name") != *"already wired" ]]; then
            echo "$case: is wired again"
            failed=$((failed + 1))
        fi
        lab_reset
    done
    [[ $failed -eq 0 ]]
}

@test "a domain starts with its seed on each bus" {
    local bus machine

    for bus in scsi sata ide usb virtio; do
        machine=q35
        if [[ $bus = ide ]]; then
            machine=pc
        fi
        metadata=$(request "bus='$bus'") machine=$machine domain_xml "on-$bus" $uuid |
            sed "s|<controller type='usb' model='none'/>||" >"$BATS_TEST_TMPDIR/$bus.xml"
        virt_seed wire --in-place "$BATS_TEST_TMPDIR/$bus.xml"
        lab_virsh define --validate "$BATS_TEST_TMPDIR/$bus.xml"
        lab_virsh start "on-$bus"
        run -0 lab_virsh domblklist "on-$bus"
        [[ $output = *"$uuid.iso"* ]]
        lab_reset
    done
}

@test "wires and unwires a domain with all PCI addresses assigned" {
    local before after

    devices=$(domain_disk_xml "$(domain_disk_image full)") metadata=$(request) interface=user \
        domain_define full $uuid
    lab_virsh dumpxml --inactive full >"$BATS_TEST_TMPDIR/assigned.xml"
    virt_seed wire -o "$BATS_TEST_TMPDIR/wired.xml" "$BATS_TEST_TMPDIR/assigned.xml"
    lab_virsh define --validate "$BATS_TEST_TMPDIR/wired.xml"
    lab_virsh start full
    lab_virsh destroy full

    # The lab's own path contains our name, too.
    before=$(lab_virsh dumpxml --inactive full | grep -cE 'ua-virt-seed|/run/libvirt/virt-seed')
    virt_seed unset full
    run -0 lab_virsh dumpxml --inactive full
    after=$(grep -cE 'ua-virt-seed|/run/libvirt/virt-seed' <<<"$output") || :
    [[ $before -gt 0 && $after -eq 0 ]]
    [[ $output != *"ds=nocloud"* && $output != *"<smbios"* ]]
    lab_virsh start full
}

@test "wire leaves a running domain alone and says when the change takes effect" {
    domain_define web1 $uuid
    lab_virsh start web1
    lab_virsh metadata web1 urn:virt-seed:cloud-init:1 --key ci --config --set '<cloud-init/>'
    run -0 virt_seed wire web1
    [[ $output = *"takes effect at its next start"* ]]
    run -0 lab_virsh domstate web1
    [[ $output = running* ]]
}

@test "finds a domain by its UUID, and says that one is unknown" {
    metadata=$(request) domain_define web1 $uuid
    run -0 virt_seed wire --json $uuid
    [[ $(jq -r .domain <<<"$output") = web1 ]]
    run -1 virt_seed wire nobody
    [[ $output = *"there is no domain 'nobody'"* ]]
}

@test "invents no definition for a transient domain" {
    metadata=$(request) domain_xml web1 $uuid >"$BATS_TEST_TMPDIR/web1.xml"
    virt_seed wire --in-place "$BATS_TEST_TMPDIR/web1.xml"
    lab_virsh create "$BATS_TEST_TMPDIR/web1.xml"
    run -1 virt_seed unset web1
    [[ $output = *"transient"* ]]
}

@test "dump, build and check read a domain's definition" {
    metadata=$(request) domain_define web1 $uuid
    run -0 virt_seed dump web1 meta-data
    [[ $(jq -r '."instance-id"' <<<"$output") = "$uuid" ]]
    virt_seed build -o "$BATS_TEST_TMPDIR/seed.iso" web1
    [[ $(blkid -p -o value -s LABEL "$BATS_TEST_TMPDIR/seed.iso") = cidata ]]
    run -1 virt_seed check web1
    [[ $output = *"[unwired]"* ]]
}

@test "check --all checks every domain that asks, and no other" {
    run -0 virt_seed check --all
    [[ $output = *"no domain asks"* ]]
    metadata=$(request) domain_define web1 $uuid
    domain_define web2
    metadata=$(request) domain_define web3
    virt_seed wire web3
    run -1 virt_seed check --all --no-schema
    [[ $output = *"web1: error: "*"[unwired]"* && $output != *web2* ]]
    [[ $output = *web3* && $output != *'web3: error'* ]]
}

@test "check --all takes no file for a domain, whatever its name is" {
    metadata=$(request) domain_define web1 $uuid
    cd "$BATS_TEST_TMPDIR"
    echo '<domain/>' >$uuid
    run -1 virt_seed check --all --no-schema
    [[ $output = *"web1: error: "*"[unwired]"* ]]
}

# --- the UUID ---------------------------------------------------------------------------------

# with_uuids UUID IN-SYSINFO: a domain's XML with them; 'none' is no element.
with_uuids() {
    local element="<uuid>$1</uuid>" entry="<entry name='uuid'>$2</entry>"

    [[ $1 != none ]] || element=''
    [[ $2 != none ]] || entry=''
    metadata=$(request) extra="<sysinfo type='smbios'><system>$entry</system></sysinfo>" domain_xml web1 |
        sed "s|</name>|&$element|"
}

@test "the UUID of a file is the one that libvirt gives the domain, and what libvirt refuses is refused" {
    local other=0b5f1a57-7d27-4a50-8f6e-2d0b6f0a4c11 xml=$BATS_TEST_TMPDIR/web1.xml
    local first second expected status found

    while read -r first second expected; do
        echo "$first $second"
        with_uuids "${first/empty/}" "${second/empty/}" >"$xml"
        status=0
        virt_seed wire -o "$BATS_TEST_TMPDIR/wired.xml" "$xml" || status=1
        if [[ $expected = refused ]]; then
            [[ $status -eq 1 ]]
            run -1 virt_seed check "$xml"
            run ! lab_virsh define "$xml"
            continue
        fi
        [[ $status -eq 0 ]]
        lab_virsh define "$BATS_TEST_TMPDIR/wired.xml"
        found=$(lab_virsh domuuid web1 | head -n1)
        grep -qF "/$found.iso" "$BATS_TEST_TMPDIR/wired.xml"
        [[ $expected = any || $found = "$expected" ]]
        lab_reset
    done <<END
none none any
empty none any
none empty any
none $uuid $uuid
empty $uuid $uuid
$uuid empty $uuid
$uuid $uuid $uuid
$uuid $other refused
none x refused
x none refused
END
}

@test "unset gives back a <sysinfo> without content" {
    metadata=$(request) os="<smbios mode='sysinfo'/>" extra="<sysinfo type='smbios'/>" domain_define web1 $uuid
    virt_seed wire web1
    virt_seed unset web1
    run -0 grep -E 'sysinfo|smbios' <(lab_virsh dumpxml --inactive web1)
    [[ $output = "  <sysinfo type='smbios'/>"$'\n'"    <smbios mode='sysinfo'/>" ]]
}

# --- other tools' seeds -----------------------------------------------------------------------

@test "another tool's seed in a storage pool is refused by its label, and replaced with its documents" {
    local seed=$BATS_TEST_TMPDIR/seed

    mkdir -p "$seed"
    echo 'instance-id: i-1' >"$seed/meta-data"
    printf '#!/bin/sh\ntrue\n' >"$seed/user-data"
    xorrisofs -quiet -V cidata -J -r -o "$BATS_TEST_TMPDIR/seed.iso" "$seed"
    lab_virsh pool-create-as images dir --target /var/lib/libvirt/images
    lab_virsh vol-create-as images first.iso 1M --format raw
    lab_virsh vol-upload first.iso "$BATS_TEST_TMPDIR/seed.iso" --pool images
    lab_virsh vol-create-as images second.iso 1M --format raw

    # A volume that is none is no obstacle.
    metadata=$(request) devices=$(volume_xml second.iso) domain_define web1 $uuid
    virt_seed wire web1
    run -0 virt_seed check --no-schema web1
    [[ $output != *disk-unseen* ]]

    # One that libvirt does not find cannot be seen.
    metadata=$(request) devices=$(volume_xml third.iso) domain_define web1 $uuid
    virt_seed wire web1
    run -0 virt_seed check --no-schema web1
    [[ $output = *"cannot see whether disk 'sda' (third.iso) is a seed [disk-unseen]"* ]]

    metadata=$(request) devices=$(volume_xml first.iso) domain_define web1 $uuid
    run -1 virt_seed wire web1
    [[ $output = *"disk 'sda' (first.iso) is another tool's seed: it has the label of a seed"* ]]
    run -1 virt_seed check web1
    [[ $output = *'[foreign-seed]'* ]]
    devices=$(volume_xml first.iso) domain_define web1 $uuid
    virt_seed wire --replace web1
    run -0 virt_seed dump web1 user-data
    [[ $output = *'#!/bin/sh'* ]]
    run ! grep -F first.iso <(lab_virsh dumpxml --inactive web1)
    lab_virsh pool-destroy images
}

volume_xml() {
    echo "<disk type='volume' device='cdrom'><driver name='qemu' type='raw'/>
        <source pool='images' volume='$1'/><target dev='sda' bus='sata'/><readonly/></disk>"
}
