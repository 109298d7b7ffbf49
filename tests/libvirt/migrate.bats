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
images=/var/lib/libvirt/images

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

ask_destination() {
    on_source lab_virsh dumpxml web1 | on_destination lab_run "$builddir/virt-seed" check --migration --no-schema -
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

make_reader() {
    local object=$BATS_TEST_TMPDIR/reader.o image=$BATS_TEST_TMPDIR/reader lab

    as --32 -o "$object" "$BATS_TEST_DIRNAME/reader.S"
    ld -m elf_i386 --Ttext=0x7c00 --oformat binary -o "$image" "$object"
    for lab in on_source on_destination; do
        "$lab" lab_run sh -c "cat >$images/reader && truncate --size=1M $images/reader" <"$image"
    done
}

readings() {
    lab_run cat "$images/console"
}

has_read() {
    [[ $(readings | wc -l) -ge $1 ]]
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
    run ! on_destination lab_run test -e "$seeds/resume:web1"
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

    # It says so before, too, and changes nothing.
    run -1 ask_destination
    echo "$output"
    [[ $output = *"error: "*"host key"*"[secret-missing]"*"rsync -aR HOST:/var/lib/virt-seed/secrets/$web1 /"* ]]
    run ! on_destination lab_run test -e "/var/lib/virt-seed/secrets/$web1"
    on_source lab_run tar -C / -cf - var/lib/virt-seed/secrets | on_destination lab_run tar -C / -xf -
    run -0 ask_destination
    migrate web1
    on_destination seed_sum
}

@test "the destination says before a migration what it lacks" {
    on_source lab_make_secret web1 userdata '#cloud-config'
    start_on_source "<ci:user-data secret='web1'/>" 'boots="until-done"'
    run -1 ask_destination
    echo "$output"
    [[ $output = *"/etc/virt-seed/secrets/web1 does not exist"*"[secret-missing]"* ]]
    [[ $output = *"warning: "*"[unknown-result]"* ]]
    on_destination lab_make_secret web1 userdata '#cloud-config'
    on_source lab_virsh dumpxml web1 | on_destination lab_run "$builddir/virt-seed" 'done' -
    run -0 ask_destination
    [[ $output != *unknown-result* ]]
    on_destination lab_run sh -c 'rm /var/lib/virt-seed/*.json'
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

# The guest of reader.S, whose console is in images/console of each host.
@test "a guest that reads its cdrom all the time reads the same bytes before, during and after" {
    local sum before console=$BATS_TEST_TMPDIR/console

    make_reader
    console=$images/console devices="<disk type='file' device='disk'><driver name='qemu' type='raw'/>
        <source file='$images/reader'/><target dev='vda' bus='virtio'/><readonly/></disk>" \
        os="<boot dev='hd'/><boot dev='cdrom'/>" start_on_source '<ci:hostname>web1</ci:hostname>'
    sum=$(on_source lab_run cat "$seeds/$web1.iso" | python3 -c 'import struct, sys
sum = 0
for (word,) in struct.iter_unpack("<I", sys.stdin.buffer.read()):
    sum = ((sum << 5 | sum >> 27) + word) & 0xFFFFFFFF
print("%08X" % sum)')
    wait_until 30 on_source has_read 3
    before=$(on_source readings | wc -l)
    migrate web1 --bandwidth 1
    on_source readings >"$console"
    [[ $(wc -l <"$console") -ge $((before + 3)) ]]
    wait_until 30 on_destination has_read 3
    migrate_back web1 --bandwidth 1
    on_destination readings >>"$console"
    wait_until 30 on_source has_read 3
    on_source readings >>"$console"

    # One boot, no reading is missing, and all are the same.
    head -n -1 "$console" | awk -v sum="$sum" '$0 != sprintf("%08X %s", NR - 1, sum) { print; bad = 1 }
        END { exit bad || NR < 9 }'
}
