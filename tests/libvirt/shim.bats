#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# shim.bats: virt-seed-qemu as the emulator of domains that nobody wires, started by a real libvirtd.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

setup_file() {
    common_start_lab
    # QEMU's user must be able to reach it, under its installed names.
    mkdir -m 0755 "$LAB_DIR/bin"
    install -m 0755 "$builddir/virt-seed-qemu" "$LAB_DIR/bin"
    for name in system-x86_64 system-none; do
        ln -s virt-seed-qemu "$LAB_DIR/bin/virt-seed-qemu-$name"
    done
}

setup() {
    # shellcheck disable=SC2031  # bats runs each test in a shell of its own
    emulator=$LAB_DIR/bin/virt-seed-qemu-system-x86_64
    logged_before=$(lab_daemon_log | wc -l)
}

teardown() {
    # bats shows this only if the test fails.
    lab_daemon_log | tail -n "+$((logged_before + 1))"
    lab_run chmod 0755 /var/log/libvirt
    lab_reset
    lab_run sh -c "rm -rf $qemu_log/web1.log $seeds/*"
    LAB_HOOK=$builddir/virt-seed-hook
    lab_install_hook "$LAB_HOOK"
}

request() {
    echo "<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'>$*</ci:cloud-init>"
}

# asking_xml: an unwired domain that asks for something.
asking_xml() {
    metadata=$(request '<ci:hostname>shim1</ci:hostname>') domain_xml web1 $web1
}

qmp() {
    lab_virsh qemu-monitor-command web1 "$@"
}

# assert_seeded: QEMU itself says that the seed is in its drive, and where the drive is.
assert_seeded() {
    run -0 qmp '{"execute": "query-block"}'
    jq -e --arg file "$seeds/$web1.libvirt-$web1" '
        .return[] | select(.qdev == "virt-seed") | .inserted |
            .ro == true and .image.filename == $file' <<<"$output"
    run -0 lab_run stat -c '%U %a' "$seeds/$web1.iso"
    [[ $output = "$(lab_run stat -c %U "$qemu_home") 400" ]]
    qmp '{"execute": "query-pci"}' | jq -e '
        .return[0].devices[] | select(.qdev_id == "virt-seed-scsi") |
            .slot == 28 and .function == 0'
}

# assert_reporting: the port is at its place; sets $copier, the process that writes what comes out of it.
assert_reporting() {
    assert_port
    run -0 lab_run stat -c '%U %a' "$report_dir/$web1.report"
    [[ $output = "$(lab_run stat -c %U "$qemu_home") 640" ]]
    copier=$(copiers)
    [[ $copier = [0-9]* ]]
}

assert_port() {
    qmp '{"execute": "query-pci"}' | jq -e '
        .return[0].devices[] | select(.qdev_id == "virt-seed-serial") |
            .slot == 28 and .function == 1'
    qmp '{"execute": "query-chardev"}' | jq -e '
        .return[] | select(.label == "virt-seed-report")'
}

# copiers: prints the processes whose standard output is the report.
copiers() {
    # shellcheck disable=SC2016  # the variables are the inner shell's
    lab_run sh -c 'for process in /proc/[0-9]*; do
        if [ "$process/fd/1" -ef "$1" ]; then echo "${process#/proc/}"; fi
    done' sh "$report_dir/$web1.report"
}

assert_nothing_left() {
    run -0 lab_run find "$seeds" -mindepth 1
    [[ $output = "" ]]
    run -0 lab_run sh -c "! test -e $report_dir || find $report_dir -name '*.report*'"
    [[ $output = "" ]]
}

has_gone() {
    ! lab_run test -e "/proc/$1"
}

# libvirt quotes QEMU's log only if it notices QEMU's end before the end of the monitor, and the writer of
# the log may be late.
is_told() {
    local pattern said

    said=$output$(lab_run sh -c "tail -n 20 $qemu_log/web1.log 2>/dev/null")
    for pattern; do
        [[ $said = *"$pattern"* ]] || return 1
    done
}

