#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# events.bats: what becomes of the seed, the report and the record of a running domain at each event of
# its life. events.tsv says what is expected; a test has the name of its line there. The same happens
# whichever way the seed takes to the guest: events-shim.bats and events-net.bats are links to this file.

bats_require_minimum_version 1.5.0

load lab
load hosts
load domains
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
case $BATS_TEST_FILENAME in
*/events-shim.bats) delivery=shim ;;
*/events-net.bats) delivery=net ;;
*) delivery=drive ;;
esac
if [[ $delivery = net ]]; then
    seed=${seeds-}/imds/$web1
else
    seed=${seeds-}/$web1.iso
fi
report=${report_dir-}/$web1.report
record=${state_dir-}/$web1.json

# What the guest of each test has reported before the event.
line='{"virt-seed":1,"boot":"0f7c3a52-5d7e-4c1b-9a55-000000000001","status":{"v1":{"datasource":"DataSourceNoCloud","stage":"modules-config"}}}'

setup_file() {
    common_start_lab
    # QEMU's user must be able to reach it, under its installed name.
    mkdir -m 0755 "$LAB_DIR/bin"
    install -m 0755 "$builddir/virt-seed-qemu" "$LAB_DIR/bin/virt-seed-qemu-system-x86_64"
    [[ $delivery != net ]] || common_make_server
}

setup() {
    [[ $delivery != net ]] || common_make_imds_directory
}

teardown() {
    lab_daemon_log | tail -n 5
    hosts_stop_destination
    lab_reset
    lab_run sh -c "rm -rf $state_dir/* $report_dir/* $seeds/*"
}

# prints the domain web1, which gets its seed at its first start, and whose disk can keep snapshots.
wired_domain() {
    local disk=$outside$images/web1.qcow2 datasource=nocloud wire=(cat)

    # shellcheck disable=SC2034  # domain_xml's variables
    case $delivery in
    drive) wire=(virt_seed --quiet wire -) ;;
    net) datasource=nocloud-net wire=(virt_seed --quiet wire -) interface=user ;;
    shim) emulator=$LAB_DIR/bin/virt-seed-qemu-system-x86_64 ;;
    esac
    qemu-img create -q -f qcow2 "$disk" 1M
    chown "$owner" "$disk"
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' datasource='$datasource'/>" \
        extra="<on_crash>${on_crash:-destroy}</on_crash>" \
        devices="$(domain_disk_xml "${image:-$disk}" | sed "s/type='raw'/type='${format:-qcow2}'/")${panic-}" \
        domain_xml web1 $web1 | "${wire[@]}"
}

# A digest of the seed; that of a served one is a directory.
digest() {
    lab_run sh -c "cd $seed 2>/dev/null && cat access identity *-data || sha256sum $seed" | sha256sum
}

# begin: starts the domain, whose guest reports something.
begin() {
    wired_domain | lab_virsh define /dev/stdin
    lab_virsh start web1
    note_state
}

note_state() {
    lab_run sh -c "echo '$line' >>$report"
    seed_before=$(digest)
    inode_before=$(lab_run stat -c %i "$seed")
    boot_before=$(boot_in_record)
}

boot_in_record() {
    lab_run cat "$record" 2>/dev/null | jq -cS .boot
}

# The four words of events.tsv.
seed_now() {
    if ! lab_run test -e "$seed"; then
        echo removed
    elif [[ $(digest) != "$seed_before" ]]; then
        echo changed
    elif [[ $(lab_run stat -c %i "$seed") = "$inode_before" ]]; then
        echo kept
    else
        echo 'made again'
    fi
}

report_now() {
    if ! lab_run test -e "$report"; then
        echo removed
    elif lab_run grep -q modules-config "$report"; then
        echo kept
    else
        echo emptied
    fi
}

record_now() {
    local boot

    boot=$(boot_in_record)
    if [[ -z $boot ]]; then
        echo none
    elif [[ $boot = "$boot_before" ]]; then
        echo kept
    else
        echo 'another boot'
    fi
}

