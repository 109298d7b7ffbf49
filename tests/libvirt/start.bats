#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# start.bats: what the hook does when a real libvirtd starts, saves, restores and ends domains.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
web2=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57

setup() {
    logged_before=$(lab_daemon_log | wc -l)
    common_make_conf
}

teardown() {
    # bats shows this only if the test fails.
    lab_daemon_log | tail -n "+$((logged_before + 1))"
    lab_reset
    lab_run sh -c "rm -rf $conf_dir/*"
}

# request [ELEMENT…]: the metadata that asks for cloud-init.
request() {
    echo "<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'>$*</ci:cloud-init>"
}

# define_wired NAME UUID: defines a domain whose first start works.
define_wired() {
    metadata=$(request "$user_data") domain_define "$@"
    virt_seed wire "$1"
}

user_data='<ci:user-data>#cloud-config
timezone: Etc/UTC
</ci:user-data>'

seed_sum() {
    lab_run sha256sum "$seeds/$1.iso" | cut -d' ' -f1
}

assert_no_seeds() {
    run -0 lab_run find "$seeds" -mindepth 1
    [[ $output = "" ]]
}

# is_wired NAME UUID: its definition has the seed's cdrom.
is_wired() {
    lab_virsh dumpxml --inactive "$1" | grep -F "$seeds/$2.iso"
}

assert_refused() {
    run ! lab_virsh start "$1"
    [[ $output = *"virt-seed: error: "*"$2"* ]]
    [[ $output = *"virt-seed: hint: "*"$3"* ]]
    run -0 lab_virsh domstate "$1"
    [[ $output = "shut off"* ]]
    assert_no_seeds
}

@test "refuses an unwired domain and wires it, so that it runs at its second start" {
    metadata=$(request "$user_data") domain_define web1 $web1
    assert_refused web1 "domain 'web1': asks for cloud-init but is not wired for it yet" \
        "wiring it now; run: virsh start web1"
    wait_until 60 is_wired web1 $web1

    lab_virsh start web1
    run -0 lab_run stat -c '%U %a' "$seeds/$web1.iso"
    [[ $output = "$(lab_run stat -c %U "$qemu_home") 400" ]]
    run -0 lab_run xargs -0 -n1 -a "/proc/$(lab_run cat "$qemu_run/web1.pid")/cmdline"
    [[ $output = *"serial=ds=nocloud;dsmode=net"* ]]
    [[ $output = *"$seeds/$web1.iso"* ]]
}

@test "wiring a refused domain keeps its passwords" {
    metadata=$(request) devices="<graphics type='vnc' autoport='yes' passwd='s3cr3t'/>" \
        domain_define web1 $web1
    run ! lab_virsh start web1
    wait_until 60 is_wired web1 $web1
    run -0 lab_virsh dumpxml --inactive --security-info web1
    [[ $output = *"passwd='s3cr3t'"* ]]
}

@test "autowire = no leaves the definition unchanged, and the hint names the command" {
    configure 'autowire = no'
    metadata=$(request) domain_define web1 $web1
    assert_refused web1 "not wired" "virt-seed wire web1 && virsh start web1"
    sleep 1
    run ! grep -qF "$seeds" <(lab_virsh dumpxml --inactive web1)

    virt_seed wire web1
    lab_virsh start web1
}

@test "unwired = warn starts the domain without its seed" {
    configure 'unwired = warn'
    metadata=$(request) domain_define web1 $web1
    lab_virsh start web1
    run -0 lab_virsh domstate web1
    [[ $output = running* ]]
}

@test "refuses a transient domain and says what works for it" {
    metadata=$(request) domain_xml web1 $web1 >"$BATS_TEST_TMPDIR/web1.xml"
    run ! lab_virsh create "$BATS_TEST_TMPDIR/web1.xml"
    [[ $output = *"virt-seed wire FILE | virsh create /dev/stdin"* ]]
    [[ $output = *"/virt-seed-qemu-system-x86_64</emulator>"* && $output = *"virsh define"* ]]
    assert_no_seeds

    virt_seed wire -o "$BATS_TEST_TMPDIR/wired.xml" "$BATS_TEST_TMPDIR/web1.xml"
    lab_virsh create "$BATS_TEST_TMPDIR/wired.xml"
    seed_sum $web1
}