# assert_told PATTERN...: the last `run` failed, and the user was told why.
assert_told() {
    [[ $status -ne 0 ]]
    wait_until 20 is_told "virt-seed: error: " "virt-seed: hint: " "$@"
}

# assert_refused PATTERN...: as assert_told, and nothing is left of the start.
assert_refused() {
    assert_told "$@"
    assert_nothing_left
}

# Prints the firmware's table as the guest sees it.
guest_memory() {
    qmp '{"execute": "pmemsave", "arguments": {"val": 917504, "size": 131072,
        "filename": "'"$qemu_home"'/memory"}}' >/dev/null
    lab_run cat "$qemu_home/memory"
}

smbios_has() {
    grep -qaF "$1" <(guest_memory)
}

# The firmware needs a moment to write it.
assert_smbios_has() {
    wait_until 60 smbios_has "$1"
}

@test "virsh create starts an unwired domain with its seed, and destroy leaves nothing" {
    asking_xml >"$BATS_TEST_TMPDIR/web1.xml"
    lab_virsh create "$BATS_TEST_TMPDIR/web1.xml"
    assert_seeded
    assert_smbios_has 'ds=nocloud;dsmode=net'
    [[ $(virt_seed inspect "$seeds/$web1.iso") = *"local-hostname shim1"* ]]
    lab_virsh destroy web1
    assert_nothing_left
}

@test "the emulator alone gives the domain a seed with its identity" {
    domain_define web1 $web1
    lab_virsh start web1
    assert_seeded
    [[ $(virt_seed inspect "$seeds/$web1.iso") = *"local-hostname web1"* ]]
}

@test "a defined domain starts at once, and its definition stays unwired" {
    asking_xml | lab_virsh define --validate /dev/stdin
    lab_virsh start web1
    assert_seeded
    lab_virsh destroy web1
    assert_nothing_left
    run ! grep -qE "ua-virt-seed|ds=nocloud" <(lab_virsh dumpxml --inactive web1)
    [[ $(virt_seed wire web1 2>&1) = *"already wired"* ]]
}

@test "a domain with autostart has its seed" {
    asking_xml | lab_virsh define /dev/stdin
    lab_virsh autostart web1
    # This happens once in each boot of the host.
    lab_run rm -f "$qemu_run/autostarted"
    lab_restart_libvirtd
    run -0 lab_virsh domstate web1
    [[ $output = running* ]]
    assert_seeded
}

@test "managed save and start restore the guest and its seed" {
    local before

    asking_xml | lab_virsh define /dev/stdin
    lab_virsh start web1
    assert_smbios_has 'ds=nocloud;dsmode=net'
    before=$(lab_run sha256sum "$seeds/$web1.iso")
    lab_virsh managedsave web1
    assert_nothing_left
    lab_virsh start web1
    assert_seeded
    [[ $(lab_run sha256sum "$seeds/$web1.iso") = "$before" ]]
}

@test "a guest survives a restart of libvirtd and ends normally afterwards" {
    asking_xml | lab_virsh define /dev/stdin
    lab_virsh start web1
    lab_restart_libvirtd
    assert_seeded
    lab_virsh destroy web1
    assert_nothing_left
}

@test "the user's serial stays first, and the other fields stay" {
    os="<smbios mode='sysinfo'/>" extra="<sysinfo type='smbios'><system>
        <entry name='manufacturer'>Maker, Inc</entry><entry name='serial'>SN-1, a</entry>
        </system></sysinfo>" asking_xml | lab_virsh create /dev/stdin
    assert_smbios_has 'SN-1, a ds=nocloud;dsmode=net'
    assert_smbios_has 'Maker, Inc'
}

@test "a ConfigDrive and serial=\"no\" get no serial" {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' serial='no'/>" \
        domain_xml web1 $web1 | lab_virsh create /dev/stdin
    assert_seeded
    run -0 lab_run head -n 1 "$seeds/$web1.shim"
    [[ $output = "" ]]
    run ! grep -qa smbios "/proc/$(lab_run cat "$qemu_run/web1.pid")/cmdline"
}