# expect_row: before long, everything is as the line with the test's name says.
expect_row() {
    local row name=$BATS_TEST_DESCRIPTION

    row=$(grep -P "^\Q$name\E\t" "$BATS_TEST_DIRNAME/events.tsv")
    if ! wait_until 30 is_row "$row"; then
        printf 'expected: %s\nfound:    %s\t%s\t%s\t%s\n' "$row" "$name" "$(seed_now)" "$(report_now)" \
            "$(record_now)"
        return 1
    fi
}

is_row() {
    [[ $(printf '%s\t%s\t%s' "$(seed_now)" "$(report_now)" "$(record_now)") = "${1#*$'\t'}" ]]
}

state_is() {
    [[ $(lab_virsh domstate web1) = "$1"* ]]
}

# A second boot in the same second would look like the first.
next_second() {
    local second=$EPOCHSECONDS

    while ((EPOCHSECONDS == second)); do
        sleep 0.1
    done
}

# A boot sector that reports a panic by pvpanic's port: mov dx, 0x505; mov al, 1; out dx, al; hlt; jmp.
crashing_image() {
    local image

    image=$(domain_disk_image crash)
    { printf '\xba\x05\x05\xb0\x01\xee\xf4\xeb\xfd'; head -c 501 /dev/zero; printf '\x55\xaa'; } |
        dd of="$image" conv=notrunc status=none
    echo "$image"
}

begin_crashing() {
    wired_domain | lab_virsh define /dev/stdin
    # It crashes each time it is resumed.
    lab_virsh start --paused web1
    note_state
    lab_virsh resume web1
}

has_crashed() {
    [[ $(lab_virsh domstate --reason web1) = 'running (crashed)'* ]]
}

# Afterwards no process is left, and /run is empty, as when the host comes up again.
crash_host() {
    crash_host_off
    lab_start_libvirtd
    state_is 'shut off'
}

crash_host_off() {
    lab_kill_libvirtd
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run sh -c 'kill -KILL $(cat "$1/web1.pid")
        rm -rf "$2" "$1"' sh "$qemu_run" "$seeds"
    # As systemd-tmpfiles does when the host comes up.
    setup
}

# leave: the guest migrates to another host, which sees the same disk.
leave() {
    hosts_start_destination
    [[ $delivery != net ]] || on_destination common_make_imds_directory
    migrate web1 --unsafe
    state_is 'shut off'
}

# slow_hook: a hook that waits for a word in the FIFO "go" before it becomes virt-seed's, and says that it
# waits.
slow_hook() {
    local hook=$LAB_DIR/root/slow-hook

    mkfifo -m 0600 "$LAB_DIR/root/go"
    chown "$owner" "$LAB_DIR/root" "$LAB_DIR/root/go"
    cat >"$hook" <<END
#!/bin/sh
if [ "\$2" = prepare ]; then
    touch '$LAB_DIR/root/waits'
    timeout 60 cat '$LAB_DIR/root/go'
fi
exec '$builddir/virt-seed-hook' "\$@"
END
    chmod 0755 "$hook"
    echo "$hook"
}

@test "the guest is stopped" {
    begin
    lab_virsh destroy web1
    expect_row
}

@test "it is started again after that" {
    begin
    lab_virsh destroy web1
    next_second
    lab_virsh start web1
    expect_row
}

@test "QEMU is killed" {
    begin
    lab_run sh -c "kill -KILL \$(cat $qemu_run/web1.pid)"
    wait_until 30 state_is 'shut off'
    expect_row
}

@test "the guest crashes, on_crash is destroy" {
    on_crash=destroy image=$(crashing_image) format=raw panic="<panic model='isa'/>" begin_crashing
    wait_until 60 state_is 'shut off'
    [[ $(lab_virsh domstate --reason web1) = *crashed* ]]
    expect_row
}

@test "the guest crashes, on_crash is restart" {
    on_crash=restart image=$(crashing_image) format=raw panic="<panic model='isa'/>" begin_crashing
    wait_until 60 has_crashed
    expect_row
}

@test "the guest is reset" {
    begin
    lab_virsh reset web1
    expect_row
}

