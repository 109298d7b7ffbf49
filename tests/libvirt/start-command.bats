#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of report.bash
# start-command.bats: virt-seed start with a real libvirtd, whose guests say what the test writes.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
web2=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57

teardown() {
    lab_reset
    lab_run sh -c 'rm -rf /var/lib/virt-seed/*'
}

# define NAME UUID [ATTRIBUTES [CHILDREN]]: defines a domain that asks for a seed and is not wired.
define() {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' ${3-}>${4-}</ci:cloud-init>" \
        domain_define "$1" "$2"
}

# uuid_of NUMBER: prints the UUID of one of many domains.
uuid_of() {
    printf '5f1c3b0e-7a61-4c55-9d0a-%012d' "$1"
}

runs=$(report_line "$boot1" "$(report_runs)")
ended=$(report_line "$boot1" "$(report_ended)" "$(report_result)")

# begin_starting ARGUMENT...: runs virt-seed start in the background.
begin_starting() {
    # A process that stays must not have the descriptors for which bats waits.
    lab_run timeout 120 "$builddir/virt-seed" start "$@" \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 4>&- &
    starting=$!
}

# said LINE: whether it has printed that.
said() {
    grep -qxF -e "$1" "$BATS_TEST_TMPDIR/out"
}

# end_starting STATUS: waits until it has ended with this status; sets $output and $stderr.
end_starting() {
    report_end_command "$starting" "$1"
}

@test "an unwired domain is wired, started and waited for" {
    define web1 $web1
    begin_starting web1
    wait_until 60 said 'web1: started'
    report_say $web1 "$runs"
    wait_until 60 said 'web1: the guest boots'
    report_say $web1 "$ended"
    end_starting 0
    [[ $stderr = "" && ${output##*$'\n'} = 'web1: done' ]]
    run -0 virt_seed wire web1
    [[ $output = *'already wired' ]]
    run -0 lab_virsh domblklist web1
    [[ $output = *"$web1.iso"* ]]
}

@test "twenty domains start side by side, and one that fails does not stop the others" {
    local i

    for i in {1..20}; do define "many$i" "$(uuid_of "$i")"; done >/dev/null
    # Its disk does not exist.
    devices=$(domain_disk_xml /var/lib/libvirt/images/missing.raw) define broken $web1
    begin_starting broken many{1..20}
    for i in {1..20}; do
        wait_until 100 said "many$i: started"
        report_say "$(uuid_of "$i")" "$ended"
    done
    end_starting 1
    [[ $(grep -cxE 'many[0-9]+: done' <<<"$output") -eq 20 ]]
    [[ $stderr = *"error: domain 'broken' could not be started: "*missing.raw* ]]
    [[ $(grep -c 'error:' <<<"$stderr") -eq 1 ]]
    run -0 lab_virsh list --name
    [[ $(grep -c '^many' <<<"$output") -eq 20 ]]
}

@test "with --no-wait it ends when the domains run" {
    define web1 $web1
    define web2 $web2
    run -0 --separate-stderr virt_seed start --no-wait web1 web2
    [[ $(sort <<<"$output") = $'web1: started\nweb2: started' && $stderr = "" ]]
    run -0 virt_seed start --no-wait web1
    [[ $output = 'web1: is already running' ]]
    run -2 virt_seed start --no-wait --timeout=5 web1
}

@test "with --dry-run it lists the domains, and starts and wires none" {
    local before

    define web1 $web1
    define web2 $web2
    before=$(lab_virsh dumpxml --inactive web2)
    run -0 virt_seed start --no-wait web1
    run -0 --separate-stderr virt_seed start --dry-run --all
    [[ $(sort <<<"$output") = $'web1: is already running\nweb2: would be started' && $stderr = "" ]]
    [[ $(lab_virsh domstate web2) = 'shut off' && $(lab_virsh dumpxml --inactive web2) = "$before" ]]
}

@test "what the hook refuses is said in its own words" {
    define web1 $web1 '' '<ci:user-data file="/nowhere"/>'
    run -1 --separate-stderr virt_seed start web1
    [[ $output = "" ]]
    [[ ${stderr_lines[0]} = "virt-seed: error: domain 'web1': <user-data file="*"/nowhere"* ]]
    [[ ${stderr_lines[1]} = "virt-seed: hint: "* && $stderr != *hook* ]]
}

@test "--all is for the domains that ask" {
    define web1 $web1
    define web2 $web2
    domain_define web-plain
    run -0 virt_seed start --no-wait web2
    run -0 virt_seed start --no-wait --all
    [[ $(sort <<<"$output") = $'web1: started\nweb2: is already running' ]]
    run -0 lab_virsh domstate web-plain
    [[ $output = 'shut off'* ]]
    run -2 virt_seed start
    [[ $output = *'no domain was named'*'--all'* ]]
    run -2 virt_seed start --all web1
}

@test "a domain that asks for nothing is not started, and the message says what to do" {
    domain_define plain
    run -1 virt_seed start plain
    [[ $output = *"error: domain 'plain' does not ask for cloud-init"*"hint: "*"virt-seed set"* ]]
    run -0 lab_virsh domstate plain
    [[ $output = 'shut off'* ]]
}

@test "nothing is started if a name is wrong" {
    define web1 $web1
    run -4 virt_seed start --no-wait web1 wbe2
    [[ $output = *"there is no domain 'wbe2'"* ]]
    run -0 lab_virsh domstate web1
    [[ $output = 'shut off'* ]]
}

@test "a domain that is already running is waited for" {
    define web1 $web1
    virt_seed start --no-wait web1
    report_say $web1 "$runs"
    begin_starting web1
    wait_until 60 said 'web1: is already running'
    report_say $web1 "$ended"
    end_starting 0
    [[ $output = 'web1: is already running'*'web1: done' ]]
}

@test "a domain that was saved goes on, and what its guest said before counts" {
    define web1 $web1
    virt_seed start --no-wait web1
    report_say $web1 "$ended"
    virt_seed wait --timeout=10 web1
    lab_virsh managedsave web1
    run -0 virt_seed start --timeout=60 web1
    [[ $output = *'web1: done' ]]
}

@test "what a guest said before this start does not count" {
    define web1 $web1
    virt_seed start --no-wait web1
    report_say $web1 "$ended"
    virt_seed wait --timeout=10 web1
    lab_virsh destroy web1
    run -124 virt_seed start --timeout=5 web1
    [[ $output = *"domain 'web1': not done after 5 s; the guest has not reported"* ]]
}

@test "a guest that will never report is started, and it is said" {
    define web1 $web1 'report="no"'
    run -1 virt_seed start web1
    [[ $output = *"'web1' will never report: "*'report="no"'* ]]
    run -0 lab_virsh domstate web1
    [[ $output = running* ]]
}

@test "a domain that stops ends it with 3" {
    define web1 $web1
    begin_starting web1
    wait_until 60 said 'web1: started'
    report_say $web1 "$runs"
    wait_until 60 said 'web1: the guest boots'
    lab_virsh destroy web1
    end_starting 3
}
