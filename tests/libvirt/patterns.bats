#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of bats
# patterns.bats: commands that take several domains, by name and by pattern.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
web2=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
db1=0b5f1a57-7d27-4a50-8f6e-2d0b6f0a4c11
odd=2f7a9c64-30d5-4a0a-9d0b-6f3a5d1f7c28

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    # Not in the order of their names.
    domain_define web2 $web2
    domain_define db1 $db1
    domain_define web1 $web1
}

teardown() {
    lab_reset
    lab_run sh -c 'rm -rf /var/lib/virt-seed/*'
}

# wait_fails STATUS ARGUMENT...: 'virt-seed wait' ends with that status and does not hang.
wait_fails() {
    local expected=$1

    shift
    run "-$expected" virt_seed wait --timeout=60 "$@"
}

@test "set, check, update, status and unset take a pattern, in the order of names" {
    run -0 virt_seed set 'web*' --timezone=UTC
    [[ $output = *web1:*web2:* && $output != *db1* ]]
    run -0 virt_seed check 'web?'
    [[ $output = "domain 'web1': no problems found"$'\n'"domain 'web2': no problems found" ]]
    run -0 virt_seed update 'web[12]'
    [[ ${lines[0]} = "domain 'web1' is not running"* && ${lines[1]} = "domain 'web2' is not running"* ]]
    run -0 virt_seed status --json '*[12]'
    [[ $(jq -c 'map(.domain)' <<<"$output") = '["db1","web1","web2"]' ]]
    run -0 virt_seed pending 'web*'
    [[ $output = *'==> web1 <=='*'==> web2 <=='* ]]
    run -0 virt_seed unset 'web*'
    [[ $output = *'web1: unset'*'web2: unset'* ]]
    [[ $(lab_virsh dumpxml web2) != *cloud-init* ]]
    [[ $(lab_virsh dumpxml db1) != *cloud-init* ]]
}

@test "set, unset and wire take several names, and one that is wrong hides no other" {
    local command

    for command in 'set --timezone=UTC' wire unset; do
        # shellcheck disable=SC2086  # words of a command
        run -1 --separate-stderr virt_seed $command web1 nobody web2
        [[ $output = *web1:*web2:* && $stderr = *"there is no domain 'nobody'"* ]]
    done
}

@test "what a pattern stands for and what is named counts once, and gets no host name in common" {
    run -0 virt_seed set web1 'web*' web1 $web1
    [[ ${#lines[@]} -eq 2 && ${lines[0]} = web1:* && ${lines[1]} = web2:* ]]
    run -2 virt_seed set 'web*' --hostname=front
    [[ $output = *"several guests cannot all have --hostname='front'"*'hint: name one guest'* ]]
    run ! grep -q front <(lab_virsh dumpxml web1; lab_virsh dumpxml web2)
    run -0 virt_seed set 'web1*' web1 --hostname=front
}

@test "a pattern that matches nothing is an error, alone and among others" {
    local command

    for command in 'set --timezone=UTC' check update status unset wire pending start; do
        # shellcheck disable=SC2086  # words of a command
        run virt_seed $command 'x*'
        [[ $status -ne 0 && $output = "virt-seed: error: no domain has a name that matches 'x*'"*'hint: '* ]]
    done
    run -1 --separate-stderr virt_seed status 'x*' web1
    [[ $output = *web1* && $stderr = *"matches 'x*'"* ]]
    run -1 --separate-stderr virt_seed set --timezone=UTC 'x*' web1
    [[ $output = *web1:* && $stderr = *"matches 'x*'"* ]]
}

@test "status and wait say which name is wrong, and go on with the others" {
    run -1 --separate-stderr virt_seed status nobody web1
    [[ $output = *$'\nweb1 '* && $stderr = *"there is no domain 'nobody'"* ]]
    wait_fails 4 nobody
    wait_fails 4 nobody web1
    [[ $output = *"there is no domain 'nobody'"*"domain 'web1' is not running"* ]]
    wait_fails 3 'web*'
    [[ $output = *"domain 'web1' is not running"*"domain 'web2' is not running"* ]]
}

@test "start takes a pattern, and starts nothing if one matches nothing" {
    run -0 virt_seed set 'web*'
    run -4 virt_seed start --no-wait web1 'x*'
    [[ $(lab_virsh list --name) = '' ]]
    run -0 virt_seed start --no-wait web1 'web*'
    [[ $(sort <<<"$output") = $'web1: started\nweb2: started' ]]
}

@test "a domain whose name looks like a pattern is found by it, alone" {
    domain_define 'web[12]*' $odd
    run -0 virt_seed status --json 'web[12]*'
    [[ $(jq -c 'map(.uuid)' <<<"$output") = "[\"$odd\"]" ]]
    run -0 virt_seed set 'web[12]*' --hostname=x
    [[ $output != *web1:* && $output != *web2:* ]]
    [[ $(lab_virsh dumpxml $odd) = *'>x<'* && $(lab_virsh dumpxml web1) != *'>x<'* ]]
}

@test "a file stays a file, and several cannot go to standard output" {
    lab_virsh dumpxml web1 >'w*.xml'
    run -0 virt_seed set --hostname=fromfile -i './w*.xml'
    grep -q '>fromfile<' 'w*.xml'
    [[ $(lab_virsh dumpxml web1) != *fromfile* ]]
    run -2 virt_seed unset --output=out.xml 'web*'
    [[ $output = *'cannot go to one place'* && ! -e out.xml ]]
    run -2 virt_seed set web1 './w*.xml' --hostname=y
    [[ $(lab_virsh dumpxml web1) != *'>y<'* ]]
}