@test "the guest is suspended and resumed" {
    begin
    lab_virsh suspend web1
    lab_virsh resume web1
    expect_row
}

@test "the guest is saved" {
    begin
    lab_virsh save web1 "$images/web1.save"
    expect_row
}

@test "the saved guest is restored" {
    begin
    lab_virsh save web1 "$images/web1.save"
    next_second
    lab_virsh restore "$images/web1.save"
    expect_row
}

@test "managed save, and a start" {
    begin
    lab_virsh managedsave web1
    next_second
    lab_virsh start web1
    expect_row
}

@test "a snapshot of the running guest is taken" {
    begin
    lab_virsh snapshot-create-as web1 running
    expect_row
}

@test "it is reverted to a snapshot of it running" {
    begin
    lab_virsh snapshot-create-as web1 running
    next_second
    lab_virsh snapshot-revert web1 running
    expect_row
}

@test "it is reverted to a snapshot of it shut off" {
    wired_domain | lab_virsh define /dev/stdin
    lab_virsh snapshot-create-as web1 off
    lab_virsh start web1
    note_state
    lab_virsh snapshot-revert web1 off
    wait_until 30 state_is 'shut off'
    expect_row
}

@test "its disk is copied by blockcopy" {
    begin
    lab_virsh blockcopy web1 vda "$images/copy.qcow2" --wait --transient-job \
        --finish
    expect_row
}

@test "the guest migrates to another host" {
    system_only 'a guest does not migrate between sessions'
    begin
    leave
    expect_row
}

@test "it migrates back" {
    system_only 'a guest does not migrate between sessions'
    begin
    leave
    next_second
    migrate_back web1 --unsafe
    state_is running
    expect_row
}

@test "libvirtd is restarted" {
    begin
    lab_restart_libvirtd
    wait_until 30 state_is running
    expect_row
}

@test "libvirtd is killed and started" {
    begin
    lab_kill_libvirtd
    lab_start_libvirtd
    wait_until 30 state_is running
    expect_row
}

@test "the guest is stopped after libvirtd was killed" {
    begin
    lab_kill_libvirtd
    lab_start_libvirtd
    wait_until 30 state_is running
    lab_virsh destroy web1
    expect_row
}

@test "the host crashes" {
    begin
    crash_host
    expect_row
}

@test "the guest is started after the host has crashed" {
    begin
    crash_host
    next_second
    lab_virsh start web1
    expect_row
}

@test "the running domain is undefined" {
    begin
    lab_virsh undefine --snapshots-metadata web1
    expect_row
}

@test "it is stopped after that" {
    begin
    lab_virsh undefine --snapshots-metadata web1
    lab_virsh destroy web1
    expect_row
}

@test "the stopped domain is renamed" {
    begin
    lab_virsh destroy web1
    lab_virsh domrename web1 web2
    expect_row
}

@test "a transient guest is stopped" {
    wired_domain >"$BATS_TEST_TMPDIR/web1.xml"
    lab_virsh create "$BATS_TEST_TMPDIR/web1.xml"
    note_state
    lab_virsh destroy web1
    expect_row
}

@test "the host starts it with autostart" {
    begin
    lab_virsh autostart web1
    crash_host_off
    next_second
    lab_start_libvirtd
    wait_until 60 state_is running
    expect_row
}

@test "libvirtd is killed while the hook runs" {
    local start

    begin
    lab_virsh destroy web1
    lab_install_hook "$(slow_hook)"
    lab_virsh start web1 3>&- 4>&- &
    start=$!
    wait_until 30 test -e "$LAB_DIR/root/waits"
    lab_kill_libvirtd
    run ! wait "$start"
    timeout 30 tee "$LAB_DIR/root/go" </dev/null
    wait_until 30 lab_run test -e "$seed"
    lab_install_hook "$builddir/virt-seed-hook"
    lab_start_libvirtd
    state_is 'shut off'
    lab_virsh start web1
    lab_virsh destroy web1
    expect_row
    [[ -z $(lab_run find "$seeds" -type f) ]]
}