@test "refuses a start if the guest could not read the document" {
    define_wired web1 $web1
    lab_virsh metadata web1 urn:virt-seed:cloud-init:1 --key ci --config --set \
        '<cloud-init><user-data># cloud-config</user-data></cloud-init>'
    assert_refused web1 "domain 'web1': <user-data>" "#cloud-config"
}

@test "refuses a start if a secret is missing or open to others, without quoting it" {
    metadata=$(request "<ci:user-data secret='web1'/>") domain_define web1 $web1
    virt_seed wire web1
    assert_refused web1 "$conf_dir/secrets/web1 does not exist" "install -d -m 0700"

    # shellcheck disable=SC2016  # for the shell in the lab
    as_owner sh -c 'mkdir -m 0700 "$1"; umask 022
        printf "#cloud-config\npassword: hunter2\n" >"$1/userdata"' sh "$conf_dir/secrets/web1"
    assert_refused web1 "others may read" "chmod go="
    [[ $output != *hunter2* ]]

    lab_run chmod 0600 "$conf_dir/secrets/web1/userdata"
    lab_virsh start web1
}

@test "ignores a domain without a request" {
    domain_define plain $web1
    lab_virsh start plain
    lab_virsh destroy plain
}

@test "refuses a start with a seed's disk but no request, and names unset" {
    define_wired web1 $web1
    lab_virsh metadata web1 urn:virt-seed:cloud-init:1 --config --remove
    assert_refused web1 "no <cloud-init> in its <metadata>" "virt-seed unset web1"
    virt_seed unset web1
    lab_virsh start web1
}

@test "finds a request that is written with character references" {
    metadata='<ci:cloud-init xmlns:ci="urn:virt&#45;seed:cloud&#x2d;init:1"/>' \
        domain_define web1 $web1
    assert_refused web1 "not wired" "virsh start web1"
}

@test "destroy leaves nothing of the domain, and keeps another's seed" {
    define_wired web1 $web1
    define_wired web2 $web2
    lab_virsh start web1
    lab_virsh start web2
    lab_run touch "$seeds/$web1.iso.new.deadbeef"
    lab_virsh destroy web1
    run -0 lab_run ls "$seeds"
    [[ $output = "$web2.iso" ]]
    lab_virsh destroy web2
    assert_no_seeds
}

@test "managed save and start restore the same seed, byte for byte" {
    local before

    define_wired web1 $web1
    lab_virsh start web1
    before=$(seed_sum $web1)
    lab_virsh managedsave web1
    assert_no_seeds
    lab_run rmdir "$seeds"

    lab_virsh start web1
    [[ $(seed_sum $web1) = "$before" ]]
    run ! lab_run test -e "$seeds/resume:web1"
}

@test "save and restore restore the same seed, byte for byte" {
    local before

    define_wired web1 $web1
    lab_virsh start web1
    before=$(seed_sum $web1)
    lab_virsh save web1 "$images/web1.save"
    assert_no_seeds
    lab_virsh restore "$images/web1.save"
    [[ $(seed_sum $web1) = "$before" ]]
}

@test "a saved guest comes back even if it is not wired" {
    configure 'unwired = warn'
    metadata=$(request) domain_define web1 $web1
    lab_virsh start web1
    lab_virsh managedsave web1
    configure

    lab_virsh start web1
    lab_virsh destroy web1
    assert_refused web1 "not wired" "virsh start web1"
}

@test "after a restore that failed, an unwired domain is refused again within seconds" {
    local file=$images/web1.save

    configure 'unwired = warn'
    metadata=$(request) domain_define web1 $web1
    lab_virsh start web1
    lab_virsh save web1 "$file"
    configure
    # libvirt compares the XML after it has called the hook.
    lab_virsh save-image-dumpxml "$file" | sed "s|type='pty'|type='null'|; s|>32768<|>65536<|" >"$BATS_TEST_TMPDIR/other.xml"
    run ! lab_virsh restore "$file" --xml "$BATS_TEST_TMPDIR/other.xml"
    [[ $output != *'virt-seed: '* ]]
    sleep 11
    assert_refused web1 "not wired" "virsh start web1"
}

@test "a domain whose name looks like an option gets its seed like any other" {
    metadata=$(request) domain_define --help $web1
    virt_seed wire -- --help
    lab_virsh start --domain --help
    seed_sum $web1
    lab_virsh destroy --domain $web1
    assert_no_seeds
}

