#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash and report.bash
# try.bats: virt-seed try with a real libvirtd. The guests boot nothing: the test writes what they
# report, as report.bash says.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

teardown() {
    lab_reset
    lab_run sh -c "rm -rf $state_dir/*"
}

# define [CHILDREN]: the domain web1, which asks, is not wired, and has a disk and an interface.
define() {
    local disk

    disk=$(domain_disk_image web1)
    printf 'the disk of web1' | dd of="$disk" conv=notrunc status=none
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'>${1-}</ci:cloud-init>" \
        devices="$(domain_disk_xml "$disk")
            <interface type='user'><mac address='52:54:00:00:00:01'/><model type='virtio'/></interface>
            ${devices-}" domain_define web1 $web1
}

# begin_trying ARGUMENT...: virt-seed try in the background, until its guest runs.
begin_trying() {
    # Nothing that stays may have the descriptors for which bats waits.
    as_owner timeout 300 "${virt_seed[@]}" try "$@" web1 \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 4>&- &
    trying=$!
    wait_until 60 runs || { cat "$BATS_TEST_TMPDIR/err" && false; }
    uuid=$(lab_virsh domuuid web1-try | head -n 1)
}

runs() {
    lab_virsh domstate web1-try 2>/dev/null | grep -q running
}

is_gone() {
    ! runs
}

# end_trying STATUS: until it has ended with this status; $output and $stderr are what it printed.
end_trying() {
    report_end_command "$trying" "$1"
}

# xml XPATH: what the rehearsal's XML has there.
xml() {
    lab_virsh dumpxml web1-try | xmllint --xpath "string($1)" -
}

# Nothing is left, and the domain is as it was.
assert_untouched() {
    run -0 lab_virsh list --all --name
    [[ $output = web1 ]]
    run -0 lab_virsh domstate web1
    [[ $output = 'shut off'* ]]
    [[ -z $(find "$outside$try_dir" -mindepth 1) ]]
    [[ -z $(find "$outside$report_dir" -name "*.report*" 2>/dev/null) ]]
    [[ -z $(find "$outside$state_dir" -name '*.json') ]]
    [[ $(lab_virsh dumpxml --inactive web1) = "$before" ]]
    [[ $(sha256sum "$outside$images/web1.raw") = "$digest" ]]
    [[ $(stat -c %u:%g "$outside$images/web1.raw") = "$disk_owner" ]]
}

remember() {
    before=$(lab_virsh dumpxml --inactive web1)
    digest=$(sha256sum "$outside$images/web1.raw")
    disk_owner=$(stat -c %u:%g "$outside$images/web1.raw")
}

ended=$(report_line "$boot1" "$(report_ended)" "$(report_result)")
failed=$(report_line "$boot1" "$(report_ended '"no such package"')" "$(report_result '"no such package"')")

@test "the guest sees the same machine, with the seed of the next boot, on an overlay" {
    define '<ci:hostname>web1.example.org</ci:hostname>'
    remember
    begin_trying
    [[ $uuid != "$web1" ]]
    run -0 lab_virsh qemu-monitor-command web1-try --hmp info uuid
    [[ $output = "$web1"* ]]
    [[ $(xml '//mac/@address') = 52:54:00:00:00:01 ]]
    [[ $(xml '//sysinfo//entry[@name="serial"]') = 'ds=nocloud;dsmode=net' ]]
    [[ $(xml '//disk[@device="disk"]/source/@file') = "$try_dir/$uuid/0.qcow2" ]]
    [[ $(xml '//disk[@device="disk"]/backingStore/source/@file') = *web1.raw ]]
    run -0 virt_seed inspect --extract="$BATS_TEST_TMPDIR/seed" "$(xml '//disk[@device="cdrom"]/source/@file')"
    run -0 cat "$BATS_TEST_TMPDIR/seed/meta-data"
    [[ $output = *"$web1"*web1.example.org* ]]
    report_say "$uuid" "$ended"
    end_trying 0
    [[ $output = *'web1-try: done' && $stderr = "" ]]
    assert_untouched
}

@test "a guest that ends with errors is told from one that does not" {
    define
    remember
    begin_trying
    report_say "$uuid" "$failed"
    end_trying 1
    [[ $output$stderr = *'no such package'* ]]
    assert_untouched
}