@test "the seed is at the same address on machine pc" {
    machine=pc asking_xml | lab_virsh create /dev/stdin
    assert_seeded
}

@test "virt-install --import makes a domain with its seed, without other options" {
    type -P virt-install >/dev/null || skip "virt-install is not installed"
    as_owner HOME="$BATS_TEST_TMPDIR" virt-install --connect "$uri" --virt-type qemu --name web1 --memory 32 \
        --uuid $web1 --osinfo require=off --import --disk "$(domain_disk_image web1)" \
        --network none --graphics none --noautoconsole --boot emulator="$emulator"
    assert_seeded
    lab_virsh destroy web1
    assert_nothing_left
    lab_virsh start web1
    assert_seeded
}

# --- the report -------------------------------------------------------------------------------

@test "the report's writer is not QEMU's child, has none of its files, and ends with it" {
    local qemu

    asking_xml | lab_virsh create /dev/stdin
    assert_reporting
    qemu=$(lab_run cat "$qemu_run/web1.pid")
    run ! lab_run ps -o pid=,stat=,args= --ppid "$qemu"
    run -0 lab_run ls "/proc/$copier/fd"
    [[ $output = $'0\n1\n2' ]]
    run -0 lab_run cat "/proc/$copier/cmdline"
    [[ $output = "" ]]
    lab_virsh destroy web1
    wait_until 60 has_gone "$copier"
    assert_nothing_left
}

@test "wait follows the report" {
    asking_xml | lab_virsh create /dev/stdin
    run -124 virt_seed wait --timeout=0 web1
    # shellcheck disable=SC2154  # boot1 is of report.bash
    report_say $web1 "$(report_line "$boot1" "$(report_ended)" "$(report_result)")"
    run -0 virt_seed wait --timeout=10 web1
    run -0 virt_seed status --json web1
    jq -e '.[0] | .wired == true and .seed == true and .result == "done"' <<<"$output"
}

@test "managed save and start restore the report's port, with one writer for each start" {
    local first

    asking_xml | lab_virsh define /dev/stdin
    lab_virsh start web1
    assert_reporting
    first=$copier
    lab_virsh managedsave web1
    wait_until 60 has_gone "$first"
    lab_virsh start web1
    assert_reporting
    [[ $(wc -w <<<"$copier") -eq 1 ]]
    lab_restart_libvirtd
    assert_reporting
}

@test "a guest starts and is restored with the same devices if its report cannot be written" {
    system_only 'QEMU runs as the same user'
    asking_xml | lab_virsh define /dev/stdin
    lab_virsh start web1
    assert_reporting
    lab_virsh managedsave web1
    lab_run chmod 0700 /var/log/libvirt
    lab_virsh start web1
    assert_port
    [[ $(copiers) = "" ]]
    lab_virsh managedsave web1
    lab_run chmod 0755 /var/log/libvirt
    lab_virsh start web1
    assert_reporting
    run -0 lab_run cat "$qemu_log/web1.log"
    [[ $output = *"virt-seed: warning: cannot keep the guest's report in"* ]]
}

@test "report=\"no\" means no port, no file, and the same controller for the seed" {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' report='no'/>" \
        domain_xml web1 $web1 | lab_virsh create /dev/stdin
    assert_seeded
    qmp '{"execute": "query-pci"}' | jq -e '
        [.return[0].devices[] | select(.slot == 28)] | length == 1'
    run ! lab_run test -e "$report_dir/$web1.report"
}

# --- bad input --------------------------------------------------------------------------------

@test "refuses a start without the hook's order" {
    lab_install_hook /bin/true
    asking_xml >"$BATS_TEST_TMPDIR/web1.xml"
    run lab_virsh create "$BATS_TEST_TMPDIR/web1.xml"
    assert_refused "could not open $seeds/$web1.shim" "virt-seed-hook creates it"
}

