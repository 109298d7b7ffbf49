#!/usr/bin/env bats
# vdsm.bats: what virt-seed-vdsm makes of a VM's XML is started by a real libvirtd, as VDSM does:
# the result is defined, then started. VDSM's own libvirt hook is installed next to ours.
# shellcheck disable=SC2034,SC2154  # variables for and of vdsm.bash

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load ../functional/vdsm

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seed=/run/libvirt/virt-seed/$web1.iso
vdsms_hook=/etc/libvirt/hooks/qemu

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}

setup_file() {
    common_start_lab
    mkdir -p "$LAB_DIR/hooks/before_vm_start"
    cp "$builddir/virt-seed-vdsm" "$LAB_DIR/hooks/before_vm_start/50_virt_seed"
    mkdir -m 1777 "$LAB_DIR/exchange"
    # As VDSM's does (lib/vdsm/virt/libvirthook): at migrate and restore it is a filter, and else
    # it does nothing.
    lab_run tee "$vdsms_hook" >/dev/null <<'END'
#!/bin/sh
if [ "$2 $3" = "migrate begin" ] || [ "$2 $3" = "restore begin" ]; then
    sed 's|<title>.*</title>|<title>filtered by VDSM</title>|'
fi
END
    lab_run chmod 0755 "$vdsms_hook"
}

setup() {
    # VDSM's user and group.
    vdsm_user=(setpriv --reuid=36 --regid=36 --clear-groups env TMPDIR="$LAB_DIR/exchange"
        LC_ALL=C.UTF-8)
}

# A VM as the engine makes it, with a serial of its own.
vm_xml() {
    os="<smbios mode='sysinfo'/>" machine=q35 \
        devices="<controller type='scsi' index='0' model='virtio-scsi'/>" \
        extra="<title>web1</title><sysinfo type='smbios'><system>
            <entry name='manufacturer'>oVirt</entry>
            <entry name='serial'>30353036-3837-4247-3831-303946454633</entry>
        </system></sysinfo>" domain_xml web1 $web1
}

# start_vm [PROPERTY=VALUE...]: before_vm_start, define, start.
start_vm() {
    vdsm_run_hooks "$LAB_DIR/hooks" before_vm_start "$(vm_xml)" "$@" || {
        echo "$vdsm_error"
        return 1
    }
    lab_virsh define /dev/stdin <<<"$vdsm_xml"
    lab_virsh start web1
}

document() {
    lab_run "$builddir/virt-seed" inspect --extract="$BATS_TEST_TMPDIR/$2" "$seed" >/dev/null
    cat "$BATS_TEST_TMPDIR/$2/$1"
}

element="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'>
  <ci:hostname>web1.example.org</ci:hostname></ci:cloud-init>"

@test "a VM starts with the seed that its custom property requests" {
    start_vm "cloudinit=$(base64 -w0 <<<"$element")"
    [[ $(document meta-data one | jq -r '."local-hostname"') = web1.example.org ]]
    run -0 lab_virsh dumpxml web1
    [[ $output = *"30353036-3837-4247-3831-303946454633 ds=nocloud;dsmode=net"* ]]
}

@test "a VM starts with the user-data in its custom property" {
    start_vm "cloudinit=$(printf '#cloud-config\nlocale: C.UTF-8\n' | base64 -w0)"
    [[ $(document user-data one) = $'#cloud-config\nlocale: C.UTF-8' ]]
}

@test "a VM without a request starts without a seed" {
    start_vm
    run lab_run test -e "$seed"
    [[ $status -eq 1 ]]
}

@test "without VDSM's hook, a VM with a request does not start" {
    metadata=$element domain_define web1 $web1
    run lab_virsh start web1
    [[ $status -ne 0 && $output = *'not wired'* ]]
}

@test "a restored VM has its seed and the XML from VDSM's own hook" {
    local before

    start_vm "cloudinit=$(base64 -w0 <<<"$element")"
    before=$(lab_run sha256sum "$seed")
    lab_virsh save web1 "$LAB_DIR/web1.save"
    run lab_run test -e "$seed"
    [[ $status -eq 1 ]]
    lab_virsh restore "$LAB_DIR/web1.save"
    [[ $(lab_run sha256sum "$seed") = "$before" ]]
    run -0 lab_virsh dumpxml web1
    [[ $output = *'<title>filtered by VDSM</title>'* ]]
}