@test "the network leads nowhere, and with --network to that of the domain" {
    define
    begin_trying
    [[ $(xml '//interface/@type') = client && $(xml '//interface/source/@address') = 127.0.0.1 ]]
    report_say "$uuid" "$ended"
    end_trying 0
    begin_trying --network
    [[ $(xml '//interface/@type') = user ]]
    report_say "$uuid" "$ended"
    end_trying 0
}

@test "what would write to the host's files is left out, and it says so" {
    devices="<filesystem type='mount'><source dir='/srv'/><target dir='srv'/></filesystem>
        <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
        <serial type='file'><source path='$outside$images/web1.console'/></serial>" define
    remember
    begin_trying
    run -0 lab_virsh dumpxml web1-try
    [[ $output != *filesystem* && $output != *web1.console* && $output != *guest_agent* ]]
    printf 'first\nlast words\n' >>"$outside$try_dir/$uuid/console.log"
    report_say "$uuid" "$failed"
    end_trying 1
    [[ $output = *'web1-try: without <filesystem>'* && $stderr = *'last words'* ]]
    assert_untouched
}

@test "a domain that runs, or is saved, is refused" {
    define
    virt_seed start --no-wait web1
    run -1 virt_seed try web1
    [[ $output = *"'web1' is running"*'hint: shut it down'* ]]
    lab_virsh managedsave web1
    run -1 virt_seed try web1
    [[ $output = *"'web1' is saved"*'managedsave-remove'* ]]
}

@test "what a start would refuse is refused" {
    define '<ci:user-data file="/nowhere"/>'
    remember
    run -1 virt_seed try web1
    [[ $output = *'<user-data file='* ]]
    assert_untouched
    domain_define plain
    run -1 virt_seed try plain
    [[ $output = *'does not ask for cloud-init'* ]]
    run -4 virt_seed try nobody
}

@test "an interrupt and the end of the time remove everything" {
    define
    remember
    begin_trying
    lab_run pkill -INT -f 'virt-seed .*try web1$'
    end_trying 130
    assert_untouched
    run -124 virt_seed try --timeout=1 web1
    assert_untouched
}

@test "a kill ends the guest, and gc removes the files" {
    define
    remember
    begin_trying
    run -0 virt_seed gc --dry-run
    [[ $output != *"$uuid"* ]]
    lab_run pkill -KILL -f 'virt-seed .*try web1$'
    end_trying 137
    wait_until 60 is_gone
    # The seed is still there, but not for whoever defines a domain of the rehearsal's UUID.
    devices="<disk type='file' device='cdrom'><source file='$try_dir/$uuid/seed.iso'/><target dev='sda'/></disk>" \
        domain_define thief "$uuid"
    run -1 lab_virsh start thief
    [[ $output = *"leads into $try_dir"* ]]
    lab_virsh undefine thief
    run -0 virt_seed gc
    [[ $output = *"removed $try_dir/$uuid"* ]]
    # Only the owner of the disk, whom libvirt has changed, is another.
    chown "$disk_owner" "$outside$images/web1.raw"
    assert_untouched
}

@test "a domain whose disk is another one's seed is not rehearsed" {
    define
    virt_seed start --no-wait web1
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'/>" \
        devices="$(domain_disk_xml "${seeds%/*}/../libvirt/virt-seed/$web1.iso")" domain_define thief
    run -1 virt_seed try thief
    [[ $output = *"leads into $seeds"* ]]
}

@test "no other domain can name a rehearsal's files" {
    define
    begin_trying
    devices="<disk type='file' device='cdrom'><source file='$try_dir/$uuid/seed.iso'/><target dev='sda'/></disk>" \
        domain_define thief
    run -1 lab_virsh start thief
    [[ $output = *"leads into $try_dir"* ]]
    report_say "$uuid" "$ended"
    end_trying 0
}

@test "once it has started, nobody can start a domain with its UUID and its files" {
    define
    begin_trying
    # The transient domain becomes one that stays.
    lab_virsh dumpxml web1-try >"$BATS_TEST_TMPDIR/web1-try.xml"
    lab_virsh define "$BATS_TEST_TMPDIR/web1-try.xml"
    lab_virsh destroy web1-try
    run -1 lab_virsh start web1-try
    [[ $output = *"leads into $try_dir"* ]]
    end_trying 3
    lab_virsh undefine web1-try
}

