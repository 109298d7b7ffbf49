#!/usr/bin/env bats
# shellcheck disable=SC2030,SC2031  # each test is a subshell, and has its own variables
# shellcheck disable=SC2154  # builddir is common.bash's
# migrate.bats: a guest moves live between two hosts; each makes the seed itself.

bats_require_minimum_version 1.5.0

load lab
load hosts
load domains
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seeds=/run/libvirt/virt-seed

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    hosts_start
}

teardown_file() {
    hosts_stop
}

teardown() {
    on_source lab_reset
    on_destination lab_reset
    on_destination lab_run sh -c 'rm -rf /etc/virt-seed/*'
}

# start_on_source CHILDREN [ATTRIBUTES]
start_on_source() {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' ${2-}>$1</ci:cloud-init>" \
        on_source domain_define web1 $web1
    on_source lab_run "$builddir/virt-seed" wire web1
    on_source lab_virsh start web1
}

# stays_on_source: the migration has failed, and nothing is left of it.
stays_on_source() {
    run -0 on_source lab_virsh domstate web1
    [[ $output = running* ]]
    run -0 on_destination lab_virsh list --all --name
    [[ $output = "" ]]
    run -0 on_destination lab_run find "$seeds" -type f
    [[ $output = "" ]]
}

seed_sum() {
    lab_run sha256sum "$seeds/$web1.iso" | cut -d' ' -f1
}

@test "a live migration makes the same seed on the destination and removes the source's" {
    local before

    start_on_source "<ci:hostname>web1</ci:hostname>"
    before=$(on_source seed_sum)
    migrate web1

    [[ $(on_destination seed_sum) = "$before" ]]
    run -0 on_destination lab_virsh domstate web1
    [[ $output = running* ]]
    run -0 on_source lab_run find "$seeds" -mindepth 1
    [[ $output = "" ]]
    run ! on_destination lab_run test -e "$seeds/$web1.resume"
}

@test "a destination without the secret refuses, and the guest stays where it is" {
    on_source lab_make_secret web1 userdata '#cloud-config'
    start_on_source "<ci:user-data secret='web1'/>"
    run ! migrate web1
    [[ $output = *"/etc/virt-seed/secrets/web1 does not exist"* ]]

    run -0 on_source lab_virsh domstate web1
    [[ $output = running* ]]
    on_source seed_sum
    run -0 on_destination lab_run find "$seeds" -mindepth 1
    [[ $output = "" ]]
}

@test "works together with another hook that changes the XML on the destination" {
    local hook=/etc/libvirt/hooks/qemu

    on_destination lab_run tee "$hook" >/dev/null <<'END'
#!/bin/sh
if [ "$2 $3" = "migrate begin" ]; then
    sed 's|<domain |&xmlns:other="urn:other" |; s|<metadata>|&<other:filtered/>|'
fi
END
    on_destination lab_run chmod 0755 "$hook"
    start_on_source ''
    migrate web1
    on_destination lab_run rm "$hook"
    run -0 on_destination lab_virsh dumpxml web1
    [[ $output = *'other:filtered'* ]]
    on_destination lab_run test -e "$seeds/$web1.iso"
}

@test "a guest of virt-seed-qemu keeps its seed and its report's port when it migrates" {
    local bin=$source_lab/bin report=/var/log/libvirt/virt-seed/$web1.report

    # Both hosts see it, and QEMU's user can come to it.
    mkdir -m 0755 "$bin"
    install -m 0755 "$builddir/virt-seed-qemu" "$bin/virt-seed-qemu-system-x86_64"
    emulator=$bin/virt-seed-qemu-system-x86_64 on_source domain_define web1 $web1
    on_source lab_virsh start web1
    before=$(on_source lab_run sha256sum "$seeds/$web1.iso")
    migrate web1
    [[ $(on_destination lab_run sha256sum "$seeds/$web1.iso") = "$before" ]]
    run -0 on_destination lab_virsh qemu-monitor-command web1 '{"execute": "query-block"}'
    [[ $output = *"$web1.libvirt-$web1"* ]]
    on_destination lab_virsh qemu-monitor-command web1 '{"execute": "query-pci"}' |
        jq -e '[.return[0].devices[] | select(.slot == 28) | [.function, .qdev_id]] | sort ==
            [[0, "virt-seed-scsi"], [1, "virt-seed-serial"]]'
    on_destination lab_run test -e "$report"
    run ! on_source lab_run test -e "$report"
    run -0 on_destination lab_virsh domstate web1
    [[ $output = running* ]]
    run -0 on_source lab_run find "$seeds" -mindepth 1
    [[ $output = "" ]]
}