@test "a clone gets its own seed" {
    define_wired web1 $web1
    lab_virsh dumpxml --inactive web1 |
        sed "s|<name>web1|<name>web2|; s|<uuid>$web1|<uuid>$web2|" |
        lab_virsh define /dev/stdin
    assert_refused web2 "not wired" "virsh start web2"
    wait_until 60 is_wired web2 $web2
    lab_virsh start web2
    lab_virsh start web1
    [[ $(seed_sum $web1) != $(seed_sum $web2) ]]
}

@test "refuses a start with another program's seed until it is replaced" {
    local foreign=$images/something.iso

    mkdir -p "$BATS_TEST_TMPDIR/seed"
    touch "$BATS_TEST_TMPDIR"/seed/{meta,user}-data
    xorrisofs -quiet -V cidata -J -r -o "$outside$foreign" "$BATS_TEST_TMPDIR/seed"
    metadata=$(request) devices="<disk type='file' device='cdrom'><source file='$foreign'/>
        <target dev='sda' bus='sata'/><readonly/></disk>" domain_define web1 $web1
    assert_refused web1 "has the label of a seed" "--replace"
    run ! virt_seed wire web1
    virt_seed wire --replace web1
    lab_virsh start web1
    run ! grep -qF "$foreign" <(lab_virsh dumpxml web1)
}

@test "guests survive a restart of libvirtd" {
    define_wired web1 $web1
    lab_virsh start web1
    lab_restart_libvirtd
    run -0 lab_virsh domstate web1
    [[ $output = running* ]]
    seed_sum $web1
}

@test "refuses a start if the run-time directory is a symbolic link" {
    define_wired web1 $web1
    lab_run sh -c "rm -rf $seeds; mkdir -p /tmp/elsewhere; ln -s /tmp/elsewhere $seeds"
    run ! lab_virsh start web1
    [[ $output = *"is a symbolic link"* ]]
    lab_run sh -c "rm $seeds; rmdir /tmp/elsewhere"
}

@test "refuses a start if the run-time directory belongs to another user" {
    define_wired web1 $web1
    lab_run sh -c "rm -rf $seeds; install -d -o nobody $seeds"
    run ! lab_virsh start web1
    [[ $output = *"belongs to user"* ]]
    lab_run rmdir "$seeds"
}

@test "refuses a start if the run-time directory is full, and leaves nothing" {
    define_wired web1 $web1
    lab_run sh -c "rm -rf $seeds; install -d -m 0$pass_mode -o $owner $seeds
        mount -t tmpfs -o size=16k,mode=0$pass_mode,uid=$owner none $seeds"
    run ! lab_virsh start web1
    [[ $output = *"No space left on device"* ]]
    [[ $output = *"virt-seed: hint: "*"df $seeds"* ]]
    assert_no_seeds
    lab_run umount "$seeds"
    lab_virsh start web1
}

@test "if its directories in /var become read-only, a running guest ends as usual, and a start is refused" {
    local directory directories=("$state_dir")

    [[ $report_dir = "$state_dir" ]] || directories+=("$report_dir")
    define_wired web1 $web1
    lab_virsh start web1
    for directory in "${directories[@]}"; do
        lab_run mount --bind "$directory" "$directory"
        lab_run mount -o remount,bind,ro "$directory"
    done
    lab_virsh reset web1
    lab_virsh destroy web1
    assert_no_seeds
    assert_refused web1 'Read-only file system' "$report_dir"
    assert_no_seeds
    for directory in "${directories[@]}"; do
        lab_run umount "$directory"
    done
    lab_virsh start web1
    lab_run test -e "$seeds/$web1.iso"
}

@test "many domains started at once each have their seed" {
    local number starts=()

    for number in {1..8}; do
        metadata=$(request "$user_data") domain_xml "many$number" >"$BATS_TEST_TMPDIR/$number"
        virt_seed wire --in-place "$BATS_TEST_TMPDIR/$number"
        lab_virsh define "$BATS_TEST_TMPDIR/$number"
    done
    for number in {1..8}; do
        lab_virsh start "many$number" &
        starts+=($!)
    done
    wait "${starts[@]}"
    run -0 lab_run find "$seeds" -name '*.iso'
    [[ $(wc -l <<<"$output") -eq 8 ]]
}
