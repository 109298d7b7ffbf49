#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash, report.bash and bats
# apply.bats: virt-seed apply with a real libvirtd, whose guests say what the test writes.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
web2=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
seed=/run/libvirt/virt-seed/$web1.iso
stamp='20[0-9]{6}T[0-9]{6}Z'

teardown() {
    lab_reset
    lab_run sh -c 'rm -rf /var/lib/virt-seed/*'
}

# define NAME UUID [CHILDREN]: defines a domain that asks for a seed.
define() {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'>${3-}</ci:cloud-init>" \
        domain_define "$1" "$2"
    virt_seed -q wire "$1"
}

ended1=$(report_line "$boot1" "$(report_ended)" "$(report_result)")
runs1=$(report_line "$boot1" "$(report_runs)")
ended2=$(report_line "$boot2" "$(report_ended)" "$(report_result)")

# begin_applying ARGUMENT...: runs virt-seed apply in the background.
begin_applying() {
    # A process that stays must not have the descriptors for which bats waits.
    lab_run timeout 120 "$builddir/virt-seed" apply "$@" \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" </dev/null 3>&- 4>&- &
    applying=$!
}

# said LINE: whether it has printed that.
said() {
    grep -qxF -e "$1" "$BATS_TEST_TMPDIR/out"
}

# id_of NAME: prints the instance-id of the definition's seed.
id_of() {
    virt_seed dump "$1" meta-data | jq -r '."instance-id"'
}

# id_in_drive: prints the instance-id on the medium of web1.
id_in_drive() {
    lab_run rm -rf "$BATS_TEST_TMPDIR/medium"
    virt_seed inspect --extract="$BATS_TEST_TMPDIR/medium" "$seed" >/dev/null
    jq -r '."instance-id"' "$BATS_TEST_TMPDIR/medium/meta-data"
}

@test "a running guest gets a new instance-id and its seed, is rebooted, and is waited for" {
    local first

    define web1 $web1 '<ci:hostname>old</ci:hostname>'
    lab_virsh start web1
    # A boot that is not complete does not count, either.
    report_say $web1 "$runs1"
    virt_seed set web1 --hostname=new
    lab_run timeout 60 virsh qemu-monitor-event web1 --event POWERDOWN --timeout 50 >events 2>&1 3>&- 4>&- &
    begin_applying --yes web1
    wait_until 60 said 'web1: reboots'
    wait_until 60 grep -q POWERDOWN events
    first=$(id_of web1)
    [[ $first =~ ^$web1-$stamp$ && $(id_in_drive) = "$first" ]]
    report_say $web1 "$ended1"
    run ! wait_until 1 said 'web1: done'
    report_say $web1 "$ended2"
    report_end_command "$applying" 0
    [[ $output = *'==> web1 <=='*'meta-data: changed'*"instance-id: $first, which is new"*'web1: reboots'*'web1: done' ]]
}

@test "a domain that is off is wired and started, and its time replaces an earlier one" {
    define web1 $web1 "<ci:instance-id policy='fixed'>web-20260101T000000Z</ci:instance-id>"
    lab_virsh start web1
    report_say $web1 "$ended1"
    lab_virsh destroy web1
    virt_seed set web1 --hostname=new
    virt_seed -q unset --wiring-only web1
    begin_applying --yes web1
    wait_until 60 said 'web1: started'
    [[ $(id_of web1) =~ ^web-$stamp$ && $(id_of web1) != web-20260101T000000Z ]]
    [[ $(id_in_drive) = "$(id_of web1)" ]]
    report_say $web1 "$ended2"
    report_end_command "$applying" 0
    [[ ${output##*$'\n'} = 'web1: done' ]]
}

@test "an instance-id that is new already stays, and a first boot needs none" {
    define web1 $web1
    begin_applying --yes web1
    wait_until 60 said 'web1: started'
    [[ $(id_of web1) = "$web1" ]]
    report_say $web1 "$ended1"
    report_end_command "$applying" 0
    virt_seed set web1 --instance-id=mine
    begin_applying --yes web1
    wait_until 60 said 'web1: reboots'
    report_say $web1 "$ended2"
    report_end_command "$applying" 0
    [[ $(id_of web1) = mine && $(id_in_drive) = mine ]]
}

@test "nothing is done if nothing is pending, with --dry-run, or without an answer" {
    local before

    define web1 $web1
    lab_virsh start web1
    report_say $web1 "$ended1"
    run -0 virt_seed apply web1
    [[ $output = 'web1: nothing is pending' ]]
    virt_seed set web1 --hostname=new
    before=$(lab_virsh dumpxml web1)$(lab_virsh dumpxml --inactive web1)
    run -0 virt_seed apply --dry-run web1
    [[ $output = *'meta-data: changed'*'which is new' ]]
    run -2 virt_seed apply web1 </dev/null
    [[ $output = *'standard input is not a terminal'*'hint: give --yes'* ]]
    printf '[y/N]\tno\n' >"$BATS_TEST_TMPDIR/answers"
    run -1 lab_run python3 "$BATS_TEST_DIRNAME/../answer.py" "$BATS_TEST_TMPDIR/answers" \
        "$builddir/virt-seed" apply web1
    [[ $output = *'Reboot web1 now'*'virt-seed: nothing was changed'* ]]
    [[ $(lab_virsh dumpxml web1)$(lab_virsh dumpxml --inactive web1) = "$before" ]]
}

@test "a question is answered on the terminal" {
    define web1 $web1
    virt_seed set web1 --hostname=new
    printf '[y/N]\ty\n' >"$BATS_TEST_TMPDIR/answers"
    run -124 lab_run python3 "$BATS_TEST_DIRNAME/../answer.py" "$BATS_TEST_TMPDIR/answers" \
        "$builddir/virt-seed" apply --timeout=2 web1
    [[ $output = *'Start web1 now'*'web1: started'*'not done after 2 s'* ]]
    [[ $(lab_virsh domstate web1) = running* ]]
}

@test "what cannot be applied is refused before anything is changed" {
    local before

    define web1 $web1
    define web2 $web2 '<ci:instance-id policy="content"/>'
    for domain in web1 web2; do
        lab_virsh start "$domain"
    done
    report_say $web1 "$ended1"
    report_say $web2 "$ended1"
    # The policy does not cover the keys.
    ssh-keygen -q -t ed25519 -N '' -f "$BATS_TEST_TMPDIR/key"
    virt_seed set web1 --hostname=new
    virt_seed set web2 --ssh-key="$BATS_TEST_TMPDIR/key.pub"
    before=$(lab_virsh dumpxml --inactive web1)
    run -1 virt_seed apply --yes web1 web2
    [[ $output = *"domain 'web2': has policy=\"content\""*'virt-seed set --instance-id=ID'* ]]
    run -4 virt_seed apply --yes web1 nobody
    virt_seed set web1 --datasource=configdrive
    before=$(lab_virsh dumpxml --inactive web1)
    run -1 virt_seed apply --yes web1
    [[ $output = *"domain 'web1': runs with a seed that has the label 'cidata'"* ]]
    lab_virsh managedsave web1
    run -1 virt_seed apply --yes web1
    [[ $output = *"domain 'web1': was saved"*'managedsave-remove'* ]]
    [[ $(lab_virsh dumpxml --inactive web1) = "$before" ]]
    lab_virsh managedsave-remove web1
    lab_virsh destroy web2
    virt_seed unset web2
    run -1 virt_seed apply --yes web2
    [[ $output = *"domain 'web2'"*'virt-seed set'* ]]
}