@test "others cannot read what the guest writes" {
    define
    begin_trying
    run -0 lab_run find "$try_dir/$uuid" -type f -perm /077
    [[ $output = "" ]]
    [[ $(lab_run stat -c %a "$try_dir" "$try_dir/$uuid") = "$pass_mode"$'\n'"$pass_mode" ]]
    report_say "$uuid" "$ended"
    end_trying 0
}

@test "a second rehearsal of the same domain says so, and the first one goes on" {
    define
    remember
    begin_trying
    run -1 virt_seed try web1
    [[ $output = *"domain 'web1-try' already exists"* ]]
    report_say "$uuid" "$ended"
    end_trying 0
    assert_untouched
}

@test "nothing of the host's is written to: logs, core files, firmware variables" {
    local ovmf=$outside$images/firmware

    mkdir -p "$ovmf"
    truncate -s 1M "$ovmf/code.fd" "$ovmf/web1.fd"
    printf 'the variables of web1' | dd of="$ovmf/web1.fd" conv=notrunc status=none
    devices="<watchdog model='i6300esb' action='dump'/>
        <serial type='pty'><log file='$images/web1.log'/></serial>
        <channel type='unix'><target type='virtio' name='org.virt-seed.report.0'/></channel>" define
    lab_virsh dumpxml --inactive web1 | sed "s|<on_crash>.*</on_crash>||
        s|</os>|<loader type='pflash' readonly='yes'>$ovmf/code.fd</loader><nvram>$ovmf/web1.fd</nvram></os><on_crash>coredump-destroy</on_crash>|" \
        >"$BATS_TEST_TMPDIR/web1.xml"
    lab_virsh define "$BATS_TEST_TMPDIR/web1.xml"
    remember
    begin_trying
    [[ $(xml '//os/nvram') = "$try_dir/$uuid/nvram.fd" && $(xml '//on_crash') = destroy ]]
    [[ $(xml '//watchdog/@action') = none && -z $(xml '//serial/log/@file') ]]
    [[ $(xml '//channel/source/@path') = "$report_dir/$uuid.report" ]]
    run -0 lab_run cmp "$ovmf/web1.fd" "$try_dir/$uuid/nvram.fd"
    report_say "$uuid" "$ended"
    end_trying 0
    [[ ! -e $outside$images/web1.log ]]
    assert_untouched
}

@test "the name may contain '&'" {
    define
    lab_virsh domrename web1 'web&1'
    run -124 virt_seed try --timeout=2 'web&1'
    echo "$output"
    [[ $output = *"domain 'web&1-try': not done after 2 s"* ]]
}

# with_os XML: defines web1 again, with this in its <os>.
with_os() {
    lab_virsh dumpxml --inactive web1 | sed "s|</os>|$1&|" >"$BATS_TEST_TMPDIR/web1.xml"
    lab_virsh define "$BATS_TEST_TMPDIR/web1.xml"
}

@test "firmware that the guest could write to is refused, and variables that are not in a regular file" {
    truncate -s 1M "$outside$images/code.fd"
    as_owner mkfifo "$images/pipe.fd"
    define
    with_os "<loader type='pflash'>$images/code.fd</loader>"
    run -1 virt_seed try web1
    [[ $output = *"its guest may write to the firmware itself"* ]]
    define
    with_os "<loader type='pflash' readonly='yes'>$images/code.fd</loader><nvram>$images/pipe.fd</nvram>"
    run -1 virt_seed try --timeout=20 web1
    [[ $output = *"'$images/pipe.fd', are not a regular file"* ]]
    [[ -z $(find "$outside$try_dir" -mindepth 1) ]]
}

@test "a volume of a storage pool gets an overlay, and a disk that cannot have one is named" {
    local volume="<disk type='volume' device='disk'><driver name='qemu' type='raw'/>
        <source pool='images' volume='data.raw'/><target dev='vdb' bus='virtio'/></disk>"

    lab_virsh pool-create-as images dir --target "$images"
    lab_virsh vol-create-as images data.raw 1M --format raw
    devices=$volume define
    begin_trying
    [[ $(xml '//disk[target/@dev="vdb"]/backingStore/source/@file') = "$images/data.raw" ]]
    report_say "$uuid" "$ended"
    end_trying 0
    lab_virsh pool-destroy images
    devices="<disk type='network' device='disk'><source protocol='nbd' name='data'><host name='192.0.2.1'/></source>
        <target dev='vdb' bus='virtio'/></disk>" define
    run -1 virt_seed try web1
    [[ $output = *"disk 'vdb' has type='network', so it cannot have an overlay"* ]]
}