# there_and_back CHILDREN [ATTRIBUTES]: the seed has the same bytes on each host.
there_and_back() {
    local before

    start_on_source "$@"
    before=$(on_source seed_sum)
    migrate web1
    [[ $(on_destination seed_sum) = "$before" ]]
    on_source lab_virsh undefine web1
    migrate_back web1
    [[ $(on_source seed_sum) = "$before" ]]
    run -0 on_source lab_virsh domstate web1
    [[ $output = running* ]]
    run -0 on_destination lab_run find "$seeds" -type f
    [[ $output = "" ]]
}

@test "a guest that migrates there and back finds the same seed on each host" {
    there_and_back '<ci:instance-id policy="content"/>'
}

@test "so does one that needs its seed only until it is set up" {
    there_and_back '' 'boots="until-done"'
}

@test "so does one that is set up, if the destination was told" {
    local before

    start_on_source '<ci:user-data>#!/bin/sh</ci:user-data>' 'boots="until-done"'
    before=$(on_source seed_sum)
    on_source lab_virsh destroy web1
    on_source lab_run "$builddir/virt-seed" 'done' web1
    on_source lab_virsh start web1
    [[ $(on_source seed_sum) != "$before" ]]
    before=$(on_source seed_sum)
    on_source lab_virsh dumpxml web1 | on_destination lab_run "$builddir/virt-seed" 'done' -
    migrate web1
    [[ $(on_destination seed_sum) = "$before" ]]
    on_destination lab_run sh -c 'rm /var/lib/virt-seed/*.json'
    on_source lab_run sh -c 'rm /var/lib/virt-seed/*.json'
}

@test "a generated host key does not travel: a destination without it refuses, and says so" {
    start_on_source '' 'ssh-host-keys="generate"'
    run ! migrate web1
    echo "$output"
    [[ $output = *"host key"* ]]
    stays_on_source
    on_source seed_sum
}

@test "a destination whose libvirt has no hook refuses, and the guest stays where it is" {
    start_on_source ''
    on_destination lab_run mv /etc/libvirt/hooks/qemu.d/50-virt-seed /etc/libvirt/hooks/50-virt-seed
    on_destination lab_restart_libvirtd
    run ! migrate web1
    on_destination lab_run mv /etc/libvirt/hooks/50-virt-seed /etc/libvirt/hooks/qemu.d/50-virt-seed
    on_destination lab_restart_libvirtd
    echo "$output"
    [[ $output = *"$seeds/$web1.iso"* ]]
    stays_on_source
    on_source seed_sum
}

# An older version does not know what was added since. It is the hook of the build directory in
# VIRT_SEED_OLDER, or else this one, which gets the XML with an attribute that it does not know.
@test "a destination with an older version refuses what it does not know, and the guest stays where it is" {
    local hook=/etc/libvirt/hooks/qemu.d/50-virt-seed

    start_on_source '' 'machine-id="per-instance"'
    on_destination lab_run rm "$hook"
    on_destination lab_run tee "$hook" >/dev/null <<END
#!/bin/sh
if [ -n "${VIRT_SEED_OLDER-}" ]; then
    exec "${VIRT_SEED_OLDER-}/virt-seed-hook" "\$@"
fi
sed 's/ machine-id=/ of-a-later-version=/' | "$builddir/virt-seed-hook" "\$@"
END
    on_destination lab_run chmod 0755 "$hook"
    run ! migrate web1
    on_destination lab_run ln -sfn "$builddir/virt-seed-hook" "$hook"
    echo "$output"
    [[ $output = *"<cloud-init> has an unknown attribute"* ]]
    stays_on_source
    on_source seed_sum
}

@test "a served guest migrates without a server there, and its documents are served on the destination" {
    on_source common_make_server
    on_destination common_make_imds_directory
    interface=user start_on_source '' 'datasource="nocloud-net"'
    migrate web1
    on_source common_stop_listening
    on_destination lab_run test -e "$seeds/imds/$web1"
    run ! on_source lab_run test -e "$seeds/imds/$web1"
    run -0 on_destination lab_virsh domstate web1
    [[ $output = running* ]]
}