# with_hook COMMAND: after ours, the command is run at prepare, in the run-time directory.
with_hook() {
    cat >"$LAB_DIR/hook" <<END
#!/bin/sh
"$builddir/virt-seed-hook" "\$@" || exit
if [ "\$2" = prepare ]; then
    cd $seeds || exit
    $1
fi
END
    chmod +x "$LAB_DIR/hook"
    lab_install_hook "$LAB_DIR/hook"
    asking_xml >"$BATS_TEST_TMPDIR/web1.xml"
    run lab_virsh create "$BATS_TEST_TMPDIR/web1.xml"
}

@test "refuses an order that is malformed, a link, or not root's" {
    with_hook "printf 'ds=nocloud\\\\nmore\\\\n' >$web1.shim"
    assert_refused "is not a line of printable ASCII"
    with_hook "rm $web1.shim; ln -s /etc/hostname $web1.shim"
    assert_refused "could not open" "Too many levels of symbolic links"
    if [[ $scope = system ]]; then
        with_hook "chown 64055 $web1.shim"
        assert_refused "does not belong to the owner of its directory"
    fi
    with_hook "mv $web1.shim 7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57.shim"
    assert_told "could not open $seeds/$web1.shim: No such file"
}

@test "refuses a second -uuid" {
    local schema=http://libvirt.org/schemas/domain/qemu/1.0

    asking_xml | sed -e "s|<domain |&xmlns:q='$schema' |" -e "s|</domain>|<q:commandline>&|" \
        -e "s|</domain>|<q:arg value='-uuid'/><q:arg value='$web1'/></q:commandline>&|" \
        >"$BATS_TEST_TMPDIR/web1.xml"
    run lab_virsh create "$BATS_TEST_TMPDIR/web1.xml"
    assert_refused "2 -uuid in the arguments"
}

@test "names the device that occupies the seed's slot and refuses it" {
    devices="<controller type='scsi' index='0' model='virtio-scsi'>
        <address type='pci' domain='0' bus='0' slot='0x1c' function='0'/></controller>" \
        asking_xml >"$BATS_TEST_TMPDIR/web1.xml"
    run lab_virsh create "$BATS_TEST_TMPDIR/web1.xml"
    assert_refused "slot 0x1c of 'pcie.0'" "is taken by 'scsi0'"
}

@test "says that an emulator is missing" {
    emulator=$LAB_DIR/bin/virt-seed-qemu-system-none asking_xml >"$BATS_TEST_TMPDIR/web1.xml"
    run lab_virsh create "$BATS_TEST_TMPDIR/web1.xml"
    assert_refused "no 'qemu-system-none' in /usr/bin"
}

has_no_seed_disk() {
    ! grep -qF "$seeds" <(lab_virsh dumpxml --inactive "$1")
}

@test "unwires a wired domain with the shim, which runs at its second start" {
    metadata=$(request) emulator='' domain_define web1 $web1
    virt_seed wire web1
    lab_virsh dumpxml --inactive web1 |
        sed "s|<emulator>.*</emulator>|<emulator>$emulator</emulator>|" | lab_virsh define /dev/stdin
    run lab_virsh start web1
    assert_refused "seed's disk 'sda' removed" "virsh start web1"
    wait_until 60 has_no_seed_disk web1
    lab_virsh start web1
    assert_seeded
}

@test "refuses another program's seed and a bus that the shim lacks" {
    devices="<disk type='file' device='cdrom'><source file='/nowhere/seed.iso'/>
        <target dev='sda' bus='sata'/><readonly/></disk>" asking_xml >"$BATS_TEST_TMPDIR/web1.xml"
    run lab_virsh create "$BATS_TEST_TMPDIR/web1.xml"
    assert_refused "another tool's seed"

    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' bus='sata'/>" \
        domain_xml web1 $web1 >"$BATS_TEST_TMPDIR/web1.xml"
    run lab_virsh create "$BATS_TEST_TMPDIR/web1.xml"
    assert_refused 'only supports scsi' 'omit bus='
}
