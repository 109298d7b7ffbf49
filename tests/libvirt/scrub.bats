#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of report.bash
# scrub.bats: 'virt-seed wait --scrub', with a real libvirtd and QEMU; the guests say what the test
# writes.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seeds=/run/libvirt/virt-seed
seed=$seeds/$web1.iso

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    lab_make_secret web1 userdata $'#cloud-config\npassword: hunter2'
}

teardown() {
    lab_reset
    lab_run sh -c 'rm -rf /etc/virt-seed/* /var/lib/virt-seed/*'
}

# start_web1 [ELEMENT…]: starts a domain with a secret in its seed.
start_web1() {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' ${attributes-}>
        <ci:user-data secret='web1'/>$*</ci:cloud-init>" domain_define web1 $web1
    virt_seed --quiet wire web1
    lab_virsh start web1
    instance_before=$(instance)
    inode_before=$(lab_run stat -c %i "$seed")
    definition_before=$(lab_virsh dumpxml --inactive web1)
    has_secret
}

done_line=$(report_line "$boot1" "$(report_ended)" "$(report_result)")

# instance: prints the instance-id and the host name in the seed.
instance() {
    virt_seed inspect "$seed" | grep -E 'instance-id|uuid'
}

has_secret() {
    lab_run grep -q hunter2 "$seed"
}

# assert_scrubbed: the seed in the guest's drive has the same instance without content, and libvirt has the
# same definition.
assert_scrubbed() {
    local pid

    [[ $(instance) = "$instance_before" ]]
    run ! has_secret
    [[ $(lab_virsh dumpxml --inactive web1) = "$definition_before" ]]
    [[ $(lab_run ls "$seeds") = "$web1.iso" ]]
    pid=$(lab_run pgrep -f 'guest=web1,')
    [[ $(lab_run sh -c "find /proc/$pid/fd -lname '$seeds/*' | xargs stat -L -c %i" | sort -u) = \
        $(lab_run stat -c %i "$seed") ]]
}

assert_untouched() {
    has_secret
    [[ $(lab_run stat -c %i "$seed") = "$inode_before" ]]
}

@test "a guest that is done keeps only its identity, also after save and restore" {
    start_web1 '<ci:hostname>one.example.org</ci:hostname>'
    report_say $web1 "$done_line"
    run -0 virt_seed wait --scrub --timeout=10 web1
    [[ $output = *$'web1: scrubbed\nweb1: done' ]]
    assert_scrubbed
    run -0 virt_seed inspect "$seed"
    [[ $output = *'user-data: 0 bytes'* ]]

    lab_virsh managedsave web1
    lab_virsh start web1
    [[ $(instance) = "$instance_before" ]]
    run ! has_secret
    # A start is another matter.
    lab_virsh destroy web1
    lab_virsh start web1
    has_secret
}

@test "leaves a guest alone that is already scrubbed" {
    start_web1
    report_say $web1 "$done_line"
    virt_seed wait --scrub --timeout=10 web1
    inode_before=$(lab_run stat -c %i "$seed")
    run -0 virt_seed wait --scrub --timeout=10 web1
    [[ $(lab_run stat -c %i "$seed") = "$inode_before" ]]
}

@test "a ConfigDrive and an instance-id by content keep their instance-id" {
    attributes='datasource="configdrive"' start_web1
    report_say $web1 "$done_line"
    virt_seed wait --scrub --timeout=10 web1
    assert_scrubbed
    lab_reset

    start_web1 '<ci:instance-id policy="content"/>'
    report_say $web1 "$done_line"
    virt_seed wait --scrub --timeout=10 web1
    assert_scrubbed
}

@test "keeps the seed of a guest that has failed or not finished" {
    start_web1
    run -124 virt_seed wait --scrub --timeout=1 web1
    assert_untouched
    report_say $web1 "$(report_line "$boot1" "$(report_ended '"broken"')" "$(report_result '"broken"')")"
    run -1 virt_seed wait --scrub --timeout=10 web1
    assert_untouched
}

@test "keeps the seed of another instance that the guest has not read yet" {
    start_web1
    virt_seed set web1 --instance-id=second
    virt_seed update web1
    inode_before=$(lab_run stat -c %i "$seed")
    report_say $web1 "$done_line"
    run -1 virt_seed wait --scrub --timeout=10 web1
    [[ $output = *"is for the instance 'second', but the domain was started as '$web1'"* ]]
    assert_untouched
}

is_locked() {
    ! lab_run flock --nonblock "$seeds" true
}

@test "completes a replacement that another one holds up for longer than the time" {
    start_web1
    report_say $web1 "$done_line"
    lab_run flock "$seeds" sleep 14 3>&- 4>&- &
    wait_until 10 is_locked
    run -0 virt_seed wait --scrub --timeout=0 web1
    [[ $output = *$'web1: scrubbed\nweb1: done' ]]
    assert_scrubbed
}

@test "keeps the seed of another instance that comes while it waits for its turn" {
    start_web1
    report_say $web1 "$done_line"
    virt_seed set web1 --instance-id=second
    virt_seed build -o other.iso web1
    lab_run flock "$seeds" sh -c "sleep 3; cp '$PWD/other.iso' $seed" 3>&- 4>&- &
    wait_until 10 is_locked
    run -1 virt_seed wait --scrub --timeout=60 web1
    [[ $output = *"is for the instance 'second', but the domain was started as '$web1'"* ]]
    lab_run cmp "$PWD/other.iso" "$seed"
}

@test "says what cannot be scrubbed before waiting" {
    attributes='bus="virtio"' start_web1
    run -1 virt_seed wait --scrub --timeout=100 web1
    [[ $output = *"domain 'web1': its seed is a read-only disk"*'whose medium cannot be changed'* ]]
    assert_untouched
}
